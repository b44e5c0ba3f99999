"""Comparisons of runs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pydantic import Field

from offdiag.comparison.churn import PairedOutcome
from offdiag.comparison.differences import DifferenceStatus
from offdiag.records.base import (
    MOST_ON_A_PAGE,
    USUAL_ON_A_PAGE,
    Request,
    RequestBody,
    ResponseBody,
    Value,
)
from offdiag.records.runs.run import RunBasics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from offdiag.comparison.by_slice import PartChange, SliceChanges
    from offdiag.services.comparisons.compare import RunComparison
    from offdiag.services.comparisons.compute import Compared
    from offdiag.services.examples.changed import ChangedExamples
    from offdiag.services.lru_cache import LruCache
    from offdiag.store.compared_runs import ComparedRun
    from offdiag.store.database import Database


class ComparisonQuery(RequestBody):
    """Which runs to compare, and on which samples."""

    runs: str = Field(
        min_length=1,
        max_length=5_000,
        description="Ids, separated by commas; the first is A.",
        examples=["r_2k9xw4m0q7ta,r_8dm3v5c1z0pe"],
    )
    baseline: str | None = Field(default=None, description="Which of them is A, if not the first.")
    slice: str | None = Field(default=None, max_length=1_000, examples=["country=DE"])
    on_shared: bool = Field(
        default=False,
        description="If the runs have different samples, compare those that all of them have.",
    )
    confidence: float = Field(default=0.95, gt=0, lt=1)
    difference: float = Field(
        default=0.01,
        gt=0,
        le=1,
        description="The difference in accuracy that matters, as a share. If no difference is "
        "significant, `samples_needed` is the number of examples that would detect it.",
    )


class ComparedExamplesQuery(RequestBody):
    """Filters for examples of two runs."""

    runs: str = Field(
        min_length=1,
        max_length=5_000,
        description="Two ids, separated by a comma; the first is A.",
        examples=["r_2k9xw4m0q7ta,r_8dm3v5c1z0pe"],
    )
    which: PairedOutcome = Field(description="Which of the runs predict the example correctly.")
    class_label: str | None = Field(
        default=None, description="Only examples of this actual class."
    )
    slice: str | None = Field(default=None, max_length=1_000, examples=["country=DE"])
    on_shared: bool = False
    start: int = Field(default=0, ge=0, description="How many examples to skip.")
    limit: int = Field(default=USUAL_ON_A_PAGE, ge=1, le=MOST_ON_A_PAGE)


class ComparedExample(ResponseBody):
    """An example with the predictions of both runs and their scores, null without scores."""

    sample: int | str
    actual: str
    a: str
    b: str
    a_confidence: float | None
    b_confidence: float | None


class ComparedExamples(ResponseBody):
    """Examples of two runs by which of them predict correctly, in the order of the dataset.
    `counts` has the number of each outcome, within the class if one is given; `total` is that of
    `which`.
    """

    runs: dict[str, str] = Field(description="Ids by letter, in lower case.")
    which: PairedOutcome
    class_label: str | None
    slice: str | None
    refusal: str | None = Field(description="Why there are no examples.")
    counts: dict[str, int]
    total: int
    examples: list[ComparedExample]


class RunCompared(RunBasics):
    """A run with its letter."""

    letter: str
    truth_version: int | None
    has_predictions: bool
    orientation_verdict: str | None


class ComparedSlice(ResponseBody):
    """Accuracy of two runs on a slice, or recall of a class there."""

    slice: str | None = Field(description="Null for all examples.")
    label: str | None = Field(description="The class of a recall, null for accuracy.")
    n: int
    counts: dict[str, int] = Field(description="`both_right`, `only_a`, `only_b`, `both_wrong`.")
    a: float
    b: float
    difference: Value = Field(description="B minus A, with the interval of this slice alone.")
    together: Value = Field(description="The same with the interval that determines `outcome`.")
    p: float | None
    p_adjusted: float | None = Field(
        description="Holm-adjusted over all slices and all examples, or over all classes of "
        "slices, each at half of the error rate."
    )
    outcome: DifferenceStatus


class ComparedSlices(ResponseBody):
    """Two runs on all examples and on every slice, tested together."""

    verdict: str
    whole: ComparedSlice
    slices: list[ComparedSlice]
    classes: list[ComparedSlice] = Field(description="By slice and class.")
    too_small: dict[str, int] = Field(description="Slices with fewer examples than `min_size`.")
    min_size: int
    n_suppressed: int = Field(description="Slices that are too small to be shown or named.")


class Comparison(ResponseBody):
    """The result of a comparison, or why there is none. Undefined values are objects with `value`
    null and the reason, as everywhere.
    """

    runs: list[RunCompared] = Field(description="The runs with their letters, in order.")
    project: str
    dataset: str
    suite_version: int
    slice: str | None
    on_shared: bool
    samples: dict[str, Any] | None
    refusal: dict[str, Any] | None = Field(description="Why there is no result.")
    verdict: dict[str, Any] | None = Field(description="Sentences and tone.")
    slices: ComparedSlices | None = Field(
        default=None,
        description="Accuracy of two paired runs on every slice; null without slice columns or if "
        "a slice is chosen.",
    )
    result: dict[str, Any] | None = Field(
        description='The `kind` is "pair" (every difference is B minus A) or "many". In a pair, '
        "`difference` has the interval of one metric alone, and `simultaneous_interval` the one "
        "that is simultaneous with the others and determines `outcome`. `best_of_many` has, by "
        "metric, the best of three or more runs with its `value` and with `corrected`, its "
        "expected value on new examples. Runs in `on_other_labels` are not compared with the "
        "others."
    )


def comparison_document(found: RunComparison) -> Comparison:
    """Runs, verdict and every number; `refusal` says why there are none."""
    from offdiag.comparison.record import verdict_record
    from offdiag.metrics.suite import SUITE_VERSION

    first, verdict = found.runs[0], found.verdict
    return Comparison(
        runs=[_compared(position, run) for position, run in enumerate(found.runs)],
        project=first.project,
        dataset=first.dataset,
        suite_version=SUITE_VERSION,
        slice=None if found.part is None else str(found.part),
        on_shared=found.on_shared,
        samples=None if found.samples is None else asdict(found.samples),
        refusal=None if found.refusal is None else asdict(found.refusal),
        verdict=None if verdict is None else verdict_record(verdict),
        slices=None if found.by_slice is None else slices_document(found.by_slice),
        result=_result(found),
    )


def asked_comparison(
    database: Database,
    ids: Sequence[str],
    asked: ComparisonQuery,
    kept: LruCache[Compared] | None = None,
) -> Comparison:
    """Compare runs as requested; the first one is A."""
    from offdiag.services.comparisons.compare import compare_runs

    found = compare_runs(
        database,
        ids,
        slice_text=asked.slice,
        on_shared=asked.on_shared,
        confidence=asked.confidence,
        difference=asked.difference,
        kept=kept,
    )
    return comparison_document(found)


def comparison_request(ids: Sequence[str], asked: ComparisonQuery) -> Request[Comparison]:
    return Request("/compare", Comparison, lambda at: asked_comparison(at, ids, asked), asked)


def slices_document(found: SliceChanges) -> ComparedSlices:
    return ComparedSlices.made_of(
        found,
        whole=_compared_slice(found.whole),
        slices=list(map(_compared_slice, found.slices)),
        classes=list(map(_compared_slice, found.classes)),
    )


def _compared_slice(part: PartChange) -> ComparedSlice:
    change, together = part.change, part.change.simultaneous
    return ComparedSlice.made_of(
        change,
        slice=part.slice,
        label=part.label,
        n=part.counts.total,
        counts=part.counts.to_dict(),
        a=change.first.value or 0.0,
        b=change.second.value or 0.0,
        together=Value(
            value=change.difference.value,
            ci_low=None if together is None else together.low,
            ci_high=None if together is None else together.high,
        ),
    )


def asked_examples(
    database: Database, asked: ComparedExamplesQuery, limit: int | None = None
) -> ComparedExamples:
    """The requested examples; `limit` replaces that of the page."""
    from offdiag.services.examples.changed import changed_examples

    found = changed_examples(
        database,
        [each.strip() for each in asked.runs.split(",")],
        outcome=asked.which,
        class_label=asked.class_label,
        slice_text=asked.slice,
        on_shared=asked.on_shared,
        start=asked.start,
        size=asked.limit if limit is None else limit,
    )
    return compared_examples(found)


def examples_request(
    asked: ComparedExamplesQuery, limit: int | None = None
) -> Request[ComparedExamples]:
    return Request(
        "/compare/examples", ComparedExamples, lambda at: asked_examples(at, asked, limit), asked
    )


def compared_examples(found: ChangedExamples) -> ComparedExamples:
    """The examples of two runs with one outcome."""
    first, second = found.runs
    return ComparedExamples.made_of(
        found,
        runs={"a": first.id, "b": second.id},
        which=found.outcome,
        slice=None if found.part is None else str(found.part),
        refusal=None if found.refusal is None else found.refusal.why,
        counts=found.n_of_each or {},
        examples=[
            ComparedExample.made_of(
                each,
                a=each.first,
                b=each.second,
                a_confidence=each.first_confidence,
                b_confidence=each.second_confidence,
            )
            for each in found.examples
        ],
    )


def _compared(position: int, run: ComparedRun) -> RunCompared:
    from offdiag.comparison.texts import run_label

    return RunCompared.made_of(
        run,
        letter=run_label(position),
        truth_version=None if run.truth is None else run.truth.number,
    )


def _result(found: RunComparison) -> dict[str, Any] | None:
    from offdiag.comparison.many import ManyComparison
    from offdiag.comparison.pair import PairComparison
    from offdiag.comparison.record import many_record, pair_record

    match found.result:
        case PairComparison():
            return {"kind": "pair", **pair_record(found.result, difference=found.difference)}
        case ManyComparison():
            return {"kind": "many", **many_record(found.result, difference=found.difference)}
        case None:
            return None

"""Examples on which two runs differ or agree: right in one of them, in both, or in neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.comparison.churn import PairedOutcome, paired_outcomes
from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import require_several
from offdiag.domain.slices import Slice, parse_slice
from offdiag.errors import InvalidInput
from offdiag.inputs.label_sets import set_text
from offdiag.inputs.labels import Codes
from offdiag.metrics.counted import are_sets
from offdiag.metrics.multilabel.sets import holds_label, unpack_sets
from offdiag.metrics.multilabel_runs.paired import equal_sets
from offdiag.services.comparisons.comparability import (
    NO_SAMPLES_TO_CHOOSE_FROM,
    NO_SAMPLES_TO_SHOW,
    Refusal,
    hidden_slice,
    refused,
)
from offdiag.services.comparisons.compare import choices_of, runs_named
from offdiag.services.comparisons.compute import ComparisonRequest, read_aligned
from offdiag.services.comparisons.shared_samples import Aligned
from offdiag.services.examples.selection import (
    SUM_OF_OTHER_SCORES,
    SUM_OF_PROBABILITIES,
    confidences,
)
from offdiag.services.small_groups import not_by_slice, suppressed_below
from offdiag.store import compared_runs as queries
from offdiag.store.compared_runs import ComparedRun
from offdiag.store.database import Database, Session
from offdiag.store.evaluations import scored_otherwise
from offdiag.store.slices import SliceChoices
from offdiag.store.truths import names_at

EXAMPLES_PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class ChangedExample:
    """One example with its class, or its set of labels as text, and both predictions.

    `sample` is its identifier, or its position in the dataset if it has none. The confidences are
    the scores of the answers, None if none were logged.
    """

    sample: int | str
    actual: str
    first: str
    second: str
    first_confidence: float | None
    second_confidence: float | None


@dataclass(frozen=True)
class ChangedExamples:
    """A page of the examples with one outcome, from the `start`-th of `total` on.

    `n_of_each` counts the examples of every outcome, in the requested class or in all classes.
    `refusal` says why there is nothing to show.
    """

    runs: tuple[ComparedRun, ...]
    outcome: PairedOutcome
    class_label: str | None
    part: Slice | None
    on_shared: bool
    total: int = 0
    start: int = 0
    examples: tuple[ChangedExample, ...] = ()
    n_of_each: Mapping[PairedOutcome, int] | None = None
    has_ids: bool = False
    refusal: Refusal | None = None


def changed_examples(
    database: Database,
    run_ids: Sequence[str],
    *,
    outcome: PairedOutcome,
    class_label: str | None = None,
    slice_text: str | None = None,
    on_shared: bool = False,
    start: int = 0,
    size: int | None = EXAMPLES_PER_PAGE,
) -> ChangedExamples:
    """A page of the examples of two runs with one outcome, in the order of the dataset.

    With `size` None, all examples from `start` on. Raises `NotFound`, and `InvalidInput` for
    another number of runs, an unknown class and a slice that cannot be read.
    """
    _require_two(run_ids)
    part = parse_slice(slice_text) if slice_text else None
    with database.read() as session:
        runs = runs_named(session, run_ids)
        code = None
        if class_label is not None:
            code = runs[0].labels.code_of(class_label, field_name="class")
        found = _aligned(session, runs, part, on_shared=on_shared)
        if isinstance(found, Refusal):
            return ChangedExamples(runs, outcome, class_label, part, on_shared, refusal=found)
        first, second = (found.predicted[run.id] for run in runs)
        by_outcome = _by_outcome(found.actual, first, second, code)
        end = None if size is None else start + size
        chosen = by_outcome[outcome][start:end]
        examples = _examples(session, runs, found, chosen)
    return ChangedExamples(
        runs,
        outcome,
        class_label,
        part,
        on_shared,
        total=len(by_outcome[outcome]),
        start=start,
        examples=examples,
        n_of_each={each: len(places) for each, places in by_outcome.items()},
        has_ids=found.lineage.id_kind != "position",
    )


def _by_outcome(
    actual: Codes, first: Codes, second: Codes, code: int | None
) -> dict[PairedOutcome, NDArray[np.intp]]:
    """The places of the examples with each outcome, of a class or with a label, None for all.

    A predicted set is right if it equals the true one, or for one label, if it agrees on the
    label.
    """
    is_meant: NDArray[np.bool_] | np.bool_ = np.True_
    if are_sets(actual):
        if code is None:
            ones = np.ones(len(actual), np.bool_)
            outcomes = paired_outcomes(ones, equal_sets(actual, first), equal_sets(actual, second))
        else:
            is_meant, before, after = (
                holds_label(each.astype(np.uint8, copy=False), code)
                for each in (actual, first, second)
            )
            outcomes = paired_outcomes(is_meant, before, after)
    else:
        is_meant = actual == code if code is not None else np.True_
        outcomes = paired_outcomes(actual, first, second)
    return {each: np.flatnonzero(where & is_meant) for each, where in outcomes.items()}


def _require_two(run_ids: Sequence[str]) -> None:
    require_several(run_ids)
    if len(run_ids) != 2:
        raise InvalidInput(
            f"there are {len(run_ids)} runs.",
            field="runs",
            hint="Examples are listed for two runs; name these.",
        )


def _aligned(
    session: Session, runs: tuple[ComparedRun, ...], part: Slice | None, *, on_shared: bool
) -> Aligned | Refusal:
    refusal = refused(runs)
    if refusal is not None:
        return refusal
    if not all(run.has_predictions for run in runs):
        return NO_SAMPLES_TO_SHOW if part is None else NO_SAMPLES_TO_CHOOSE_FROM
    hidden = hidden_slice(session, runs, part)
    if hidden is not None:
        return hidden
    if part is not None and suppressed_below():
        return Refusal.of(not_by_slice())
    choices = SliceChoices({}, {}) if part is None else choices_of(session, runs, part)
    return read_aligned(session, ComparisonRequest(runs, part, choices, on_shared, 0.95), runs)


def _examples(
    session: Session, runs: Sequence[ComparedRun], found: Aligned, chosen: NDArray[np.intp]
) -> tuple[ChangedExample, ...]:
    if not len(chosen):
        return ()
    columns = [
        class_texts(codes[chosen], runs[0].labels)
        for codes in (found.actual, *(found.predicted[run.id] for run in runs))
    ]
    sure = _confidences(session, runs, found, chosen)
    return tuple(
        ChangedExample(
            sample,
            actual,
            first,
            second,
            *(None if column is None else column[at] for column in sure),
        )
        for at, (sample, actual, first, second) in enumerate(
            zip(
                names_at(session, found.lineage, found.places[chosen]),
                *columns,
                strict=True,
            )
        )
    )


def _confidences(
    session: Session, runs: Sequence[ComparedRun], found: Aligned, chosen: NDArray[np.intp]
) -> list[list[float] | None]:
    """The score of the answer to each chosen example by run, None for a run without scores."""
    rows = {run.id: found.rows[run.id][chosen] for run in runs if run.score_columns}
    chunks = {
        run_id: np.searchsorted(found.starts[run_id], at, side="right") - 1
        for run_id, at in rows.items()
    }
    scores = {
        run.id: np.empty((len(chosen), run.score_columns), np.float32)
        for run in runs
        if run.id in rows
    }
    if rows:
        wanted = {run_id: np.unique(seqs).tolist() for run_id, seqs in chunks.items()}
        for run_id, seq, values in queries.score_chunks_of(session, wanted):
            here = chunks[run_id] == seq
            offsets = rows[run_id][here] - found.starts[run_id][seq]
            scores[run_id][here] = values[offsets]
    of_one_column = [run.id for run in runs if run.score_columns == 1]
    others = scored_otherwise(session, of_one_column) if of_one_column else ()
    return [
        confidences(
            scores[run.id],
            found.predicted[run.id][chosen],
            _positive(run),
            sum_of_both=SUM_OF_OTHER_SCORES if run.id in others else SUM_OF_PROBABILITIES,
        ).tolist()
        if run.id in rows and not are_sets(found.actual)
        else None
        for run in runs
    ]


def class_texts(codes: Codes, labels: LabelSet) -> list[str]:
    """The names of classes, or sets of labels as text."""
    if not are_sets(codes):
        return [labels.names[code] for code in codes.tolist()]
    members = unpack_sets(codes.astype(np.uint8, copy=False), len(labels))
    return [set_text(labels, each) for each in members]


def _positive(run: ComparedRun) -> int | None:
    return None if run.positive_label is None else run.labels.index[run.positive_label]

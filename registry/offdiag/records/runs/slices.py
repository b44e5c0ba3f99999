"""Slices on which a run is worse than on the rest, and fairness between groups of samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from offdiag.domain.sentences import as_sentence
from offdiag.domain.slices import slice_of
from offdiag.metrics.groups.fairness import LEFT_OUT, Criterion, not_compared
from offdiag.records.base import Request, RequestBody, ResponseBody, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from offdiag.domain.texts import Cell
    from offdiag.metrics.groups.fairness import ClassFairness
    from offdiag.metrics.slices.finder import SliceGap
    from offdiag.services.evaluation.slice_counts import RunFindings
    from offdiag.services.fairness import RunFairness
    from offdiag.store.database import Database


MOST_GAPS = 1_000


class SlicesQuery(RequestBody):
    """Filters for gaps."""

    metric: str | None = Field(
        default=None,
        description="Only this metric: accuracy, an average over classes or recall; by default "
        "all of them. Other metrics are refused.",
    )
    limit: int = Field(default=100, ge=1, le=MOST_GAPS)
    columns: str | None = Field(
        default=None,
        max_length=1_000,
        description="Three slice columns, separated by commas: only their slices and "
        "combinations, including those of all three, which are counted on request.",
    )

    @property
    def crossed(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(name.strip() for name in (self.columns or "").split(",") if name.strip())


class SliceGapBody(ResponseBody):
    """One metric of one slice compared with all samples outside it."""

    slice: str
    metric: str
    label: str | None = Field(description="The class of a recall.")
    n_samples: int
    hits: int | None = Field(description="For a proportion; null for averages over classes.")
    cases: int
    n_effective: float | None = Field(
        default=None,
        description="If examples have weights: the effective number of examples.",
    )
    value: float
    ci_low: float | None
    ci_high: float | None
    rest: float
    gap: float
    gap_low: float | None = Field(
        description="Adjusted for the number of findings among the number of tests."
    )
    gap_high: float | None
    p: float
    p_adjusted: float = Field(
        description="Adjusted over all tests of the run (false discovery rate)."
    )
    is_significant: bool
    effect: float | None = Field(description="Cohen's h.")
    share_of_errors: float = Field(description="Errors in the slice among all errors.")
    explained: float = Field(
        description="Share of all errors that would be avoided if the slice were like the rest."
    )
    confirmed: bool | None = Field(
        description="Whether a held-out half confirms what the other half found; null if that "
        "half alone finds nothing."
    )


SLICE_COLUMNS = tuple(name for name in SliceGapBody.model_fields if name != "n_effective")
"""Columns of tables; for weighted samples, `n_effective` follows `cases`."""


class RunSlices(ResponseBody):
    """The worst slices of a run, most significant first, and the number of tests."""

    run: str
    columns: dict[str, list[str]] = Field(description="Values of each slice column.")
    n_slices: int
    n_tests: int
    n_significant: int
    n_left_out: int = Field(description="Combinations with enough samples that were not stored.")
    gaps: list[SliceGapBody]
    n_gaps: int = Field(
        default=0, description="Number of all gaps that match the query, listed or not."
    )


def slice_gap(gap: SliceGap, labels: Sequence[str]) -> SliceGapBody:
    return SliceGapBody.made_of(
        gap,
        slice=slice_text(gap),
        metric=gap.key,
        label=None if gap.code is None else labels[gap.code],
        ci_low=gap.low,
        ci_high=gap.high,
    )


def slice_text(gap: SliceGap) -> str:
    """The canonical text of the slice of a gap."""
    return str(slice_of(gap.terms))


def run_slices(run_id: str, findings: RunFindings | None, query: SlicesQuery) -> RunSlices:
    """The worst slices of a run; none if it has no slice columns.

    Raises `InvalidInput` for a metric that slices are not tested on.
    """
    if findings is None:
        return RunSlices(
            run=run_id, columns={}, n_slices=0, n_tests=0, n_significant=0, n_left_out=0, gaps=[]
        )
    found = findings.found
    keys = found.keys_named(query.metric)
    return RunSlices(
        run=run_id,
        columns={name: list(choices) for name, choices in found.counts.columns},
        n_slices=found.n_slices,
        n_tests=found.n_tests,
        n_significant=found.n_found,
        n_left_out=found.counts.n_left_out,
        gaps=[slice_gap(each, findings.labels) for each in found.worst(query.limit, keys)],
        n_gaps=found.n_below(keys),
    )


class FairnessQuery(RequestBody):
    """Which groups to compare."""

    by: str = Field(description="A slice column.", examples=["sex"], max_length=1_000)
    class_label: str | None = Field(
        default=None, description="Only this class; by default the positive one of two, else all."
    )


class CriterionValues(ResponseBody):
    """The differences between groups by one criterion."""

    criterion: Criterion
    difference: Value = Field(description="Highest rate of a group minus the lowest; 0 is equal.")
    ratio: Value = Field(description="Lowest rate divided by the highest; 1 is equal.")


class FairnessOfClass(ResponseBody):
    """One class against the rest."""

    class_label: str
    criteria: list[CriterionValues]
    rates: dict[str, dict[str, Value]] = Field(
        description="By metric key and group: `predicted_rate`, `recall`, `fpr`, `precision`."
    )
    conflict: str | None = Field(
        description="Which criteria exclude each other on these examples; null if none do."
    )


class Fairness(ResponseBody):
    """All criteria for the groups of a slice column that are large enough."""

    run: str
    by: str
    groups: dict[str, int] = Field(
        description="Number of labelled examples in each compared group."
    )
    classes: list[FairnessOfClass]
    too_small: dict[str, int] = Field(
        description="Groups with fewer than `min_size` labelled examples, which are left out."
    )
    min_size: int
    n_suppressed: int = Field(
        description="Number of groups that are not named, because they are too small or would "
        "reveal others."
    )
    suppressed_below: int
    n_without_value: int | None = Field(
        default=None,
        description="Number of labelled examples without a value, which are in no group; null if "
        "they form a suppressed group.",
    )
    leaves_out: str = Field(description="What these criteria do not cover.")

    def left_out(self) -> list[str]:
        """Which groups and examples are not compared, in sentences."""
        clauses = not_compared(
            self.too_small,
            min_size=self.min_size,
            n_suppressed=self.n_suppressed,
            suppressed_below=self.suppressed_below,
            n_without_value=self.n_without_value,
        )
        return list(map(as_sentence, clauses))


def asked_fairness(database: Database, run_id: str, asked: FairnessQuery) -> Fairness:
    """Compare the groups of a slice column of a run."""
    from offdiag.services.fairness import fairness_of_run

    found = fairness_of_run(database, run_id, asked.by, class_label=asked.class_label)
    return fairness_document(found)


def fairness_request(run_id: str, asked: FairnessQuery) -> Request[Fairness]:
    return Request(
        f"/runs/{run_id}/fairness", Fairness, lambda at: asked_fairness(at, run_id, asked), asked
    )


def asked_slices(database: Database, run_id: str, asked: SlicesQuery) -> RunSlices:
    """The slices on which a run is worse than on the rest. Raises `EvaluationPending` for a run
    that is not evaluated on the newest labels yet.
    """
    from offdiag.services.evaluation.results import stored_evaluation
    from offdiag.services.evaluation.slice_counts import slice_findings

    counted = stored_evaluation(database, run_id).counted
    found = slice_findings(database, run_id, counted, columns=asked.crossed)
    return run_slices(run_id, found, asked)


def slices_request(run_id: str, asked: SlicesQuery) -> Request[RunSlices]:
    return Request(
        f"/runs/{run_id}/slices", RunSlices, lambda at: asked_slices(at, run_id, asked), asked
    )


def fairness_document(found: RunFairness) -> Fairness:
    groups = found.groups
    return Fairness.made_of(
        groups,
        run=groups.run.id,
        by=groups.column,
        groups={name: each.total for name, each in groups.groups.items()},
        classes=[
            _of_class(label, each, list(groups.groups)) for label, each in found.by_class.items()
        ],
        leaves_out=LEFT_OUT,
    )


def _of_class(label: str, found: ClassFairness, names: list[str]) -> FairnessOfClass:
    return FairnessOfClass.made_of(
        found,
        class_label=label,
        criteria=found.disparities,
        rates={key: dict(zip(names, values, strict=True)) for key, values in found.rates.items()},
    )


FAIRNESS_COLUMNS = (
    *("class", "criterion", "difference", "difference_ci_low", "difference_ci_high"),
    *("ratio", "ratio_ci_low", "ratio_ci_high", "reason"),
)


def fairness_rows(found: Fairness) -> Iterator[tuple[Cell, ...]]:
    """One line for each class and criterion, in the order of `FAIRNESS_COLUMNS`."""
    for each in found.classes:
        for line in each.criteria:
            difference, ratio = line.difference, line.ratio
            yield (
                *(each.class_label, line.criterion.value),
                *(difference.value, difference.ci_low, difference.ci_high),
                *(ratio.value, ratio.ci_low, ratio.ci_high),
                difference.reason or ratio.reason,
            )

"""Slices of a run that are worse than the rest, with everything that was looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from offdiag.domain.slices import slice_of
from offdiag.records.base import RequestBody, ResponseBody

if TYPE_CHECKING:
    from collections.abc import Sequence

    from offdiag.metrics.slices.finder import SliceGap
    from offdiag.services.evaluation.slice_counts import RunFindings

MOST_GAPS = 1_000


class SlicesQuery(RequestBody):
    """Which gaps are wanted."""

    metric: str | None = Field(
        default=None, description="Only of this metric, such as recall; all of them without it."
    )
    limit: int = Field(default=100, ge=1, le=MOST_GAPS)
    columns: str | None = Field(
        default=None,
        max_length=1_000,
        description="Three slice columns, parted by commas: only their slices and crosses, with "
        "those of all three, which are counted now.",
    )

    @property
    def crossed(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(name.strip() for name in (self.columns or "").split(",") if name.strip())


class SliceGapBody(ResponseBody):
    """One metric of one slice against all samples outside it."""

    slice: str
    metric: str
    label: str | None = Field(description="The class of a recall.")
    n_samples: int
    hits: int | None = Field(description="Of a proportion; null for averages over classes.")
    cases: int
    n_effective: float | None = Field(
        default=None,
        description="Where examples have weights: how many equal ones say as much.",
    )
    value: float
    ci_low: float | None
    ci_high: float | None
    rest: float
    gap: float
    gap_low: float | None = Field(
        description="At the level of as many findings among as many tests."
    )
    gap_high: float | None
    p: float
    p_adjusted: float = Field(description="For all tests of the run (false discovery rate).")
    is_significant: bool
    effect: float | None = Field(description="Cohen's h.")
    share_of_errors: float = Field(description="Errors in the slice among all errors.")
    explained: float = Field(
        description="Share of all errors that there would not be if the slice were like the rest."
    )
    confirmed: bool | None = Field(
        description="Whether a held-out half agrees with what the other half found; null where "
        "that half alone finds nothing."
    )


SLICE_COLUMNS = tuple(name for name in SliceGapBody.model_fields if name != "n_effective")
"""Columns of tables; those of weighted samples have `n_effective` after `cases`."""


class RunSlices(ResponseBody):
    """The worst slices of a run, most surprising first, and how many tests there were."""

    run: str
    columns: dict[str, list[str]] = Field(description="Values of each slice column.")
    n_slices: int
    n_tests: int
    n_significant: int
    n_left_out: int = Field(description="Crosses with enough samples that were not kept.")
    gaps: list[SliceGapBody]


def slice_gap(gap: SliceGap, labels: Sequence[str]) -> SliceGapBody:
    """A gap as it travels."""
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
    """The worst slices of a run; none where it has no slice columns."""
    if findings is None:
        return RunSlices(
            run=run_id, columns={}, n_slices=0, n_tests=0, n_significant=0, n_left_out=0, gaps=[]
        )
    found = findings.found
    keys = None if query.metric is None else (query.metric,)
    return RunSlices(
        run=run_id,
        columns={name: list(choices) for name, choices in found.counts.columns},
        n_slices=found.n_slices,
        n_tests=found.n_tests,
        n_significant=found.n_found,
        n_left_out=found.counts.n_left_out,
        gaps=[slice_gap(each, findings.labels) for each in found.worst(query.limit, keys)],
    )

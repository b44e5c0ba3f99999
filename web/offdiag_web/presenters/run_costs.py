"""What the errors of runs cost, as a column of their list and as a tile of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from offdiag.domain.values import MetricValue
from offdiag.store.dataset_page import DatasetFacts
from offdiag.store.run_page import RunCosts
from offdiag.store.run_rows import RunEntry
from offdiag_web.charts.interval import IN_TILE, interval_mark
from offdiag_web.charts.scale import Extent, Scale, spanning
from offdiag_web.presenters.amounts import Amounts, amounts_for
from offdiag_web.presenters.headline import Tile
from offdiag_web.presenters.values import Notes, ShownValue, shown

COST_KEY = "mean_cost"
PER = 1_000
"""Costs are shown for so many cases: mean costs are often too small to read."""


@dataclass(frozen=True, slots=True)
class CostColumn:
    """The column under the costs that a dataset is judged by; `title` names their version."""

    title: str
    amounts: Amounts
    scale: Scale


@dataclass(frozen=True, slots=True)
class CostCell:
    """What one run costs; no mark where that is not known."""

    text: str
    mark: Markup | None


def cost_column(scope: DatasetFacts | None, entries: Sequence[RunEntry]) -> CostColumn | None:
    """The column for runs of one dataset; None where nobody said what their errors cost."""
    if scope is None or scope.costs is None:
        return None
    extents = [
        extent for entry in entries if (extent := _extent(entry.metrics.get(COST_KEY))) is not None
    ]
    ends = [end for extent in extents for end in (extent.lowest, extent.highest)]
    name, _, version = scope.costs.rpartition("@")
    unit = "" if scope.currency is None else f" {scope.currency}"
    return CostColumn(f"Cost{unit} / 1,000 ({name} v{version})", amounts_for(ends), spanning(ends))


def cost_cell(entry: RunEntry, column: CostColumn) -> CostCell:
    """The cell of a run. Until it has been judged by the costs that count it has no number."""
    value = entry.metrics.get(COST_KEY)
    extent = _extent(value)
    if extent is None:
        return CostCell("not yet" if value is None else "undefined", None)
    text = column.amounts.text(extent.estimate)
    name = f"{column.title}: {_interval_words(extent, column.amounts)}"
    return CostCell(text, interval_mark(extent, scale=column.scale, name=name))


def cost_tile(costs: RunCosts, notes: Notes, *, n_cases: int) -> Tile:
    """The headline number of a run, beside what the cheapest constant answer would cost."""
    mean = costs.values[COST_KEY]
    constant = costs.values["best_trivial_cost"].value
    reference = None if constant is None or not n_cases else constant / n_cases * PER
    extent = _extent(mean)
    title = f"Cost / 1,000{'' if costs.currency is None else f', {costs.currency}'}"
    if extent is None:
        return Tile(title, shown(mean, notes), None, ("", ""), None, None, None)
    shown_ends = [extent.lowest, extent.highest, *([] if reference is None else [reference])]
    amounts, scale = amounts_for(shown_ends), spanning(shown_ends)
    interval = None
    if extent.low is not None and extent.high is not None:
        interval = amounts.interval(extent.low, extent.high)
    return Tile(
        title=title,
        value=ShownValue(amounts.text(extent.estimate)),
        mark=interval_mark(
            extent,
            scale=scale,
            name=f"{title} on a scale from {scale.ends[0]} to {scale.ends[1]}, "
            f"{_interval_words(extent, amounts)}",
            baseline=reference,
            canvas=IN_TILE,
        ),
        ends=scale.ends,
        interval=interval,
        instead=mean.why_no_interval,
        baseline=None if reference is None else amounts.text(reference),
        detail=f", {costs.name} v{costs.version}",
        baseline_name="best constant answer",
    )


def _extent(value: MetricValue | None) -> Extent | None:
    if value is None or value.value is None:
        return None
    low, high = (None if end is None else end * PER for end in (value.ci_low, value.ci_high))
    return Extent(value.value * PER, low, high)


def _interval_words(extent: Extent, amounts: Amounts) -> str:
    if extent.low is None or extent.high is None:
        return "no interval"
    return f"95 % interval {amounts.interval(extent.low, extent.high)}"

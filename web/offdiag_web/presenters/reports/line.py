"""The best value of each issue as a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from offdiag.reports import wording
from offdiag.reports.charts import axis_of
from offdiag.reports.report import HistoryPoint
from offdiag.reports.scope import ReportScope
from offdiag_web.charts.scale import Extent, Scale
from offdiag_web.charts.trend import trend
from offdiag_web.presenters import numbers


@dataclass(frozen=True, slots=True)
class Line:
    """The best value of each issue, drawn, and what to make of the drawing."""

    heading: str
    mark: Markup
    note: str


def history_line(history: Sequence[HistoryPoint], scope: ReportScope) -> Line | None:
    """Drawn once there are two issues; one point is no line."""
    metric = scope.ranking_metric
    values = [
        None if point.value is None else wording.printed(metric, point.value) for point in history
    ]
    known = [value for value in values if value is not None and value.value is not None]
    if len(history) < 2 or not known:
        return None
    axis = axis_of(known)
    title = wording.title(metric)
    last = values[-1]
    latest = (
        "no value in the last issue"
        if last is None or last.value is None
        else f"{wording.with_interval(last)} in issue {history[-1].number}"
    )
    return Line(
        heading=f"{title} of the best run, issue by issue",
        mark=trend(
            [
                None
                if value is None or value.value is None
                else Extent(value.value, value.ci_low, value.ci_high)
                for value in values
            ],
            scale=Scale(axis.ticks[0], axis.ticks[-1]),
            name=f"{title} of the best run in {numbers.plural(len(history), 'issue')}; {latest}",
        ),
        note=f"Issues {history[0].number} to {history[-1].number}, each with its 95 % interval; "
        f"{latest}. A gap is an issue without an evaluated run.",
    )

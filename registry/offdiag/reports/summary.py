"""What a list of reports shows of an issue, a few numbers that are kept beside its files."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.flags.lifecycle import FlagState
from offdiag.reports.report import Report


@dataclass(frozen=True, slots=True)
class IssueSummary:
    """Counts of an issue, and the best values of its series.

    Of `n_alerts` alerts `n_new_alerts` are new. `n_open_flags` and `n_raised_flags` are None
    where the issue does not tell. `line` holds the best value of `metric` for each of the last
    issues, oldest first, None where there was none; it ends with this issue.
    """

    n_runs: int
    n_alerts: int
    n_new_alerts: int
    n_open_flags: int | None
    n_raised_flags: int | None
    metric: str
    line: tuple[float | None, ...]


def summary_of(report: Report) -> IssueSummary:
    """The summary of an issue."""
    flags, changes = report.snapshot.flags, report.findings.flags
    raised = report.findings.alerts.raised
    return IssueSummary(
        n_runs=len(report.snapshot.runs),
        n_alerts=len(raised),
        n_new_alerts=sum(alert.is_new for alert in raised),
        n_open_flags=None
        if flags is None
        else sum(flag.state is FlagState.OPEN for flag in flags),
        n_raised_flags=None if changes is None else len(changes.opened),
        metric=report.scope.ranking_metric,
        line=tuple(None if point.value is None else point.value.value for point in report.history),
    )

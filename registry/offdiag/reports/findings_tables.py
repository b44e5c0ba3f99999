"""Tables of what follows from the figures: alerts, changes, revisions."""

from __future__ import annotations

from offdiag.flags.lifecycle import FlagState
from offdiag.reports import wording
from offdiag.reports.changes import Change, Origin
from offdiag.reports.evidence import BATCHES
from offdiag.reports.report import Report
from offdiag.reports.scope import spec_of
from offdiag.reports.table import Table, table_of


def alerts_table(report: Report) -> Table | None:
    alerts = report.findings.alerts
    rows = [
        (
            wording.condition_text(alert.condition),
            alert.run_name,
            wording.metric_text(alert.condition.metric, alert.value)
            if alert.evidence is None
            else f"evidence {_odds(alert.evidence.odds)}, "
            f"most likely since edition {alert.evidence.start}",
            "new" if alert.is_new else "as before",
        )
        for alert in alerts.raised
    ] + [
        (
            wording.condition_text(each.condition),
            each.run_name,
            f"not judged: {each.reason}",
            "",
        )
        for each in alerts.unjudged
    ]
    return table_of(
        "Alerts",
        ("condition", "run", "value", "status"),
        rows,
        "An alert is raised where the whole interval of a run lies beyond the limit or, where "
        "editions bring new examples, where the evidence of all of them reaches its limit.",
    )


def evidence_table(report: Report) -> Table | None:
    """How much speaks for a share having fallen, where editions bring new examples."""
    return table_of(
        "Evidence over editions",
        ("condition", "model", "editions", "examples", "evidence", "alert at"),
        [
            (
                wording.condition_text(each.condition),
                each.model or "no model named",
                str(len(each.batches)),
                f"{sum(batch.n_samples for batch in each.batches):,}",
                _odds(each.odds),
                _odds(each.limit),
            )
            for each in report.findings.alerts.evidence
            if each.is_of_new_samples
        ],
        f"Over {BATCHES} editions, false alerts of all conditions together come in at most 5 % of "
        "cases as long as the examples of an edition are independent of earlier ones.",
    )


def _odds(value: float) -> str:
    return f"{value:,.0f} : 1" if value >= 10 else f"{value:.2g} : 1"


def changes_table(report: Report) -> Table | None:
    changes = report.findings.changes
    note = (
        f"{wording.count(changes.n_compared, 'value was', 'values were')} compared with issue "
        f"{report.findings.since}."
    )
    if any(change.origin is Origin.SUCCEEDED for change in changes.beyond):
        note += " Differences between two runs are judged together (95 %, Bonferroni)."
    return table_of(
        "Changes beyond their interval",
        ("run", "value", "before", "now", "difference", "because"),
        [_change_row(change) for change in changes.beyond],
        note,
    )


def _change_row(change: Change) -> tuple[str, ...]:
    spec = spec_of(change.metric, of_class=change.class_label is not None)
    where = f", {change.slice}" if change.slice else ""
    because = "scored again" if change.origin is Origin.RESCORED else "a newer run of this name"
    difference = change.difference
    return (
        change.run_name,
        f"{wording.title(change.metric, change.class_label)}{where}",
        wording.metric_text(change.metric, change.before),
        wording.metric_text(change.metric, change.after),
        "" if difference is None else wording.difference(difference, spec),
        because,
    )


_BADGES = {"hides": "▲ hides it", "may hide": "◇ may hide it"}
"""Whether accuracy hides what a flag is about, by the badge of the flag."""


def flags_table(report: Report) -> Table | None:
    """What was raised and closed since the issue before; in a first issue, all that is open."""
    changes, flags = report.findings.flags, report.snapshot.flags
    if changes is None:
        listed = [("open", flag) for flag in flags or () if flag.state is FlagState.OPEN]
        title = "Open flags"
    else:
        listed = [("raised", flag) for flag in changes.opened]
        listed += [("closed", flag) for flag in changes.closed]
        title = f"Flags raised and closed since issue {report.findings.since}"
    return table_of(
        title,
        ("status", "severity", "run", "class", "accuracy", "what the rule says"),
        [
            (
                status,
                flag.severity.value,
                flag.run_name,
                flag.class_label or "",
                _BADGES.get(flag.badge, ""),
                f"{flag.rule}: {flag.message}",
            )
            for status, flag in listed
        ],
        "A closed flag says what held when it still fired."
        if changes is not None and changes.closed
        else "",
    )


def rank_changes_table(report: Report) -> Table | None:
    return table_of(
        "Changed places",
        ("ranking by", "run", "before", "now"),
        [
            (wording.title(each.metric), each.run_name, str(each.before), str(each.after))
            for each in report.findings.rank_changes
        ],
        "Places among the runs that were in both issues.",
    )


def revisions_table(report: Report) -> Table | None:
    return table_of(
        "Revised ground truth",
        ("version", "revised", "labels changed", "reason", "by"),
        [
            (
                f"{each.parent_number} to {each.number}",
                f"{each.created_at:%Y-%m-%d %H:%M} UTC",
                f"{each.n_changed:,}",
                each.reason,
                each.author or "",
            )
            for each in report.snapshot.revisions
        ],
    )


def absent_table(report: Report) -> Table | None:
    snapshot = report.snapshot
    rows = [(name, "no longer in scope") for name in report.findings.gone]
    rows += [(run.name, "still to be scored") for run in snapshot.waiting]
    rows += [(run.name, "could not be evaluated") for run in snapshot.failed]
    return table_of("Runs without figures", ("run", "why"), rows)

"""The tables of what follows from the figures of a report, such as alerts and changes."""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.domain import number_text
from offdiag.domain.runs import Task
from offdiag.domain.sentences import typeset
from offdiag.flags.lifecycle import FlagState
from offdiag.metrics import metric_text
from offdiag.metrics.metric_text import spec_of
from offdiag.reports.alerts import BATCHES
from offdiag.reports.changes import Change, Origin
from offdiag.reports.report import Report
from offdiag.reports.scope import condition_text
from offdiag.reports.tables import Maker, Table, made_tables, table_of


def alerts_table(report: Report) -> Table | None:
    alerts = report.findings.alerts
    rows = [
        (
            condition_text(alert.condition),
            alert.run_name,
            metric_text.value_text(alert.condition.metric, alert.value)
            if alert.evidence is None
            else f"evidence {_odds(alert.evidence.odds)}, "
            f"most likely since edition {alert.evidence.start}",
            "new" if alert.is_new else "as before",
        )
        for alert in alerts.raised
    ] + [
        (
            condition_text(each.condition),
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
    """How strong the evidence for a fallen share is, if editions bring new examples.

    Models without a run in this edition only keep their evidence.
    """
    models = {run.model for run in report.snapshot.runs}
    return table_of(
        "Evidence over editions",
        ("condition", "model", "editions", "examples", "evidence", "alert at"),
        [
            (
                condition_text(each.condition),
                each.model or "no model named",
                str(len(each.batches)),
                f"{sum(batch.n_samples for batch in each.batches):,}",
                _odds(each.odds),
                _odds(each.limit),
            )
            for each in report.findings.alerts.evidence
            if each.is_of_new_samples and each.model in models
        ],
        f"Over {BATCHES} editions, a model has a false alert of any condition in at most 5 % of "
        "cases as long as the examples of an edition are independent of earlier ones; of several "
        "models together any has one more often.",
    )


_MOST_ODDS = 1_000_000
"""Odds above this say nothing more, and have up to three hundred digits."""


def _odds(value: float) -> str:
    if value > _MOST_ODDS:
        return f"over {_MOST_ODDS:,} : 1"
    return f"{value:,.0f} : 1" if value >= 10 else f"{value:.2g} : 1"


def changes_table(report: Report) -> Table | None:
    changes = report.findings.changes
    note = (
        f"{number_text.count(changes.n_compared, 'value was', 'values were')} compared with "
        f"edition {report.findings.since}."
    )
    if report.findings.returned:
        note += " Runs that it had no figures of are compared with the last edition that had some."
    if any(change.origin is Origin.SUCCEEDED for change in changes.beyond):
        note += " Differences between two runs are tested together (95 %, Bonferroni)."
    return table_of(
        "Changes beyond their interval, furthest first",
        ("run", "value", "before", "now", "difference", "because"),
        [_change_row(report, change) for change in changes.beyond],
        note,
    )


def _change_row(report: Report, change: Change) -> tuple[str, ...]:
    spec = spec_of(change.metric, of_class=change.class_label is not None)
    where = f", {change.slice}" if change.slice else ""
    because = "re-evaluated" if change.origin is Origin.RESCORED else "a newer run of this name"
    difference = change.difference
    return (
        f"{change.run_name}{report.id_if_needed(change)}",
        f"{metric_text.title(change.metric, change.class_label)}{where}",
        metric_text.value_text(change.metric, change.before),
        metric_text.value_text(change.metric, change.after),
        "" if difference is None else metric_text.difference(difference, spec),
        because,
    )


_BADGES = {"hides": "▲ hides it", "may hide": "◇ may hide it"}
"""Whether accuracy hides what a flag is about, by the badge of the flag."""


def flags_table(report: Report) -> Table | None:
    """Flags raised and closed since the previous edition; in a first edition, all open flags."""
    changes, flags = report.findings.flags, report.snapshot.flags
    if changes is None:
        listed = [("open", flag) for flag in flags or () if flag.state is FlagState.OPEN]
        title = "Open flags"
    else:
        listed = [("raised", flag) for flag in changes.opened]
        listed += [(each.why, each.flag) for each in changes.reopened]
        listed += [("closed", flag) for flag in changes.closed]
        title = f"Flags raised and closed since edition {report.findings.since}"
    return table_of(
        title,
        ("status", "severity", "run", "class, slice", "accuracy", "what the rule says"),
        [
            (
                status,
                flag.severity.value,
                flag.run_name,
                ", ".join(filter(None, (flag.class_label, flag.slice))),
                _BADGES.get(flag.badge, ""),
                typeset(f"{flag.rule}: {flag.message}"),
            )
            for status, flag in listed
        ],
        "A closed flag says what held when it was last raised."
        if changes is not None and changes.closed
        else "",
    )


def rank_changes_table(report: Report) -> Table | None:
    return table_of(
        "Changed places",
        ("ranking by", "run", "before", "now"),
        [
            (
                metric_text.title(each.metric),
                f"{each.run_name}{report.id_if_needed(each)}",
                str(each.before),
                str(each.after),
            )
            for each in report.findings.rank_changes
        ],
        "Places among the runs that were in both editions.",
    )


def revisions_table(report: Report) -> Table | None:
    sets = "label sets" if report.snapshot.task == Task.MULTILABEL else "labels"
    return table_of(
        "Corrected labels",
        ("version", "corrected", f"{sets} changed", "reason", "by"),
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


_FINDINGS: Sequence[Maker] = (
    alerts_table,
    evidence_table,
    changes_table,
    flags_table,
    rank_changes_table,
    revisions_table,
)


def tables_of_findings(report: Report) -> tuple[Table, ...]:
    """What follows from the figures, most urgent first; tables without rows are left out."""
    return made_tables(_FINDINGS, report)

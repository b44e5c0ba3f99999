"""Flags as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from rich.table import Table
from rich.text import Text

from offdiag.cli.tables import facts_table, open_table
from offdiag.cli.text import label, printable
from offdiag.flags.lifecycle import FlagState
from offdiag.flags.verdict import Certainty
from offdiag.services.flags.alternatives import Gain
from offdiag.services.flags.page import FlagDetail
from offdiag.store.flag_inbox import FlagPage
from offdiag.store.flags import FlagContent, FlagRecord


def flag_name(flag_id: int) -> str:
    """A flag as people name it."""
    return f"F-{flag_id}"


def state_of(flag: FlagRecord, now: datetime) -> str:
    """The state, with the time until which a flag is snoozed."""
    state = flag.status.state_at(now)
    until = flag.status.snoozed_until
    rest = f" until {until:%Y-%m-%d %H:%M} UTC" if state is FlagState.SNOOZED and until else ""
    return f"{state.value}{rest}"


def inbox_table(page: FlagPage, now: datetime) -> Table:
    """One line for each flag, and how many there are in each state."""
    counts = ", ".join(f"{count} {state.value}" for state, count in page.counts.items())
    table = open_table(caption=f"{counts}.")
    for name in ("flag", "severity", "rule", "class", "run", "dataset", "state", "message"):
        table.add_column(name)
    for entry in page.entries:
        flag, content = entry.flag, entry.flag.content
        table.add_row(
            str(flag.id),
            flag.status.severity.value,
            f"{content.rule} in sight"
            if content.certainty is Certainty.IN_SIGHT
            else content.rule,
            Text("" if content.class_label is None else label(content.class_label)),
            Text(printable(f"{entry.run_name} ({flag.run_id})")),
            Text(printable(entry.dataset)),
            state_of(flag, now),
            Text(printable(content.message)),
        )
    return table


def detail_tables(detail: FlagDetail, now: datetime) -> Iterable[Table]:
    """A flag with its conditions, history and alternatives."""
    yield facts_table(flag_name(detail.entry.flag.id), _facts(detail, now))
    yield _raised_table(detail.entry.flag)
    yield _history_table(detail)
    if detail.better.runs:
        yield _alternatives_table(detail)


def _facts(detail: FlagDetail, now: datetime) -> dict[str, str]:
    flag, content = detail.entry.flag, detail.entry.flag.content
    title = "" if detail.rule is None else f": {detail.rule.title}"
    facts = {
        "rule": f"{content.rule} v{content.rule_version}{title}",
        "severity": flag.status.severity.value,
        "run": f"{detail.entry.run_name} ({flag.run_id})",
        "dataset": detail.entry.dataset,
        "class": content.class_label,
        "message": content.message,
        "state": state_of(flag, now),
        "reason": flag.status.reason,
        "assigned to": flag.assignee,
        "warning": _warning(content),
        "first seen": _time(flag.first_seen),
        "last seen": _time(flag.last_seen),
        "help": None if detail.rule is None else detail.rule.help,
    }
    return {name: text for name, text in facts.items() if text}


def _warning(content: FlagContent) -> str | None:
    if content.hides:
        return "accuracy hides a minority class"
    return "accuracy may hide a minority class" if content.may_hide else None


def _raised_table(flag: FlagRecord) -> Table:
    table = open_table(title="Conditions")
    for name in ("what", "measured", "", "threshold", "met"):
        table.add_column(name)
    for comparison in flag.content.fired:
        measured = comparison["measured"]
        table.add_row(
            str(comparison["what"]),
            "undefined" if measured is None else f"{measured:.6g}",
            str(comparison["sign"]),
            f"{comparison['threshold']:.6g}",
            "yes" if comparison["holds"] else "no",
        )
    return table


def _history_table(detail: FlagDetail) -> Table:
    table = open_table(title="History")
    for name in ("when", "who", "what", "text"):
        table.add_column(name)
    for event in detail.history:
        table.add_row(
            _time(event.at),
            Text(printable(event.author or "evaluation")),
            event.kind.value,
            Text(printable(event.text or "")),
        )
    return table


def _alternatives_table(detail: FlagDetail) -> Table:
    alternative_runs = detail.better
    table = open_table(
        title=f"Alternatives for {label(detail.entry.flag.content.class_label or '')}",
        caption=f"p and CI are adjusted for {alternative_runs.n_compared} runs (Bonferroni).",
    )
    for name in ("run", "recall", "gained", "lost", "p", "accuracy"):
        table.add_column(name)
    for better in alternative_runs.runs:
        gain = better.recall
        table.add_row(
            Text(printable(f"{better.run.name} ({better.run.run_id})")),
            "" if better.run.recall.value is None else f"{better.run.recall.value:.3f}",
            "" if gain is None else str(gain.won),
            "" if gain is None else str(gain.lost),
            "not paired" if better.p is None else f"{better.p:.2g}",
            _points(better.accuracy),
        )
    return table


def _points(gain: Gain | None) -> str:
    if gain is None:
        return ""
    return f"{100 * gain.value:+.1f} points ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})"


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")

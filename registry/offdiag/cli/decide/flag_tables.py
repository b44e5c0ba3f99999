"""Flags as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from rich.table import Table

from offdiag.cli.output import label
from offdiag.cli.tables import facts_table, filled_table
from offdiag.domain.number_text import p_value
from offdiag.flags.lifecycle import FlagState
from offdiag.flags.verdict import Certainty
from offdiag.records.flag import CountedFlags, Flag, FlagExplained, MeasuredGain


def flag_name(flag_id: int) -> str:
    """A flag as people name it."""
    return f"F-{flag_id}"


def state_of(flag: Flag) -> str:
    """The state, with the time until which a flag is snoozed."""
    until = flag.snoozed_until if flag.state is FlagState.SNOOZED else None
    return f"{flag.state.value}{f' until {until:%Y-%m-%d %H:%M} UTC' if until else ''}"


def inbox_table(found: CountedFlags) -> Table:
    """One line for each flag, and how many there are in each state."""
    return filled_table(
        ("flag", "severity", "rule", "class", "slice", "run", "dataset", "state", "message"),
        (
            (
                str(flag.id),
                flag.severity.value,
                f"{flag.rule}{' in sight' if flag.certainty is Certainty.IN_SIGHT else ''}",
                "" if flag.class_label is None else label(flag.class_label),
                flag.slice or "",
                f"{flag.run_name} ({flag.run})",
                flag.dataset,
                state_of(flag),
                flag.message,
            )
            for flag in found.flags
        ),
        caption=f"{', '.join(f'{count} {state}' for state, count in found.counts.items())}.",
    )


def detail_tables(flag: FlagExplained) -> Iterable[Table]:
    """A flag with its conditions, history and alternatives."""
    yield facts_table(flag_name(flag.id), _facts(flag))
    yield filled_table(
        ("what", "measured", "", "threshold", "met"),
        (
            (
                str(each["what"]),
                "undefined" if each["measured"] is None else f"{each['measured']:.6g}",
                str(each["sign"]),
                f"{each['threshold']:.6g}",
                "yes" if each["holds"] else "no",
            )
            for each in flag.fired
        ),
        title="Conditions",
    )
    yield filled_table(
        ("when", "who", "what", "text"),
        (
            (_time(event.at), event.author or "evaluation", event.kind, event.text or "")
            for event in flag.history
        ),
        title="History",
    )
    if flag.better:
        yield _alternatives_table(flag)


def _facts(flag: FlagExplained) -> dict[str, str]:
    facts = {
        "rule": f"{flag.rule} v{flag.rule_version}{f': {flag.title}' if flag.title else ''}",
        "severity": flag.severity.value,
        "run": f"{flag.run_name} ({flag.run})",
        "dataset": flag.dataset,
        "class": flag.class_label,
        "slice": flag.slice,
        "message": flag.message,
        "state": state_of(flag),
        "reason": flag.reason,
        "assigned to": flag.assignee,
        "warning": _warning(flag),
        "first seen": _time(flag.first_seen),
        "last seen": _time(flag.last_seen),
        "help": flag.help,
    }
    return {name: text for name, text in facts.items() if text}


def _warning(flag: Flag) -> str | None:
    if flag.in_badge:
        return "accuracy hides a minority class"
    return "accuracy may hide a minority class" if flag.may_hide else None


def _alternatives_table(flag: FlagExplained) -> Table:
    return filled_table(
        ("run", "recall", "gained", "lost", "p", "accuracy"),
        (
            (
                f"{each.name} ({each.run})",
                "" if each.recall is None else f"{each.recall:.3f}",
                "" if each.recall_gain is None else str(each.recall_gain.won),
                "" if each.recall_gain is None else str(each.recall_gain.lost),
                "not paired"
                if each.p is None
                else p_value(each.p).removeprefix("p ").removeprefix("= "),
                _points(each.accuracy_gain),
            )
            for each in flag.better
        ),
        title=f"Alternatives for {label(flag.class_label or '')}",
        caption=f"p and CI are adjusted for {flag.compared_with} runs (Bonferroni).",
    )


def _points(gain: MeasuredGain | None) -> str:
    if gain is None:
        return ""
    return f"{100 * gain.value:+.1f} points ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})"


def _time(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")

"""Flags as plain values for programs, the same on every way out."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from offdiag.services.flags.alternatives import BetterOnClass, Gain
from offdiag.services.flags.page import FlagDetail
from offdiag.store.flag_inbox import FlagEntry
from offdiag.store.flags import FlagRecord


def flag_dict(flag: FlagRecord, now: datetime) -> dict[str, Any]:
    """A flag by itself. `state` is as people see it."""
    content, standing = flag.content, flag.standing
    return {
        "id": flag.id,
        "run": flag.run_id,
        "rule": content.rule,
        "rule_version": content.rule_version,
        "class_label": content.class_label,
        "severity": standing.severity.value,
        "message": content.message,
        "evidence": dict(content.evidence),
        "fired": [dict(comparison) for comparison in content.fired],
        "thresholds": dict(content.thresholds),
        "certainty": content.certainty.value,
        "in_badge": content.hides,
        "may_hide": content.may_hide,
        "state": standing.state_at(now).value,
        "snoozed_until": _time(standing.snoozed_until),
        "reason": standing.reason,
        "assignee": flag.assignee,
        "first_seen": _time(flag.first_seen),
        "last_seen": _time(flag.last_seen),
        "closed_at": _time(flag.closed_at),
    }


def entry_dict(entry: FlagEntry, now: datetime) -> dict[str, Any]:
    """A flag with the names of what it belongs to."""
    return flag_dict(entry.flag, now) | {
        "run_name": entry.run_name,
        "model": entry.model,
        "dataset": entry.dataset,
        "project": entry.project,
    }


def detail_dict(detail: FlagDetail, now: datetime) -> dict[str, Any]:
    """All about one flag."""
    return entry_dict(detail.entry, now) | {
        "title": None if detail.rule is None else detail.rule.title,
        "help": None if detail.rule is None else detail.rule.help,
        "history": [
            {
                "at": _time(event.at),
                "author": event.author,
                "kind": event.kind.value,
                "text": event.text,
            }
            for event in detail.history
        ],
        "better": [_better_dict(better) for better in detail.better.runs],
        "compared_with": detail.better.n_compared,
    }


def _better_dict(better: BetterOnClass) -> dict[str, Any]:
    return {
        "run": better.run.run_id,
        "name": better.run.name,
        "model": better.run.model,
        "recall": better.run.recall.value,
        "accuracy": better.run.accuracy,
        "recall_gain": _gain_dict(better.recall),
        "accuracy_gain": _gain_dict(better.accuracy),
        "p": better.p,
    }


def _gain_dict(gain: Gain | None) -> dict[str, Any] | None:
    return None if gain is None else asdict(gain)


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")

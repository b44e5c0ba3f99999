"""Flags as they travel."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from offdiag.records import flag as wire
from offdiag.services.flags.detail import FlagDetail
from offdiag.store.flag_inbox import FlagEntry


def flag(entry: FlagEntry, now: datetime) -> wire.Flag:
    return wire.Flag(**_facts(entry, now))


def flag_with_history(detail: FlagDetail, now: datetime) -> wire.FlagWithHistory:
    return wire.FlagWithHistory(
        **_facts(detail.entry, now),
        history=[
            wire.FlagEvent(
                at=event.at, author=event.author, kind=event.kind.value, text=event.text
            )
            for event in detail.history
        ],
    )


def _facts(entry: FlagEntry, now: datetime) -> dict[str, Any]:
    record, content, standing = entry.flag, entry.flag.content, entry.flag.standing
    return {
        "id": record.id,
        "revision": entry.revision,
        "rule": content.rule,
        "rule_version": content.rule_version,
        "severity": standing.severity,
        "state": standing.state_at(now),
        "class_label": content.class_label,
        "message": content.message,
        "evidence": dict(content.evidence),
        "fired": [dict(comparison) for comparison in content.fired],
        "thresholds": dict(content.thresholds),
        "certainty": content.certainty,
        "in_badge": content.hides,
        "may_hide": content.may_hide,
        "run": record.run_id,
        "run_name": entry.run_name,
        "model": entry.model,
        "dataset": entry.dataset,
        "project": entry.project,
        "assignee": record.assignee,
        "snoozed_until": standing.snoozed_until,
        "reason": standing.reason,
        "first_seen": record.first_seen,
        "last_seen": record.last_seen,
        "closed_at": record.closed_at,
    }

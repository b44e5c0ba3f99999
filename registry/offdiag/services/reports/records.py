"""Issues and deliveries as plain values for programs, the same on every way out."""

from __future__ import annotations

from typing import Any

from offdiag.services.delivery.message import read_target
from offdiag.store.deliveries import DeliveryRecord
from offdiag.store.reports import IssueRecord


def issue_facts(issue: IssueRecord) -> dict[str, Any]:
    """One issue without its figures."""
    return {
        "number": issue.number,
        "state": issue.state.value,
        "fire_time": issue.fire_time,
        "covers_missed": issue.covers_missed,
        "headline": issue.headline,
        "data_digest": issue.data_digest,
        "error": issue.error,
        "created_at": issue.created_at.isoformat(),
        "computed_at": None if issue.computed_at is None else issue.computed_at.isoformat(),
    }


def delivery_facts(delivery: DeliveryRecord) -> dict[str, Any]:
    """One delivery; the target is written so that it holds no secret."""
    return {
        "target": read_target(delivery.target).text,
        "state": delivery.state.value,
        "attempts": delivery.attempts,
        "error": delivery.error,
    }

"""Figures of reports made by hand, as small as they get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from offdiag.domain.values import MetricValue
from offdiag.reports.report import EditionFacts, Report, make_report
from offdiag.reports.scope import CLASS_METRICS, DEFAULT_METRICS, ReportScope
from offdiag.reports.snapshot import (
    ClassFigures,
    Confusion,
    LeaderErrors,
    Matrix,
    Revision,
    RunFigures,
    Snapshot,
    TruthFigures,
)

AS_OF = datetime(2026, 11, 16, 5, 0, 1, tzinfo=UTC)
SCOPE = ReportScope(project="skin", dataset="derm-7")
UNDEFINED = MetricValue(None, reason="no_predicted_positives")


def value(estimate: float, half_width: float = 0.02) -> MetricValue:
    """An estimate in the middle of its interval."""
    return MetricValue(
        estimate, ci_low=estimate - half_width, ci_high=estimate + half_width, ci_method="by hand"
    )


def class_figures(label: str, recall: float, *, support: int = 50) -> ClassFigures:
    return ClassFigures(label, support, dict.fromkeys(CLASS_METRICS, value(recall, 0.05)))


def run(name: str, level: float, **changes: Any) -> RunFigures:
    """A run all of whose metrics have one value."""
    facts: dict[str, Any] = {
        "id": f"r_{name}",
        "name": name,
        "model": None,
        "logged_at": datetime(2026, 11, 1, tzinfo=UTC),
        "truth_number": 1,
        "suite_version": 1,
        "input_digest": f"{name} at {level}",
        "n_cases": 1000,
        "n_scored": 1000,
        "metrics": dict.fromkeys(DEFAULT_METRICS, value(level)),
        "classes": (class_figures("mel", level), class_figures("nv", level, support=900)),
    }
    return RunFigures(**facts | changes)


def revision(number: int = 2, n_changed: int = 10, **changes: Any) -> Revision:
    facts: dict[str, Any] = {
        "number": number,
        "parent_number": number - 1,
        "reason": "second opinion",
        "author": "ana",
        "created_at": AS_OF,
        "n_changed": n_changed,
    }
    return Revision(**facts | changes)


def snapshot(runs: Sequence[RunFigures], **changes: Any) -> Snapshot:
    facts: dict[str, Any] = {
        "task": "multiclass",
        "n_classes": 2,
        "truth": TruthFigures(1, 1, "0123456789abcdef", 1000, 1000),
        "suite_version": 1,
        "engine_version": "0.1.0",
        "runs": tuple(runs),
        "slices": (),
        "leader": None,
        "revisions": (),
        "waiting": (),
        "failed": (),
        "n_matching": len(runs),
        "n_elsewhere": 0,
    }
    return Snapshot(**facts | changes)


def leader_of(run_id: str, labels: Sequence[str] = ("mel", "nv")) -> LeaderErrors:
    counts = ((60, 40), (20, 880))
    return LeaderErrors(
        run_id,
        Matrix(run_id, tuple(labels), counts),
        (Confusion(labels[0], labels[1], 40, 100), Confusion(labels[1], labels[0], 20, 900)),
    )


def report(
    shown: Snapshot,
    previous: Report | None = None,
    *,
    scope: ReportScope = SCOPE,
    facts: Mapping[str, Any] | None = None,
    older: Sequence[Report] = (),
) -> Report:
    """The edition after `previous`."""
    number = 1 if previous is None else previous.edition.number + 1
    edition: dict[str, Any] = {
        "project": scope.project,
        "name": "derm-7 weekly",
        "number": number,
        "fire_time": "2026-11-16T06:00 Europe/Ljubljana",
        "covers_missed": 0,
        "as_of": AS_OF,
    }
    return make_report(EditionFacts(**edition | dict(facts or {})), scope, shown, previous, older)

"""How many labels would decide, where the present ones already do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from offdiag.services.champions.decision import LabelBudget
from offdiag_web.pages.datasets import decision
from offdiag_web.pages.datasets.decision import budget_view


@pytest.fixture(autouse=True)
def _names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decision, "name_of", lambda _, run_id: run_id)


def said(needed: int, detectable: float) -> tuple[str, str, str]:
    decided = cast("Any", SimpleNamespace(leaders=SimpleNamespace(metric="balanced_accuracy")))
    budget = LabelBudget("new", "old", 0.01, 40_000, needed, None, None, detectable)
    view = budget_view(decided, budget)
    return view.needed, view.between, view.present


def test_enough_labels_are_not_said_to_be_a_handful() -> None:
    assert said(1, 0.00005) == (
        "The present 40,000 labelled examples",
        "detect a difference of 1.0 pp between new and old (power 80 %).",
        "They even detect 0.005 pp.",
    )


def test_more_labels_than_there_are_would_detect_it() -> None:
    assert said(19_000_000, 0.2) == (
        "More than 20,000 labelled examples",
        "in all would detect a difference of 1.0 pp between new and old (power 80 %).",
        "The present 40,000 detect 20.0 pp.",
    )

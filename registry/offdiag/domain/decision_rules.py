"""Rules that predict a class from the scores of a run that came without predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

THRESHOLD = 0.5

ARG_MAX: Mapping[str, Any] = {"rule": "arg_max", "ties": "first_in_label_order"}
"""The class with the highest score; of equal ones the first in label order."""


def at_threshold(positive_label: str) -> Mapping[str, Any]:
    """The positive one of two classes where its score is at least 0.5, else the other."""
    return {"rule": "threshold", "positive": positive_label, "threshold": THRESHOLD}


def decision_text(rule: Mapping[str, Any]) -> str:
    """A rule in words."""
    if rule.get("rule") == "threshold":
        return f"{rule['positive']!r} where its score is at least {rule['threshold']:g}"
    return "the class with the highest score, the first in label order of equal ones"

"""Short texts of problems: what is wrong, why, and the current value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from offdiag.domain.number_text import count, number
from offdiag.domain.texts import shortened
from offdiag.flags.catalogue import RULES
from offdiag.flags.problems import Cause, ProblemKey
from offdiag.flags.warning import named

_OF_CLASS: Mapping[Cause, str] = MappingProxyType(
    {
        Cause.MISSED: "{} missed",
        Cause.IMPRECISE: "{} often wrong",
        Cause.DROP: "Drop: recall of {}",
        Cause.FEW_LABELS: "Not enough labels: {}",
    }
)
_OF_RUN: Mapping[Cause, str] = MappingProxyType(
    {
        Cause.WORTHLESS: "Not clearly better than a constant prediction",
        Cause.HIDES: "Accuracy far above other metrics",
        Cause.COST: "Costs too much",
        Cause.ORIENTATION: "Matrix may be transposed",
    }
)


MOST_OF_SLICE = 60
"""Characters of a slice in a title."""


def problem_name(number: int) -> str:
    return f"P-{number}"


def problem_title(key: ProblemKey) -> str:
    """ "df missed"; “8” missed, if the name alone would read as a count."""
    if key.cause is Cause.SLICE:
        of_class = f"recall of {named(key.class_label)}" if key.class_label else "accuracy"
        return f"Low {of_class} on {shortened(key.slice, longest=MOST_OF_SLICE)}"
    known = _OF_RUN.get(key.cause)
    return known or _OF_CLASS[key.cause].format(
        named(key.class_label) if key.class_label else "a class"
    )


def reason(rule: str) -> str:
    """The finding of a rule in a few words."""
    return RULES[rule].finding if rule in RULES else f"rule {rule}"


Evidence = Mapping[str, Any]


def value_now(rule: str, evidence: Evidence) -> str:
    """The measured value in short: "recall 1 of 17", "−11.0 pp"; empty if unknown."""
    text_of = _VALUES.get(rule)
    try:
        if evidence.get("weighted") and rule in _OF_WEIGHTS:
            text_of = _OF_WEIGHTS[rule]
        return "" if text_of is None else text_of(evidence)
    except (KeyError, TypeError, ValueError):
        # Evidence from an older version of the rule.
        return ""


def _points(share: float) -> str:
    return f"\N{MINUS SIGN}{100 * share:.1f} pp"


_VALUES: Mapping[str, Callable[[Evidence], str]] = MappingProxyType(
    {
        "F1": lambda found: f"accuracy {number(found['accuracy'])}",
        "F2": lambda found: f"recall 0 of {found['actual']:,}",
        "F3": lambda found: f"recall {found['correct']:,} of {found['actual']:,}",
        "F4": lambda found: f"recall {found['correct']:,} of {found['actual']:,}",
        "F5": lambda found: f"accuracy {number(found['accuracy'])}",
        "F6": lambda found: _points(found["gap"]),
        "F7": lambda found: _points(found["gap"]),
        "F8": lambda found: f"MCC {number(found['mcc'])}",
        "F9": lambda found: (
            f"precision {found['predicted'] - found['wrong']:,} of {found['predicted']:,}"
        ),
        "F10": lambda found: (
            f"recall {found['actual'] - found['misses']:,} of {found['actual']:,}"
        ),
        "F11": lambda found: f"{found['ratio']:.2f}×",
        "F12": lambda found: count(found["actual"], "example"),
        "F14": lambda found: _points(found["drop"]),
        "F16": lambda found: f"{found['correct']:,} of {found['cases']:,} correct",
    }
)
_OF_WEIGHTS: Mapping[str, Callable[[Evidence], str]] = MappingProxyType(
    {
        "F4": lambda found: f"recall {number(found['recall'])}",
        "F9": lambda found: f"precision {number(found['precision'])}",
        "F10": lambda found: f"{found['predicted']:,} for {found['actual']:,}",
        "F12": lambda found: f"{found['effective_size']:,.0f} effective examples",
    }
)
"""Texts for weighted runs, where numbers of examples do not decide."""

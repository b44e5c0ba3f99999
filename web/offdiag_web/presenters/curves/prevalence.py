"""What would change where the positive class is as common as somebody says, in words."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.errors import InvalidInput
from offdiag.metrics.counted import Counted
from offdiag.services.curves.prevalence import (
    PREVALENCE_KEYS,
    measured_values,
    values_at_prevalence,
)
from offdiag_web.presenters.class_order import quoted_name
from offdiag_web.presenters.values import CLASS_METRIC_TITLES, Notes, ShownValue, shown

_UNCHANGED = frozenset({"recall", "specificity", "balanced_accuracy_ovr"})


@dataclass(frozen=True, slots=True)
class PrevalenceLine:
    """One metric as it was measured and as it would be."""

    title: str
    measured: ShownValue
    expected: ShownValue
    stays: bool


@dataclass(frozen=True, slots=True)
class PrevalenceView:
    """The question with its answer; `lines` is empty where it has none, and `problem` says why."""

    sentence: str
    lines: tuple[PrevalenceLine, ...]
    problem: str | None = None


def prevalence_view(matrix: Counted, code: int, prevalence: float, notes: Notes) -> PrevalenceView:
    """Work out again what depends on how common the class is."""
    measured = measured_values(matrix, code)
    sentence = _sentence(matrix, code, prevalence)
    try:
        expected = values_at_prevalence(matrix, code, prevalence)
    except InvalidInput as error:
        return PrevalenceView(sentence, (), problem=f"{error.message} {error.hint or ''}".strip())
    return PrevalenceView(
        sentence,
        tuple(
            PrevalenceLine(
                CLASS_METRIC_TITLES[key],
                shown(measured[key], notes),
                shown(expected[key], notes),
                key in _UNCHANGED,
            )
            for key in PREVALENCE_KEYS
        ),
    )


def percent(share: float) -> str:
    """A share as a percentage with as many digits as it was given with, up to four."""
    return f"{100 * share:.4g}\N{NARROW NO-BREAK SPACE}%"


def _sentence(matrix: Counted, code: int, prevalence: float) -> str:
    name = quoted_name(matrix.labels.names[code])
    share = int(matrix.actual[code]) / max(matrix.total, 1)
    return (
        f"What if {percent(prevalence)} of the cases were {name}, and not {percent(share)} as "
        "measured here? Recall and false positive rate stay, because they look at one class "
        "each; what depends on how common the classes are is worked out again below. ROC "
        "curves, calibration and the spread of scores are as measured."
    )

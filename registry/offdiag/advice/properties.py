"""What the catalogue says of a metric, as sentences for a given situation."""

from __future__ import annotations

from offdiag.advice.situation import Goal, Situation
from offdiag.metrics.catalogue import MetricSpec
from offdiag.metrics.spec import (
    ERRING_CLASS,
    FALSE_NEGATIVES,
    FALSE_POSITIVES,
    TRUE_NEGATIVES,
)

ANY_BALANCE = "It is the same on any class balance."
ANY_SHARE = (
    "It is the same however frequent '{class}' is, as long as the other classes keep their "
    "proportions to each other."
)
KNOWN_BALANCE = "It depends on how frequent the classes are, which is known to be as in use."
OTHER_BALANCE = "It changes with the class balance, and that in use is not known to be this one."
EITHER_CLASS = "It does not matter which class is called positive."

_SHARE_OF_POSITIVES = "the share of positive cases"
"""How entries about scores say what the symmetry of a matrix says for the others."""
_ERROR_THAT_MATTERS = {Goal.MISSES: FALSE_NEGATIVES, Goal.FALSE_ALARMS: FALSE_POSITIVES}
_SHARES_OF_RIGHT_ANSWERS = frozenset({"overall_accuracy", "micro_f1"})


def is_prevalence_independent(spec: MetricSpec) -> bool:
    """Whether the same classifier keeps its value when the classes get more or less frequent."""
    if spec.symmetry is not None and spec.symmetry.prevalence_independent:
        return True
    return _SHARE_OF_POSITIVES in spec.ignores


def reasons_for(spec: MetricSpec, situation: Situation, *, of_class: bool) -> tuple[str, ...]:
    """Why the metric suits the situation, and what it must not be asked."""
    sentences = [_on_balance(spec, situation, of_class=of_class)]
    if spec.symmetry is not None and spec.symmetry.class_inversion and len(situation.labels) == 2:
        sentences.append(EITHER_CLASS)
    ignored = [part for part in spec.ignores if part != _SHARE_OF_POSITIVES]
    if ignored:
        sentences.append(f"It ignores {' and '.join(ignored)}.")
    return (*sentences, spec.notes) if spec.notes else tuple(sentences)


def _on_balance(spec: MetricSpec, situation: Situation, *, of_class: bool) -> str:
    """What becomes of the value when the classes get more or less frequent."""
    if not is_prevalence_independent(spec):
        return KNOWN_BALANCE
    counts_others = not {FALSE_POSITIVES, TRUE_NEGATIVES} <= set(spec.ignores)
    if of_class and counts_others and len(situation.labels) > 2:
        return ANY_SHARE.replace("{class}", situation.watched)
    return ANY_BALANCE


def reasons_against(spec: MetricSpec, situation: Situation) -> tuple[str, ...]:
    """Why the metric should be no headline here; empty if nothing speaks against it."""
    if spec.key == "average_accuracy" and len(situation.labels) == 2:
        return ()  # It is the accuracy.
    sentences = []
    if not situation.balance_known and not is_prevalence_independent(spec):
        sentences.append(OTHER_BALANCE)
    matters = _ERROR_THAT_MATTERS.get(situation.goal)
    if matters in spec.ignores:
        sentences.append(f"It ignores {matters}, the errors that matter.")
    if situation.is_imbalanced and ERRING_CLASS in spec.ignores:
        sentences.append(f"It ignores {ERRING_CLASS}.")
        if spec.key in _SHARES_OF_RIGHT_ANSWERS:
            share = f"{100 * situation.majority_share:.1f} %"
            sentences.append(f"Naming '{situation.majority}' every time scores {share}.")
    if situation.is_imbalanced and spec.key.startswith("weighted_"):
        sentences.append(spec.notes)
    if spec.key == "average_accuracy":
        sentences.append(spec.notes)
    return tuple(sentences)

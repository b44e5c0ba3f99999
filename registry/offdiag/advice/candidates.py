"""Which metrics answer which question, the most telling first.

The order is a judgement; whether a candidate is allowed in a situation is not, that follows
from the catalogue. Each list holds at least three that need neither scores nor a known class
balance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from offdiag.advice.situation import Goal, Situation
from offdiag.metrics.catalogue import CATALOGUE, MetricSpec, Scope
from offdiag.metrics.scores.calibration import DEFAULT_BINS


@dataclass(frozen=True, slots=True)
class Candidate:
    """A metric and the question it answers; `{class}` in it is the class in question.

    `of_class` says that the value is that of one class.
    """

    spec: MetricSpec
    question: str
    of_class: bool


def _of_class(key: str, question: str, scope: Scope = Scope.PER_CLASS) -> Candidate:
    return Candidate(CATALOGUE[scope][key], question, of_class=True)


def _of_all(key: str, question: str, scope: Scope = Scope.AGGREGATE) -> Candidate:
    return Candidate(CATALOGUE[scope][key], question, of_class=False)


_CALIBRATION = f"ece_top_label_{DEFAULT_BINS}"
_FOUND = "How many of the actual '{class}' are found?"
_RIGHT = "How often is the answer '{class}' right?"
_CLEARED = "How many cases of other classes are rightly not called '{class}'?"
_ONE_NUMBER = "Both kinds of error about '{class}' in one number."
_EACH_FOUND = "How many cases of a class are found, every class counting alike?"
_EACH_RIGHT = "How often is an answer right, every class counting alike?"
_ALL_ERRORS = "All errors in one number, beside what chance would do."
_AT_THRESHOLD = "What do the scores achieve at the present threshold?"

_RECALL = _of_class("recall", _FOUND)
_PRECISION = _of_class("precision", _RIGHT)
_SPECIFICITY = _of_class("specificity", _CLEARED)
_INFORMEDNESS = _of_class("informedness", _ONE_NUMBER)
_AT_PRESENT = _of_class("informedness", _AT_THRESHOLD)
_BALANCED_ACCURACY = _of_all("balanced_accuracy", _EACH_FOUND)
_MCC = _of_all("mcc", _ALL_ERRORS)
_ROC_AUC = _of_class(
    "roc_auc", "How well do the scores put '{class}' before the rest?", Scope.PROBABILISTIC
)
_AVERAGE_PRECISION = _of_class(
    "average_precision",
    "How pure is the top of a list sorted by the score of '{class}'?",
    Scope.PROBABILISTIC,
)
_PROBABILITIES = (
    _of_all("log_loss", "How good are the probabilities as a whole?", Scope.PROBABILISTIC),
    _of_all(
        _CALIBRATION,
        "Do answers of 80 % come true 80 % of the time?",
        Scope.PROBABILISTIC,
    ),
    _ROC_AUC,
    _AT_PRESENT,
    _RECALL,
    _SPECIFICITY,
)

ABOUT_ONE_CLASS: Mapping[Goal, tuple[Candidate, ...]] = MappingProxyType(
    {
        Goal.MISSES: (
            _RECALL,
            _PRECISION,
            _of_class("f2", _ONE_NUMBER),
            _SPECIFICITY,
            _INFORMEDNESS,
        ),
        Goal.FALSE_ALARMS: (
            _PRECISION,
            _RECALL,
            _of_class("f0_5", _ONE_NUMBER),
            _SPECIFICITY,
            _INFORMEDNESS,
        ),
        Goal.BOTH: (_RECALL, _PRECISION, _MCC, _SPECIFICITY, _INFORMEDNESS),
        Goal.RANKING: (_ROC_AUC, _AVERAGE_PRECISION, _AT_PRESENT, _RECALL, _SPECIFICITY),
        Goal.PROBABILITIES: _PROBABILITIES,
    }
)
ABOUT_ALL_CLASSES: Mapping[Goal, tuple[Candidate, ...]] = MappingProxyType(
    {
        Goal.MISSES: (
            _BALANCED_ACCURACY,
            _RECALL,
            _of_all("macro_precision", _EACH_RIGHT),
            _SPECIFICITY,
        ),
        Goal.FALSE_ALARMS: (
            _of_all("macro_precision", _EACH_RIGHT),
            _PRECISION,
            _BALANCED_ACCURACY,
            _SPECIFICITY,
            _of_class("lr_plus", "What does the answer '{class}' change?"),
        ),
        Goal.BOTH: (
            _MCC,
            _of_all("macro_f1", "Both kinds of error, every class counting alike."),
            _of_class("f1", _ONE_NUMBER),
            _BALANCED_ACCURACY,
            _RECALL,
            _of_all("gmean_multiclass", "Is any class missed altogether?"),
        ),
        Goal.RANKING: (
            _of_all(
                "roc_auc_ovr_macro",
                "How well do the scores put the right class first, every class counting alike?",
                Scope.PROBABILISTIC,
            ),
            _ROC_AUC,
            _AVERAGE_PRECISION,
            _BALANCED_ACCURACY,
            _RECALL,
            _SPECIFICITY,
        ),
        Goal.PROBABILITIES: _PROBABILITIES,
    }
)
_OF_ORDERED_CLASSES = _of_all(
    "kappa_quadratic", "All errors in one number, far ones counting more than near ones."
)

HEADLINES: tuple[Candidate, ...] = (
    _of_all("overall_accuracy", ""),
    _of_all("average_accuracy", ""),
    _of_all("weighted_f1", ""),
    _of_all("macro_f1", ""),
    _MCC,
    _of_all("cohen_kappa", ""),
    _PRECISION,
    _of_class("f1", ""),
    _of_all("roc_auc_ovr_macro", "", Scope.PROBABILISTIC),
    _AVERAGE_PRECISION,
    _of_all("log_loss", "", Scope.PROBABILISTIC),
    _of_all(_CALIBRATION, "", Scope.PROBABILISTIC),
)
"""What is usually reported, and therefore worth a warning."""


def candidates(situation: Situation) -> tuple[Candidate, ...]:
    """The candidates of a situation, the most telling first."""
    if situation.about is not None:
        return ABOUT_ONE_CLASS[situation.goal]
    found = ABOUT_ALL_CLASSES[situation.goal]
    ordered = situation.labels.ordinal and situation.goal is Goal.BOTH
    return (_OF_ORDERED_CLASSES, *found) if ordered else found

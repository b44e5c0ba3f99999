"""Three metrics to report, those not to report, and cautions, with reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from textwrap import fill
from types import MappingProxyType
from typing import Any

from offdiag.advice.situation import Goal, Situation
from offdiag.card import card, cell, column, head, prose, row_name, says, table
from offdiag.domain.number_text import percent
from offdiag.metrics.catalogue import CATALOGUE, MetricSpec, Scope
from offdiag.metrics.scores.calibration import DEFAULT_BINS
from offdiag.metrics.spec import ERRING_CLASS, FALSE_NEGATIVES, FALSE_POSITIVES, TRUE_NEGATIVES


@dataclass(frozen=True, slots=True)
class Candidate:
    """A metric and the question it answers; `{class}` in it stands for the class in question.

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
_FOUND = "How many of the actual examples of '{class}' are detected?"
_RIGHT = "How often is the prediction '{class}' correct?"
_CLEARED = "How many examples of other classes are correctly not predicted as '{class}'?"
_ONE_NUMBER = "Combines both kinds of error on '{class}' in one number."
_EACH_FOUND = "How many examples of a class are detected, with equal weight for every class?"
_EACH_RIGHT = "How often is a prediction correct, with equal weight for every class?"
_ALL_ERRORS = "Combines all errors in one number, compared with chance."
_AT_THRESHOLD = "How good are the predictions at the current threshold?"

_RECALL = _of_class("recall", _FOUND)
_PRECISION = _of_class("precision", _RIGHT)
_SPECIFICITY = _of_class("specificity", _CLEARED)
_INFORMEDNESS = _of_class("informedness", _ONE_NUMBER)
_AT_PRESENT = _of_class("informedness", _AT_THRESHOLD)
_BALANCED_ACCURACY = _of_all("balanced_accuracy", _EACH_FOUND)
_MCC = _of_all("mcc", _ALL_ERRORS)
_ROC_AUC = _of_class(
    "roc_auc", "How well do the scores rank '{class}' above the rest?", Scope.PROBABILISTIC
)
_AVERAGE_PRECISION = _of_class(
    "average_precision",
    "If you sort by the score of '{class}', how precise is the top of the list?",
    Scope.PROBABILISTIC,
)
_PROBABILITIES = (
    _of_all("log_loss", "How good are the probabilities as a whole?", Scope.PROBABILISTIC),
    _of_all(
        _CALIBRATION,
        "Are predictions with a score of 80 % correct 80 % of the time?",
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
            _of_class(
                "lr_plus", "How much does the prediction '{class}' raise the odds of the class?"
            ),
        ),
        Goal.BOTH: (
            _MCC,
            _of_all(
                "macro_f1", "Combines both kinds of error, with equal weight for every class."
            ),
            _of_class("f1", _ONE_NUMBER),
            _BALANCED_ACCURACY,
            _RECALL,
            _of_all("gmean_multiclass", "Is any class missed completely?"),
        ),
        Goal.RANKING: (
            _of_all(
                "roc_auc_ovr_macro",
                "How well do the scores rank each class above the rest, on average?",
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
    "kappa_quadratic",
    "Combines all errors in one number; errors between distant classes count more.",
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
"""What is usually reported, and therefore deserves a warning."""


def candidates(situation: Situation) -> tuple[Candidate, ...]:
    """The candidates for a situation, the most informative first."""
    if situation.about is not None:
        return ABOUT_ONE_CLASS[situation.goal]
    found = ABOUT_ALL_CLASSES[situation.goal]
    ordered = situation.labels.ordinal and situation.goal is Goal.BOTH
    return (_OF_ORDERED_CLASSES, *found) if ordered else found


ANY_BALANCE = "It does not depend on the class balance."
ANY_SHARE = (
    "It does not depend on how frequent '{class}' is, as long as the proportions of the other "
    "classes to each other stay the same."
)
KNOWN_BALANCE = "It depends on the class balance, which you say is the same in production."
OTHER_BALANCE = "It depends on the class balance, which may differ in production."
EITHER_CLASS = "It does not depend on which class is the positive one."

_SHARE_OF_POSITIVES = "the share of positive examples"
"""How entries about scores say that they do not depend on prevalence; others have a symmetry."""
_ERROR_THAT_MATTERS = {Goal.MISSES: FALSE_NEGATIVES, Goal.FALSE_ALARMS: FALSE_POSITIVES}
_SHARES_OF_CORRECT_PREDICTIONS = frozenset({"overall_accuracy", "micro_f1"})


def is_prevalence_independent(spec: MetricSpec) -> bool:
    """Whether the value of a classifier stays the same when classes get more or less frequent."""
    if spec.symmetry is not None and spec.symmetry.prevalence_independent:
        return True
    return _SHARE_OF_POSITIVES in spec.ignores


def reasons_for(spec: MetricSpec, situation: Situation, *, of_class: bool) -> tuple[str, ...]:
    """Why the metric suits the situation, and what it cannot show."""
    sentences = [_on_balance(spec, situation, of_class=of_class)]
    if spec.symmetry is not None and spec.symmetry.class_inversion and len(situation.labels) == 2:
        sentences.append(EITHER_CLASS)
    ignored = [part for part in spec.ignores if part != _SHARE_OF_POSITIVES]
    if ignored:
        sentences.append(f"It does not depend on {' or on '.join(ignored)}.")
    return (*sentences, spec.notes) if spec.notes else tuple(sentences)


def _on_balance(spec: MetricSpec, situation: Situation, *, of_class: bool) -> str:
    """How the value changes when the classes get more or less frequent."""
    if not is_prevalence_independent(spec):
        return KNOWN_BALANCE
    counts_others = not {FALSE_POSITIVES, TRUE_NEGATIVES} <= set(spec.ignores)
    if of_class and counts_others and len(situation.labels) > 2:
        return ANY_SHARE.replace("{class}", situation.watched)
    return ANY_BALANCE


def reasons_against(spec: MetricSpec, situation: Situation) -> tuple[str, ...]:
    """Why the metric should not be a primary one here; empty if there is no such reason."""
    if spec.key == "average_accuracy" and len(situation.labels) == 2:
        return ()  # It is the accuracy.
    sentences = []
    if not situation.balance_known and not is_prevalence_independent(spec):
        sentences.append(OTHER_BALANCE)
    matters = _ERROR_THAT_MATTERS.get(situation.goal)
    if matters in spec.ignores:
        sentences.append(f"It does not depend on {matters}, the errors that matter.")
    if situation.is_imbalanced and ERRING_CLASS in spec.ignores:
        sentences.append(f"It does not depend on {ERRING_CLASS}.")
        if spec.key in _SHARES_OF_CORRECT_PREDICTIONS:
            share = percent(situation.majority_share, 1)
            sentences.append(f"Always predicting '{situation.majority}' scores {share}.")
    if situation.is_imbalanced and spec.key.startswith("weighted_"):
        sentences.append(spec.notes)
    if spec.key == "average_accuracy":
        sentences.append(spec.notes)
    return tuple(sentences)


N_REPORTED = 3
_INDENT = "    "

_ABOUT_SCORES = frozenset({Goal.RANKING, Goal.PROBABILITIES})


@dataclass(frozen=True, slots=True)
class Counsel:
    """Advice for or against one metric; `class_label` is None for metrics of all classes together.

    `question` is what the metric answers, empty for metrics that are not recommended. `why` has
    the reasons, in sentences from the catalogue.
    """

    spec: MetricSpec
    class_label: str | None
    question: str
    why: tuple[str, ...]

    @property
    def name(self) -> str:
        """The key as conditions and filters write it: `recall[df]`, `mcc`."""
        return (
            self.spec.key if self.class_label is None else f"{self.spec.key}[{self.class_label}]"
        )

    @property
    def text(self) -> str:
        """The name, the question and the reasons, in lines of at most 79 columns."""
        why = " ".join((self.question, *self.why)).strip()
        return f"  {self.name}\n{fill(why, 79, initial_indent=_INDENT, subsequent_indent=_INDENT)}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "key": self.spec.key,
            "class_label": self.class_label,
            "title": self.spec.title,
            "formula": self.spec.formula,
            "question": self.question,
            "why": list(self.why),
        }


@dataclass(frozen=True, repr=False)
class Advice:
    """Three metrics to report, those not to report, and cautions that apply to all of them.

    `print(advice)` prints it as text; a notebook shows a card.
    """

    report: tuple[Counsel, ...]
    avoid: tuple[Counsel, ...]
    cautions: tuple[str, ...]

    def __repr__(self) -> str:
        parts = [("Report", self.report), ("Do not report", self.avoid)]
        lines = [
            line
            for title, counsels in parts
            if counsels
            for line in (title, *(each.text for each in counsels), "")
        ]
        cautions = [fill(each, 79, subsequent_indent="  ") for each in self.cautions]
        return "\n".join([*lines, *cautions]).rstrip()

    def _repr_html_(self) -> str:
        rows = (
            row_name(counsel.name) + cell(said, left=True) + prose(counsel.question, *counsel.why)
            for said, counsels in (("report", self.report), ("leave out", self.avoid))
            for counsel in counsels
        )
        columns = (column(text, left=True) for text in ("Metric", "Advice", "Why"))
        cautions = (says("", each) for each in self.cautions)
        names = ", ".join(counsel.name for counsel in self.report)
        return card(head("Metrics to report"), says(names), *cautions, table(columns, rows))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps`."""
        return {
            "report": [counsel.to_dict() for counsel in self.report],
            "avoid": [counsel.to_dict() for counsel in self.avoid],
            "cautions": list(self.cautions),
        }


def recommend(situation: Situation) -> Advice:
    """Choose the first three candidates that the data and what is known of their use allow."""
    chosen = list(_allowed(candidates(situation), situation))[:N_REPORTED]
    reported = {(candidate.spec.key, candidate.of_class) for candidate in chosen}
    report = tuple(
        Counsel(
            candidate.spec,
            situation.watched if candidate.of_class else None,
            candidate.question.replace("{class}", situation.watched),
            reasons_for(candidate.spec, situation, of_class=candidate.of_class),
        )
        for candidate in chosen
    )
    avoid = tuple(
        Counsel(candidate.spec, situation.watched if candidate.of_class else None, "", reasons)
        for candidate in HEADLINES
        if (candidate.spec.key, candidate.of_class) not in reported
        and _has_data(candidate, situation)
        and (reasons := reasons_against(candidate.spec, situation))
    )
    return Advice(report, avoid, tuple(_cautions(situation)))


def _allowed(offered: Iterable[Candidate], situation: Situation) -> Iterable[Candidate]:
    for candidate in offered:
        known = situation.balance_known or is_prevalence_independent(candidate.spec)
        if known and _has_data(candidate, situation):
            yield candidate


def _has_data(candidate: Candidate, situation: Situation) -> bool:
    return situation.has_scores or candidate.spec.scope is not Scope.PROBABILISTIC


def _cautions(situation: Situation) -> Iterable[str]:
    watched, cases = situation.watched, situation.cases
    if situation.has_few_samples:
        count = cases[situation.labels.index[watched]]
        yield (
            f"Only {count:,} of {sum(cases):,} examples "
            f"{'is' if count == 1 else 'are'} '{watched}': "
            "report intervals, and do not rely on small differences."
        )
    if situation.goal in _ABOUT_SCORES and not situation.has_scores:
        yield "There are no scores; log them with y_score= to evaluate more than the predictions."
    if situation.goal is Goal.PROBABILITIES and not situation.balance_known:
        yield (
            "Probabilities are calibrated for one class balance. In production it may differ, so "
            "log loss and calibration may differ as well."
        )
    if not situation.balance_known and situation.goal is not Goal.PROBABILITIES:
        yield (
            "Precision in production follows from recall, specificity and the class balance "
            "there. Compute it for each plausible balance."
        )

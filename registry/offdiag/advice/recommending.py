"""Three numbers to report, those to leave out, and what to keep in mind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from offdiag.advice.candidates import HEADLINES, Candidate, candidates
from offdiag.advice.properties import is_prevalence_independent, reasons_against, reasons_for
from offdiag.advice.situation import Goal, Situation
from offdiag.metrics.catalogue import MetricSpec, Scope

N_REPORTED = 3

_ABOUT_SCORES = frozenset({Goal.RANKING, Goal.PROBABILITIES})


@dataclass(frozen=True, slots=True)
class Counsel:
    """One metric, for or against. `class_label` is None for metrics of all classes together.

    `question` is what the metric answers, empty for metrics to leave out; `why` are sentences
    read off the catalogue.
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

    def to_dict(self) -> dict[str, Any]:
        return {
            "key": self.spec.key,
            "class_label": self.class_label,
            "title": self.spec.title,
            "formula": self.spec.formula,
            "question": self.question,
            "why": list(self.why),
        }


@dataclass(frozen=True)
class Advice:
    """What to report (three), what to leave out, and what holds for all of it."""

    report: tuple[Counsel, ...]
    avoid: tuple[Counsel, ...]
    cautions: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps`."""
        return {
            "report": [counsel.to_dict() for counsel in self.report],
            "avoid": [counsel.to_dict() for counsel in self.avoid],
            "cautions": list(self.cautions),
        }


def recommend(situation: Situation) -> Advice:
    """Choose the first three candidates that the data and the knowledge of its use allow."""
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
    if situation.has_few_cases:
        count = cases[situation.labels.index[watched]]
        yield (
            f"Only {count} of {sum(cases)} cases are '{watched}': report the intervals, and do "
            "not trust small differences."
        )
    if situation.goal in _ABOUT_SCORES and not situation.has_scores:
        yield "There are no scores; log them with y_score= to judge more than the answers."
    if situation.goal is Goal.PROBABILITIES and not situation.balance_known:
        yield (
            "A probability presupposes a class balance. As that in use is not known, neither "
            "log loss nor calibration measured here can be carried over."
        )
    if not situation.balance_known and situation.goal is not Goal.PROBABILITIES:
        yield (
            "Precision in use follows from recall, specificity and the class balance there: "
            "compute it for each balance that is plausible."
        )

"""All rules on one confusion matrix, and the badge they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from offdiag.flags.catalogue import RULES
from offdiag.flags.judgement import ClassRule, Judgement
from offdiag.flags.rules import MATRIX_RULES
from offdiag.flags.severity import SEVERITIES
from offdiag.flags.subjects import Flags, Subjects
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Verdict
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.tally import CLASS_AXIS

NO_CASES = "no_cases"
ONE_ACTUAL_CLASS = "one_actual_class"
_NOTHING: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class Assessment:
    """What the rules say about one run.

    `not_assessable` is None, or why nothing can be said: "no_cases", or "one_actual_class"
    where all cases belong to one class. There are no verdicts then, which is not the same as
    a run about which there is nothing to complain.
    """

    verdicts: tuple[Verdict, ...]
    not_assessable: str | None = None

    @property
    def badge(self) -> bool:
        """Whether accuracy hides a minority class."""
        return hides_minority(self.verdicts)

    def to_dict(self) -> dict[str, Any]:
        return {
            "badge": self.badge,
            "not_assessable": self.not_assessable,
            "verdicts": [verdict.to_dict() for verdict in self.verdicts],
        }


def assess(
    matrix: ConfusionMatrix,
    thresholds: Thresholds | None = None,
    *,
    deployment_prevalence: Mapping[str, float] = _NOTHING,
) -> Assessment:
    """Apply every rule that needs only the matrix; verdicts in the order of rules and classes.

    `deployment_prevalence` gives, by label, the share that a class will have in use, for the
    classes for which somebody has declared it.
    """
    limits = thresholds or Thresholds()
    subjects = Subjects(
        matrix.counts[np.newaxis], matrix.labels.names, deployment=dict(deployment_prevalence)
    )
    if not subjects.is_assessable[0]:
        return Assessment((), NO_CASES if matrix.total == 0 else ONE_ACTUAL_CLASS)
    return Assessment(tuple(verdicts_of(subjects, limits)))


def judge(
    subjects: Subjects, thresholds: Thresholds, rules: Iterable[str] = MATRIX_RULES
) -> dict[str, Judgement]:
    """Where each rule fires in a stack of matrices, by rule id.

    A matrix that cannot be assessed is to be left out by the caller: no mask is applied here.
    """
    return {id_: MATRIX_RULES[id_].judge(subjects, thresholds) for id_ in rules}


def badges(
    judgements: Mapping[str, Judgement], subjects: Subjects, thresholds: Thresholds
) -> Flags:
    """Where a stack of matrices gets the badge, shape (R,); the rule of `hides_minority`."""
    on_minority = judgements["F4"].fires & subjects.is_minority(thresholds.minority_share)
    never_found = judgements["F3"].fires.any(axis=CLASS_AXIS)
    rarely_found = on_minority.any(axis=CLASS_AXIS)
    return np.asarray(judgements["F1"].fires | never_found | rarely_found)


def hides_minority(verdicts: Iterable[Verdict]) -> bool:
    """The headline badge: a collapsed model, a class never found, or a minority class failing.

    Gaps between averages take no part. They miss one bad minority class nine times in ten,
    and fire on every equally good model once a class is rare enough.
    """
    return any(
        verdict.rule in {"F1", "F3"}
        or (verdict.rule == "F4" and bool(verdict.evidence["is_minority"]))
        for verdict in verdicts
    )


def verdicts_of(
    subjects: Subjects, thresholds: Thresholds, rules: Iterable[str] = MATRIX_RULES
) -> Iterable[Verdict]:
    """What some rules say about the only run of a stack of one, in their order."""
    for id_, judgement in judge(subjects, thresholds, rules).items():
        for place in np.argwhere(judgement.fires).tolist():
            yield _verdict(id_, judgement, tuple(place), subjects, thresholds)


def _verdict(
    id_: str,
    judgement: Judgement,
    place: tuple[int, ...],
    subjects: Subjects,
    thresholds: Thresholds,
) -> Verdict:
    rule, label = MATRIX_RULES[id_], None
    if isinstance(rule, ClassRule):
        code = place[-1]
        label = subjects.names[code]
        message, evidence = rule.describe(subjects, code, thresholds)
    else:
        message, evidence = rule.describe(subjects, thresholds)
    return Verdict(
        rule=id_,
        version=RULES[id_].version,
        class_label=label,
        severity=SEVERITIES[int(judgement.severity[place])],
        message=message,
        evidence=evidence,
        fired=tuple(
            comparison.at(place, judgement.fires.shape) for comparison in judgement.comparisons
        ),
        thresholds=thresholds.used(rule.uses),
    )

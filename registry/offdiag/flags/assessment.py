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
from offdiag.flags.rules.recall import IN_SIGHT_SEVERITY
from offdiag.flags.severity import SEVERITIES
from offdiag.flags.subjects import Flags, Subjects
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Certainty, Verdict
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.tally import CLASS_AXIS

NO_CASES = "no_cases"
ONE_ACTUAL_CLASS = "one_actual_class"
BADGE_RULES = frozenset({"F1", "F3"})
"""Rules that set the badge whatever the size of the class; F4 sets it on a minority class."""
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

    @property
    def may_hide(self) -> bool:
        """Whether accuracy may hide a minority class: in sight, and none proved."""
        return may_hide_minority(self.verdicts)

    def to_dict(self) -> dict[str, Any]:
        return {
            "badge": self.badge,
            "may_hide": self.may_hide,
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


@dataclass(frozen=True, slots=True)
class Badges:
    """Which badge each of a stack of matrices gets, shape (R,); none gets both."""

    hides: Flags
    may_hide: Flags


def badges(
    judgements: Mapping[str, Judgement], subjects: Subjects, thresholds: Thresholds
) -> Badges:
    """The rules of `hides_minority` and `may_hide_minority` for a stack of matrices."""
    gap = judgements["F4"]
    on_minority = gap.fires & subjects.is_minority(thresholds.minority_share)
    in_sight = on_minority & (gap.severity == IN_SIGHT_SEVERITY.rank)
    hides = (on_minority & ~in_sight).any(axis=CLASS_AXIS)
    for rule in BADGE_RULES & judgements.keys():
        hides = hides | judgements[rule].fires.reshape(len(hides), -1).any(axis=CLASS_AXIS)
    return Badges(np.asarray(hides), np.asarray(in_sight.any(axis=CLASS_AXIS) & ~hides))


def hides_minority(verdicts: Iterable[Verdict]) -> bool:
    """The headline badge: a collapsed model, a class never found, or a minority class failing.

    Gaps between averages take no part. They miss one bad minority class nine times in ten,
    and fire on every equally good model once a class is rare enough.
    """
    return any(
        counts_in_badge(verdict) and verdict.certainty is Certainty.PROVED for verdict in verdicts
    )


def may_hide_minority(verdicts: Iterable[Verdict]) -> bool:
    """The milder badge: the gap of a minority class is in sight, and nothing is proved."""
    counting = {verdict.certainty for verdict in verdicts if counts_in_badge(verdict)}
    return counting == {Certainty.IN_SIGHT}


def counts_in_badge(verdict: Verdict) -> bool:
    """Whether a verdict sets one of the two badges; which of them, its certainty says."""
    return verdict.rule in BADGE_RULES or (
        verdict.rule == "F4" and bool(verdict.evidence["is_minority"])
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

"""All rules applied to one confusion matrix or to sets of labels, and the resulting warning.

In a set a label is present or not, whatever else is in it. A rule about how often a class is
found, predicted or wrongly predicted reads the label's own two-by-two table. Rules about
accuracy, averages over exclusive classes or the largest class have nothing to compare there and
are not applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from offdiag.domain.number_text import percent
from offdiag.flags.catalogue import RULES
from offdiag.flags.rule_evaluation import ClassRule, Flags, RuleEvaluation, Subjects
from offdiag.flags.rules import MATRIX_RULES
from offdiag.flags.rules.recall import IN_SIGHT_SEVERITY
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import SEVERITIES, Certainty, Condition, Verdict
from offdiag.flags.weighted_subjects import subjects_of
from offdiag.metrics.counted import Counted, CountedSets
from offdiag.metrics.tally import CLASS_AXIS
from offdiag.metrics.weighted.counts import WeightedCounts

NO_SAMPLES = "no_cases"
ONE_ACTUAL_CLASS = "one_actual_class"
WEIGHTED = "weighted"
"""Why the rules of `NOT_OF_WEIGHTS` are not applied."""
NOT_OF_WEIGHTS: Mapping[str, str] = MappingProxyType(
    {
        "F14": "McNemar's test counts examples, and these have weights; compare the two runs",
        "F15": "costs of runs with weights are not ranked",
        "F16": "slices are not judged where examples have weights; the page of slices tests them",
    }
)
"""Rules that are not applied to runs with sample weights, and why."""
_NOTHING_UNCHECKED: Mapping[str, str] = MappingProxyType({})
BADGE_RULES = frozenset({"F1", "F3"})
"""Rules that set the badge whatever the size of the class; F4 sets it on a minority class."""


@dataclass(frozen=True)
class Assessment:
    """What the rules say about one run.

    `not_assessable` is None, or why nothing can be said: "no_cases", or "one_actual_class"
    if all samples belong to one class. There are then no verdicts, which does not mean
    that nothing is wrong with the run.
    """

    verdicts: tuple[Verdict, ...]
    not_assessable: str | None = None

    @property
    def badge(self) -> bool:
        """Whether accuracy hides a minority class."""
        return hides_minority(self.verdicts)

    @property
    def may_hide(self) -> bool:
        """Whether accuracy may hide a minority class: a gap is in sight, but none is proved."""
        return may_hide_minority(self.verdicts)


def assess(counted: Counted, thresholds: Thresholds | None = None) -> Assessment:
    """Apply every rule that needs only the counts; verdicts in the order of rules and classes.

    Messages about weighted samples say so, with the effective size that the rule used as the
    number of samples.
    """
    subjects = subjects_of(counted)
    if not subjects.is_assessable[0]:
        return Assessment((), ONE_ACTUAL_CLASS if subjects.actual.any() else NO_SAMPLES)
    return Assessment(tuple(verdicts_of(subjects, thresholds or Thresholds(), rules_for(counted))))


def rules_for(counted: Counted) -> Iterable[str]:
    """The rules that need only the counts, of classes or of label sets."""
    return LABEL_RULES if isinstance(counted, CountedSets) else MATRIX_RULES


def judge(
    subjects: Subjects, thresholds: Thresholds, rules: Iterable[str] = MATRIX_RULES
) -> dict[str, RuleEvaluation]:
    """Where each rule fires in a stack of matrices, by rule id.

    The caller must leave out matrices that cannot be assessed: no mask is applied here.
    """
    return {id_: MATRIX_RULES[id_].judge(subjects, thresholds) for id_ in rules}


@dataclass(frozen=True, slots=True)
class Badges:
    """Which badge each of a stack of matrices gets, shape (R,); never both."""

    hides: Flags
    may_hide: Flags


def badges(
    judgements: Mapping[str, RuleEvaluation], subjects: Subjects, thresholds: Thresholds
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
    """The headline badge: a collapsed model, a class never found, or a failing minority class.

    Gaps between averages do not count. They miss one bad minority class nine times in ten,
    and fire on every equally good model once a class is rare enough.
    """
    return any(
        counts_in_badge(verdict) and verdict.certainty is Certainty.PROVED for verdict in verdicts
    )


def may_hide_minority(verdicts: Iterable[Verdict]) -> bool:
    """The milder badge: the gap of a minority class is in sight, but nothing is proved."""
    counting = {verdict.certainty for verdict in verdicts if counts_in_badge(verdict)}
    return counting == {Certainty.IN_SIGHT}


def counts_in_badge(verdict: Verdict) -> bool:
    """Whether a verdict sets one of the two badges; its certainty decides which one."""
    return verdict.rule in BADGE_RULES or (
        verdict.rule == "F4" and bool(verdict.evidence["is_minority"])
    )


def verdicts_of(
    subjects: Subjects, thresholds: Thresholds, rules: Iterable[str] = MATRIX_RULES
) -> Iterable[Verdict]:
    """The verdicts of some rules on the only run of a stack of one, in the order of the rules."""
    for id_, judgement in judge(subjects, thresholds, rules).items():
        for place in np.argwhere(judgement.fires).tolist():
            yield _verdict(id_, judgement, tuple(place), subjects, thresholds)


def _verdict(
    id_: str,
    judgement: RuleEvaluation,
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
    if subjects.is_weighted:
        size = float(rule.size(subjects)[place])
        message = f"{message} Weighted, effective size {size:,.0f}."
        evidence = {**evidence, "weighted": True, "effective_size": size}
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


LABEL_RULES = ("F2", "F3", "F4", "F10", "F12")
"""Never predicted, never found, found far less often, predicted too rarely, too few samples.

F4 compares a label with the pooled recall of all other labels: of all occurrences of other
labels, the share that was found."""


def unchecked_rules(counted: Counted) -> Mapping[str, str]:
    """Rules that are not applied because of the kind of counts, and why, by their ids."""
    return NOT_OF_WEIGHTS if isinstance(counted, WeightedCounts) else _NOTHING_UNCHECKED


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """A rule with everything it compared, for one class or (`class_label` None) for the run."""

    rule: str
    class_label: str | None
    fires: bool
    conditions: tuple[Condition, ...]


def rule_checks(
    counted: Counted, thresholds: Thresholds, *, class_label: str | None
) -> tuple[RuleCheck, ...]:
    """What the rules that need only the matrix compare, in the order of their ids.

    Includes rules about the run, and those about one class if it is named. There is nothing to
    compare if fewer than two classes of the matrix have samples, nor for a class that it lacks.
    For label sets, only the rules that apply to them are included.
    """
    subjects = subjects_of(counted)
    if not subjects.is_assessable[0]:
        return ()
    code = subjects.names.index(class_label) if class_label in subjects.names else None
    found = []
    for id_, judgement in judge(subjects, thresholds, rules_for(counted)).items():
        place: tuple[int, ...] = (0,)
        is_about_class = isinstance(MATRIX_RULES[id_], ClassRule)
        if is_about_class:
            if code is None:
                continue
            place = (0, code)
        conditions = tuple(c.at(place, judgement.fires.shape) for c in judgement.comparisons)
        about = class_label if is_about_class else None
        found.append(RuleCheck(id_, about, bool(judgement.fires[place]), conditions))
    return tuple(found)


Side = Literal["below", "across", "above"]


@dataclass(frozen=True, slots=True)
class ClassRecall:
    """A class with at least one sample: its recall with Wilson's 95 % interval, all in [0, 1].

    `cases` and `found` are numbers of samples, even if recall is weighted.
    """

    name: str
    cases: int
    found: int
    recall: float
    low: float
    high: float
    is_weighted: bool = False

    @property
    def n_found(self) -> str:
        """ "1 of 17 found", "6 % found, weighted"."""
        if self.is_weighted:
            return f"{percent(self.recall)} found, weighted"
        return f"{self.found:,} of {self.cases:,} found"

    def side_of(self, floor: float) -> Side:
        """Which side of the floor the interval lies on; one that crosses it settles nothing."""
        if self.high < floor:
            return "below"
        return "above" if self.low >= floor else "across"


def class_recalls(counted: Counted) -> list[ClassRecall]:
    """All classes with samples, in the order of their labels."""
    subjects = subjects_of(counted)
    numbers, bounds = subjects.numbers, subjects.recall_bounds
    return [
        ClassRecall(
            name,
            int(numbers.actual[0, code]),
            int(numbers.correct[0, code]),
            float(subjects.recall[0, code]),
            float(bounds.low[0, code]),
            float(bounds.high[0, code]),
            subjects.is_weighted,
        )
        for code, name in enumerate(subjects.names)
        if numbers.actual[0, code]
    ]

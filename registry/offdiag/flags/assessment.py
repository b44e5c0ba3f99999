"""All rules applied to one confusion matrix or to sets of labels, and the resulting warning.

In a set a label is present or not, whatever else is in it. A rule about how often a class is
found, predicted or wrongly predicted reads the label's own two-by-two table. Rules about
accuracy, averages over exclusive classes or the largest class have nothing to compare there and
are not applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.number_text import percent
from offdiag.flags.catalogue import RULES
from offdiag.flags.rule_evaluation import ClassRule, Flags, Floats, RuleEvaluation, Subjects
from offdiag.flags.rules import MATRIX_RULES
from offdiag.flags.rules.recall import IN_SIGHT_SEVERITY
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import SEVERITIES, Certainty, Condition, Verdict
from offdiag.flags.weighted_subjects import WeightedSubjects, subjects_of
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import Counted, CountedSets
from offdiag.metrics.intervals.proportions import wilson
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


def assess(matrix: ConfusionMatrix, thresholds: Thresholds | None = None) -> Assessment:
    """Apply every rule that needs only the matrix; verdicts in the order of rules and classes."""
    limits = thresholds or Thresholds()
    subjects = Subjects(matrix.counts[np.newaxis], matrix.labels.names)
    if not subjects.is_assessable[0]:
        return Assessment((), NO_SAMPLES if matrix.total == 0 else ONE_ACTUAL_CLASS)
    return Assessment(tuple(verdicts_of(subjects, limits)))


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


class LabelSubjects(Subjects):
    """The labels of one run in place of its classes: on axis 1, `counts` holds how often each
    label was found, was present, and was predicted, shape (1, 3, q)."""

    @cached_property
    def correct(self) -> Floats:
        return self.counts[:, 0].astype(np.float64)

    @cached_property
    def actual(self) -> Floats:
        return self.counts[:, 1].astype(np.float64)

    @cached_property
    def predicted(self) -> Floats:
        return self.counts[:, 2].astype(np.float64)


def assess_sets(counted: CountedSets, thresholds: Thresholds | None = None) -> Assessment:
    """Apply `LABEL_RULES` to every label; verdicts in the order of rules and labels."""
    if counted.total == 0:
        return Assessment((), NO_SAMPLES)
    subjects = label_subjects(counted)
    return Assessment(tuple(verdicts_of(subjects, thresholds or Thresholds(), LABEL_RULES)))


def assess_counted(counted: Counted, thresholds: Thresholds | None = None) -> Assessment:
    """Apply the rules that need only the counts, of classes or of label sets."""
    if isinstance(counted, CountedSets):
        return assess_sets(counted, thresholds)
    if isinstance(counted, WeightedCounts):
        return assess_weighted(counted, thresholds)
    return assess(counted, thresholds)


def assess_weighted(counted: WeightedCounts, thresholds: Thresholds | None = None) -> Assessment:
    """Apply the rules of `assess` to sums of weights and effective sizes.

    Messages say so, with the effective size that the rule used as the number of samples.
    """
    subjects = WeightedSubjects.of(counted)
    if not subjects.is_assessable[0]:
        return Assessment((), ONE_ACTUAL_CLASS if subjects.actual.any() else NO_SAMPLES)
    return Assessment(tuple(verdicts_of(subjects, thresholds or Thresholds())))


def label_subjects(counted: CountedSets) -> LabelSubjects:
    """The label counts of one run, as the rules read them."""
    tables: NDArray[np.int64] = np.stack([counted.correct, counted.actual, counted.predicted])
    return LabelSubjects(tables[np.newaxis], counted.labels.names)


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
    if isinstance(counted, CountedSets):
        return _checks(label_subjects(counted), thresholds, LABEL_RULES, class_label)
    subjects = subjects_of(counted)
    if not subjects.is_assessable[0]:
        return ()
    return _checks(subjects, thresholds, MATRIX_RULES, class_label)


def _checks(
    subjects: Subjects, thresholds: Thresholds, rules: Iterable[str], class_label: str | None
) -> tuple[RuleCheck, ...]:
    code = subjects.names.index(class_label) if class_label in subjects.names else None
    found = []
    for id_, judgement in judge(subjects, thresholds, rules).items():
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


def class_recalls(matrix: Counted) -> list[ClassRecall]:
    """All classes with samples, in the order of their labels."""
    if isinstance(matrix, WeightedCounts):
        weighted = WeightedSubjects.of(matrix)
        tallied, values, bounds = weighted.numbers, weighted.recall[0], weighted.recall_bounds
        hits, actual, low, high = (
            tallied.correct[0],
            tallied.actual[0],
            bounds.low[0],
            bounds.high[0],
        )
    else:
        hits, actual, bounds = matrix.correct, matrix.actual, wilson(matrix.correct, matrix.actual)
        values, low, high = hits / np.where(actual > 0, actual, 1), bounds.low, bounds.high
    return [
        ClassRecall(
            name,
            int(actual[code]),
            int(hits[code]),
            float(values[code]),
            float(low[code]),
            float(high[code]),
            isinstance(matrix, WeightedCounts),
        )
        for code, name in enumerate(matrix.labels.names)
        if actual[code]
    ]

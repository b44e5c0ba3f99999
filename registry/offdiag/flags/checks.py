"""What every rule measured, also of those that have nothing to say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from offdiag.flags.assessment import judge
from offdiag.flags.judgement import ClassRule
from offdiag.flags.label_subjects import LABEL_RULES, label_subjects
from offdiag.flags.rules import MATRIX_RULES
from offdiag.flags.subjects import Subjects
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Condition
from offdiag.metrics.counted import Counted, CountedSets


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """A rule with all it compared, for one class or (`class_label` None) for the whole run."""

    rule: str
    class_label: str | None
    fires: bool
    conditions: tuple[Condition, ...]


def rule_checks(
    counted: Counted, thresholds: Thresholds, *, class_label: str | None
) -> tuple[RuleCheck, ...]:
    """What the rules that need only the matrix compare, in the order of their ids.

    Rules about the run, and those about one class if it is named. There is nothing to compare
    in a matrix with cases of fewer than two classes, nor for a class that it does not have.
    Of labels of sets only those rules are asked that hold for them.
    """
    if isinstance(counted, CountedSets):
        return _checks(label_subjects(counted), thresholds, LABEL_RULES, class_label)
    subjects = Subjects(counted.counts[np.newaxis], counted.labels.names)
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

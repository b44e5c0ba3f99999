"""The rules that also hold for labels of sets, and what they look at.

In a set a label is there or not, whatever else is in it. A rule about how often a class is
found, predicted or wrongly predicted reads the label's own two-by-two table. Rules about
accuracy, about averages over exclusive classes or about the largest class have nothing to
compare there and are not asked.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from offdiag.flags.assessment import NO_CASES, Assessment, assess, verdicts_of
from offdiag.flags.subjects import Floats, Subjects
from offdiag.flags.thresholds import Thresholds
from offdiag.metrics.counted import Counted, CountedSets

LABEL_RULES = ("F2", "F3", "F4", "F10", "F12")
"""Never predicted, never found, found far less often, predicted too rarely, too few cases.

F4 compares a label with the recall of all other labels pooled: of all times that another label is
there, how often it was found."""


class LabelSubjects(Subjects):
    """The labels of one run in place of its classes: `counts` holds, on axis 1, how often each
    label was found, is there, and was predicted, shape (1, 3, q)."""

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
        return Assessment((), NO_CASES)
    subjects = label_subjects(counted)
    return Assessment(tuple(verdicts_of(subjects, thresholds or Thresholds(), LABEL_RULES)))


def assess_counted(counted: Counted, thresholds: Thresholds | None = None) -> Assessment:
    """Apply the rules that need only what was counted, of classes or of sets."""
    if isinstance(counted, CountedSets):
        return assess_sets(counted, thresholds)
    return assess(counted, thresholds)


def label_subjects(counted: CountedSets) -> LabelSubjects:
    """What the rules look at in one run."""
    tables: NDArray[np.int64] = np.stack([counted.correct, counted.actual, counted.predicted])
    return LabelSubjects(tables[np.newaxis], counted.labels.names)

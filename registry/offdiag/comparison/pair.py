"""Comparison of two runs, sample by sample where possible.

Three families of differences are judged at one level each: the primary metrics, the scores, and
every per-class metric over its classes. Within a family the chance of calling any difference
significant between two equally good runs stays below the level.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from offdiag.comparison.churn import Churn, churn_of
from offdiag.comparison.differences import (
    HEADLINE,
    OF_CLASSES,
    CellDifferences,
    MetricDifference,
    class_values,
    difference_of,
    headline_values,
    judged,
    judged_change,
    paired_cells,
    plain_class_values,
    unpaired_cells,
)
from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import Counted, CountedSets
from offdiag.metrics.intervals import proportions
from offdiag.metrics.intervals.bounds import Interval, difference_bounds
from offdiag.metrics.intervals.proportions import Outcomes, proportion_intervals
from offdiag.metrics.paired.class_changes import (
    SLOPED,
    ClassChanges,
    confidence_together,
    recall_changes,
    sloped_changes,
)
from offdiag.metrics.paired.hypothesis_tests import (
    Bowker,
    McNemar,
    StuartMaxwell,
    bowker,
    mcnemar,
    stuart_maxwell,
)
from offdiag.metrics.paired.joint_counts import JointCounts, PairedRates
from offdiag.metrics.paired.proportions import METHOD, paired_score_interval
from offdiag.metrics.paired.scores import ScoreDifference
from offdiag.metrics.paired.simultaneous_tests import (
    JointTest,
    confidence_of,
    judge_together,
)
from offdiag.metrics.paired.unpaired_runs import judge_unpaired
from offdiag.metrics.weighted.counts import WeightedCounts

ACCURACY, EXACT = "overall_accuracy", "subset_accuracy"
"""Metrics that count correct samples: for classes, and for sets of labels."""
SQUARE_AND_ADD = "square and add, unpaired"


@dataclass(frozen=True, slots=True)
class PairedFacts:
    """Facts available only for runs on the same samples: which samples changed, and tests on them.

    `churn_of_classes` is in label order. `margins` and `symmetry` are tests of the predictions
    alone: do both runs use the classes equally often, and exchange them evenly? None for sets of
    labels; a set counts as correct if it is exactly the true one, and a sample with a label if the
    label is found. All three tests are None with weights, which they ignore, and if nothing is
    tested.
    """

    churn: Churn
    churn_of_classes: tuple[Churn, ...]
    mcnemar: McNemar | None
    margins: StuartMaxwell | None
    symmetry: Bowker | None
    n_same_prediction: int


@dataclass(frozen=True)
class PairComparison:
    """Everything about two runs; differences are second minus first.

    `metrics` are those of all classes together, `classes` by key, each in label order.
    `together` is the test of the primary metrics, `classes_tested` says how many classes each
    per-class metric was tested on. `paired` is None if the runs cannot be paired, `cells` is None
    for multi-label runs, whose `classes` are the labels. `chosen_here` are the positions of
    runs whose threshold was chosen on these samples; nothing is tested then. `on_labels` are the
    label versions of runs on different ones; there are no differences then.
    """

    first: Counted
    second: Counted
    metrics: tuple[MetricDifference, ...]
    classes: Mapping[str, tuple[MetricDifference, ...]]
    together: JointTest
    classes_tested: Mapping[str, int]
    cells: CellDifferences | None
    paired: PairedFacts | None
    chosen_here: tuple[int, ...] = ()
    on_labels: tuple[int | None, ...] = ()

    @property
    def confidence(self) -> float:
        return self.together.confidence

    @property
    def has_differences(self) -> bool:
        """Whether the values of both runs may be subtracted from each other."""
        return not self.on_labels

    @property
    def labels(self) -> tuple[str, ...]:
        return self.first.labels.names

    @property
    def of_sets(self) -> bool:
        """Whether samples have sets of labels."""
        return isinstance(self.first, CountedSets)

    @property
    def matrices(self) -> tuple[ConfusionMatrix, ConfusionMatrix] | None:
        """The matrices of classes; None for sets of labels and for weighted samples."""
        first, second = self.first, self.second
        if isinstance(first, ConfusionMatrix) and isinstance(second, ConfusionMatrix):
            return first, second
        return None

    @property
    def is_weighted(self) -> bool:
        """Whether all values are computed from sample weights."""
        return isinstance(self.first, WeightedCounts)

    @property
    def is_same_everywhere(self) -> bool:
        """Whether the runs give the same prediction for every sample."""
        return self.paired is not None and self.paired.n_same_prediction == self.first.total

    def metric(self, key: str) -> MetricDifference:
        """The difference of one metric of all classes together."""
        return next(each for each in self.metrics if each.key == key)


@dataclass(frozen=True)
class BothRuns:
    """The counts of two runs, and their values by key; differences are second minus first."""

    first: Counted
    second: Counted

    @cached_property
    def values(self) -> tuple[Mapping[str, MetricValue], Mapping[str, MetricValue]]:
        return headline_values(self.first), headline_values(self.second)

    def of(self, key: str) -> tuple[MetricValue, MetricValue]:
        """A metric of all classes together."""
        return self.values[0][key], self.values[1][key]

    @property
    def differences(self) -> dict[str, float]:
        """Differences of every metric, NaN where undefined."""
        return {key: float(difference_of(*self.of(key))) for key in self.values[0]}

    @cached_property
    def _class_values(self) -> tuple[Mapping[str, Sequence[MetricValue]], ...]:
        return plain_class_values(self.first), plain_class_values(self.second)

    def of_classes(self, key: str) -> tuple[Sequence[MetricValue], ...]:
        """A metric of each class in label order, under each run."""
        return tuple(found[key] for found in self._class_values)

    def class_gaps(self, key: str) -> NDArray[np.float64]:
        """Differences of a metric of each class, NaN where undefined."""
        values = zip(*self.of_classes(key), strict=True)
        return np.array([float(difference_of(old, new)) for old, new in values])


def accuracy_key(of_sets: bool) -> str:
    """The metric that counts correct samples."""
    return EXACT if of_sets else ACCURACY


def compare_paired(
    joint: JointCounts,
    *,
    scores: tuple[ScoreDifference, ...] = (),
    confidence: float = 0.95,
) -> PairComparison:
    """Compare two runs on the same samples, of which there is at least one.

    Headline metrics are better or worse if their simultaneous interval excludes 0, classes
    if Holm's adjusted p is below 1 - confidence.
    """
    both = BothRuns(joint.first_matrix, joint.second_matrix)
    changes = {"recall": recall_changes(joint.hits, confidence=confidence)}
    for key in SLOPED:
        changes[key] = sloped_changes(joint, key, both.class_gaps(key), confidence=confidence)
    test = mcnemar(int(joint.accuracy.only_first), int(joint.accuracy.only_second))
    return paired_comparison(
        both,
        rates=joint.accuracy,
        together=judge_together(joint, both.differences, confidence=confidence),
        changes=changes,
        cells=paired_cells(joint, confidence=confidence),
        facts=PairedFacts(
            *churn_of(joint),
            test,
            stuart_maxwell(joint.answers),
            bowker(joint.answers),
            int(np.trace(joint.answers)),
        ),
        scores=scores,
    )


def paired_comparison(
    both: BothRuns,
    *,
    rates: PairedRates | None,
    together: JointTest,
    changes: Mapping[str, ClassChanges],
    facts: PairedFacts,
    cells: CellDifferences | None = None,
    scores: tuple[ScoreDifference, ...] = (),
) -> PairComparison:
    """The comparison of runs on the same samples, from the tests on them.

    `rates` has the samples that are correct in one run only; the metric that counts correct ones
    then has Tango's interval and McNemar's p. Without `rates` it is tested like all others.
    """
    accuracy = accuracy_key(isinstance(both.first, CountedSets))
    metrics = [_sloped(key, both, together) for key in both.values[0]]
    if rates is not None and facts.mcnemar is not None:
        alone, simultaneous = (
            Interval(*paired_score_interval(rates, confidence=level).at(), METHOD)
            for level in (together.confidence, confidence_of(together.critical))
        )
        exact = _headline(
            *(accuracy, both.of(accuracy), alone, simultaneous),
            test=together,
            p=facts.mcnemar.exact_p,
        )
        metrics = [exact if each.key == accuracy else each for each in metrics]
    metrics += [
        judged(
            each.key,
            None,
            each.first,
            each.second,
            each.difference,
            simultaneous=each.simultaneous,
            p=each.p,
        )
        for each in scores
    ]
    return PairComparison(
        both.first,
        both.second,
        tuple(metrics),
        {key: _of_classes(key, both, changes[key]) for key in OF_CLASSES},
        together,
        {key: changes[key].n_tested for key in OF_CLASSES},
        cells,
        facts,
    )


def compare_unpaired(
    first: ConfusionMatrix, second: ConfusionMatrix, *, confidence: float = 0.95
) -> PairComparison:
    """Compare two matrices with the same labels as if of different samples, at least one each.

    Variances add up; accuracy and the classes combine the intervals of both values in squares,
    at the confidence that holds for all. If the samples are in fact the same, these intervals are
    too wide, so differences they call significant are all the more so.
    """
    sides, both = (first, second), BothRuns(first, second)
    together = judge_unpaired(first, second, both.differences, confidence=confidence)
    alone, simultaneous = (
        _squared_and_added(*(_accuracy(side, level) for side in sides))
        for level in (confidence, confidence_of(together.critical))
    )
    metrics = (
        _headline(ACCURACY, both.of(ACCURACY), alone, simultaneous, test=together),
        *(_sloped(key, both, together) for key in HEADLINE if key != ACCURACY),
    )
    plain = [class_values(side, confidence=confidence) for side in sides]
    n_tested = {
        key: sum(
            old.is_defined and new.is_defined
            for old, new in zip(plain[0][key], plain[1][key], strict=True)
        )
        for key in OF_CLASSES
    }
    classes = {}
    for key in OF_CLASSES:
        level = confidence_together(confidence, n_tested[key])
        wider = [class_values(side, confidence=level)[key] for side in sides]
        classes[key] = tuple(
            judged(
                key,
                name,
                old,
                new,
                _squared_and_added(old, new).around(difference_of(old, new)),
                simultaneous=_squared_and_added(wider[0][code], wider[1][code]),
            )
            for code, (name, old, new) in enumerate(
                zip(first.labels.names, plain[0][key], plain[1][key], strict=True)
            )
        )
    return PairComparison(
        first,
        second,
        metrics,
        classes,
        together,
        n_tested,
        unpaired_cells(first, second, confidence=confidence),
        None,
    )


CHOSEN_HERE = "not tested: a threshold was chosen on these examples"


def without_tests(found: PairComparison, *, chosen_here: tuple[int, ...]) -> PairComparison:
    """The comparison with only its values and counts: no interval or test of a difference."""
    nothing = Interval(None, None, CHOSEN_HERE)

    def untested(each: MetricDifference) -> MetricValue:
        return nothing.around(difference_of(each.first, each.second))

    facts, cells = found.paired, found.cells
    if facts is not None:
        facts = replace(facts, mcnemar=None, margins=None, symmetry=None)
    if cells is not None:
        no_end = np.full(len(cells), np.nan)
        none = np.zeros(len(cells), np.bool_)
        cells = replace(cells, low=no_end, high=no_end, is_certain=none)
    kept = untested_pair(found, untested)
    return replace(kept, cells=cells, paired=facts, chosen_here=chosen_here)


def untested_pair(
    found: PairComparison, difference: Callable[[MetricDifference], MetricValue]
) -> PairComparison:
    """The comparison with each difference replaced by another one that is not tested."""

    def untested(each: MetricDifference) -> MetricDifference:
        return judged(each.key, each.class_label, each.first, each.second, difference(each))

    return replace(
        found,
        metrics=tuple(map(untested, found.metrics)),
        classes={key: tuple(map(untested, of)) for key, of in found.classes.items()},
        together=replace(found.together, tested=()),
        classes_tested=dict.fromkeys(found.classes_tested, 0),
    )


def _sloped(key: str, both: BothRuns, test: JointTest) -> MetricDifference:
    alone, simultaneous = (
        test.intervals(key, critical=critical).at() for critical in (test.alone, test.critical)
    )
    return _headline(key, both.of(key), alone, simultaneous, test=test)


def _headline(
    key: str,
    values: tuple[MetricValue, MetricValue],
    alone: Interval,
    simultaneous: Interval,
    *,
    test: JointTest,
    p: float | None = None,
) -> MetricDifference:
    return judged(
        key,
        None,
        *values,
        alone.around(difference_of(*values)),
        simultaneous=simultaneous,
        # T = 0 is tested and is no change, although no interval says so.
        is_changed=False if key in test.tested and simultaneous.low is None else None,
        p=p,
    )


def _of_classes(key: str, both: BothRuns, changes: ClassChanges) -> tuple[MetricDifference, ...]:
    values = zip(both.first.labels.names, *both.of_classes(key), strict=True)
    return tuple(
        judged_change(key, name, (before, after), difference_of(before, after), changes, at=code)
        for code, (name, before, after) in enumerate(values)
    )


def _accuracy(matrix: ConfusionMatrix, confidence: float) -> MetricValue:
    known = {ACCURACY: proportions.AGGREGATE[ACCURACY]}
    found = proportion_intervals(Outcomes.of_matrix(matrix), known, confidence=confidence)
    return found[ACCURACY].at().around(headline_values(matrix)[ACCURACY])


def _squared_and_added(first: MetricValue, second: MetricValue) -> Interval:
    low, high = difference_bounds(first, second) or (None, None)
    return Interval(low, high, SQUARE_AND_ADD)

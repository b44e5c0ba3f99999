"""Tests of metrics of runs with sets of labels, of two and of several runs.

Averages over labels have errors by the slopes of each run at its own tables, too, which count
where they are larger: a run that predicts a rare label seldom varies more than both runs together
seem to. Macro averages allow for hits of labels that the samples do not show, as in `unseen_hits`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from offdiag.metrics.arguments import confidence_level
from offdiag.metrics.gradients import Floats
from offdiag.metrics.intervals.bounds import smallest_class
from offdiag.metrics.intervals.delta import SidedErrors, errors_of_moves
from offdiag.metrics.many_runs.best_runs import (
    contests_of_recall,
    is_class_average,
    signs_of,
    small_classes,
    turned,
)
from offdiag.metrics.many_runs.confidence_set import Contest
from offdiag.metrics.many_runs.run_spread import errors_within
from offdiag.metrics.multilabel.sets import LABEL_AXIS
from offdiag.metrics.multilabel_runs.paired import PairedSets, is_of_labels, label_slopes
from offdiag.metrics.paired.simultaneous_tests import (
    JointTest,
    moved_values,
    statistics_of,
    tested_statistics,
)
from offdiag.metrics.paired.unseen_hits import larger_sides, open_classes, sided, worth_of_hits

LAST_AXIS = -1


def judge_sets_together(
    runs: PairedSets,
    differences: Mapping[str, float],
    *,
    confidence: float = 0.95,
) -> JointTest:
    """Test metrics of two runs together, as `judge_together` does for classes.

    `differences` are second minus first by key, NaN where undefined. Swapping the runs changes
    the sign of all statistics and nothing else. Raises `InvalidInput` for a confidence outside
    (0, 1).
    """
    keys = tuple(differences)
    linear, squares = np.zeros(len(keys)), np.zeros((len(keys), len(keys)))
    for block in runs.gained(keys):
        moved = moved_values(block[:, 0], block[:, 1])
        linear += moved.sum(axis=LABEL_AXIS)
        squares += np.inner(moved, moved)
    own_errors = _errors_of_labels(runs, keys)
    errors = np.sqrt(np.diagonal(squares))
    statistics = statistics_of(differences, keys, linear, errors, own_errors)
    tested = tested_statistics(statistics)
    at = [keys.index(key) for key in tested]
    actual = runs.counted[0].actual
    smallest = smallest_class(actual) if actual.any() else np.asarray(runs.n_samples)
    return JointTest(
        statistics, tested, squares[np.ix_(at, at)], smallest, confidence_level(confidence)
    )


def _errors_of_labels(runs: PairedSets, keys: Sequence[str]) -> dict[str, SidedErrors]:
    """Errors of differences of averages over labels, by the slopes of each run, shape ()."""
    share = np.full(runs.n_samples, 1 / runs.n_samples)
    is_open = open_classes(runs.both_right, runs.counted[0].actual)
    found = {}
    for key in filter(is_of_labels, keys):
        first, second = np.concatenate(list(runs.own_slopes(key)), axis=LAST_AXIS)
        found[key] = errors_of_moves(second - first, share, share)
        if is_class_average(key):
            worth = _worths(runs, key)
            unseen = sided(worth[0] * is_open[0, :, 1], worth[1] * is_open[1, :, 0])
            found[key] = found[key].joined(unseen)
    return found


def _errors_between_runs(runs: PairedSets, keys: Sequence[str]) -> Floats:
    """The same of several runs, (Q, m, m), on the larger side, and not skewed."""
    is_open = open_classes(runs.both_right, runs.counted[0].actual)
    found = np.zeros((len(keys), runs.n_runs, runs.n_runs))
    for at, key in enumerate(keys):
        if is_of_labels(key):
            found[at] = errors_within(runs.own_covariance(key))
        if is_class_average(key):
            found[at] = np.hypot(found[at], larger_sides(_worths(runs, key), is_open))
    return found


def _worths(runs: PairedSets, key: str) -> Floats:
    """What unseen hits of each label add to an average over labels of each run, (m, q)."""
    sizes = runs.counted[0].actual
    slopes = runs.n_samples * np.stack([label_slopes([each], key) for each in runs.counted])
    return worth_of_hits(slopes[:, 0] - slopes[:, 1], sizes / runs.n_samples, sizes)


def set_contest(runs: PairedSets, keys: Sequence[str]) -> Contest:
    """A contest of runs by metrics of sets, as `metric_contest` is for metrics of classes.

    Macro averages are not tested if a label has fewer than five samples.
    """
    signs = signs_of(keys)
    has_small = bool(small_classes(runs.counted).any())
    return Contest(
        signs * runs.values(keys),
        turned(replace(runs.spread(keys), own_errors=_errors_between_runs(runs, keys)), signs),
        runs.order,
        np.array([not (has_small and is_class_average(key)) for key in keys]),
    )


def label_contests(runs: PairedSets) -> tuple[Contest, ...]:
    """One contest per label, by its recall, in label order; not tested below five samples.

    The quantile is drawn as if labels were independent. For normal variables with any
    correlation the largest is below it at least as often (Royen 2014, Far East J. Theor. Stat.
    48, 139), so the level holds.
    """
    return contests_of_recall(runs.both_right, runs.counted[0].actual, runs.order)

"""Comparison of multi-label runs and of runs with sample weights.

Recall, precision and F1 of labels, and all values of weighted classes, use the linearized test.
"""

from __future__ import annotations

import numpy as np

from offdiag.comparison.churn import Churn, churn_of
from offdiag.comparison.differences import HEADLINE_OF_SETS, OF_CLASSES, class_values
from offdiag.comparison.many import ManyComparison, many_comparison, pairs_of
from offdiag.comparison.pair import BothRuns, PairComparison, PairedFacts, paired_comparison
from offdiag.metrics.intervals.draws import INTERVAL_SEED
from offdiag.metrics.many_runs.confidence_set import confidence_sets
from offdiag.metrics.multilabel_runs.best_of_many import best_of_many_sets
from offdiag.metrics.multilabel_runs.judged_sets import (
    judge_sets_together,
    label_contests,
    set_contest,
)
from offdiag.metrics.multilabel_runs.paired import (
    LabelRates,
    PairedSets,
    equal_sets,
    label_moves,
    label_rates,
)
from offdiag.metrics.paired.class_changes import SLOPED, changes_by_slopes, recall_changes
from offdiag.metrics.paired.hypothesis_tests import cochran_of_counts, mcnemar
from offdiag.metrics.paired.joint_counts import PairedRates, joint_counts
from offdiag.metrics.paired.weighted import (
    WeightedPair,
    judge_weighted_together,
    weighted_class_errors,
    weighted_class_moves,
)


def compare_paired_sets(runs: PairedSets, *, confidence: float = 0.95) -> PairComparison:
    """Compare two runs on the same samples, as `compare_paired` does for classes.

    Recall, precision and F1 of the labels are adjusted together like those of classes, each by
    its own test on the samples; labels of a sample may depend on each other in any way.
    """
    first, second = runs.counted
    both = BothRuns(first, second)
    rates = label_rates(runs)
    changes = {"recall": recall_changes(rates.hits, confidence=confidence)}
    for key in SLOPED:
        changes[key] = changes_by_slopes(
            both.class_gaps(key),
            *label_moves(runs, rates, key),
            first.actual,
            "label",
            confidence=confidence,
        )
    exact = _exact_rates(runs)
    return paired_comparison(
        both,
        rates=exact,
        together=judge_sets_together(runs, both.differences, confidence=confidence),
        changes=changes,
        facts=_facts(runs, rates, exact),
    )


def _exact_rates(runs: PairedSets) -> PairedRates:
    """How many samples the first and the second run alone predict exactly."""
    both = runs.both_exact
    first, second = (np.asarray(both[run, run] - both[0, 1]) for run in (0, 1))
    return PairedRates(first, second, np.asarray(runs.n_samples))


def _facts(runs: PairedSets, rates: LabelRates, exact: PairedRates) -> PairedFacts:
    both = runs.both_exact
    return PairedFacts(
        _churn(int(both[0, 1]), exact, ()),
        tuple(
            _churn(int(found[0, 1]), rates.hits, (code,))
            for code, found in enumerate(runs.both_right)
        ),
        mcnemar(int(exact.only_first), int(exact.only_second)),
        None,
        None,
        int(np.count_nonzero(equal_sets(*runs.predictions))),
    )


def _churn(both: int, rates: PairedRates, at: tuple[int, ...]) -> Churn:
    first, second, n_samples = (
        int(part[at]) for part in (rates.only_first, rates.only_second, rates.cases)
    )
    return Churn(both, first, second, n_samples - both - first - second)


def compare_many_sets(runs: PairedSets, *, confidence: float) -> ManyComparison:
    """Compare three or more runs on the same samples, as `compare_many` does for classes."""
    metrics = set_contest(runs, HEADLINE_OF_SETS)
    (sets,) = confidence_sets([metrics], seed=INTERVAL_SEED, confidence=confidence)
    of_labels = confidence_sets(label_contests(runs), seed=INTERVAL_SEED, confidence=confidence)
    return many_comparison(
        runs.counted,
        dict(zip(HEADLINE_OF_SETS, sets, strict=True)),
        [found for (found,) in of_labels],
        recall=[class_values(each, confidence=confidence)["recall"] for each in runs.counted],
        pairs=pairs_of(runs.both_exact, range(runs.n_runs)),
        cochran=cochran_of_counts(runs.both_exact) if runs.n_runs > 2 else None,
        confidence=confidence,
        best=best_of_many_sets(runs, HEADLINE_OF_SETS, seed=INTERVAL_SEED),
    )


def compare_weighted(pair: WeightedPair, *, confidence: float = 0.95) -> PairComparison:
    """Compare two runs, as `compare_paired` does for counts; numbers of samples stay exact.

    Every difference uses the linearized test; McNemar's test and those of the margins, which count
    samples, are left out.
    """
    both = BothRuns(*pair.sides)
    changes = {
        key: changes_by_slopes(
            both.class_gaps(key),
            *weighted_class_moves(pair, key),
            pair.sides[0].class_sizes,
            "class",
            own=weighted_class_errors(pair, key),
            confidence=confidence,
        )
        for key in OF_CLASSES
    }
    joint = joint_counts(
        actual=pair.actual, first=pair.first, second=pair.second, labels=pair.labels
    )
    n_same = int((pair.first == pair.second).sum())
    return paired_comparison(
        both,
        rates=None,
        together=judge_weighted_together(pair, both.differences, confidence=confidence),
        changes=changes,
        facts=PairedFacts(*churn_of(joint), None, None, None, n_same),
    )

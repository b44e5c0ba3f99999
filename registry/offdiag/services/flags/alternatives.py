"""Runs that do better than a flagged one on a class, with the difference on all samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.orientation import SourceOrientation
from offdiag.inputs.labels import Codes
from offdiag.inputs.partial_labels import differ, is_labelled
from offdiag.metrics.counted import are_sets
from offdiag.metrics.multilabel.sets import holds_label
from offdiag.metrics.paired.class_changes import confidence_together
from offdiag.metrics.paired.hypothesis_tests import mcnemar
from offdiag.metrics.paired.joint_counts import PairedRates
from offdiag.metrics.paired.proportions import paired_score_interval
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.store import truths
from offdiag.store.database import Session
from offdiag.store.flag_inbox import FlaggedRun
from offdiag.store.predictions import in_truth_order
from offdiag.store.run_neighbours import AlternativeRun, alternative_runs

MOST_ALTERNATIVES = 5


@dataclass(frozen=True, slots=True)
class Gain:
    """By how much the other run is better, as a share of the same samples, with its interval.

    The intervals of all compared runs hold simultaneously at 95 % (Bonferroni).

    `won` samples are right only in the other run, `lost` only in the flagged run.
    """

    value: float
    low: float
    high: float
    won: int
    lost: int


@dataclass(frozen=True, slots=True)
class Alternative:
    """A run that finds more samples of a class.

    `recall` is its gain on the class and `accuracy` on all samples. `p` is McNemar's exact p for
    the samples of the class, times the number of runs from which it was picked (Bonferroni): the
    best of many looks better than it is. All three are None if the runs could not be compared
    sample by sample.
    """

    run: AlternativeRun
    recall: Gain | None = None
    accuracy: Gain | None = None
    p: float | None = None


@dataclass(frozen=True, slots=True)
class AlternativeRuns:
    """At most five runs that find most of the class, the best first, out of `n_compared`."""

    runs: tuple[Alternative, ...] = ()
    n_compared: int = 0


def alternatives_on_class(session: Session, flagged: FlaggedRun) -> AlternativeRuns:
    """Runs on the same ground truth that find more of the class of a flag; three statements."""
    results, label = flagged.results, flagged.entry.flag.content.class_label
    if flagged.entry.flag.content.slice is not None:
        # Their stored recall is on all samples of the class, not on the slice.
        return AlternativeRuns()
    if results is not None and isinstance(results.counted, WeightedCounts):
        # Samples that only one run gets right are counted, and weighted runs are not ranked.
        return AlternativeRuns()
    if results is None or label is None or label not in results.counted.labels.index:
        return AlternativeRuns()
    code = results.counted.labels.index[label]
    run_id = flagged.entry.flag.run_id
    better = alternative_runs(session, run_id, class_index=code, limit=MOST_ALTERNATIVES)
    hits = None
    if flagged.source is SourceOrientation.PREDICTIONS and results.truth_version_id is not None:
        hits = _read_hits(
            session,
            [
                run_id,
                *(
                    run.run_id
                    for run in better.found
                    if run.source is SourceOrientation.PREDICTIONS and not run.is_chosen_here
                ),
            ],
            truth_id=results.truth_version_id,
            n_classes=results.counted.n_classes,
        )
    of_class = {} if hits is None else hits.paired_with(run_id, code)
    of_all = {} if hits is None else hits.paired_with(run_id, None)
    recall, accuracy = (_gains(each, better.n_compared) for each in (of_class, of_all))
    p = {each: _p_value(rates, better.n_compared) for each, rates in of_class.items()}
    return AlternativeRuns(
        tuple(
            Alternative(run, recall.get(run.run_id), accuracy.get(run.run_id), p.get(run.run_id))
            for run in better.found
        ),
        better.n_compared,
    )


@dataclass(frozen=True)
class _Hits:
    """Codes, or packed sets, of all samples in the order of the truth.

    For one label, a set is right if it agrees on the label; for all labels, if it is the true one.
    """

    actual: Codes
    predicted: dict[str, Codes]
    n_classes: int

    def paired_with(self, first: str, code: int | None) -> dict[str, PairedRates]:
        """Each of the other runs paired with the first, on all classes or one."""
        others = [run_id for run_id in self.predicted if run_id != first]
        return {second: self._paired(first, second, code) for second in others}

    def _paired(self, first: str, second: str, code: int | None) -> PairedRates:
        """Numbers of samples that are right in only one of two runs, arrays of shape ()."""
        sides = [self.predicted[first], self.predicted[second]]
        usable = np.logical_and.reduce(
            [is_labelled(each, self.n_classes) for each in (self.actual, *sides)]
        )
        if code is not None:
            usable &= self._are(self.actual, code)
        right, also_right = (usable & self._is_right(each, code) for each in sides)
        return PairedRates(
            _count(right & ~also_right), _count(also_right & ~right), _count(usable)
        )

    def _are(self, codes: Codes, code: int) -> NDArray[np.bool_]:
        if are_sets(codes):
            return holds_label(codes.astype(np.uint8, copy=False), code)
        return np.asarray(codes == code)

    def _is_right(self, predicted: Codes, code: int | None) -> NDArray[np.bool_]:
        if code is not None:
            return self._are(predicted, code)
        return ~differ(self.actual, predicted, self.n_classes)


def _read_hits(
    session: Session, run_ids: list[str], *, truth_id: int, n_classes: int
) -> _Hits | None:
    if len(run_ids) < 2:
        return None
    actual = truths.truth_codes(session, truth_id)
    predicted = in_truth_order(session, run_ids, n_samples=len(actual), n_classes=n_classes)
    return _Hits(actual, predicted, n_classes) if run_ids[0] in predicted else None


def _p_value(of_class: PairedRates, n_compared: int) -> float:
    test = mcnemar(int(of_class.only_first), int(of_class.only_second))
    return min(1.0, test.exact_p * n_compared)


def _gains(rates: Mapping[str, PairedRates], n_compared: int) -> dict[str, Gain | None]:
    """The gains by run. All intervals come from one call: five take no longer than one."""
    together = PairedRates(
        np.array([each.only_first for each in rates.values()], np.int64),
        np.array([each.only_second for each in rates.values()], np.int64),
        np.array([each.cases for each in rates.values()], np.int64),
    )
    level = confidence_together(0.95, n_compared)
    bounds = paired_score_interval(together, confidence=level)
    return {
        run_id: _gain(each, float(low), float(high))
        for (run_id, each), low, high in zip(rates.items(), bounds.low, bounds.high, strict=True)
    }


def _gain(rates: PairedRates, low: float, high: float) -> Gain | None:
    cases, won, lost = int(rates.cases), int(rates.only_second), int(rates.only_first)
    return None if cases == 0 else Gain((won - lost) / cases, low, high, won, lost)


def _count(where: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.asarray(np.count_nonzero(where), np.int64)

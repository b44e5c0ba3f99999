"""The bias of averages over classes of weighted samples: how far they are off on average.

An average over classes of precision, F1 and the like is a mean of ratios. If few wrong answers
of heavy samples fall on a light class, most test sets have none of them and overstate its
precision, while a few have one and understate it by far. So test sets are drawn repeatedly from a
known matrix, and the mean error of the averages there is subtracted (Efron and Tibshirani 1993, An
Introduction to the Bootstrap, chapter 10). For 30 classes weighted by class, intervals of macro
precision covered the truth in 57 of 100 datasets without this correction.

The known matrix has wrong answers where the samples have none, as many as can be expected.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.aggregates import AGGREGATES
from offdiag.metrics.aggregates.classified import Classified
from offdiag.metrics.intervals.draws import batches, generator, replicated
from offdiag.metrics.intervals.posterior import (
    MOST_NUMBERS,
    Evidence,
    prior_of,
)
from offdiag.metrics.orientation import PREDICTED_AXIS, actual_totals, predicted_totals
from offdiag.metrics.tally import tally_of_margins

Floats = NDArray[np.float64]

TEST_SETS = 200
LEAST_TEST_SETS = 40


def expected_bias(evidence: Evidence, keys: Sequence[str], *, seed: int) -> dict[str, float]:
    """How far aggregates of K >= 3 classes are above the truth on average, 0 if undefined.

    Applies to aggregates that depend only on margins and diagonals.
    """
    n_classes = evidence.n_classes
    expected = _expected_samples(evidence)
    of_cells = expected * evidence.unit[:, np.newaxis]
    scale = evidence.parts / of_cells.sum()
    unit = evidence.parts / evidence.total

    def values(stack: Floats) -> dict[str, Floats]:
        cells = np.rint(stack * evidence.unit[:, np.newaxis] * scale).astype(np.int64)
        margins = actual_totals(cells), predicted_totals(cells)
        diagonal = np.ascontiguousarray(np.diagonal(cells, axis1=-2, axis2=-1))
        found = Classified(tally_of_margins(*margins, diagonal, unit=unit), AGGREGATES)
        return {key: replicated(found.aggregate[key]) for key in keys}

    known = values(expected[np.newaxis])
    rng = generator(seed)
    n_sets = min(TEST_SETS, max(LEAST_TEST_SETS, MOST_NUMBERS // n_classes**2))
    drawn: dict[str, list[Floats]] = {key: [] for key in keys}
    for part in batches(n_sets, n_cells=n_classes**2):
        stack = rng.poisson(expected, (part.stop - part.start, n_classes, n_classes))
        for key, each in values(stack.astype(np.float64)).items():
            drawn[key].append(each)
    return {key: _mean_above(np.concatenate(drawn[key]), float(known[key][0])) for key in keys}


def _mean_above(values: Floats, known: float) -> float:
    above = values[np.isfinite(values)] - known
    return float(above.mean()) if above.size and np.isfinite(known) else 0.0


def _expected_samples(evidence: Evidence) -> Floats:
    """Equal samples (K, K) at the posterior mean of the recalls and of the wrong answers."""
    right = np.diagonal(evidence.cells)
    wrong = evidence.cells - np.diag(right)
    missed, prior = wrong.sum(axis=PREDICTED_AXIS), prior_of(evidence.n_classes)
    recall = (right + prior) / (right + missed + 2 * prior)
    split = evidence.wrong_shares(evidence.others)
    of_class = split * (1 - recall)[:, np.newaxis] + np.diag(recall)
    return np.asarray(of_class * evidence.classes[:, np.newaxis])

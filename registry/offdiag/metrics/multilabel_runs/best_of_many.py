"""What the best of several multi-label runs is expected to reach on new samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.gradients import Floats
from offdiag.metrics.intervals.draws import replicated
from offdiag.metrics.many_runs.best_runs import BestOfMany, Scores, corrected_choice, signs_of
from offdiag.metrics.multilabel.examples import Overlap
from offdiag.metrics.multilabel.label_averages import LAST_LABEL_AXIS, averages_of_hits
from offdiag.metrics.multilabel_runs.paired import PairedSets

FEWEST_RUNS = 3
MOST_MEMBERS = 20_000_000
"""Samples times runs times labels up to which the choice is corrected: about two seconds."""


def best_of_many_sets(
    runs: PairedSets, keys: Sequence[str], *, seed: int
) -> dict[str, BestOfMany]:
    """The best of three or more runs by averages over examples or labels, corrected.

    As in `best_of_many` for classes; a draw in which a label is missing on either side does
    not count. Empty for fewer than three runs and for too many samples.
    """
    n_members = runs.n_samples * runs.n_runs * len(runs.labels)
    if runs.n_runs < FEWEST_RUNS or n_members > MOST_MEMBERS:
        return {}
    sums = _Sums(runs, keys)
    present = runs.counted[0].actual > 0

    def halves(times: NDArray[np.int64]) -> tuple[Scores, Scores] | None:
        drawn, left = times.astype(np.float32), (times == 0).astype(np.float32)
        if not all((sums.actual(each)[present] > 0).all() for each in (drawn, left)):
            return None
        return sums.metrics(drawn), sums.metrics(left)

    return corrected_choice(
        dict(zip(keys, runs.values(keys), strict=True)),
        halves,
        runs.n_samples,
        signs=dict(zip(keys, signs_of(keys).ravel().tolist(), strict=True)),
        seed=seed,
        n_looked_at=n_members,
    )


class _Sums:
    """Metrics of all runs as functions of how often each sample is drawn.

    Indicators are float32: sums of whole numbers below 2^24 are exact in any order.
    """

    def __init__(self, runs: PairedSets, keys: Sequence[str]) -> None:
        self._keys = tuple(keys)
        self._shape = (runs.n_runs, len(runs.labels))
        parts = list(runs.blocks())
        self._actual = np.concatenate([actual for actual, _ in parts]).astype(np.float32)
        self._right = self._flat([predicted & actual for actual, predicted in parts])
        self._predicted = self._flat([predicted for _, predicted in parts])
        self._of_examples = {
            key: np.concatenate(
                [Overlap.of(*part).values(key) for part in parts], axis=LAST_LABEL_AXIS
            )
            for key in keys
            if key.startswith(("example_", "subset_", "hamming_"))
        }

    def _flat(self, parts: Sequence[NDArray[np.bool_]]) -> NDArray[np.float32]:
        """Indicators (n, m q) from sets (m, b, q)."""
        rows = [np.concatenate(list(part), axis=LAST_LABEL_AXIS) for part in parts]
        return np.concatenate(rows).astype(np.float32)

    def actual(self, times: NDArray[np.float32]) -> NDArray[np.float32]:
        """Samples with each label, (q,)."""
        return times @ self._actual

    def metrics(self, times: NDArray[np.float32]) -> dict[str, Floats]:
        """Metrics by key, (m,) each, NaN where undefined."""
        n_samples = float(times.sum(dtype=np.float64))
        right, predicted = (
            (times @ members).reshape(self._shape).astype(np.float64)
            for members in (self._right, self._predicted)
        )
        actual = self.actual(times).astype(np.float64)
        averages = averages_of_hits(right, actual, predicted, n_samples)
        return {
            key: np.einsum("mn,n->m", self._of_examples[key], times) / (n_samples or np.nan)
            if key in self._of_examples
            else replicated(averages[key])
            for key in self._keys
        }

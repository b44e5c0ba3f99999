"""What the samples leave open about the true matrix: draws from its posterior.

The shares of the classes are a Dirichlet variable, the recall of each class a beta variable, and
the wrong predictions of a class another Dirichlet variable, all independent (Goutte and Gaussier
2005; Caelen 2017; Tötsch and Hoffmann 2021, PeerJ CS 7, e398). The prior is Jeffreys' for two
classes, and 1/K for K >= 3, of which Jeffreys' would pull many small ones towards 1/2.

A resample knows no errors that the samples do not have. With ten samples of a class, intervals of
resamples covered the truth in as few as 20 of 100 data sets, and quadratic kappa of three classes
in 76; a posterior covers it in 90 and more.

Of weighted samples, each share is that of as many equal samples as have a share of the same
variance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.intervals.bounds import Bounds, Intervals
from offdiag.metrics.intervals.draws import batches, generator, percentile_bounds
from offdiag.metrics.intervals.proportions import PER_CLASS, Outcomes
from offdiag.metrics.orientation import PREDICTED_AXIS
from offdiag.metrics.per_class.one_vs_rest import OneVsRest
from offdiag.metrics.tally import CLASS_AXIS

Floats = NDArray[np.float64]
Split = tuple[NDArray[Any], NDArray[Any]]

CELL_AXIS = 1
"""Axis of drawn numbers (draws, cells) along which the cell changes."""
CLASS_SPLITS = ("prevalence", "recall", "specificity")
"""Proportions that make the matrix of one class against the rest."""
PARTS_OF_A_SAMPLE = 100_000
LEAST_PARTS_OF_A_SAMPLE = 1_000
FAST_PARTS = 2**30
"""Up to here products of totals are machine integers, which take a third of the time."""
MOST_PARTS = 2**50
MOST_CELLS = 2_500
"""Occupied cells up to which matrices are drawn; above, the delta method takes less time."""
MOST_CLASSES = 200
"""Classes up to which they are: each draw is a full K by K matrix."""
NO_VARIATION = "no variation among draws"


@dataclass(frozen=True, eq=False)
class Evidence:
    """What samples say of the true matrix, as numbers of equal samples.

    `classes` (K,) are those of each actual class, of `unit` (K,) weight each. By `cells` (K, K)
    the predictions of an actual class are split; rows need not add up to `classes`. `splits`
    has hits and misses (K,) of the proportions named in `CLASS_SPLITS`. `total` is the number of
    samples, or the sum of their weights.
    """

    classes: NDArray[Any]
    unit: Floats
    cells: NDArray[Any]
    splits: Mapping[str, Split]
    total: float

    @classmethod
    def of_counts(cls, matrix: ConfusionMatrix) -> Evidence:
        outcomes = Outcomes.of_matrix(matrix)
        splits = {}
        for key in CLASS_SPLITS:
            hits = PER_CLASS[key].hits(outcomes)
            splits[key] = hits, PER_CLASS[key].cases(outcomes) - hits
        return cls(matrix.actual, np.ones(matrix.n_classes), matrix.counts, splits, matrix.total)

    @property
    def n_classes(self) -> int:
        return len(self.unit)

    @property
    def parts(self) -> float:
        """In how many parts drawn matrices are counted."""
        n_samples = float(self.classes.sum())
        enough = max(FAST_PARTS, n_samples * LEAST_PARTS_OF_A_SAMPLE)
        return min(n_samples * PARTS_OF_A_SAMPLE, enough, MOST_PARTS)


def fits_draws(counts: NDArray[np.int64]) -> bool:
    """Whether a matrix (K, K) has few enough classes and occupied cells to be drawn."""
    return len(counts) <= MOST_CLASSES and int(np.count_nonzero(counts)) <= MOST_CELLS


def prior_of(n_classes: int) -> float:
    """What is added to the numbers of right and of wrong predictions of each class."""
    return 1 / max(n_classes, 2)


def prior_name(n_classes: int) -> str:
    return "Jeffreys' prior" if n_classes <= 2 else "prior 1/K"


def drawn_matrices(
    evidence: Evidence, *, seed: int, draws: int
) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    """Matrices of K >= 2 classes from the posterior: which draws, and int64 (b, K, K).

    The wrong predictions of a class are split with a prior of 1 / (K (K - 1)) for each other
    class. Matrices count `parts` of the total: metrics of whole numbers take a fifth of the time
    of those of fractions.
    """
    rng = generator(seed)
    n_classes, prior = evidence.n_classes, prior_of(evidence.n_classes)
    right = np.diagonal(evidence.cells)
    missed = evidence.cells.sum(axis=PREDICTED_AXIS) - right
    diagonal = np.arange(n_classes)
    wrong = _WrongPredictions.of(evidence.cells)
    for part in batches(draws, n_cells=n_classes**2):
        size = part.stop - part.start
        actual = rng.standard_gamma(evidence.classes + prior, size=(size, n_classes))
        actual *= evidence.unit
        actual /= actual.sum(axis=CLASS_AXIS, keepdims=True)
        recall = rng.beta(right + prior, np.maximum(missed, 0.0) + prior, size=actual.shape)
        stack = wrong.drawn(actual * (1 - recall), rng)
        stack[:, diagonal, diagonal] = actual * recall
        yield part, np.rint(stack * evidence.parts).astype(np.int64)


@dataclass(frozen=True, eq=False)
class _WrongPredictions:
    """The m occupied cells off the diagonal, ordered by actual class, and which are empty.

    `row` and `column` are (m,), `count` their equal samples; `is_empty` (K, K) marks the empty
    cells off the diagonal. Those of a class share what falls to all of them, so the random numbers
    grow with the occupied cells and not with K squared.
    """

    row: NDArray[np.intp]
    column: NDArray[np.intp]
    count: NDArray[Any]
    is_empty: NDArray[np.bool_]

    @classmethod
    def of(cls, cells: NDArray[Any]) -> _WrongPredictions:
        off_diagonal = ~np.eye(len(cells), dtype=np.bool_)
        row, column = np.nonzero(off_diagonal & (cells > 0))
        return cls(row, column, cells[row, column], off_diagonal & (cells <= 0))

    def drawn(self, mass: Floats, rng: np.random.Generator) -> Floats:
        """`mass` (b, K) by actual class as matrices (b, K, K) without a diagonal."""
        n_classes = len(self.is_empty)
        prior = 1 / (n_classes * (n_classes - 1))
        n_empty = self.is_empty.sum(axis=PREDICTED_AXIS)
        taken = rng.standard_gamma(self.count + prior, size=(len(mass), len(self.row)))
        spread = rng.standard_gamma(n_empty * prior, size=mass.shape)
        total = spread.copy()
        if len(self.row):
            starts = np.flatnonzero(np.diff(self.row, prepend=-1))
            total[:, self.row[starts]] += np.add.reduceat(taken, starts, axis=CELL_AXIS)
        # A total that is too small for a number: only empty cells, with hardly any mass.
        is_lost = total < np.finfo(np.float64).tiny
        spread[is_lost] = total[is_lost] = 1.0
        weight = mass / total
        each = weight * spread / np.maximum(n_empty, 1)
        stack: Floats = each[:, :, np.newaxis] * self.is_empty
        stack[:, self.row, self.column] = taken * weight[:, self.row]
        return stack


def drawn_outcomes(evidence: Evidence, *, seed: int, draws: int) -> OneVsRest:
    """Each class against the rest in matrices from the posterior, (draws, K), as of two classes.

    All classes are drawn on their own, with Jeffreys' prior.
    """
    rng = generator(seed)
    prior = prior_of(2)
    share, recall, specificity = (
        rng.beta(hits + prior, misses + prior, size=(draws, evidence.n_classes))
        for hits, misses in (evidence.splits[key] for key in CLASS_SPLITS)
    )
    positives = evidence.total * share
    negatives = evidence.total - positives
    tp, tn = positives * recall, negatives * specificity
    return OneVsRest(tp=tp, fn=positives - tp, fp=negatives - tn, tn=tn)


def posterior_intervals(
    drawn: Mapping[str, Floats],
    estimates: Mapping[str, Floats],
    *,
    confidence: float,
    prior: str,
) -> dict[str, Intervals]:
    """Percentiles of drawn values (b, ...) by key that hold the estimates (...).

    A posterior is off the ends of a range, and a value may be on. There is no upper end where the
    draws have none, and there are no ends where they all agree: nothing is open then, or a metric
    does not show it.
    """
    found = {}
    for key, estimate in estimates.items():
        bounds = percentile_bounds(drawn[key], confidence=confidence)
        low, high = np.minimum(bounds.low, estimate), np.maximum(bounds.high, estimate)
        is_flat = low == high
        notes: dict[tuple[int, ...], str] = {}
        for places, text in ((is_flat, NO_VARIATION), (np.isposinf(high), "no upper end")):
            notes |= {tuple(int(part) for part in place): text for place in np.argwhere(places)}
        ends = Bounds(np.where(is_flat, np.nan, low), np.where(is_flat, np.nan, high))
        method = f"posterior draws with {prior}, {len(drawn[key])} draws"
        found[key] = Intervals(ends, method, notes)
    return found


def less_bias(
    values: Floats, estimate: Floats, *, times: float, low: float, high: float
) -> Floats:
    """Drawn values (b,) less so many times their bias, from `low` to `high`; NaN is left out."""
    if np.isnan(estimate) or np.isnan(values).all():
        return values
    return np.asarray(np.clip(values - times * (np.nanmean(values) - estimate), low, high))

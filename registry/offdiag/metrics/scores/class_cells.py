"""Probabilities of K classes, each counted in cells of its own against the rest.

The cells of one class do not tell which samples they share with those of another. What needs a
class at a time comes from them (areas, losses, calibration of the largest probability), and what
compares the probabilities of one sample does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.scores.cells import (
    POSITIVE,
    CellSums,
    ScoreCells,
    score_cells,
)
from offdiag.metrics.scores.losses import CLIP, LossMoments, Moments
from offdiag.metrics.scores.ranked_cells import RankedCells


@dataclass(frozen=True, eq=False)
class EventSums:
    """What is known of the probability of one event: sets of samples of one cell and outcome.

    `happened` is bool (m,); all sets together are all samples.
    """

    happened: NDArray[np.bool_]
    sums: CellSums

    def cells(self) -> ScoreCells:
        return score_cells(self.sums, self.happened)


@dataclass(frozen=True, eq=False)
class ClassCells:
    """Cells of each of K classes against the rest in label order, and of the top label.

    `top` holds the largest probability of each sample, whose event is that its class, the first
    one of equals, is the actual one.
    """

    classes: tuple[ScoreCells, ...]
    top: ScoreCells

    @property
    def n_samples(self) -> int:
        return self.top.n_samples

    @property
    def support(self) -> NDArray[np.int64]:
        """Samples of each class, (K,)."""
        return np.array([int(cells.support[POSITIVE]) for cells in self.classes], np.int64)

    @property
    def events(self) -> tuple[RankedCells, ...]:
        """The ranking of each class against the rest."""
        return tuple(cells.event for cells in self.classes)

    @property
    def losses(self) -> LossMoments:
        """Moments of both losses from the samples of each class in its own cells.

        Means are exact, spread within a cell is lost. The squared distance of a sample adds up
        over classes, so only its mean is known: its `squares` are not a number.
        """
        count, surprise, is_zero = (
            np.concatenate(parts)
            for parts in zip(
                *(
                    (each.count[:, POSITIVE], each.surprise[:, POSITIVE], each.high == 0)
                    for each in self.classes
                ),
                strict=True,
            )
        )
        kept = count > 0
        count, surprise, is_zero = count[kept], surprise[kept], is_zero[kept]
        mean = surprise / count
        largest = -np.log(CLIP)
        clipped = np.where(is_zero, largest, np.clip(mean, CLIP, largest))
        squared = sum(float(each.squared.sum()) for each in self.classes)
        return LossMoments(
            None if is_zero.any() else _moments(count, mean),
            _moments(count, clipped),
            Moments(self.n_samples, squared / self.n_samples, float("nan")),
        )

    @property
    def clipping_error(self) -> float:
        """Most that the mean clipped loss may be off, from cells that reach below the clip."""
        return float(sum(each.clipping_error for each in self.classes))


def class_cells(classes: tuple[EventSums, ...], top: EventSums) -> ClassCells:
    """Put what was counted in order."""
    return ClassCells(tuple(each.cells() for each in classes), top.cells())


def _moments(count: NDArray[np.int64], each: NDArray[np.float64]) -> Moments:
    n_samples = int(count.sum())
    mean = float((count * each).sum()) / n_samples
    return Moments(n_samples, mean, float((count * np.square(each - mean)).sum()))

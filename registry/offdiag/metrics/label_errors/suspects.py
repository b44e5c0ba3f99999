"""Ranking labels by how much independent models contradict them, and how well that finds errors.

Each family of models has one vote, so thirty checkpoints of one network are not thirty votes.
A family with probabilities votes with these, another one with its predicted class.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.label_errors.confident import ConfidentLabels, confident_labels, margins
from offdiag.metrics.scores.forecasts import CLASS_AXIS


@dataclass(frozen=True, eq=False)
class Votes:
    """What one family says of n samples.

    `predicted` (n,) are codes below K; `probabilities` (n, K) rows that sum to 1, None where
    the family has none.
    """

    predicted: NDArray[Any]
    probabilities: NDArray[Any] | None = None

    def table(self, n_classes: int) -> NDArray[np.float32]:
        """Probabilities, or all of it on the predicted class."""
        if self.probabilities is not None:
            return self.probabilities.astype(np.float32)
        return np.eye(n_classes, dtype=np.float32)[self.predicted.astype(np.int64)]


@dataclass(frozen=True, eq=False)
class RankedLabels:
    """n labels and what speaks against each, all arrays (n,).

    `score` is the mean margin over families, the best other class less the label, in [-1, 1];
    `suggested` that class; `against` how many families predict another class than the
    label; `is_suspect` whether most families do and the margin is positive; `is_confident`
    whether the suggested class reaches its threshold, too (Northcutt et al.). `order` lists
    places by falling score.
    """

    score: NDArray[np.float64]
    suggested: NDArray[np.int64]
    against: NDArray[np.int64]
    is_suspect: NDArray[np.bool_]
    is_confident: NDArray[np.bool_]
    order: NDArray[np.int64]
    confident: ConfidentLabels
    mean: NDArray[np.float32]


def rank_labels(
    labels: NDArray[Any], families: Iterable[Votes], *, n_classes: int
) -> RankedLabels:
    """Rank n labels, codes below `n_classes`, by what at least one family says of them.

    Families are taken one by one, so that only one of their tables need be in memory.
    """
    mean = np.zeros((len(labels), n_classes), np.float32)
    against = np.zeros(len(labels), np.int64)
    n_families = 0
    for family in families:
        mean += family.table(n_classes)
        against += family.predicted != labels
        n_families += 1
    mean /= np.float32(max(n_families, 1))
    score, suggested = margins(labels, mean)
    confident = confident_labels(labels, mean)
    is_suspect = (2 * against > n_families) & (score > 0)
    is_confident = is_suspect & (confident.confident == suggested)
    order = np.argsort(-score, kind="stable").astype(np.int64)
    return RankedLabels(
        score, suggested, against, is_suspect, is_confident, order, confident, mean
    )


PLANTED_SHARE = 0.02
BUDGET = 0.05
PLANTINGS = 40
SEED = 20_211_231


@dataclass(frozen=True, slots=True)
class PlantedErrors:
    """How errors that were planted on purpose rank, over several plantings.

    `n_planted` labels of each planting were changed to another class at random, `budget` are
    the samples looked at first. `found` is the mean share of planted errors among them and
    `precision` their mean share of the budget; the bounds hold 95 % of plantings. Labels that
    were wrong before count as right, so the precision is a lower bound at this share of errors.
    """

    n_planted: int
    budget: int
    n_plantings: int
    found: float
    found_low: float
    found_high: float
    precision: float
    precision_low: float
    precision_high: float


def plant_errors(
    labels: NDArray[Any],
    mean: NDArray[Any],
    *,
    share: float = PLANTED_SHARE,
    budget_share: float = BUDGET,
    n_plantings: int = PLANTINGS,
) -> PlantedErrors | None:
    """Plant wrong labels and count those that rank within the budget.

    `mean` (n, K) is that of `RankedLabels`. The ranking is by the margin, as that of real
    suspects. None where fewer than five labels would be planted.
    """
    n, n_classes = len(mean), int(mean.shape[CLASS_AXIS])
    n_planted, budget = round(share * n), max(round(budget_share * n), 1)
    if n_planted < 5 or n_classes < 2:
        return None
    score, _ = margins(labels, mean)
    random = np.random.default_rng(SEED)
    found = np.empty(n_plantings)
    for at in range(n_plantings):
        places = random.choice(n, n_planted, replace=False)
        wrong = (labels[places] + random.integers(1, n_classes, n_planted)) % n_classes
        planted, _ = margins(wrong, mean[places])
        changed = score.copy()
        changed[places] = planted
        first = np.argpartition(-changed, budget - 1)[:budget]
        found[at] = np.isin(places, first).sum()
    low, high = np.quantile(found, [0.025, 0.975], method="inverted_cdf").tolist()
    mean_found = float(found.mean())
    return PlantedErrors(
        n_planted,
        budget,
        n_plantings,
        mean_found / n_planted,
        low / n_planted,
        high / n_planted,
        mean_found / budget,
        low / budget,
        high / budget,
    )

"""Ranking labels by how much independent models contradict them, and how well that finds errors.

Each family of models has one vote, so thirty checkpoints of one network do not count as thirty
votes. A family with probabilities votes with these, any other with its predicted class.

Evidence against a label comes from confident learning, which estimates the joint distribution of
given and true labels from probabilities: Northcutt, Jiang and Chuang, "Confident Learning:
Estimating Uncertainty in Dataset Labels", Journal of Artificial Intelligence Research 70 (2021),
1373-1411. Probabilities must be out of sample: a model trained on a wrong label has often
learned it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.orientation import PREDICTED_AXIS
from offdiag.metrics.scores.forecasts import CLASS_AXIS

Labels = NDArray[Any]
Table = NDArray[Any]


@dataclass(frozen=True, eq=False)
class ConfidentLabels:
    """Given labels beside confidently predicted ones.

    `thresholds` (K,) is the mean probability of each class over the samples labelled with it,
    NaN for a class without samples. `confident` (n,) is the most probable class among those
    that reach their threshold, -1 if none does. `joint` (K, K) counts given labels along the
    actual axis and confident classes along the other (equation 1).
    """

    thresholds: NDArray[np.float64]
    confident: NDArray[np.int64]
    joint: NDArray[np.int64]

    def noise(self, label_counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Estimated joint distribution of given and true labels, (K, K), summing to 1.

        Rows of the confident joint are scaled to the number of labels (equation 3); a class
        for which no sample is confident keeps its labels.
        """
        rows = self.joint.astype(np.float64)
        empty = rows.sum(axis=PREDICTED_AXIS) == 0
        rows[empty, empty] = 1
        rows *= (label_counts / rows.sum(axis=PREDICTED_AXIS))[:, np.newaxis]
        return np.asarray(rows / max(rows.sum(), 1))


def confident_labels(labels: Labels, probabilities: Table) -> ConfidentLabels:
    """Count given against confident labels.

    `labels` (n,) are codes below K, `probabilities` (n, K).
    """
    n_classes = int(probabilities.shape[CLASS_AXIS])
    codes = labels.astype(np.int64)
    counts = np.bincount(codes, minlength=n_classes)
    own = np.take_along_axis(probabilities, codes[:, np.newaxis], axis=CLASS_AXIS)[:, 0]
    sums = np.bincount(codes, weights=own.astype(np.float64), minlength=n_classes)
    thresholds = np.divide(sums, counts, out=np.full(n_classes, np.nan), where=counts > 0)
    # A rounding error below the mean must not exclude a class whose samples all agree.
    reached = probabilities >= thresholds - 1e-6
    masked = np.where(reached, probabilities, -1.0)
    confident = np.where(reached.any(axis=CLASS_AXIS), masked.argmax(axis=CLASS_AXIS), -1).astype(
        np.int64
    )
    known = confident >= 0
    pairs = codes[known] * n_classes + confident[known]
    joint = np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)
    return ConfidentLabels(thresholds, confident, joint.astype(np.int64))


def margins(labels: Labels, probabilities: Table) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """How far the best other class is above the label, (n,) in [-1, 1], and which class it is.

    The normalised margin of the paper with its sign reversed, so that suspects come first.
    """
    codes = labels.astype(np.int64)[:, np.newaxis]
    own = np.take_along_axis(probabilities, codes, axis=CLASS_AXIS)[:, 0].astype(np.float64)
    others = probabilities.astype(np.float64)
    np.put_along_axis(others, codes, -np.inf, axis=CLASS_AXIS)
    best = others.argmax(axis=CLASS_AXIS)
    return others.max(axis=CLASS_AXIS) - own, best.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Votes:
    """The predictions of one family for n samples.

    `predicted` (n,) are codes below K; `probabilities` (n, K) rows that sum to 1, None if
    the family has none.
    """

    predicted: NDArray[Any]
    probabilities: NDArray[Any] | None = None

    def table(self, n_classes: int) -> NDArray[np.float32]:
        """Probabilities, or 1 for the predicted class."""
        if self.probabilities is not None:
            return self.probabilities.astype(np.float32)
        return np.eye(n_classes, dtype=np.float32)[self.predicted.astype(np.int64)]


@dataclass(frozen=True, eq=False)
class RankedLabels:
    """n labels and the evidence against each, all arrays (n,).

    `score` is the mean margin over families, the best other class less the label, in [-1, 1];
    `suggested` that class; `against` how many families predict another class than the
    label; `is_suspect` whether most families do and the margin is positive; `is_confident`
    whether the suggested class also reaches its threshold (Northcutt et al.). `order` lists
    positions by falling score.
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
    """Rank n labels, codes below `n_classes`, by the votes of at least one family.

    Families are read one at a time, so only one of their tables needs to be in memory.
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
    """How deliberately planted errors rank, over several plantings.

    In each planting `n_planted` labels were changed to another class at random; `budget` is the
    number of samples reviewed first. `found` is the mean share of planted errors among them and
    `precision` their mean share of the budget; the bounds hold for 95 % of plantings. Labels that
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
) -> PlantedErrors | None:
    """Plant wrong labels and count how many rank within the budget.

    `mean` (n, K) is that of `RankedLabels`. The ranking is by the margin, as for real
    suspects. None if fewer than five labels would be planted.
    """
    n, n_classes = len(mean), int(mean.shape[CLASS_AXIS])
    n_planted, budget = round(PLANTED_SHARE * n), max(round(BUDGET * n), 1)
    if n_planted < 5 or n_classes < 2:
        return None
    score, _ = margins(labels, mean)
    random = np.random.default_rng(SEED)
    found = np.empty(PLANTINGS)
    for at in range(PLANTINGS):
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
        PLANTINGS,
        mean_found / n_planted,
        low / n_planted,
        high / n_planted,
        mean_found / budget,
        low / budget,
        high / budget,
    )

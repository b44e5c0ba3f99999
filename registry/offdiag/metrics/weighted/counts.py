"""Sums over weighted samples: numbers, weights and squared weights by pair of classes.

Values come from the sums of weights. Their uncertainty follows from the sums of squares:
samples are treated as independent draws, each with its weight, and a metric changes by the
same amount for every unit of weight in a cell. So three matrices are enough for any number of
samples, and for equal weights they give the same results as the numbers alone.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.labels import LabelSet
from offdiag.errors import Conflict, InvalidInput
from offdiag.metrics.arguments import finite_vector
from offdiag.metrics.orientation import actual_totals, predicted_totals

Floats = NDArray[np.float64]
Codes = NDArray[np.unsignedinteger[Any]]

SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-15, 1e15
"""Bounds of weights other than 0, so that no sum, square or product of them is lost."""
_ROUNDING = 1e-9
"""Sizes this little below a whole number count as that number."""


@dataclass(frozen=True, eq=False)
class WeightSums:
    """Sums (K, K) of a quantity over the samples of each pair of classes, with their margins.

    Rows are actual, columns predicted classes; margins are (K,).
    """

    counts: NDArray[Any]
    labels: LabelSet

    @property
    def n_classes(self) -> int:
        return len(self.labels)

    @cached_property
    def total(self) -> Any:
        return self.counts.sum()

    @cached_property
    def actual(self) -> NDArray[Any]:
        return np.asarray(actual_totals(self.counts))

    @cached_property
    def predicted(self) -> NDArray[Any]:
        return np.asarray(predicted_totals(self.counts))

    @property
    def correct(self) -> NDArray[Any]:
        return np.diagonal(self.counts)


@dataclass(frozen=True, eq=False)
class WeightedCounts:
    """Numbers of samples, sums of their weights and of squared weights by pair of classes.

    `samples` are int64, `sums` and `squares` float64, each (K, K), rows actual. `total` and
    `actual_samples` are exact numbers of samples, whatever their weights.
    """

    samples: NDArray[np.int64]
    sums: Floats
    squares: Floats
    labels: LabelSet

    def __post_init__(self) -> None:
        for each in (self.samples, self.sums, self.squares):
            each.flags.writeable = False

    @property
    def n_classes(self) -> int:
        return len(self.labels)

    @cached_property
    def total(self) -> int:
        """Number of samples."""
        return int(self.samples.sum())

    @cached_property
    def actual_samples(self) -> NDArray[np.int64]:
        """Samples of each actual class, (K,)."""
        return np.asarray(actual_totals(self.samples))

    @cached_property
    def numbers(self) -> WeightSums:
        """Numbers of samples with their margins."""
        return WeightSums(self.samples, self.labels)

    @cached_property
    def weights(self) -> WeightSums:
        """Sums of weights with their margins."""
        return WeightSums(self.sums, self.labels)

    @cached_property
    def weight_squares(self) -> WeightSums:
        """Sums of squared weights with their margins."""
        return WeightSums(self.squares, self.labels)

    @property
    def n_effective(self) -> float:
        """Kish's effective sample size, the sum of weights squared over the sum of squares.

        This many samples of equal weights have a mean of the same variance, if weights are
        unrelated to what is averaged (Kish 1965, Survey Sampling, 11.2C). 0 without weight.
        """
        return float(kish(np.asarray(self.weights.total), np.asarray(self.weight_squares.total)))

    @cached_property
    def class_effective(self) -> Floats:
        """The effective size of each actual class, (K,)."""
        return kish(self.weights.actual, self.weight_squares.actual)

    @property
    def class_sizes(self) -> NDArray[np.int64]:
        """Effective sizes of the actual classes in whole samples, rounded down, (K,)."""
        return whole_sizes(self.class_effective)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over labels and all three matrices, as 64 hex digits."""
        content = hashlib.sha256(b"weighted " + self.labels.digest.encode())
        content.update(self.samples.astype("<i8").tobytes())
        for each in (self.sums, self.squares):
            content.update(each.astype("<f8").tobytes())
        return content.hexdigest()

    @classmethod
    def of_samples(
        cls, actual: NDArray[Any], predicted: NDArray[Any], weight: Floats, labels: LabelSet
    ) -> WeightedCounts:
        """Add up n samples with codes of classes, leaving out those with a code beyond K."""
        size = len(labels)
        known = actual < size
        if not known.all():
            actual, predicted, weight = actual[known], predicted[known], weight[known]
        cell = actual.astype(np.int64) * size + predicted

        def added(of: Floats | None) -> NDArray[Any]:
            return np.bincount(cell, of, minlength=size * size).reshape(size, size)

        return cls(
            added(None).astype(np.int64),
            added(weight).astype(np.float64),
            added(np.square(weight)).astype(np.float64),
            labels,
        )

    def __add__(self, other: WeightedCounts) -> WeightedCounts:
        return WeightedCounts(
            self.samples + other.samples,
            self.sums + other.sums,
            self.squares + other.squares,
            self.labels,
        )


def kish(sums: Floats, squares: Floats) -> Floats:
    """Effective sizes of groups from sums of weights and of their squares; 0 without weight."""
    safe = np.where(squares > 0, squares, 1.0)
    return np.asarray(np.where(squares > 0, sums * (sums / safe), 0.0))


def whole_sizes(sizes: Floats) -> NDArray[np.int64]:
    """Effective sizes in whole samples, rounded down except for a rounding error."""
    return np.asarray(np.floor(sizes + _ROUNDING)).astype(np.int64)


def read_weights(sample_weight: object, *, n_samples: int) -> Floats:
    """Weights from the caller, one for each of n samples.

    Raises `InvalidInput` if their number differs, and for weights that are not finite,
    negative, or too large or small to be added up exactly enough.
    """
    weight = finite_vector(sample_weight, field="sample_weight")  # type: ignore[arg-type]
    if len(weight) != n_samples:
        raise InvalidInput(
            f"there are {len(weight)} weights for {n_samples} samples.",
            field="sample_weight",
            hint="Give one weight for each sample.",
        )
    negative = np.flatnonzero(weight < 0)
    if negative.size:
        raise InvalidInput(
            f"the weight at index {negative[0]} is {weight[negative[0]]}.",
            field="sample_weight",
            hint="Weights are 0 or more.",
        )
    beyond = np.flatnonzero(
        (weight > LARGEST_WEIGHT) | ((weight > 0) & (weight < SMALLEST_WEIGHT))
    )
    if beyond.size:
        raise InvalidInput(
            f"the weight at index {beyond[0]} is {weight[beyond[0]]:g}.",
            field="sample_weight",
            hint=f"Rescale: weights are 0, or from {SMALLEST_WEIGHT:g} to {LARGEST_WEIGHT:g}.",
        )
    return weight


def require_some_weight(largest: float) -> None:
    """Raise `InvalidInput` if the largest weight of a run is 0."""
    if largest <= 0:
        raise InvalidInput(
            "all weights are 0, so no sample counts.",
            field="sample_weight",
            hint="Give a weight above 0 to at least one sample, or leave the weights out.",
        )


def of_weights(what: str = "This") -> Conflict:
    """The error for asking a run with sample weights for something that needs plain counts."""
    return Conflict(
        f"{what} counts examples, and the examples of this run have weights.",
        field="run",
        hint="Its page and metrics are weighted. To count examples log it without sample_weight=.",
    )


@dataclass(frozen=True, eq=False)
class WeightedMatrix:
    """n samples in memory with class codes and weights, (n,) each, and their sums.

    A sum of weights is not a number of samples. Rates and averages mean the same with weights, but
    exact tests and binomial intervals do not exist for them, so nothing that needs counts accepts
    this matrix.
    """

    actual: Codes
    predicted: Codes
    weight: Floats
    labels: LabelSet

    @property
    def n_samples(self) -> int:
        return len(self.weight)

    @property
    def n_classes(self) -> int:
        return len(self.labels)

    @cached_property
    def counted(self) -> WeightedCounts:
        """Numbers, weights and squared weights of the samples by pair of classes."""
        return WeightedCounts.of_samples(self.actual, self.predicted, self.weight, self.labels)

    @property
    def weights(self) -> Floats:
        """Sums of weights (K, K), read-only; `weights[i, j]` is of actual class i, predicted j."""
        return self.counted.sums


def weighted_matrix(
    actual: Codes, predicted: Codes, sample_weight: ArrayLike, *, labels: LabelSet
) -> WeightedMatrix:
    """Add up the weights of n samples by their pair of classes.

    Raises `InvalidInput` like `read_weights`.
    """
    weight = read_weights(sample_weight, n_samples=len(actual))
    return WeightedMatrix(actual, predicted, weight, labels)

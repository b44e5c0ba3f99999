"""What a caller hands in to be logged, as it came."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Predictions:
    """Arrays of one call as the user holds them, and what is said about their classes."""

    y_pred: object | None
    y_true: object | None = None
    y_score: object | None = None
    sample_ids: object | None = None
    slices: object | None = None
    labels: Iterable[object] | None = None
    ordinal: bool = False
    positive_label: object | None = None
    hierarchy: object | None = None


@dataclass(frozen=True)
class GivenMatrix:
    """A confusion matrix as the user holds it; `orientation` says what its rows are."""

    matrix: ArrayLike
    orientation: str
    labels: Iterable[object] | None = None
    ordinal: bool = False
    hierarchy: object | None = None


@dataclass(frozen=True)
class GivenCounts:
    """How many cases there are of each kind, counted where they lie.

    A kind is an actual class, a predicted class and a value of each slice column; all lists have
    one entry for each kind. `counted_on` names the program that counted.
    """

    actual: Sequence[object]
    predicted: Sequence[object]
    sizes: Sequence[int]
    counted_on: str
    slices: Mapping[str, Sequence[object]] = field(default_factory=dict)
    labels: Iterable[object] | None = None
    ordinal: bool = False
    positive_label: object | None = None
    hierarchy: object | None = None

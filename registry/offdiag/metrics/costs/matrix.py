"""The cost matrix: what each kind of prediction costs; presets, warnings and differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.column_names import names_without_index
from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.sentences import visible
from offdiag.errors import InvalidInput
from offdiag.metrics.arguments import contradicts, is_frame
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.orientation import PREDICTED_AXIS

MAX_CURRENCY_LENGTH = 20
SMALLEST_COST = 1e-15
LARGEST_COST = 1e15
"""Sums and quotients of costs between these bounds stay in the range of float64."""


@dataclass(frozen=True)
class CostMatrix:
    """Cost of predicting one class when another is the actual one.

    `weights` is a read-only float64 array of shape (K, K), `weights[i, j]` being the cost of
    a sample of actual class i predicted as class j, in `currency` (any unit, or None). Negative
    costs are gains; the diagonal may differ from 0.
    """

    weights: NDArray[np.float64]
    labels: LabelSet
    currency: str | None = None

    def __post_init__(self) -> None:
        self.weights.flags.writeable = False

    @property
    def n_classes(self) -> int:
        return len(self.labels)

    @property
    def by_class(self) -> dict[str, dict[str, float]]:
        """Every cost by actual class, then by predicted class."""
        names = self.labels.names
        return {
            actual: dict(zip(names, row, strict=True))
            for actual, row in zip(names, self.weights.tolist(), strict=True)
        }

    def require_two_classes(self) -> None:
        """Raise `InvalidInput` unless there are two classes, as a threshold needs."""
        if self.n_classes != 2:
            raise InvalidInput(
                f"there are {self.n_classes} classes.",
                field="weights",
                hint="A threshold needs two classes; use the decisions by expected cost instead.",
            )


def cost_matrix(weights: object, *, labels: LabelSet, currency: str | None = None) -> CostMatrix:
    """Check weights from the caller and lay them out in label order.

    `weights` is an array (K, K) whose rows and columns follow `labels`, the actual class along
    the first axis; or a mapping {actual: {predicted: cost}}; or a frame with the actual
    classes as index and the predicted ones as columns. Mappings and frames are matched by
    label, in any order, and must name every cell. Columns of a table without an index
    (polars, pyarrow) must be the labels in their order.

    Raises `InvalidInput` for a wrong shape, missing or unknown labels, costs that are not
    finite numbers or out of range, a matrix of zeros, and an unusable `currency`.
    """
    if isinstance(weights, Mapping):
        array = _from_mapping(weights, labels)
    elif is_frame(weights):
        array = _from_frame(weights, labels)
    else:
        names_without_index(weights, labels, field="weights")
        array = _numbers(weights)
    _require_costs(array, labels)
    return CostMatrix(array, labels, _checked_currency(currency))


def _require_costs(array: NDArray[np.float64], labels: LabelSet) -> None:
    """Raise `InvalidInput` for a wrong shape, costs that are not usable, or only zeros."""
    size = len(labels)
    if array.shape != (size, size):
        raise InvalidInput(
            f"the shape is {array.shape} for {size} classes {labels.preview()}.",
            field="weights",
            hint=f"Give {size} rows (actual) of {size} costs (predicted), in label order.",
        )
    broken = ~np.isfinite(array)
    if broken.any():
        actual, predicted = (int(code) for code in np.argwhere(broken)[0])
        raise InvalidInput(
            f"the cost of actual {labels.names[actual]!r} predicted as "
            f"{labels.names[predicted]!r} is {array[actual, predicted]}.",
            field="weights",
            hint="Costs are finite numbers.",
        )
    magnitudes = np.abs(array[array != 0])
    if not magnitudes.size:
        raise InvalidInput(
            "all costs are 0.", field="weights", hint="Give at least one cost that is not 0."
        )
    if not SMALLEST_COST <= magnitudes.min() <= magnitudes.max() <= LARGEST_COST:
        raise InvalidInput(
            f"the costs range from {magnitudes.min():g} to {magnitudes.max():g}.",
            field="weights",
            hint=f"Use a unit in which costs are 0 or between {SMALLEST_COST:g} and "
            f"{LARGEST_COST:g}.",
        )


def _from_mapping(weights: Mapping[Any, Any], labels: LabelSet) -> NDArray[np.float64]:
    rows = _by_label(weights.items(), labels, "actual")
    array = np.empty((len(labels), len(labels)))
    for code, name in enumerate(labels.names):
        row = rows[name]
        if not isinstance(row, Mapping):
            raise InvalidInput(
                f"the costs of actual {name!r} are {row!r}.",
                field="weights",
                hint="Give {actual: {predicted: cost}}.",
            )
        cells = _by_label(row.items(), labels, f"actual {name!r}, predicted")
        array[code] = _numbers([cells[predicted] for predicted in labels.names])
    return array


def _from_frame(frame: Any, labels: LabelSet) -> NDArray[np.float64]:
    if contradicts(frame, SourceOrientation.ACTUAL_ROWS):
        raise InvalidInput(
            f"the index is named {frame.index.name!r} and the columns {frame.columns.name!r}.",
            field="weights",
            hint="Actual classes are the index: pass the transposed frame.",
        )
    index, names = list(frame.index), list(frame.columns)
    rows = _by_label(zip(index, range(len(index)), strict=True), labels, "actual")
    columns = _by_label(zip(names, range(len(names)), strict=True), labels, "predicted")
    values = _numbers(frame.to_numpy())
    actual = [rows[name] for name in labels.names]
    predicted = [columns[name] for name in labels.names]
    return values[np.ix_(actual, predicted)]


def _by_label(entries: Iterable[tuple[Any, Any]], labels: LabelSet, what: str) -> dict[str, Any]:
    """Entries keyed by label text, exactly the declared labels."""
    given = [(label_text(key, field_name="weights"), value) for key, value in entries]
    found = dict(given)
    if len(found) != len(given):
        raise InvalidInput(
            f"a label occurs more than once among {what} classes.",
            field="weights",
            hint="Name each class once; 7 and '7' are the same label.",
        )
    for name in found:
        if name not in labels.index:
            raise InvalidInput(
                f"{what} {name!r} is not one of the labels {labels.preview()}.",
                field="weights",
                hint="Use the labels of the dataset.",
            )
    for name in labels.names:
        if name not in found:
            raise InvalidInput(
                f"there is no cost for {what} {name!r}.",
                field="weights",
                hint="Name every cell; write 0 where there is no cost.",
            )
    return found


def _numbers(weights: object) -> NDArray[np.float64]:
    try:
        array = np.asarray(weights)
        numbers = array.astype(np.float64) if array.dtype.kind in "iufO" else None
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is None:
        raise InvalidInput(
            "the costs cannot be read as numbers.",
            field="weights",
            hint="Give a square table of numbers.",
        )
    return numbers


def _checked_currency(currency: str | None) -> str | None:
    if currency is None:
        return None
    text = currency.strip()
    if not text or len(text) > MAX_CURRENCY_LENGTH or visible(text) != text:
        raise InvalidInput(
            f"{currency[:40]!r} is not a currency.",
            field="currency",
            hint=f"Give a short unit such as EUR (up to {MAX_CURRENCY_LENGTH} characters, none of "
            "them invisible).",
        )
    return text


def zero_one_costs(labels: LabelSet) -> CostMatrix:
    """1 for every error and 0 for every correct prediction: the mean cost is the error rate."""
    size = len(labels)
    return CostMatrix(np.ones((size, size)) - np.eye(size), labels)


def prevalence_costs(matrix: ConfusionMatrix) -> CostMatrix:
    """Costs of errors that increase with the rarity of their actual class.

    An error on class i costs max_k t_k / t_i, so that all classes together weigh the same and
    runs rank as by balanced accuracy: the total is K' max_k t_k (1 - balanced accuracy). A
    class without samples costs as much as if it had one sample.
    """
    rarity = matrix.actual.max(initial=1) / np.maximum(matrix.actual, 1)
    weights = np.repeat(
        np.expand_dims(rarity, PREDICTED_AXIS), matrix.n_classes, axis=PREDICTED_AXIS
    )
    np.fill_diagonal(weights, 0.0)
    return CostMatrix(weights, matrix.labels)


class CostOddity(StrEnum):
    """A property of a cost matrix that may be a mistake."""

    PREDICTION_DOES_NOT_MATTER = "answer_does_not_matter"
    """All predictions cost the same for this actual class, the correct one included."""
    CORRECT_PREDICTION_COSTS = "right_answer_is_priced"
    """A correct prediction has a cost or a gain."""
    ERROR_IS_CHEAPER = "error_is_cheaper"
    """An error costs less than the correct prediction."""


@dataclass(frozen=True, slots=True)
class CostWarning:
    """An oddity and the codes of the classes to which it applies."""

    oddity: CostOddity
    classes: tuple[int, ...]


def check_costs(costs: CostMatrix) -> tuple[CostWarning, ...]:
    """The oddities of a cost matrix, each with the actual classes concerned.

    With a single class there is nothing to get wrong, and nothing is odd.
    """
    if costs.n_classes < 2:
        return ()
    weights, correct = costs.weights, np.diagonal(costs.weights)
    cheapest = weights.min(axis=PREDICTED_AXIS)
    concerned = {
        CostOddity.PREDICTION_DOES_NOT_MATTER: cheapest == weights.max(axis=PREDICTED_AXIS),
        CostOddity.CORRECT_PREDICTION_COSTS: correct != 0,
        CostOddity.ERROR_IS_CHEAPER: cheapest < correct,
    }
    return tuple(
        CostWarning(oddity, tuple(np.flatnonzero(classes).tolist()))
        for oddity, classes in concerned.items()
        if classes.any()
    )


@dataclass(frozen=True, slots=True)
class CostChange:
    """One cell whose cost differs."""

    actual: str
    predicted: str
    before: float
    after: float

    @property
    def factor(self) -> float | None:
        """The new cost divided by the old one, if both are positive."""
        return self.after / self.before if self.before > 0 and self.after > 0 else None


def changed_costs(before: CostMatrix, after: CostMatrix) -> tuple[CostChange, ...]:
    """All cells that differ, in the label order of `after`, for classes that both have."""
    common = [name for name in after.labels.names if name in before.labels.index]
    if not common:
        return ()
    was, now = (_weights_among(costs, common) for costs in (before, after))
    return tuple(
        CostChange(
            common[actual],
            common[predicted],
            float(was[actual, predicted]),
            float(now[actual, predicted]),
        )
        for actual, predicted in np.argwhere(was != now).tolist()
    )


def _weights_among(costs: CostMatrix, names: list[str]) -> NDArray[np.float64]:
    """The costs among some of the classes, in their order."""
    codes = [costs.labels.index[name] for name in names]
    return costs.weights[np.ix_(codes, codes)]

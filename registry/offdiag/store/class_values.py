"""Every per-class value of an evaluation in one blob.

A thousand classes have forty thousand values. As rows they would outweigh the predictions;
packed they cost 30 bytes each and are read at once, which is how pages need them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import POSITIVE_INFINITY, MetricValue

_FIELDS = ("value", "ci_low", "ci_high")
_TO_INFINITY = 1


@dataclass(frozen=True, slots=True)
class ClassValues:
    """Packed values: `keys` says in which order, `reasons` what the codes in `data` mean.

    `reasons` lists reasons of undefined values and methods of intervals; code 0 means none.
    `data` holds, for each key and class: three float64 (value, low, high), then for each the
    uint16 codes of reason, limit and method, little-endian.
    """

    keys: Sequence[str]
    reasons: Sequence[str]
    n_classes: int
    data: bytes


def pack(per_class: Mapping[str, Sequence[MetricValue]], n_classes: int) -> ClassValues:
    """Pack K values for each key."""
    keys = list(per_class)
    words: dict[str, int] = {}
    numbers = np.full((len(keys), n_classes, len(_FIELDS)), np.nan, dtype="<f8")
    codes = np.zeros((len(keys), n_classes, 3), dtype="<u2")
    for row, key in enumerate(keys):
        for column, cell in enumerate(per_class[key]):
            if cell.ci_method is not None:
                numbers[row, column] = [_or_nan(getattr(cell, name)) for name in _FIELDS]
                codes[row, column, 2] = _code(words, cell.ci_method)
            elif cell.value is not None:
                numbers[row, column, 0] = cell.value
            if cell.reason is not None:
                codes[row, column, 0] = _code(words, cell.reason)
            codes[row, column, 1] = _TO_INFINITY if cell.limit == POSITIVE_INFINITY else 0
    return ClassValues(keys, list(words), n_classes, numbers.tobytes() + codes.tobytes())


def unpack(packed: ClassValues) -> dict[str, tuple[MetricValue, ...]]:
    """The values again, exactly as packed. Raises ValueError when the blob has another size."""
    cells = len(packed.keys) * packed.n_classes
    split = cells * len(_FIELDS) * 8
    if len(packed.data) != split + cells * 3 * 2:
        raise ValueError(f"{len(packed.data)} bytes cannot hold {cells} values")
    shape = (len(packed.keys), packed.n_classes)
    numbers = np.frombuffer(packed.data[:split], "<f8").reshape(*shape, len(_FIELDS))
    codes = np.frombuffer(packed.data[split:], "<u2").reshape(*shape, 3)
    words = (None, *packed.reasons)
    return {
        key: tuple(
            _value(numbers[row, column].tolist(), codes[row, column], words)
            for column in range(packed.n_classes)
        )
        for row, key in enumerate(packed.keys)
    }


def _value(
    numbers: list[float], codes: NDArray[np.uint16], words: tuple[str | None, ...]
) -> MetricValue:
    value, low, high = (None if np.isnan(number) else number for number in numbers)
    limit = POSITIVE_INFINITY if codes[1] else None
    return MetricValue(value, words[codes[0]], limit, low, high, words[codes[2]])


def _code(words: dict[str, int], word: str) -> int:
    return words.setdefault(word, len(words) + 1)


def _or_nan(number: float | None) -> float:
    return np.nan if number is None else number

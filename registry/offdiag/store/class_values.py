"""Every per-class value of an evaluation in one blob.

A thousand classes have forty thousand values. As rows they would outweigh the predictions;
packed they cost 30 bytes each and are read at once, which is how pages need them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

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


@dataclass(frozen=True, eq=False)
class ClassNumbers:
    """Unpacked arrays, first axis key, second axis class.

    `numbers` (n_keys, n_classes, 3) are value, low and high, NaN where there is none; `codes`
    (n_keys, n_classes, 3) are those of reason, limit and method in `words`, whose first is None.
    """

    numbers: NDArray[np.float64]
    codes: NDArray[np.uint16]
    words: tuple[str | None, ...]


class UnpackedValues(Mapping[str, tuple[MetricValue, ...]]):
    """The K values of each key, unpacked when they are first asked for.

    A page shows a few of thirty keys, and a picture none.
    """

    def __init__(self, packed: ClassValues) -> None:
        self._rows = {key: row for row, key in enumerate(packed.keys)}
        self._found = unpack_arrays(packed)
        self._unpacked: dict[str, tuple[MetricValue, ...]] = {}

    def __getitem__(self, key: str) -> tuple[MetricValue, ...]:
        if key not in self._unpacked:
            row = self._rows[key]
            cells = zip(
                self._found.numbers[row].tolist(), self._found.codes[row].tolist(), strict=True
            )
            self._unpacked[key] = tuple(_value(*cell, self._found.words) for cell in cells)
        return self._unpacked[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def unpack(packed: ClassValues) -> Mapping[str, tuple[MetricValue, ...]]:
    """The values again, exactly as packed. Raises ValueError when the blob has another size."""
    return UnpackedValues(packed)


def unpack_arrays(packed: ClassValues) -> ClassNumbers:
    """The same as arrays, views of the blob. Raises ValueError when it has another size."""
    cells = len(packed.keys) * packed.n_classes
    split = cells * len(_FIELDS) * 8
    if len(packed.data) != split + cells * 3 * 2:
        raise ValueError(f"{len(packed.data)} bytes cannot hold {cells} values")
    shape = (len(packed.keys), packed.n_classes)
    return ClassNumbers(
        np.frombuffer(packed.data[:split], "<f8").reshape(*shape, len(_FIELDS)),
        np.frombuffer(packed.data[split:], "<u2").reshape(*shape, 3),
        (None, *packed.reasons),
    )


def _value(
    numbers: Sequence[float], codes: Sequence[int], words: Sequence[str | None]
) -> MetricValue:
    value, low, high = (None if isnan(number) else number for number in numbers)
    limit = POSITIVE_INFINITY if codes[1] else None
    return MetricValue(value, words[codes[0]], limit, low, high, words[codes[2]])


def _code(words: dict[str, int], word: str) -> int:
    return words.setdefault(word, len(words) + 1)


def _or_nan(number: float | None) -> float:
    return np.nan if number is None else number

"""Slice columns: for each sample one value of few, such as its country or device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import label_text
from offdiag.domain.runs import require_name
from offdiag.errors import InvalidInput
from offdiag.inputs.columns import to_column
from offdiag.inputs.labels import Codes, code_dtype, require_equal_lengths

MAX_COLUMNS = 100
MAX_LEVELS = 10_000


@dataclass(frozen=True, eq=False)
class SliceColumn:
    """Values of n samples: `levels[codes[i]]` is that of sample i, levels sorted and all used."""

    levels: tuple[str, ...]
    codes: Codes

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, positions: NDArray[np.int64]) -> SliceColumn:
        """The values at these positions, in this order."""
        return SliceColumn(self.levels, self.codes[positions])

    def slice(self, start: int, stop: int) -> SliceColumn:
        """The values from `start` up to but without `stop`, sharing memory."""
        return SliceColumn(self.levels, self.codes[start:stop])

    def has(self, value: str) -> NDArray[np.bool_]:
        """Which samples have this value, shape (n,); none if it does not occur."""
        if value not in self.levels:
            return np.zeros(len(self), dtype=np.bool_)
        found: NDArray[np.bool_] = self.codes == self.levels.index(value)
        return found

    def first_difference(self, other: SliceColumn) -> int | None:
        """Position of the first sample whose value differs, None if there is no such sample."""
        place = {level: code for code, level in enumerate(self.levels)}
        other_codes = np.array([place.get(level, -1) for level in other.levels], dtype=np.int64)
        differs = self.codes != other_codes[other.codes]
        return int(np.argmax(differs)) if differs.any() else None


SliceColumns = Mapping[str, SliceColumn]


def read_slices(given: object, *, n_samples: int) -> dict[str, SliceColumn]:
    """Read a mapping from names to arrays of n values, or a frame of n rows.

    Values are str, int or bool, written as labels are. Raises `InvalidInput` for missing
    values, other lengths and types, and for columns with too many different values.
    """
    columns = _named(given)
    if len(columns) > MAX_COLUMNS:
        raise InvalidInput(
            f"there are {len(columns)} columns.",
            field="slices",
            hint=f"At most {MAX_COLUMNS} are kept with a dataset.",
        )
    return {
        name: _read_column(values, name=name, n_samples=n_samples)
        for name, values in columns.items()
    }


def _named(given: object) -> dict[str, object]:
    if isinstance(given, Mapping):
        named = dict(given)
    else:
        names = getattr(given, "column_names", None)
        names = getattr(given, "columns", None) if names is None else names
        if names is None or not hasattr(given, "__getitem__"):
            raise InvalidInput(
                f"{type(given).__name__} holds no named columns.",
                field="slices",
                hint="Give {name: values} or a frame.",
            )
        named = {name: given[name] for name in names}
    return {require_name(name, "slices"): values for name, values in named.items()}


def _read_column(values: object, *, name: str, n_samples: int) -> SliceColumn:
    import pyarrow as pa
    import pyarrow.compute as pc

    field = f"slices[{name!r}]"
    column = to_column(values, field=field)
    require_equal_lengths(**{"y_pred": n_samples, field: len(column)})
    if isinstance(column, np.ndarray):
        if column.dtype.kind not in "iub":
            raise InvalidInput(
                f"{column[0].item()!r} of type float is no value of a slice.",
                field=field,
                hint="Give text, whole numbers or booleans; name ranges of other numbers.",
            )
        found, codes = np.unique(column, return_inverse=True)
        levels = [str(value.item()) for value in found]
    else:
        encoded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
        codes = encoded.indices.to_numpy()
        levels = encoded.dictionary.to_pylist()
    _require_few(levels, field)
    return sorted_levels([label_text(level, field_name=field) for level in levels], codes)


def sorted_levels(levels: Sequence[str], codes: NDArray[np.integer]) -> SliceColumn:
    """The column whose levels are sorted and all used, whatever order they came in."""
    used = np.unique(codes)
    names = sorted({levels[code] for code in used.tolist()})
    place = {name: code for code, name in enumerate(names)}
    moved = np.array([place.get(level, 0) for level in levels], dtype=code_dtype(len(names)))
    return SliceColumn(tuple(names), moved[codes])


def concatenated_slices(parts: Sequence[SliceColumns]) -> dict[str, SliceColumn]:
    """Columns of several batches, which all have the same names, one after the other."""
    return {name: _concatenated([part[name] for part in parts]) for name in parts[0]}


def _concatenated(parts: Sequence[SliceColumn]) -> SliceColumn:
    levels = [level for part in parts for level in part.levels]
    starts = np.cumsum([0, *(len(part.levels) for part in parts[:-1])])
    codes = [
        part.codes.astype(np.int64) + start for part, start in zip(parts, starts, strict=True)
    ]
    return sorted_levels(levels, np.concatenate(codes))


def _require_few(levels: Sequence[object], field: str) -> None:
    if len(levels) > MAX_LEVELS:
        raise InvalidInput(
            f"there are {len(levels)} different values.",
            field=field,
            hint=f"At most {MAX_LEVELS} make slices; group them.",
        )

"""Reading slice columns: for each sample one of a few values, such as its country, or tags.

Numbers and dates become ranges and periods when they are read (`slice_ranges`), so that a stored
column always has a code for each sample. Counted kinds of samples have slice columns, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.column_names import columns_of
from offdiag.domain.labels import label_text
from offdiag.domain.look_alikes import look_alikes_in_words
from offdiag.domain.number_text import count
from offdiag.domain.runs import require_name
from offdiag.domain.sentences import known_names
from offdiag.domain.slices import UNKNOWN, is_range, level_order, require_disjoint
from offdiag.errors import InvalidInput
from offdiag.inputs.columns import Column, to_rich_column
from offdiag.inputs.labels import Codes, code_dtype, require_equal_lengths
from offdiag.inputs.slice_ranges import (
    DEFAULT_PERIOD,
    DEFAULT_QUANTILES,
    Bins,
    cut,
    has_zone,
    is_dates,
    periods_of,
)

if TYPE_CHECKING:
    import pyarrow as pa

MAX_COLUMNS = 100
MAX_LEVELS = 10_000
_MOST_NAMES = 20
"""Up to this number of distinct whole floats, they probably name groups."""
TAG_SEPARATOR = "|"
"""Separates the tags of one sample in the level that stands for its set."""
NESTING = "/"
"""Separates the levels of a hierarchy, in the name of a column and in its values."""


@dataclass(frozen=True, eq=False)
class SliceColumn:
    """Values of n samples: `levels[codes[i]]` is that of sample i; levels are sorted and all used.

    Samples whose value was not given have the level `UNKNOWN`. With `of_tags` a level is the set
    of tags of a sample, joined by `TAG_SEPARATOR`, and a slice is all samples with a tag. `note`
    says what may not be meant as it was read; columns derived from this one have none. `zoned`
    says whether the times that were read have a zone; None if it is not known, or they are others.
    """

    levels: tuple[str, ...]
    codes: Codes
    of_tags: bool = False
    note: str | None = None
    zoned: bool | None = None

    def __len__(self) -> int:
        return len(self.codes)

    def to_list(self) -> list[str] | list[list[str]]:
        """The value of each sample, or its tags."""
        if not self.of_tags:
            return [self.levels[code] for code in self.codes.tolist()]
        tags = [[tag for tag in self._values_in(level) if tag] for level in self.levels]
        return [tags[code] for code in self.codes.tolist()]

    def take(self, positions: NDArray[np.int64]) -> SliceColumn:
        """The values at these positions, in this order."""
        return SliceColumn(self.levels, self.codes[positions], self.of_tags, zoned=self.zoned)

    def slice(self, start: int, stop: int) -> SliceColumn:
        """The values from `start` up to but excluding `stop`, sharing memory."""
        return SliceColumn(self.levels, self.codes[start:stop], self.of_tags)

    @cached_property
    def choices(self) -> tuple[str, ...]:
        """The values a slice can have, in reading order: the known levels, or all tags."""
        found = {tag for level in self.levels for tag in self._values_in(level)}
        return tuple(level_order(found - {UNKNOWN}))

    @cached_property
    def membership(self) -> NDArray[np.bool_]:
        """Which level has which of the `choices`, shape (choices, levels)."""
        place = {value: at for at, value in enumerate(self.choices)}
        found = np.zeros((len(place), len(self.levels)), dtype=np.bool_)
        for code, level in enumerate(self.levels):
            found[[place[tag] for tag in self._values_in(level) if tag in place], code] = True
        return found

    def has(self, value: str) -> NDArray[np.bool_]:
        """Which samples have this value, shape (n,); none if it does not occur."""
        of_level = np.array([value in self._values_in(level) for level in self.levels], np.bool_)
        found: NDArray[np.bool_] = of_level[self.codes]
        return found

    def first_difference(self, other: SliceColumn) -> int | None:
        """Position of the first sample whose known values differ, None if there is none."""
        place = {level: code for code, level in enumerate(self.levels)}
        theirs = np.array([place.get(level, -1) for level in other.levels], dtype=np.int64)
        differs = self.codes != theirs[other.codes]
        differs &= self._is_known & other._is_known
        return int(np.argmax(differs)) if differs.any() else None

    def completed_by(self, other: SliceColumn) -> SliceColumn:
        """The same values, with unknown ones filled in from another column."""
        mine = [*self.levels, *other.levels]
        codes = np.where(
            self._is_known,
            self.codes.astype(np.int64),
            other.codes.astype(np.int64) + len(self.levels),
        )
        return sorted_levels(mine, codes, of_tags=self.of_tags)

    def first_gap(self, other: SliceColumn) -> int | None:
        """Position of the first sample with a value in the other column only; None if none has."""
        gaps = ~self._is_known & other._is_known
        return int(np.argmax(gaps)) if gaps.any() else None

    def spread(self, places: NDArray[np.int64], *, n: int) -> SliceColumn:
        """A column of n samples with these values at `places`; the others are unknown."""
        codes = np.full(n, len(self.levels), dtype=np.int64)
        codes[places] = self.codes
        return sorted_levels([*self.levels, UNKNOWN], codes, of_tags=self.of_tags)

    @cached_property
    def _is_known(self) -> NDArray[np.bool_]:
        known = np.array([level != UNKNOWN for level in self.levels], dtype=np.bool_)
        found: NDArray[np.bool_] = known[self.codes]
        return found

    def _values_in(self, level: str) -> Sequence[str]:
        return level.split(TAG_SEPARATOR) if self.of_tags else (level,)


SliceColumns = Mapping[str, SliceColumn]


def read_slices(
    given: object,
    *,
    n_samples: int | None,
    bins: Mapping[str, Bins] | None = None,
    periods: Mapping[str, str] | None = None,
    one_for_each: str = "y_pred",
) -> dict[str, SliceColumn]:
    """Read a mapping from names to arrays of n values, or a frame of n rows.

    `one_for_each` names what has `n_samples` in the error for another number of values.

    * Text, whole numbers and booleans are categories, written as labels are.
    * Floats, and columns named in `bins`, become ranges: between the cut points given for them,
      or at so many quantiles, quartiles by default.
    * Dates and times, and ISO 8601 texts named in `periods`, become periods: "year", "quarter",
      "month" (the default), "week" or "day".
    * Lists of text are tags; a slice is all samples with one of them.
    * `country/site` with values like "JP/Kyoto" is a hierarchy: it also gives a column `country`.

    Samples with an empty text are in no slice of the column, and its note says so.

    Raises `InvalidInput` for missing values, other lengths and types, and for columns with too
    many different values.
    """
    columns = _named(given)
    require_columns(columns, bins, periods)
    found: dict[str, SliceColumn] = {}
    for name, values in columns.items():
        field = f"slices[{name!r}]"
        column = to_rich_column(values, field=field)
        n_samples = len(column) if n_samples is None else n_samples
        require_equal_lengths(**{one_for_each: n_samples, field: len(column)})
        found[name] = _read_column(
            column, field, (bins or {}).get(name), (periods or {}).get(name)
        )
        found |= {
            parent: coarser
            for parent, coarser in _parents(name, found[name]).items()
            if parent not in columns
        }
    if len(found) > MAX_COLUMNS:
        raise InvalidInput(
            f"there are {len(found)} columns.",
            field="slices",
            hint=f"At most {MAX_COLUMNS} are kept with a dataset.",
        )
    return {name: _with_unknown(read, f"slices[{name!r}]") for name, read in found.items()}


def _with_unknown(column: SliceColumn, field: str) -> SliceColumn:
    """The column, with a note if some samples are in none of its slices."""
    if column.of_tags or UNKNOWN not in column.levels:
        return column
    said = unknown_note(int(np.count_nonzero(column.has(UNKNOWN))), field)
    return replace(column, note=" ".join(filter(None, (column.note, said))))


def unknown_note(n_samples: int, field: str) -> str | None:
    """A note on samples that are in no slice of a column, None if there are none."""
    if not n_samples:
        return None
    return (
        f"{field} is an empty text for {count(n_samples, 'sample')}, which no slice of it holds. "
        "Name what is not known, as 'unknown', to have one."
    )


def alike_note(column: SliceColumn, field: str) -> str | None:
    """A note on values that look alike, None if there are none."""
    return look_alikes_in_words(column.choices, f"Values of {field}")


def slice_notes(columns: SliceColumns) -> tuple[str, ...]:
    """Notes on what may not be meant as it was read, for columns from `read_slices`."""
    return tuple(each.note for each in columns.values() if each.note is not None)


def require_columns(
    columns: Collection[str], bins: Mapping[str, Bins] | None, periods: Mapping[str, str] | None
) -> None:
    """Raise `InvalidInput` for options of a column that does not exist."""
    for option, wanted in (("bins", bins or {}), ("periods", periods or {})):
        unknown = sorted(wanted.keys() - {*columns})
        if unknown:
            raise InvalidInput(
                f"there is no column {unknown[0]!r}.",
                field=option,
                hint=known_names("columns", columns),
            )


@dataclass(frozen=True, slots=True)
class GivenSlices:
    """Slice columns as users have them, for some or all samples of a dataset.

    `ids` (m,) name the samples; without them there is one value for each sample, in order. `bins`
    and `periods` are passed to `read_slices`.
    """

    columns: object
    ids: object | None = None
    bins: Mapping[str, Bins] | None = None
    periods: Mapping[str, str] | None = None

    def read(self, n_samples: int | None) -> dict[str, SliceColumn]:
        """The columns for this many samples, None for any number. Raises `InvalidInput`."""
        return read_slices(
            self.columns,
            n_samples=n_samples,
            bins=self.bins,
            periods=self.periods,
            one_for_each="dataset" if self.ids is None else "ids",
        )


@dataclass(frozen=True, slots=True)
class AddedSlices:
    """Columns that are new or have values for more samples, and how many runs they affect.

    `root` is the first label version of the samples. `notes` say what may not be meant as it was
    read.
    """

    dataset: str
    root: int
    columns: tuple[str, ...]
    n_runs: int
    notes: tuple[str, ...] = ()


def _named(given: object) -> dict[str, object]:
    if isinstance(given, Mapping):
        named = dict(given)
    else:
        names = columns_of(given)
        if names is None or not hasattr(given, "__getitem__"):
            raise InvalidInput(
                f"{type(given).__name__} holds no named columns.",
                field="slices",
                hint="Give {name: values} or a frame.",
            )
        named = {name: given[name] for name in names}
    return {require_name(name, "slices"): values for name, values in named.items()}


def _read_column(column: Column, field: str, bins: Bins | None, period: str | None) -> SliceColumn:
    import pyarrow as pa
    import pyarrow.compute as pc

    if bins is not None and period is not None:
        raise InvalidInput(
            "the column is named in bins and in periods.",
            field=field,
            hint="Numbers have bins, and dates have periods: name it in one of them.",
        )
    if period is not None or (bins is None and is_dates(column)):
        read = sorted_levels(*periods_of(column, period or DEFAULT_PERIOD, field=field))
        return replace(read, zoned=has_zone(column))
    if bins is not None or (isinstance(column, np.ndarray) and column.dtype.kind == "f"):
        ranges = sorted_levels(
            *cut(column, DEFAULT_QUANTILES if bins is None else bins, field=field)
        )
        if bins is not None:
            return ranges
        return replace(ranges, note=range_note(np.unique(column), ranges, field))
    if isinstance(column, np.ndarray):
        found, codes = np.unique(column, return_inverse=True)
        levels = [str(value.item()) for value in found]
    elif pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return _read_tags(column, field)
    else:
        encoded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
        codes = encoded.indices.to_numpy()
        levels = encoded.dictionary.to_pylist()
    _require_few(levels, field)
    read = sorted_levels([label_text(level, field_name=field) for level in levels], codes)
    return replace(read, note=alike_note(read, field))


def range_note(values: NDArray[Any], ranges: SliceColumn, field: str) -> str | None:
    """A note if numbers that may name groups became fewer ranges, as after a gap in pandas.

    `values` are the distinct numbers.
    """
    if not len(ranges.levels) < len(values) <= _MOST_NAMES or (values % 1).any():
        return None
    return (
        f"{field} holds {len(values)} whole numbers as floats, which became {len(ranges.levels)} "
        f"ranges, such as {ranges.choices[0]!r}. If they name groups, give integers: one slice "
        "for each."
    )


def _read_tags(column: pa.Array, field: str) -> SliceColumn:
    sets: dict[str, int] = {}
    codes = np.empty(len(column), dtype=np.int64)
    for place, given in enumerate(column.to_pylist()):
        tags = sorted({label_text(tag, field_name=field) for tag in given})
        if any(TAG_SEPARATOR in tag or not tag for tag in tags):
            raise InvalidInput(
                f"the tags {tags} at index {place} have an empty one or a {TAG_SEPARATOR!r}.",
                field=field,
                hint="Use another character in tags.",
            )
        codes[place] = sets.setdefault(TAG_SEPARATOR.join(tags), len(sets))
    _require_few(list(sets), field)
    read = sorted_levels(list(sets), codes, of_tags=True)
    return replace(read, note=alike_note(read, field))


def _parents(name: str, column: SliceColumn) -> dict[str, SliceColumn]:
    """The coarser columns of a hierarchy, by name; none if values have other depths."""
    names = name.split(NESTING)
    paths = [level.split(NESTING) for level in column.levels if level != UNKNOWN]
    if not all(names) or any(len(path) != len(names) for path in paths):
        return {}
    found = {}
    for depth in range(1, len(names)):
        levels = [NESTING.join(level.split(NESTING)[:depth]) for level in column.levels]
        found[NESTING.join(names[:depth])] = sorted_levels(levels, column.codes)
    return found


def sorted_levels(
    levels: Sequence[str], codes: NDArray[np.integer], *, of_tags: bool = False
) -> SliceColumn:
    """The column with sorted levels that are all used, whatever order they came in."""
    used = np.unique(codes)
    names = sorted({levels[code] for code in used.tolist()})
    place = {name: code for code, name in enumerate(names)}
    moved = np.array([place.get(level, 0) for level in levels], dtype=code_dtype(len(names)))
    return SliceColumn(tuple(names), moved[codes], of_tags)


def concatenated_slices(parts: Sequence[SliceColumns]) -> dict[str, SliceColumn]:
    """Columns of several batches, which all have the same names, concatenated."""
    return {name: _concatenated(name, [part[name] for part in parts]) for name in parts[0]}


def _concatenated(name: str, parts: Sequence[SliceColumn]) -> SliceColumn:
    levels = [level for part in parts for level in part.levels]
    if any(is_range(level) for level in levels):
        # Quantiles differ between batches and the whole: a value would be in two ranges.
        require_disjoint(set(levels), field=f"slices[{name!r}]")
    starts = np.cumsum([0, *(len(part.levels) for part in parts[:-1])])
    codes = [
        part.codes.astype(np.int64) + start for part, start in zip(parts, starts, strict=True)
    ]
    return sorted_levels(levels, np.concatenate(codes), of_tags=parts[0].of_tags)


def _require_few(levels: Sequence[object], field: str) -> None:
    if len(levels) > MAX_LEVELS:
        raise InvalidInput(
            f"there are {len(levels)} different values.",
            field=field,
            hint=f"At most {MAX_LEVELS} make slices; group them.",
        )

"""Sample ids and indexes: matching the same sample across arrays and runs.

Ids that are all whole numbers, given as numbers or as their decimal text, are one kind, so a
loader that reads "17" and one that reads 17 name the same sample; everything else is text. Within
a run an id occurs once.

The index of a pandas Series names its rows. Two Series are matched by these names, as in every
calculation of pandas, and not by position: otherwise predictions that were sorted or sampled in
between would be counted against the labels of other samples.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from offdiag.errors import InvalidInput
from offdiag.inputs.columns import to_column

if TYPE_CHECKING:
    import pyarrow as pa

MAX_ID_LENGTH = 500
_WHOLE_NUMBER = "^(0|-?[1-9][0-9]{0,17})$"


@dataclass(frozen=True)
class SampleIds:
    """n sample ids of one kind: int64 numbers or Arrow text (large_string)."""

    kind: Literal["int", "text"]
    values: NDArray[np.int64] | pa.Array

    def __len__(self) -> int:
        return len(self.values)

    def order(self) -> NDArray[np.int64]:
        """Positions that sort the ids: numbers by value, text by code point."""
        import pyarrow.compute as pc

        if isinstance(self.values, np.ndarray):
            return np.argsort(self.values, kind="stable").astype(np.int64)
        positions: NDArray[np.int64] = pc.sort_indices(self.values).to_numpy().astype(np.int64)
        return positions

    def take(self, positions: NDArray[np.int64]) -> SampleIds:
        """The ids at these positions, in this order."""
        import pyarrow as pa

        if isinstance(self.values, np.ndarray):
            return SampleIds(self.kind, self.values[positions])
        return SampleIds(self.kind, self.values.take(pa.array(positions)))

    def slice(self, start: int, stop: int) -> SampleIds:
        """The ids from `start` up to but excluding `stop`."""
        return SampleIds(self.kind, self.values[start:stop])

    def n_bytes(self) -> NDArray[np.int64]:
        """Bytes that each id takes in a chunk, shape (n,)."""
        import pyarrow.compute as pc

        if isinstance(self.values, np.ndarray):
            return np.full(len(self.values), self.values.itemsize, dtype=np.int64)
        lengths: NDArray[np.int64] = pc.binary_length(self.values).to_numpy().astype(np.int64)
        return lengths + np.int64().itemsize

    def to_list(self) -> list[int] | list[str]:
        """The same as plain Python values."""
        if isinstance(self.values, np.ndarray):
            numbers: list[int] = self.values.tolist()
            return numbers
        texts: list[str] = self.values.to_pylist()
        return texts

    def named(self, text: str) -> NDArray[np.bool_]:
        """Which ids contain a text, shape (n,); numbers only match as a whole."""
        import pyarrow.compute as pc

        if isinstance(self.values, np.ndarray):
            if re.fullmatch(_WHOLE_NUMBER, text) is None:
                return np.zeros(len(self), dtype=np.bool_)
            return np.asarray(self.values == int(text), dtype=np.bool_)
        found: NDArray[np.bool_] = pc.match_substring(self.values, text).to_numpy(
            zero_copy_only=False
        )
        return found

    def as_text(self) -> SampleIds:
        """The same ids as text, for joining numbers with text."""
        import pyarrow as pa

        if isinstance(self.values, np.ndarray):
            return SampleIds("text", pa.array(self.values).cast(pa.large_string()))
        return self


def sample_ids(values: object, *, field: str = "sample_ids") -> SampleIds:
    """Read sample ids; UUIDs and bytes in UTF-8 are read as their text.

    Raises `InvalidInput` for missing, fractional or over-long ones, and for other bytes.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = to_column(_texts_of_objects(values, field), field=field)
    if isinstance(column, np.ndarray):
        if len(column) and column.dtype.kind not in "iu":
            raise InvalidInput(
                f"identifiers of type {column.dtype} are ambiguous.",
                field=field,
                hint="Use whole numbers or text.",
            )
        if column.dtype == np.uint64 and len(column) and int(column.max()) >= 1 << 63:
            raise InvalidInput(
                f"{int(column.max())} is larger than 2^63-1.", field=field, hint="Use text."
            )
        return SampleIds("int", column.astype(np.int64))
    text = column.cast(pa.large_string())
    longest = pc.max(pc.utf8_length(text)).as_py() or 0
    if longest > MAX_ID_LENGTH:
        raise InvalidInput(
            f"an identifier has {longest} characters.",
            field=field,
            hint=f"At most {MAX_ID_LENGTH} are stored; log a digest of it instead.",
        )
    if pc.all(pc.match_substring_regex(text, _WHOLE_NUMBER)).as_py():
        return SampleIds("int", text.cast(pa.int64()).to_numpy())
    return SampleIds("text", text)


def _texts_of_objects(values: object, field: str) -> object:
    """UUIDs and bytes as text; anything else unchanged."""
    dtype = getattr(values, "dtype", None)
    listed = isinstance(values, (list, tuple)) or getattr(dtype, "kind", "") in {"O", "S"}
    if not listed and not _is_binary(values):
        return values
    given = values if isinstance(values, (list, tuple)) else _listed(values)
    if not any(isinstance(value, (UUID, bytes)) for value in given[:1]):
        return values
    return [_text_of_object(value, field) for value in given]


def _is_binary(values: object) -> bool:
    """Whether it is an Arrow column of UUIDs or bytes."""
    kind = str(getattr(values, "type", ""))
    return "uuid" in kind or kind in {"binary", "large_binary"}


def _listed(values: Any) -> list[object]:
    found = values.to_pylist() if hasattr(values, "to_pylist") else values.tolist()
    return list(found) if isinstance(found, list) else []


def _text_of_object(value: object, field: str) -> object:
    if isinstance(value, UUID):
        return str(value)
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise InvalidInput(
            f"{value[:20]!r} is not text in UTF-8.", field=field, hint="Use value.hex()."
        ) from None


def joined(parts: list[SampleIds]) -> SampleIds:
    """Ids of several batches as one. Numbers become text if any batch has text."""
    import pyarrow as pa

    if all(part.kind == "int" for part in parts):
        return SampleIds("int", np.concatenate([np.asarray(part.values) for part in parts]))
    arrays = [part.as_text().values for part in parts]
    return SampleIds("text", pa.concat_arrays(arrays))


def require_distinct(ids: SampleIds, order: NDArray[np.int64], *, field: str) -> None:
    """Raise `InvalidInput` naming the first id that occurs twice.

    `order` is `ids.order()`, which the caller needs anyway.
    """
    import pyarrow.compute as pc

    ordered = ids.take(order).values
    if isinstance(ordered, np.ndarray):
        same = ordered[1:] == ordered[:-1]
    else:
        same = pc.equal(ordered[1:], ordered[:-1]).to_numpy(zero_copy_only=False)
    if same.any():
        place = int(np.argmax(same))
        doubled = ids.take(order[place : place + 1]).to_list()[0]
        rows = sorted(int(row) for row in order[place : place + 2])
        raise InvalidInput(
            f"{doubled!r} occurs twice, at index {rows[0]} and {rows[1]}.",
            field=field,
            hint="Name each sample once.",
        )


def are_equal(one: SampleIds | None, other: SampleIds | None) -> bool:
    """Whether both name the same samples in the same order; None names them by position."""
    if one is None or other is None:
        return one is other
    if isinstance(one.values, np.ndarray) or isinstance(other.values, np.ndarray):
        return one.kind == other.kind and np.array_equal(one.values, other.values)
    return bool(one.values.equals(other.values))


def common_places(ids: Sequence[SampleIds]) -> tuple[NDArray[np.int64], ...]:
    """Positions, in each of several sets of ids, of the ids that all sets have, (m,) each.

    The ids of a set are distinct; the positions follow the order of the first set.
    """
    first, *others = (each.as_text() if _mixed(ids) else each for each in ids)
    in_others = [_places_in(other, first) for other in others]
    shared = np.logical_and.reduce([places >= 0 for places in in_others])
    shared = np.broadcast_to(shared, (len(first),))
    return (np.flatnonzero(shared), *(places[shared] for places in in_others))


def _mixed(ids: Sequence[SampleIds]) -> bool:
    return len({each.kind for each in ids}) > 1


def _places_in(known: SampleIds, wanted: SampleIds) -> NDArray[np.int64]:
    """Position of each wanted id among the known ones, -1 if it is not among them."""
    import pyarrow.compute as pc

    if isinstance(known.values, np.ndarray):
        order = np.argsort(known.values, kind="stable")
        found = np.searchsorted(known.values, wanted.values, sorter=order)
        places = order[np.minimum(found, len(order) - 1)]
        return np.where(known.values[places] == wanted.values, places, -1)
    matches = pc.index_in(wanted.values, value_set=known.values)
    places_in_text: NDArray[np.int64] = pc.fill_null(matches, -1).to_numpy().astype(np.int64)
    return places_in_text


def update_digest(digest: hashlib._Hash, ids: SampleIds) -> None:
    """Feed the ids into a running digest, so that equal ids give equal bytes."""
    import pyarrow.compute as pc

    digest.update(ids.kind.encode())
    if isinstance(ids.values, np.ndarray):
        digest.update(ids.values.astype("<i8").tobytes())
        return
    lengths = pc.binary_length(ids.values).to_numpy().astype("<i8")
    digest.update(lengths.tobytes())
    digest.update("".join(ids.values.to_pylist()).encode())


_WAYS_OUT = (
    "Use .to_numpy() on arrays whose rows are in one order already; log_run also takes "
    "sample_ids= to name the rows."
)


def aligned(**given: Any) -> dict[str, Any]:
    """The arguments of one call by name, with row i of each about the same sample.

    An argument is None, an array of n rows, or a mapping from names to such arrays. Only Series
    and DataFrames of pandas, and what behaves like them, have an index, and arrays of xarray by
    their coordinates:

    * Equal indexes, including those with duplicate labels, are left unchanged.
    * The same labels in another order are brought into the order of the first index.
    * A new index of 0 to n - 1 next to those numbers in another order is refused: predictions get
      one, whatever the order of the rows that they are made for.
    * Other labels are refused. If `sample_ids` or `ids` without an index say what each row is
      about, rows are paired by position, and an index of these identifiers in another order is
      refused.
    * An array without an index is paired by position. Next to indexes of different orders it is
      refused, because nothing says which of them it follows.

    Raises `InvalidInput` naming the argument whose index is at fault, and for unequal lengths.
    """
    given = {
        name: {key: _with_index(value[key]) for key in value}
        if isinstance(value, Mapping)
        else _with_index(value)
        for name, value in given.items()
    }
    arrays = dict(_arrays(given))
    indexes = {name: array.index for name, array in arrays.items() if _has_index(array)}
    ids = given.get("sample_ids", given.get("ids"))
    rows_are_named = ids is not None and not _has_index(ids)
    if rows_are_named:
        _require_order_of(ids, indexes)
    if len(indexes) < 2:
        return given
    (first, reference), *others = indexes.items()
    other = {name: index for name, index in others if not _equal(index, reference)}
    if not other:
        return given
    from offdiag.inputs.labels import require_equal_lengths  # Only when needed: pyarrow.

    require_equal_lengths(**{name: len(index) for name, index in indexes.items()})
    moves = {}
    for name, index in other.items():
        places = _places(index, reference)
        if places is not None:
            moves[name] = places
        elif not rows_are_named:
            raise _unpaired(name, index, first, reference)
    if moves:
        _require_indexes(
            next(iter(moves)), first, (name for name in arrays if name not in indexes)
        )
    return _moved(given, moves)


def _require_order_of(ids: Any, indexes: Mapping[str, Any]) -> None:
    """Raise `InvalidInput` for an index that has the identifiers of the rows in another order.

    An index that counts the rows from 0 in their order is one that pandas made, and says nothing.
    """
    if isinstance(ids, (str, bytes)) or not hasattr(ids, "__len__"):
        return
    for name, index in indexes.items():
        if index.nlevels > 1 or len(index) != len(ids) or _counts_rows(index):
            continue
        try:
            named, given = sample_ids(index), sample_ids(ids)
        except InvalidInput:  # Of values that are no identifiers.
            continue
        in_order = (each.take(each.order()) for each in (named, given))
        if not are_equal(named, given) and are_equal(*in_order):
            raise InvalidInput(
                "its index has the identifiers in another order.",
                field=name,
                hint="Select them, .loc[ids], or use .to_numpy() if the rows are in the order of "
                "the identifiers.",
            )


def _counts_rows(index: Any) -> bool:
    return index.dtype.kind in "iu" and np.array_equal(index, np.arange(len(index)))


def require_stored_order(**given: Any) -> None:
    """Raise `InvalidInput` if an index says that rows are not in the order of the stored samples.

    Without `sample_ids` and ground truth to be paired with, rows are paired with stored samples by
    position. Predictions of folds, one behind the other, keep the numbers of their rows.
    """
    for name, array in _arrays(given):
        if _has_index(array) and _is_renumbered(array.index):
            raise InvalidInput(
                f"its index has the numbers 0 to {len(array) - 1} in another order, and rows are "
                "paired with the stored samples by position.",
                field=name,
                hint="Use .sort_index() if the index numbers the stored samples, or .to_numpy() "
                "if the rows are in their order.",
            )


def _is_renumbered(index: Any) -> bool:
    if index.nlevels > 1 or index.dtype.kind not in "iu" or index.is_monotonic_increasing:
        return False
    return np.array_equal(np.sort(index.to_numpy()), np.arange(len(index)))


def _arrays(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every array with its name in error messages."""
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from ((_entry(name, key), array) for key, array in value.items())
        elif value is not None:
            yield name, value


def _entry(name: str, key: object) -> str:
    return f"{name}[{key!r}]"


def _with_index(array: Any) -> Any:
    """A `DataArray` of xarray as the frame of pandas with its coordinates; others unchanged.

    Read as an array, scores would lose the order of their classes, and rows that of the samples.
    """
    kind = type(array)
    if not (hasattr(kind, "to_pandas") and hasattr(kind, "dims")) or array.ndim not in (1, 2):
        return array
    frame = array.to_pandas()
    # Without coordinates its rows have no names, and pandas numbers them anew.
    return frame if array.dims[0] in array.coords else frame.rename_axis(index=None)


def _has_index(array: object) -> bool:
    # Lists have a method of that name; Dask has an index that cannot be searched.
    return hasattr(type(array), "iloc") and hasattr(getattr(array, "index", None), "get_indexer")


def _equal(index: Any, reference: Any) -> bool:
    return index is reference or bool(index.equals(reference))


def _places(index: Any, reference: Any) -> Any:
    """The position in an index of each label of the reference; None if these are not the same.

    A new index, numbered by pandas, does not count as labels.
    """
    if (
        _is_new(index)
        or not (index.is_unique and reference.is_unique)
        or index.nlevels != reference.nlevels
    ):
        return None
    places = index.get_indexer(reference)
    return None if (places < 0).any() else places


def _is_new(index: Any) -> bool:
    """Whether pandas generated it, as for an array that becomes a Series."""
    return (
        getattr(index, "start", None) == 0
        and getattr(index, "step", None) == 1
        and index.name is None
    )


def _moved(given: Mapping[str, Any], moves: Mapping[str, Any]) -> dict[str, Any]:
    def moved(name: str, array: Any) -> Any:
        return array.iloc[moves[name]] if name in moves else array

    return {
        name: {key: moved(_entry(name, key), array) for key, array in value.items()}
        if isinstance(value, Mapping)
        else moved(name, value)
        for name, value in given.items()
    }


def _unpaired(name: str, index: Any, first: str, reference: Any) -> InvalidInput:
    if _is_new(index) and index.isin(reference).all():
        return InvalidInput(
            f"its index is a new one of 0 to {len(index) - 1}, and that of {first} has these "
            "numbers in another order, so rows may be meant by position or by label.",
            field=name,
            hint=f"{_WAYS_OUT} Where its labels are meant, select them: .loc[{first}.index].",
        )
    if index.nlevels == reference.nlevels:
        for of_whom, labels in ((name, index), (first, reference)):
            if not labels.is_unique:
                doubled = _first(labels[labels.duplicated()])
                return InvalidInput(
                    f"its index is not that of {first}, and {doubled!r} occurs more than once in "
                    f"that of {of_whom}, so rows cannot be paired by it.",
                    field=name,
                    hint=_WAYS_OUT,
                )
    strange = index[~index.isin(reference)] if index.nlevels == reference.nlevels else index
    return InvalidInput(
        f"its index differs from that of {first}, for example in {_first(strange)!r}.",
        field=name,
        hint=_WAYS_OUT,
    )


def _first(index: Any) -> object:
    """The first label as a plain Python value."""
    return index[:1].tolist()[0]


def _require_indexes(name: str, first: str, without: Iterable[str]) -> None:
    unnamed = next(iter(without), None)
    if unnamed is not None:
        raise InvalidInput(
            f"its index is that of {first} in another order, and {unnamed} has no index to say "
            "which order it follows.",
            field=name,
            hint=f"Give {unnamed} an index, or put all in one order and use .to_numpy().",
        )

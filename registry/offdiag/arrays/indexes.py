"""Arrays of one call that carry an index, brought into one order.

A Series of pandas names its rows. Two of them belong together by these names, as in every
calculation of pandas, and not by position: predictions that were sorted or sampled on their way
would otherwise be counted against the labels of other samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from offdiag.errors import InvalidInput

_WAYS_OUT = (
    "Use .to_numpy() on arrays whose rows are in one order already; log_run also takes "
    "sample_ids= to name the rows."
)


def aligned(**given: Any) -> dict[str, Any]:
    """The arguments of one call by name, row i of each about the same sample.

    An argument is None, an array of n rows, or a mapping from names to such arrays. Only Series
    and DataFrames of pandas, and what behaves like them, have an index:

    * Equal indexes, also with labels that stand twice, are left as they are.
    * The same labels in another order are brought into the order of the first index.
    * Other labels are refused. Where `sample_ids` without an index say what each row is about,
      rows are paired by position.
    * An array without an index is paired by position. Next to indexes of different orders nothing
      says which of them it follows, and it is refused.

    Raises `InvalidInput` naming the argument whose index is at fault, and for unequal lengths.
    """
    arrays = dict(_arrays(given))
    indexes = {name: array.index for name, array in arrays.items() if _has_index(array)}
    if len(indexes) < 2:
        return given
    (first, reference), *others = indexes.items()
    other = {name: index for name, index in others if not _equal(index, reference)}
    if not other:
        return given
    from offdiag.arrays.labels import require_equal_lengths  # Not before it is needed: pyarrow.

    require_equal_lengths(**{name: len(index) for name, index in indexes.items()})
    ids = given.get("sample_ids")
    rows_are_named = ids is not None and not _has_index(ids)
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


def _arrays(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every array with the name that errors call it by."""
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from ((_entry(name, key), array) for key, array in value.items())
        elif value is not None:
            yield name, value


def _entry(name: str, key: object) -> str:
    return f"{name}[{key!r}]"


def _has_index(array: object) -> bool:
    # Lists have a method of that name; Dask has an index that cannot be searched.
    return hasattr(type(array), "iloc") and hasattr(getattr(array, "index", None), "get_indexer")


def _equal(index: Any, reference: Any) -> bool:
    return index is reference or bool(index.equals(reference))


def _places(index: Any, reference: Any) -> Any:
    """Where each label of the reference stands in an index; None where they are not the same."""
    if not (index.is_unique and reference.is_unique) or index.nlevels != reference.nlevels:
        return None
    places = index.get_indexer(reference)
    return None if (places < 0).any() else places


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
        f"its index has other labels than that of {first}, {_first(strange)!r} for one.",
        field=name,
        hint=_WAYS_OUT,
    )


def _first(index: Any) -> object:
    """The first label, as Python has it."""
    return index[:1].tolist()[0]


def _require_indexes(name: str, first: str, without: Iterable[str]) -> None:
    unnamed = next(iter(without), None)
    if unnamed is not None:
        raise InvalidInput(
            f"its index is that of {first} in another order, and {unnamed} has no index to say "
            "which order it follows.",
            field=name,
            hint=f"Give {unnamed} an index, or bring all into one order and use .to_numpy().",
        )

"""Counts of slices are those of going through the samples one by one."""

from __future__ import annotations

from itertools import chain, combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from offdiag.inputs.slice_columns import SliceColumn, read_slices
from offdiag.metrics.slices import counts
from offdiag.metrics.slices.counts import (
    CodedColumn,
    SliceCounts,
    count_slices,
    count_triples,
    outcomes_of_classes,
    outcomes_of_sets,
)

N_PARTS = 2


@st.composite
def columns(draw: st.DrawFn, n: int) -> dict[str, SliceColumn]:
    def of(values: Any) -> list[Any]:
        return draw(st.lists(values, min_size=n, max_size=n))

    given = {"site": of(st.sampled_from("xyz")), "device": of(st.integers(1, 2))}
    tags = [sorted(each) for each in of(st.sets(st.sampled_from(["hair", "scar"])))]
    if any(tags):
        given["tags"] = tags
    return read_slices(given, n_samples=n)


def coded(given: dict[str, SliceColumn]) -> list[CodedColumn]:
    return [
        CodedColumn(name, each.choices, each.codes, each.membership)
        for name, each in given.items()
    ]


def one_by_one(
    given: dict[str, SliceColumn], numbers_of: Any, *, min_samples: int, sizes: NDArray[Any]
) -> dict[tuple[tuple[str, str], ...], list[list[int]]]:
    """Every slice by its terms, counted from its members."""
    has = {
        (name, choice): column.has(choice)
        for name, column in given.items()
        for choice in column.choices
    }
    found: dict[tuple[tuple[str, str], ...], list[list[int]]] = {
        (term,): numbers_of(members) for term, members in has.items()
    }
    for one, other in combinations(has, 2):
        both = has[one] & has[other]
        if one[0] != other[0] and sizes[both].sum() >= min_samples:
            found[one, other] = numbers_of(both)
    return found


def as_dict(found: SliceCounts) -> dict[tuple[tuple[str, str], ...], list[list[int]]]:
    return {found.terms(place): found.numbers[place].tolist() for place in range(len(found))}


@given(st.data(), st.integers(1, 40), st.integers(1, 5), st.booleans())
def test_slices_of_classes(data: st.DataObject, n: int, least: int, is_counted: bool) -> None:
    given = data.draw(columns(n))
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    actual, predicted = rng.integers(0, 3, (2, n))
    part = rng.integers(0, N_PARTS, n)
    sizes = rng.integers(1, 4, n) if is_counted else np.ones(n, dtype=np.int64)

    def numbers_of(members: NDArray[np.bool_]) -> list[list[int]]:
        rows = []
        for half in range(N_PARTS):
            here = members & (part == half)
            hit = here & (actual == predicted)
            per_class = [
                [int(sizes[chosen & (codes == k)].sum()) for k in range(3)]
                for chosen, codes in ((here, actual), (here, predicted), (hit, actual))
            ]
            heads = [int(sizes[here].sum()), int(sizes[hit].sum())]
            rows.append([*heads, *chain.from_iterable(per_class)])
        return rows

    found = count_slices(
        coded(given),
        outcomes_of_classes(actual, predicted, n_classes=3, part=part, n_parts=N_PARTS),
        n_samples=n,
        n_parts=N_PARTS,
        sizes=sizes if is_counted else None,
        min_samples=least,
    )

    assert as_dict(found) == one_by_one(given, numbers_of, min_samples=least, sizes=sizes)
    assert found.total.tolist() == numbers_of(np.ones(n, dtype=np.bool_))


@given(st.data(), st.integers(1, 40), st.integers(1, 4), st.booleans())
def test_crosses_of_three_columns(
    data: st.DataObject, n: int, least: int, is_counted: bool
) -> None:
    given = data.draw(columns(n)) | read_slices(
        {"ward": data.draw(st.lists(st.sampled_from("pq"), min_size=n, max_size=n))}, n_samples=n
    )
    chosen = {name: given[name] for name in list(given)[-3:]}
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    actual, predicted = rng.integers(0, 3, (2, n))
    sizes = rng.integers(1, 4, n) if is_counted else np.ones(n, dtype=np.int64)
    outcomes = outcomes_of_classes(
        actual, predicted, n_classes=3, part=np.zeros(n, np.uint8), n_parts=1
    )
    options: dict[str, Any] = {"n_samples": n, "min_samples": least}
    options["sizes"] = sizes if is_counted else None

    found = count_triples(coded(chosen), outcomes, **options)

    shallow = count_slices(coded(chosen), outcomes, **options)
    deep = {
        terms: numbers
        for terms, numbers in as_dict(found).items()
        if terms not in as_dict(shallow)
    }
    assert as_dict(shallow).items() <= as_dict(found).items()
    assert all(len(terms) == 3 for terms in deep)
    has = [
        [((name, choice), column.has(choice)) for choice in column.choices]
        for name, column in chosen.items()
    ]
    expected = {}
    for crossed in product(*has):
        members = np.logical_and.reduce([each for _, each in crossed])
        if sizes[members].sum() >= least:
            hit = members & (actual == predicted)
            expected[tuple(term for term, _ in crossed)] = (
                sizes[members].sum(),
                sizes[hit].sum(),
                [sizes[members & (actual == k)].sum() for k in range(3)],
            )
    assert {
        terms: (rows[0][0], rows[0][1], rows[0][2:5]) for terms, rows in deep.items()
    } == expected


@given(st.data(), st.integers(1, 30))
def test_slices_of_sets(data: st.DataObject, n: int) -> None:
    given = data.draw(columns(n))
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    actual, predicted = rng.random((2, n, 3)) < 0.5
    part = rng.integers(0, N_PARTS, n)

    def numbers_of(members: NDArray[np.bool_]) -> list[list[int]]:
        rows = []
        for half in range(N_PARTS):
            here = members & (part == half)
            sets = (actual[here], predicted[here], actual[here] & predicted[here])
            right = (actual[here] == predicted[here]).all(axis=1)
            rows.append(
                [int(here.sum()), int(right.sum())]
                + [int(count) for each in sets for count in each.sum(axis=0)]
            )
        return rows

    found = count_slices(
        coded(given),
        outcomes_of_sets(actual, predicted, part=part, n_parts=N_PARTS),
        n_samples=n,
        n_parts=N_PARTS,
        min_samples=2,
    )

    ones = np.ones(n, dtype=np.int64)
    assert as_dict(found) == one_by_one(given, numbers_of, min_samples=2, sizes=ones)


def test_columns_of_many_values_are_counted_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    n = 3_000
    given = read_slices({"a": rng.integers(0, 60, n), "b": rng.integers(0, 60, n)}, n_samples=n)
    actual, predicted = rng.integers(0, 4, (2, n))
    whole = np.zeros(n, dtype=np.uint8)

    def counted() -> SliceCounts:
        outcomes = outcomes_of_classes(actual, predicted, n_classes=4, part=whole, n_parts=1)
        return count_slices(coded(given), outcomes, n_samples=n, min_samples=3)

    dense = as_dict(counted())
    monkeypatch.setattr(counts, "_MOST_BINS", 1)

    assert as_dict(counted()) == dense
    assert any(len(terms) == 2 for terms in dense)


def test_the_largest_crosses_are_kept_where_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    codes = np.repeat([0, 1, 2], [5, 3, 9])
    given = read_slices({"a": codes, "b": codes}, n_samples=17)
    whole = np.zeros(17, dtype=np.uint8)
    outcomes = outcomes_of_classes(whole, whole, n_classes=1, part=whole, n_parts=1)
    monkeypatch.setattr(counts, "MOST_NUMBERS", 2 * 5)

    found = count_slices(coded(given), outcomes, n_samples=17, min_samples=1)

    assert [found.terms(place) for place in range(6, len(found))] == [
        (("a", "0"), ("b", "0")),
        (("a", "2"), ("b", "2")),
    ]
    assert found.n_left_out == 1


def test_weights_are_added_up() -> None:
    given = read_slices({"site": ["x", "x", "y"]}, n_samples=3)
    actual, whole = np.array([0, 1, 1]), np.zeros(3, dtype=np.uint8)
    outcomes = outcomes_of_classes(actual, actual, n_classes=2, part=whole, n_parts=1)

    found = count_slices(coded(given), outcomes, n_samples=3, sizes=np.array([0.5, 0.25, 2.0]))

    assert as_dict(found)[("site", "x"),][0] == [0.75, 0.75, 0.5, 0.25, 0.5, 0.25, 0.5, 0.25]

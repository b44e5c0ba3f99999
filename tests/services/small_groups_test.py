"""Small groups are hidden, and nothing that is shown gives them away."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from offdiag.domain.slices import Slice, SliceTerm, parse_slice
from offdiag.inputs.slice_columns import SliceColumn, read_slices, sorted_levels
from offdiag.services.small_groups import GroupSizes

K = 10


def sizes(columns: Mapping[str, list[str]], *, k: int = K) -> GroupSizes:
    found = {name: _column(values) for name, values in columns.items()}
    n = len(next(iter(columns.values())))
    return GroupSizes(found, np.ones(n, np.int64), k)


def _column(values: list[str]) -> SliceColumn:
    levels, codes = np.unique(values, return_inverse=True)
    return sorted_levels(levels.tolist(), codes)


def repeated(**counts: int) -> list[str]:
    return [name for name, n in counts.items() for _ in range(n)]


@pytest.mark.parametrize(
    ("counts", "hidden"),
    [
        ({"a": 40, "b": 30, "c": 20}, ""),
        ({"a": 40, "b": 30, "c": 9}, "bc"),
        ({"a": 40, "b": 30, "c": 3, "d": 4}, "bcd"),
        ({"a": 40, "b": 30, "c": 6, "d": 7}, "cd"),
        ({"a": 40, "b": 2}, "ab"),
        ({"a": 2}, "a"),
    ],
)
def test_a_small_group_takes_others_along_until_it_cannot_be_subtracted(
    counts: dict[str, int], hidden: str
) -> None:
    assert sizes({"site": repeated(**counts)}).hidden("site") == frozenset(hidden)


def test_a_value_without_a_label_is_hidden_and_takes_nobody_along() -> None:
    column = _column(repeated(a=40, b=30, c=9))
    labelled = np.where(column.has("c"), 0, 1)

    assert GroupSizes({"site": column}, labelled, K).hidden("site") == {"c"}
    assert GroupSizes({"site": column}, labelled, 0).hidden("site") == frozenset()


def test_inside_each_value_of_a_coarser_column_it_cannot_be_subtracted_either() -> None:
    country = repeated(DE=70, FR=60)
    site = repeated(de1=40, de2=27, de3=3, fr1=12, fr2=48)

    found = sizes({"country": country, "site": site})

    assert found.hidden("country") == frozenset()
    assert found.hidden("site") == {"de3", "de2"}, "fr1 would not protect de3"


def test_a_value_that_nearly_fills_one_of_another_column_is_hidden() -> None:
    """Who knows that all of y are x could subtract them: 3 of x are not y."""
    found = sizes({"a": repeated(x=100, w=200), "b": repeated(y=97, z=153, v=50)})
    apart = sizes({"a": repeated(x=100, w=200), "b": repeated(y=90, z=160, v=50)})
    mutual = sizes({"a": repeated(x=100, w=200), "b": repeated(y=97, z=203)})

    assert found.hidden("a") == frozenset()
    assert found.hidden("b") == {"y", "v"}, "y alone would be the rest of its column"
    assert found.is_hidden(parse_slice("a=x & b=y"))
    assert apart.hidden("a") == apart.hidden("b") == frozenset()
    assert mutual.hidden("a") == {"x", "w"}
    assert mutual.hidden("b") == frozenset()


def test_a_tag_that_nearly_fills_a_value_is_hidden() -> None:
    tags = [*[["scar", "hair"]] * 97, *[["hair"]] * 83, *[[]] * 20]
    columns = read_slices({"findings": tags, "site": repeated(x=100, w=100)}, n_samples=200)
    found = GroupSizes(columns, np.ones(200, np.int64), K)

    assert found.hidden("site") == frozenset()
    assert found.hidden("findings") == {"scar", ""}


def test_crosses_are_hidden_together() -> None:
    site = [*repeated(a=40, b=5), *repeated(a=15, b=40)]
    found = sizes({"sex": repeated(f=45, m=55), "site": site})

    assert found.hidden("sex") == found.hidden("site") == frozenset()
    for part in ("sex=f & site=a", "sex=m & site=b", "sex=f & site=b"):
        assert found.is_hidden(parse_slice(part)), "5 are f at b"
    assert not found.is_hidden(parse_slice("sex=f"))


def test_without_a_limit_everything_is_shown() -> None:
    found = sizes({"site": repeated(a=40, b=1)}, k=0)

    assert not found.is_hidden(parse_slice("site=b"))


FEW_CELLS = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from("abcd")), min_size=2, max_size=5, unique=True
).flatmap(lambda cells: st.lists(st.sampled_from(cells), min_size=1, max_size=80))


@settings(max_examples=150)
@given(FEW_CELLS, st.integers(1, 4))
@example([*[("x", "a")] * 5, ("x", "b"), *[("y", "b")] * 5], 2)
def test_the_values_within_a_value_leave_no_small_group(
    samples: list[tuple[str, str]], k: int
) -> None:
    """Somebody may know that they lie within it, and subtract those that are shown."""
    found = sizes({"one": [one for one, _ in samples], "two": [two for _, two in samples]}, k=k)
    for outer, inner in ((0, 1), (1, 0)):
        shown = [
            {each[at] for each in samples} - found.hidden(("one", "two")[at])
            for at in (outer, inner)
        ]
        for value in shown[0]:
            within = {each[inner] for each in samples if each[outer] == value}
            within -= {each[inner] for each in samples if each[outer] != value}
            left = [each for each in samples if each[outer] == value]
            left = [each for each in left if each[inner] not in within & shown[1]]
            assert not 0 < len(left) < k


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("abcd")), min_size=1, max_size=80),
    st.integers(1, 12),
)
def test_no_shown_figures_add_up_to_a_small_group(samples: list[tuple[str, str]], k: int) -> None:
    """Whatever linear combination of shown counts gives the count of a hidden cell is small.

    Each shown slice, and the total, is a row over the cells of the cross, of which nobody knows
    which are empty; a group that follows from them is a 0-1 row in their span. No such row may
    have fewer than k samples.
    """
    assume(len(samples) >= k)
    first, second = [one for one, _ in samples], [two for _, two in samples]
    found = sizes({"one": first, "two": second}, k=k)
    cells = sorted(product(set(first), set(second)))
    if min(len(set(samples)) - len(set(first)), len(set(samples)) - len(set(second))) == 0:
        cells = sorted(set(samples))  # One column divides the other, as everybody knows.
    n = np.array([samples.count(cell) for cell in cells])
    shown: list[NDArray[np.float64]] = [np.ones(len(cells))]
    wanted: list[NDArray[np.float64]] = []
    for which, column in enumerate(("one", "two")):
        for value in sorted({cell[which] for cell in cells}):
            row = np.array([float(cell[which] == value) for cell in cells])
            part = Slice((SliceTerm(column, value),))
            (wanted if found.is_hidden(part) else shown).append(row)
    for at, (one, two) in enumerate(cells):
        part = Slice((SliceTerm("one", one), SliceTerm("two", two)))
        (wanted if found.is_hidden(part) else shown).append(np.eye(len(cells))[at])
    rows = np.array(shown)
    for row in wanted:
        if n @ row >= k or n @ row == 0:
            continue
        answer, *_ = np.linalg.lstsq(rows.T, row, rcond=None)
        assert np.abs(rows.T @ answer - row).max() > 1e-6, "the small group follows"
    for row in shown[1:]:
        assert n @ row >= k or n @ row == 0

"""Numbers, dates, hierarchies and tags are read as columns of few values each."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offdiag.errors import InvalidInput
from offdiag.inputs.slice_columns import (
    SliceColumn,
    concatenated_slices,
    read_slices,
    slice_notes,
    sorted_levels,
)

PLAIN = dt.datetime(2026, 3, 1, 0, 30)  # noqa: DTZ001
ZONED = PLAIN.replace(tzinfo=dt.timezone(dt.timedelta(hours=2)))


class Streamed:
    """A column that can only be streamed, as some libraries of data frames have it."""

    def __init__(self, values: list[object]) -> None:
        self._values = pa.chunked_array([pa.array(values)])

    def __arrow_c_stream__(self, _: object = None) -> object:
        return self._values.__arrow_c_stream__()


def column(values: object, **options: object) -> SliceColumn:
    given = {option: {"c": value} for option, value in options.items()}
    return read_slices({"c": values}, n_samples=len(values), **given)["c"]  # type: ignore[arg-type]


def texts(found: SliceColumn) -> list[str] | list[list[str]]:
    return found.to_list()


def test_cut_points_belong_to_the_range_above_them() -> None:
    found = column([39, 40, 59, 60], bins=[40, 60])

    assert found.choices == ("under 40", "40 to under 60", "60 and over")
    assert texts(found) == ["under 40", "40 to under 60", "40 to under 60", "60 and over"]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200), st.integers(2, 6))
def test_ranges_cover_every_number_once_and_in_order(numbers: list[float], n: int) -> None:
    found = column(np.array(numbers), bins=n)

    assert len(found.choices) <= n
    place = [found.choices.index(text) for text in texts(found)]
    order = np.argsort(numbers, kind="stable")
    assert all(place[one] <= place[other] for one, other in pairwise(order))


def test_two_cut_points_never_share_a_name() -> None:
    first, second = 1_700_000_000_000_123, 1_700_000_000_000_456

    names = [column([0, point], bins=[point]).choices for point in (first, second)]

    assert names[0] == ("under 1700000000000123", "1700000000000123 and over")
    assert names[1] == ("under 1700000000000456", "1700000000000456 and over")


def test_cut_points_that_rounding_left_beside_a_number_cut_at_it() -> None:
    found = column([0.3, 0.29], bins=np.linspace(0, 1, 11)[1:-1].tolist())

    assert np.linspace(0, 1, 11)[3] > 0.3
    assert texts(found) == ["0.3 to under 0.4", "0.2 to under 0.3"]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_numbers_are_compared_with_cut_points_in_their_own_precision(kind: type) -> None:
    found = column(np.array([0.1, 0.6, 0.7, 0.9], dtype=kind), bins=[0.1, 0.7, 1e6])

    assert texts(found) == [
        "0.1 to under 0.7",
        "0.1 to under 0.7",
        "0.7 to under 1000000",
        "0.7 to under 1000000",
    ]


def test_ranges_of_close_numbers_stay_apart() -> None:
    nanoseconds = 1_700_000_000_000_000_000 + np.arange(8) * 1e4

    found = column(nanoseconds)

    assert np.bincount(found.codes).tolist() == [2, 2, 2, 2]
    assert found.choices[0] == "under 1.7000000000000174e+18"


def test_terciles_are_equally_frequent() -> None:
    found = column(np.random.default_rng(3).normal(size=999), bins=3)

    assert np.ptp(np.bincount(found.codes)) <= 2 * 999 // 100


@pytest.mark.parametrize(
    ("period", "expected"),
    [
        ("year", "2026"),
        ("quarter", "2026-Q1"),
        ("month", "2026-03"),
        ("week", "2026-03-02"),
        ("day", "2026-03-05"),
    ],
)
@pytest.mark.parametrize(
    "values",
    [
        [dt.date(2026, 3, 5)],
        ["2026-03-05"],
        np.array(["2026-03-05T11:30"], dtype="datetime64[ns]"),
        pd.Series(pd.to_datetime(["2026-03-05 23:59:59"])),
        pl.Series([dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)]),
        pd.Series(pd.to_datetime([1_772_668_800_000_000_007])),
        ["2026-03-05T11:30:00.000000007"],
        ["2026-03-05T11:30:00Z"],
        ["2026-03-06T01:30:00+02:00"],
        pd.Categorical(["2026-03-05"]),
    ],
)
def test_dates_become_periods(values: object, period: str, expected: str) -> None:
    assert texts(column(values, periods=period)) == [expected]


def test_dates_are_months_unless_said_otherwise() -> None:
    assert texts(column([dt.date(1969, 12, 31), dt.date(2026, 3, 5)])) == ["1969-12", "2026-03"]


def test_a_hierarchy_gives_a_column_for_each_level() -> None:
    found = read_slices({"country/site/ward": ["JP/Kyoto/2", "DE/Ulm/1"]}, n_samples=2)

    assert {name: texts(each) for name, each in found.items()} == {
        "country": ["JP", "DE"],
        "country/site": ["JP/Kyoto", "DE/Ulm"],
        "country/site/ward": ["JP/Kyoto/2", "DE/Ulm/1"],
    }


def test_values_of_another_depth_are_plain_categories() -> None:
    assert list(read_slices({"in/out": ["in", "out"]}, n_samples=2)) == ["in/out"]


def test_a_sample_is_in_the_slice_of_each_of_its_tags() -> None:
    found = column([["rain", "night"], [], ["night", "night"]])

    assert found.choices == ("night", "rain")
    assert texts(found) == [["night", "rain"], [], ["night"]]
    assert found.has("night").tolist() == [True, False, True]
    assert found.has("rain").tolist() == [True, False, False]


@given(st.lists(st.sets(st.sampled_from("abcd")), min_size=1, max_size=30))
def test_membership_says_which_level_has_which_tag(tags: list[set[str]]) -> None:
    found = column([sorted(each) for each in tags]) if any(tags) else None
    for place, value in enumerate(() if found is None else found.choices):
        assert found is not None
        assert found.has(value).tolist() == [value in each for each in tags]
        assert found.membership[place][found.codes].tolist() == found.has(value).tolist()


@pytest.mark.parametrize(
    ("values", "options", "sentence"),
    [
        ([1.0, float("nan")], {}, "the value at index 1 is nan"),
        ([1, 2], {"bins": [5, 5]}, "does not cut a column"),
        ([1, 2], {"bins": 1}, "does not cut a column"),
        ([1, 2], {"bins": "1,2"}, "'1,2' does not cut a column"),
        ([1, 2], {"bins": 2.0}, "2.0 does not cut a column"),
        ([1, 2], {"bins": {1, 2}}, "{1, 2} does not cut a column"),
        ([1, 2], {"bins": {2: "high"}}, "{2: 'high'} does not cut a column"),
        (["2026-03-01T00:30+02:00", "2026-03-01"], {"periods": "day"}, "all with a zone or all"),
        ([ZONED, PLAIN], {}, "some times have a zone and others do not"),
        ([PLAIN.date(), ZONED], {}, "some times have a zone and others do not"),
        (np.array([ZONED, PLAIN]), {}, "some times have a zone and others do not"),
        (pd.Series([PLAIN, ZONED]), {}, "some times have a zone and others do not"),
        (["30", "41"], {"bins": [35]}, "Convert texts of numbers to numbers"),
        ([dt.date(2026, 3, 5)], {"bins": [1]}, "periods= is for dates"),
        (["a", "b"], {"bins": 2}, "the values are not numbers"),
        ([1, 2], {"bins": 2, "periods": "month"}, "named in bins and in periods"),
        (["soon"], {"periods": "month"}, "the values are not dates"),
        ([1], {"periods": "month"}, "the values are not dates"),
        (["2026-03-05"], {"periods": "decade"}, "'decade' is not known"),
        ([["a|b"]], {}, "have an empty one or a '|'"),
    ],
)
def test_what_makes_no_column_is_refused(
    values: object, options: dict[str, object], sentence: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        column(values, **options)
    assert sentence in str(refused.value)


def test_a_number_of_quantiles_may_be_one_of_numpy() -> None:
    assert texts(column([1, 2, 3, 4], bins=np.int64(2))) == texts(column([1, 2, 3, 4], bins=2))


def test_tags_that_look_alike_are_noted() -> None:
    note = column([["rain", "Night"], ["night"]]).note

    assert "'Night' and 'night' (case)" in str(note)


def test_samples_with_an_empty_text_are_in_no_slice_and_a_note_counts_them() -> None:
    read = read_slices(
        {"site": ["a", "", "b", ""], "country/site": ["J/K", "J/L", "/U", "J/K"]}, n_samples=4
    )

    assert read["site"].choices == ("a", "b")
    assert [note.partition(" holds")[0] for note in slice_notes(read)] == [
        "slices['site'] is an empty text for 2 samples, which no slice of it",
        "slices['country'] is an empty text for 1 sample, which no slice of it",
    ]


def test_options_for_a_column_that_is_not_there_are_refused() -> None:
    with pytest.raises(InvalidInput, match="there is no column 'agee'"):
        read_slices({"age": [1]}, n_samples=1, bins={"agee": 4})


def test_quantiles_of_batches_are_refused_where_they_overlap() -> None:
    first = read_slices({"age": [1.0, 2.0, 3.0, 4.0]}, n_samples=4)
    second = read_slices({"age": [1.5, 2.5, 3.5, 9.0]}, n_samples=4)

    assert len(concatenated_slices([first, first])["age"]) == 8
    with pytest.raises(InvalidInput, match="of the batches overlap"):
        concatenated_slices([first, second])


def test_unknown_values_are_filled_in_and_contradict_nothing() -> None:
    some = sorted_levels(["DE", "FR"], np.array([0, 1])).spread(np.array([0, 2]), n=4)
    more = sorted_levels(["AT"], np.array([0])).spread(np.array([3]), n=4)

    assert some.to_list() == ["DE", "", "FR", ""]
    assert some.first_difference(more) is None
    assert some.completed_by(more).to_list() == ["DE", "", "FR", "AT"]
    assert some.choices == ("DE", "FR")
    other = sorted_levels(["AT"], np.array([0])).spread(np.array([2]), n=4)
    assert some.first_difference(other) == 2


def test_times_that_can_only_be_streamed_are_read() -> None:
    given = Streamed([PLAIN, PLAIN + dt.timedelta(days=1)])

    found = read_slices({"c": given}, n_samples=2, periods={"c": "day"})["c"]

    assert found.levels == ("2026-03-01", "2026-03-02")

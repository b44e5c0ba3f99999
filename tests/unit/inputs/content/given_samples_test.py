"""Content of samples as columns: one entry each, in chunks of bounded size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from offdiag.errors import InvalidInput, TooLarge
from offdiag.inputs.content.given_samples import (
    MOST_AT_ONCE,
    MOST_BYTES_AT_ONCE,
    MOST_TEXT,
    GivenSample,
    chunked_samples,
    given_samples,
)


def fields_of(ids: Any, **columns: Any) -> list[Any]:
    return [dict(each.fields or {}) for each in given_samples(ids, **columns)]


@pytest.mark.parametrize(
    "fields",
    [
        [{"amount": 1.5, "country": "JP"}, {"amount": 2.0, "country": None}],
        {"amount": [1.5, 2.0], "country": ["JP", None]},
        pd.DataFrame({"amount": [1.5, 2.0], "country": ["JP", None]}, index=[7, 3]),
        pa.table({"amount": [1.5, 2.0], "country": ["JP", None]}),
    ],
    ids=["mappings", "columns", "frame", "table"],
)
def test_fields_come_as_rows_or_columns(fields: object) -> None:
    assert fields_of([1, 2], fields=fields) == [
        {"amount": 1.5, "country": "JP"},
        {"amount": 2.0, "country": None},
    ]


def test_samples_are_named_as_pages_name_them() -> None:
    found = given_samples(np.array([3, 4]), text=pd.Series(["a", "b"], index=[9, 8]))
    assert [(each.sample, each.text) for each in found] == [("3", "a"), ("4", "b")]


def test_values_without_a_number_are_empty() -> None:
    assert fields_of([1], fields=[{"a": float("nan"), "b": np.float32(2), "c": np.int64(3)}]) == [
        {"a": None, "b": 2.0, "c": 3}
    ]


def test_an_array_is_written_as_a_list_is() -> None:
    assert fields_of([1], fields=[{"a": np.array([1, 2]), "b": [1, 2]}]) == [
        {"a": "[1, 2]", "b": "[1, 2]"}
    ]


def test_what_pandas_calls_missing_is_empty() -> None:
    frame = pd.DataFrame(
        {
            "pages": pd.array([3, None], dtype="Int64"),
            "taken": pd.Series([pd.Timestamp(2026, 1, 31), pd.NaT]),
            "ward": pd.array(["a", None], dtype="string"),
        }
    )
    assert fields_of([1, 2], fields=frame)[1] == {"pages": None, "taken": None, "ward": None}
    (_, without) = given_samples([1, 2], text=frame["ward"])
    assert without.text is None


def test_a_column_within_a_field_is_not_missing() -> None:
    (fields,) = fields_of([1], fields=[{"a": pl.Series([1, 2])}])
    assert "1" in str(fields["a"])


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"ids": [1, 1], "text": ["a", "b"]}, "ids"),
        ({"ids": [1.5], "text": ["a"]}, "ids"),
        ({"ids": [None], "text": ["a"]}, "ids"),
        ({"ids": [""], "text": ["a"]}, "ids"),
        ({"ids": {1, 2}, "text": ["a", "b"]}, "ids"),
        ({"ids": [1, 2], "text": {"a", "b"}}, "text"),
        ({"ids": [1, 2], "text": ["a"]}, "text"),
        ({"ids": [1, 2], "text": "ab"}, "text"),
        ({"ids": [1], "images": b"ab"}, "images"),
        ({"ids": [1], "text": [3]}, "text"),
        ({"ids": [1], "text": [np.array([1, 2])]}, "text"),
        ({"ids": [1], "text": ["a\0"]}, "text"),
        ({"ids": [1], "fields": [[1]]}, "fields"),
        ({"ids": [1], "fields": {"a": [1], "b": [1, 2]}}, "fields"),
        ({"ids": [1], "fields": [dict.fromkeys(range(101))]}, "fields"),
        ({"ids": [1], "text": ["a" * (MOST_TEXT + 1)]}, "text"),
        ({"ids": [1]}, "images"),
        ({"ids": [1, 2], "fields": {"note": "ab"}}, "fields['note']"),
    ],
)
def test_unusable_columns_are_refused(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises((InvalidInput, TooLarge)) as refused:
        list(given_samples(**arguments))
    assert refused.value.field == field
    assert refused.value.hint


def test_chunks_are_bounded_by_count_and_bytes() -> None:
    many = [GivenSample(str(at), text="a") for at in range(MOST_AT_ONCE + 1)]
    large = [GivenSample(str(at), image=b"x" * (MOST_BYTES_AT_ONCE // 2)) for at in range(3)]

    assert [len(chunk) for chunk in chunked_samples(many)] == [MOST_AT_ONCE, 1]
    assert [len(chunk) for chunk in chunked_samples(large)] == [1, 1, 1]
    assert [each for chunk in chunked_samples(many) for each in chunk] == many

"""What documents and records take over by name is there, or it is an error."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from pydantic import Field

from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput
from offdiag.records.base import RequestBody, ResponseBody, Value
from offdiag.store.models.base import record_as


@dataclass(frozen=True)
class Named:
    name: str


@dataclass(frozen=True)
class Scored(Named):
    mean: MetricValue


class Document(ResponseBody):
    name: str
    mean: Value
    note: str | None = None


class Query(RequestBody):
    share: float = Field(ge=0, le=0.5)


def test_a_document_takes_over_what_has_its_names() -> None:
    found = Document.made_of(Scored("x", MetricValue(0.5, ci_low=0.4, ci_high=0.6)), note="seen")

    assert found.plain()["mean"]["ci_high"] == 0.6
    assert (found.name, found.note) == ("x", "seen")


def test_a_field_that_nothing_says_is_an_error_even_with_a_default() -> None:
    with pytest.raises(AttributeError, match="note"):
        Document.made_of(Scored("x", MetricValue(0.5)))


def test_a_record_has_a_column_for_every_field_or_it_is_given() -> None:
    row = Named("x")

    assert record_as(Scored, row, mean=MetricValue(0.5)).name == "x"
    with pytest.raises(AttributeError, match="mean"):
        record_as(Scored, row)


def test_a_request_out_of_range_is_refused_as_a_server_refuses_it() -> None:
    with pytest.raises(InvalidInput) as refused:
        Query.asked(share=0.9)

    assert refused.value.field == "share"

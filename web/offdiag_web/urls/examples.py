"""The address of a list of examples: which predictions, in which order, from where on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from offdiag.services.examples.selection import (
    Cursor,
    ExampleOrder,
    ExampleQuestion,
    Kind,
    Place,
    SortKey,
)
from offdiag_web.urls.query_string import with_query

_SEPARATOR = "~"
EVERYTHING_WRONG = ExampleQuestion()


@dataclass(frozen=True, slots=True)
class ExamplesAddress:
    """The examples of one run. Classes are named as they are; there may be none of that name."""

    run_id: str
    question: ExampleQuestion = EVERYTHING_WRONG
    cursor: Cursor | None = None
    as_list: bool = False
    """Whether a table is wanted where there are pictures."""
    with_content: bool = False
    """Whether content is to be shown that is hidden otherwise."""

    def url(self, form: str = "") -> str:
        """Canonical URL of the page, or of its twin where `form` is "json" or "csv"."""
        path = f"/runs/{self.run_id}/examples"
        asked = self.question
        is_default = asked.is_cell or asked.kind is Kind.WRONG
        return with_query(
            f"{path}.{form}" if form else path,
            {
                "true": asked.actual,
                "pred": asked.predicted,
                "show": None if is_default else asked.kind.value,
                "id": asked.sample,
                "slice": asked.part,
                "sort": None if asked.order is None or form else _order_text(asked.order),
                **({} if form else _cursor_values(self.cursor)),
                "view": "list" if self.as_list and not form else None,
                "content": "shown" if self.with_content and not form else None,
            },
        )

    def asking(self, question: ExampleQuestion) -> ExamplesAddress:
        """Other examples of the same run, from the first one on, in the same order."""
        asked = replace(question, order=self.question.order)
        return replace(self, question=asked, cursor=None)

    def at(self, cursor: Cursor | None) -> ExamplesAddress:
        """Another page of the same list."""
        return replace(self, cursor=cursor)

    def sorted_by(self, order: ExampleOrder) -> ExamplesAddress:
        """The same examples in another order."""
        return replace(self, question=replace(self.question, order=order), cursor=None)

    def without(self, field: str) -> ExamplesAddress:
        """The same without one term: `actual`, `predicted`, `sample` or `part`."""
        asked = self.question
        left = replace(
            asked,
            actual=None if field == "actual" else asked.actual,
            predicted=None if field == "predicted" else asked.predicted,
            sample=None if field == "sample" else asked.sample,
            part=None if field == "part" else asked.part,
        )
        return replace(self, question=left, cursor=None)


def cell_url(run_id: str, actual: str, predicted: str, part: str | None = None) -> str:
    """The examples of one cell of the matrix, or of that of a slice."""
    return ExamplesAddress(run_id, ExampleQuestion(actual, predicted, part=part)).url()


def numbered_cell_url(
    run_id: str, actual: int | str, predicted: int | str, part: str | None = None
) -> str:
    """The same by the codes of classes and groups: short, and answered with the address above."""
    return with_query(f"/runs/{run_id}/cells/{actual}-{predicted}", {"slice": part})


def missed_url(run_id: str, actual: str, part: str | None = None) -> str:
    """The cases of a class that were taken for another one."""
    return ExamplesAddress(run_id, ExampleQuestion(actual, part=part)).url()


def slice_url(run_id: str, part: str, actual: str | None = None) -> str:
    """What is wrong in a slice, or of one class in it."""
    return ExamplesAddress(run_id, ExampleQuestion(actual, part=part)).url()


def read_examples(run_id: str, values: Mapping[str, str]) -> tuple[ExamplesAddress, list[str]]:
    """The address in a query string, with a notice for each value that cannot be meant."""
    notices: list[str] = []
    question = ExampleQuestion(
        actual=values.get("true") or None,
        predicted=values.get("pred") or None,
        kind=_read_kind(values.get("show"), notices),
        sample=values.get("id") or None,
        part=values.get("slice") or None,
        order=_read_order(values.get("sort"), notices),
    )
    address = ExamplesAddress(
        run_id,
        question,
        _read_cursor(values, notices),
        as_list=values.get("view") == "list",
        with_content=values.get("content") == "shown",
    )
    return address, notices


def _read_kind(text: str | None, notices: list[str]) -> Kind:
    if not text:
        return Kind.WRONG
    try:
        return Kind(text)
    except ValueError:
        known = ", ".join(Kind)
        notices.append(f"Examples cannot be “{text}”; they are one of {known}.")
        return Kind.WRONG


def _read_order(text: str | None, notices: list[str]) -> ExampleOrder | None:
    if not text:
        return None
    try:
        key = SortKey(text.removeprefix("-"))
    except ValueError:
        known = ", ".join(SortKey)
        notices.append(f"Examples cannot be sorted by “{text}”; known are {known}.")
        return None
    return ExampleOrder(key, descending=text.startswith("-") and key is not SortKey.LOGGED)


def _order_text(order: ExampleOrder) -> str:
    return f"{'-' if order.descending else ''}{order.key.value}"


def _cursor_values(cursor: Cursor | None) -> dict[str, str | None]:
    if cursor is None:
        return {}
    text = f"{cursor.place.key!r}{_SEPARATOR}{cursor.place.index}"
    return {"before" if cursor.backwards else "after": text}


def _read_cursor(values: Mapping[str, str], notices: list[str]) -> Cursor | None:
    for name in ("after", "before"):
        text = values.get(name)
        if text:
            place = _read_place(text)
            if place is not None:
                return Cursor(place, backwards=name == "before")
            notices.append("The place in the list could not be read; this is its beginning.")
    return None


def _read_place(text: str) -> Place | None:
    key, _, index = text.partition(_SEPARATOR)
    if not (index.isascii() and index.isdigit() and len(index) < 18):
        return None
    try:
        number = float(key)
    except ValueError:
        return None
    return Place(number, int(index)) if math.isfinite(number) else None

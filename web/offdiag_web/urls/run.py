"""Addresses of a run: its matrix as it is laid out, and the examples behind each count."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, cast, get_args

from offdiag.services.examples.selection import (
    Cursor,
    ExampleOrder,
    ExampleQuestion,
    Kind,
    Place,
    SortKey,
)
from offdiag_web.urls.query_string import (
    groups_text,
    one_of,
    read_groups,
    read_place,
    whole_number,
    with_query,
)

_T = TypeVar("_T")
Norm = Literal["row", "col", "all", "none"]
ClassOrder = Literal["support", "label", "cluster", "group"]
Layout = Literal["long", "grid"]
FORMS = ("csv", "json", "md", "tex", "svg", "png")
_COUNTS_ONLY = frozenset({"csv", "json"})
"""Forms that contain all shares anyway, so there is nothing to choose."""
_MOST_HIDDEN = 1_000_000


def run_url(run_id: str) -> str:
    """The first page of a run."""
    return f"/runs/{run_id}"


@dataclass(frozen=True, slots=True)
class MatrixAddress:
    """How the matrix of a run is shown. None of this changes the stored matrix.

    `norm` refers to the stored orientation, even if the view is transposed: "row" is the share of
    the actual class, "col" of the predicted one. `order` None is the default of the label set.
    `focus` is the class that is shown in detail if the matrix is too large for a table; `rarest`
    leaves cells with fewer samples out of its map. `collapse` names groups of classes that are
    each shown as one class. `taken_for` is the class that `focus` was mistaken for, in a cell that
    is shown. `worst_first` sorts the table of classes by recall. `part` is the only slice that is
    counted.
    """

    run_id: str
    norm: Norm = "row"
    order: ClassOrder | None = None
    transposed: bool = False
    focus: str | None = None
    rarest: int = 1
    collapse: tuple[str, ...] = ()
    taken_for: str | None = None
    worst_first: bool = False
    part: str | None = None

    def laid_out(self, actual: _T, predicted: _T) -> tuple[_T, _T]:
        """What belongs to the two axes; that of the axis which runs down the view comes first."""
        return (predicted, actual) if self.transposed else (actual, predicted)

    def card_url(self) -> str:
        """The run as a card for slides, with the matrix as shown here."""
        return self.url("svg").replace("/matrix.svg", "/card.svg", 1)

    def url(self, form: str = "", layout: Layout = "long") -> str:
        """Canonical URL of the page, or of the matrix alone in one of `FORMS`."""
        path = run_url(self.run_id)
        return with_query(
            f"{path}/matrix.{form}" if form else path,
            {
                "slice": self.part,
                "collapse": groups_text(self.collapse),
                "norm": None if self.norm == "row" or form in _COUNTS_ONLY else self.norm,
                "order": self.order,
                "t": "1" if self.transposed else None,
                "focus": None if form else self.focus,
                "as": None if form or self.focus is None else self.taken_for,
                "min": None if self.rarest == 1 or form in _COUNTS_ONLY else str(self.rarest),
                "classes": "recall" if self.worst_first and not form else None,
                "layout": "grid" if layout == "grid" else None,
            },
        )


def read_matrix(run_id: str, values: Mapping[str, str]) -> tuple[MatrixAddress, list[str]]:
    """The address in a query string, with a notice for each invalid value."""
    notices: list[str] = []
    norm = one_of(values.get("norm"), get_args(Norm), "normalisation", notices)
    order = one_of(values.get("order"), get_args(ClassOrder), "order of classes", notices)
    transposed = one_of(values.get("t"), ("0", "1"), "transposed view", notices)
    rarest = _rarest(values.get("min"), notices)
    address = MatrixAddress(
        run_id=run_id,
        norm=cast(Norm, norm or "row"),
        order=cast("ClassOrder | None", order),
        transposed=transposed == "1",
        focus=values.get("focus") or None,
        rarest=rarest,
        collapse=read_groups(values.get("collapse")),
        taken_for=values.get("as") or None,
        worst_first=values.get("classes") == "recall",
        part=values.get("slice") or None,
    )
    return address, notices


def _rarest(text: str | None, notices: list[str]) -> int:
    if not text:
        return 1
    number = whole_number(text, least=1, most=_MOST_HIDDEN)
    if number is None:
        notices.append(f"“{text[:20]}” is not a number of examples; every filled cell is shown.")
    return number or 1


def read_layout(values: Mapping[str, str]) -> Layout:
    """Whether the CSV has one line per cell or one per class."""
    return "grid" if values.get("layout") == "grid" else "long"


_SEPARATOR = "~"
_LARGEST_INDEX = 10**17
EVERYTHING_WRONG = ExampleQuestion()


@dataclass(frozen=True, slots=True)
class ExamplesAddress:
    """The examples of one run. Classes are given by name; a name need not exist."""

    run_id: str
    question: ExampleQuestion = EVERYTHING_WRONG
    cursor: Cursor | None = None
    as_list: bool = False
    """Whether to show a table even if there are images."""
    with_content: bool = False
    """Whether to show content that is otherwise hidden."""

    def url(self, form: str = "") -> str:
        """Canonical URL of the page, or of its export where `form` is "json" or "csv"."""
        path = f"{run_url(self.run_id)}/examples"
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
                "sort": None
                if asked.order is None or form
                else f"{'-' if asked.order.descending else ''}{asked.order.key.value}",
                **({} if form else _cursor_values(self.cursor)),
                "view": "list" if self.as_list and not form else None,
                "content": "shown" if self.with_content and not form else None,
            },
        )

    def asking(self, question: ExampleQuestion) -> ExamplesAddress:
        """Other examples of the same run, from the first one on, in the same order."""
        asked = replace(question, order=self.question.order)
        return replace(self, question=asked, cursor=None)

    def sorted_by(self, order: ExampleOrder) -> ExamplesAddress:
        """The same examples in another order."""
        return replace(self, question=replace(self.question, order=order), cursor=None)

    def without(self, field: str) -> ExamplesAddress:
        """The same examples without one filter: `actual`, `predicted`, `sample` or `part`."""
        dropped: dict[str, Any] = {field: None}
        return replace(self, question=replace(self.question, **dropped), cursor=None)


def cell_url(run_id: str, actual: str, predicted: str, part: str | None = None) -> str:
    """The examples of one cell of the matrix, or of the same cell in a slice."""
    return ExamplesAddress(run_id, ExampleQuestion(actual, predicted, part=part)).url()


def numbered_cell_url(
    run_id: str, actual: int | str, predicted: int | str, part: str | None = None
) -> str:
    """A short URL by the codes of classes and groups, redirected to `cell_url`."""
    return with_query(f"/runs/{run_id}/cells/{actual}-{predicted}", {"slice": part})


def missed_url(run_id: str, actual: str, part: str | None = None) -> str:
    """The samples of a class that were predicted as another one."""
    return ExamplesAddress(run_id, ExampleQuestion(actual, part=part)).url()


def slice_url(run_id: str, part: str, actual: str | None = None) -> str:
    """The errors in a slice, or those of one class in it."""
    return ExamplesAddress(run_id, ExampleQuestion(actual, part=part)).url()


def read_examples(run_id: str, values: Mapping[str, str]) -> tuple[ExamplesAddress, list[str]]:
    """The address in a query string, with a notice for each invalid value."""
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
        notices.append(f"Examples cannot be “{text}”; use one of {known}.")
        return Kind.WRONG


def _read_order(text: str | None, notices: list[str]) -> ExampleOrder | None:
    if not text:
        return None
    try:
        key = SortKey(text.removeprefix("-"))
    except ValueError:
        known = ", ".join(SortKey)
        notices.append(f"Examples cannot be sorted by “{text}”; use {known}.")
        return None
    return ExampleOrder(key, descending=text.startswith("-") and key is not SortKey.LOGGED)


def _cursor_values(cursor: Cursor | None) -> dict[str, str | None]:
    if cursor is None:
        return {}
    text = f"{cursor.place.key!r}{_SEPARATOR}{cursor.place.index}"
    return {"before" if cursor.backwards else "after": text}


def _read_cursor(values: Mapping[str, str], notices: list[str]) -> Cursor | None:
    found = read_place(values, _read_place, notices)
    return None if found is None else Cursor(found[0], backwards=found[1])


def _read_place(text: str) -> Place | None:
    key, _, written = text.partition(_SEPARATOR)
    index = whole_number(written, most=_LARGEST_INDEX)
    try:
        number = float(key)
    except ValueError:
        return None
    return None if index is None or not math.isfinite(number) else Place(number, index)

"""The address of the list of runs: filter, order, columns and selection."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, cast
from urllib.parse import quote, unquote

from offdiag.domain.runs import MOST_COMPARED
from offdiag.errors import InvalidInput
from offdiag.filters.conditions import MetricField, Side, slices_asked_for
from offdiag.filters.fields import WHOLE_METRICS
from offdiag.filters.parsing import read_metric
from offdiag.metrics.catalogue import SPECS, Direction
from offdiag.metrics.names import find_metric
from offdiag.store.run_filter import FilterTerm, RunFilter
from offdiag.store.run_order import (
    FIELD_ORDERS,
    OF_PARAM,
    ORDER_NAMES,
    Cursor,
    Group,
    Place,
    RunOrder,
    groups_of,
)
from offdiag_web.urls.filter_line import SHORT_METRICS, ParsedTerm, filter_text, parse_filter
from offdiag_web.urls.query_string import RUN_ID, one_of, read_place, with_query

ScaleChoice = Literal["fit", "full"]
ListForm = Literal["table", "both", "trend", "parallel"]
"""The table, a trend above the table, the trend alone, or lines across parallel axes."""
FORMS: tuple[ListForm, ...] = ("table", "both", "trend", "parallel")
BY_MODEL, OF_TAG = "model", "tag."
_SEPARATOR = "~"

NEWEST_FIRST = RunOrder("logged", descending=True)
OTHER_COLUMNS = ("worst", "cost", "problems", "params", "logged", "by")
"""Columns other than metrics and single parameters; `params` are the two that differ most."""
EXACTLY = "run"
"""Marks a list of columns as complete; old addresses contain only metrics."""
MOST_COLUMNS = 8
SHORT_NAMES = {key: name for name, key in SHORT_METRICS.items()}
LOWER_IS_BETTER = frozenset(
    spec.key for spec in SPECS if spec.direction is Direction.LOWER and spec.key in WHOLE_METRICS
)


@dataclass(frozen=True, slots=True)
class RunListAddress:
    """Which runs are listed, in which order, on which scale, from which place on.

    `order` None is best first if all runs are of one dataset, otherwise newest first. `columns`
    are keys of metrics, parameters after `OF_PARAM`, and `OTHER_COLUMNS`; empty for the default
    ones. `baseline` is the run that the others are compared with, None for the champion or the
    pinned one. `selected` are the ids of selected runs, on this page of the list or elsewhere, in
    the order in which they were selected. `only_differences` leaves out columns of metrics in
    which the runs of the page do not differ. `group` groups runs that share a model, a parameter
    or a tag: `BY_MODEL`, or its name after `OF_PARAM` or `OF_TAG`.
    """

    terms: tuple[ParsedTerm, ...] = ()
    order: RunOrder | None = None
    scale: ScaleChoice = "fit"
    cursor: Cursor | None = None
    columns: tuple[str, ...] = ()
    baseline: str | None = None
    selected: tuple[str, ...] = ()
    only_differences: bool = False
    form: ListForm = "table"
    group: str = ""

    @property
    def filter(self) -> RunFilter:
        """The valid terms."""
        return tuple(parsed.term for parsed in self.terms if parsed.term is not None)

    def url(self, form: str = "") -> str:
        """Canonical URL of the page, or of its export where `form` is "json" or "csv".

        The CSV has all pages.
        """
        kept = dict(replace(self, selected=()).kept_by_form if form else self.kept_by_form)
        return with_query(
            f"/runs.{form}" if form else "/runs",
            {
                "q": filter_text(self.terms),
                **kept,
                **_cursor_values(None if form == "csv" else self.cursor),
            },
        )

    @property
    def kept_by_form(self) -> tuple[tuple[str, str], ...]:
        """Parameters that stay when the filter changes, without defaults."""
        kept = []
        if self.order is not None:
            kept.append(("sort", f"{'-' if self.order.descending else ''}{self.order.name}"))
        if self.scale != "fit":
            kept.append(("scale", self.scale))
        if self.columns:
            kept.append(("cols", columns_text(self.columns)))
        if self.only_differences:
            kept.append(("diff", "1"))
        if self.form != "table":
            kept.append(("view", self.form))
        if self.group:
            kept.append(("group", self.group))
        if self.baseline is not None:
            kept.append(("base", self.baseline))
        if self.selected:
            kept.append(("sel", ",".join(self.selected)))
        return tuple(kept)

    def sorted_by(self, name: str) -> RunListAddress:
        """The list sorted by a column: best first, or in reverse if it already is."""
        first = RunOrder(name, descending=name != "name" and name not in LOWER_IS_BETTER)
        again = self.order == first
        order = replace(first, descending=not first.descending) if again else first
        return replace(self, order=order, cursor=None)

    def without(self, index: int) -> RunListAddress:
        terms = self.terms[:index] + self.terms[index + 1 :]
        return replace(self, terms=terms, cursor=None)


def read_run_list(
    values: Mapping[str, str], *, now: datetime | None = None
) -> tuple[RunListAddress, list[str]]:
    """The address in a query string, with a notice for each invalid value.

    `now` is what terms such as `since:30d` count from.
    """
    notices: list[str] = []
    order = _read_order(values.get("sort"), notices)
    address = RunListAddress(
        terms=parse_filter(values.get("q", ""), now=now),
        order=order,
        scale=_read_scale(values.get("scale"), notices),
        cursor=_read_cursor(values, order or NEWEST_FIRST, notices),
        columns=read_columns(values, notices),
        baseline=_read_baseline(values.get("base"), notices),
        selected=_read_selected(values.get("sel", "")),
        only_differences=values.get("diff") == "1",
        form=cast(ListForm, one_of(values.get("view"), FORMS, "view", notices) or "table"),
        group=_read_group(values.get("group", ""), notices),
    )
    return address, notices


def is_of_slices(key: str) -> bool:
    """Whether the key of a column is a metric of slices."""
    return "@" in key or ", by=" in key


def slice_columns(address: RunListAddress, chosen: Sequence[str]) -> tuple[MetricField, ...]:
    """Metrics of slices that are columns or used in the filter."""
    named = [read_metric(key) for key in chosen if is_of_slices(key)]
    asked = [
        field
        for term in address.filter
        if not isinstance(term, FilterTerm)
        for field in slices_asked_for(term)
    ]
    return tuple(dict.fromkeys(each for each in (*named, *asked) if each is not None))


def _slice_column(text: str) -> str | None:
    """The canonical text of a metric of slices; None for anything else."""
    try:
        found = read_metric(text)
    except InvalidInput:
        return None
    if found is None or not found.is_of_slices:
        return None
    return str(replace(found, side=Side.VALUE))


def columns_text(columns: Sequence[str]) -> str:
    """Columns as they are written in an address."""
    return ",".join(quote(SHORT_NAMES.get(key, key), safe="") for key in columns)


def read_columns(values: Mapping[str, str], notices: list[str]) -> tuple[str, ...]:
    """Columns from `cols=acc,mcc`, or from the checkboxes of the chooser, each sent as `col`."""
    getlist = getattr(values, "getlist", None)
    boxes: list[str] = getlist("col") if getlist is not None else []
    given = boxes or [unquote(text) for text in values.get("cols", "").split(",") if text]
    known, unknown = [], []
    for text in given:
        if text.startswith(OF_PARAM) or text in {EXACTLY, *OTHER_COLUMNS}:
            known.append(text)
        elif found := find_metric(SHORT_METRICS.get(text, text), WHOLE_METRICS):
            known.append(found.key)
        elif on_slice := _slice_column(text):
            known.append(on_slice)
        else:
            unknown.append(text)
    if unknown:
        notices.append(f"There is no metric “{unknown[0][:40]}” of a whole run.")
    columns = tuple(dict.fromkeys(known))
    chosen = [key for key in columns if key not in {EXACTLY, *OTHER_COLUMNS}]
    if len(chosen) > MOST_COLUMNS:
        notices.append(f"At most {MOST_COLUMNS} columns fit; the first ones are shown.")
    left_out = set(chosen[MOST_COLUMNS:])
    return tuple(key for key in columns if key not in left_out)


def _read_group(text: str, notices: list[str]) -> str:
    if text in {"", BY_MODEL} or text.startswith((OF_PARAM, OF_TAG)):
        return text
    notices.append(
        f"Runs cannot be grouped by “{text[:40]}”; use {BY_MODEL}, {OF_PARAM}NAME or {OF_TAG}NAME."
    )
    return ""


def _read_baseline(text: str | None, notices: list[str]) -> str | None:
    if not text or RUN_ID.fullmatch(text):
        return text or None
    notices.append(f"“{text[:40]}” is not the id of a run to compare with.")
    return None


def _read_selected(text: str) -> tuple[str, ...]:
    """The ids of selected runs; anything that is not an id is ignored."""
    ids = (each for each in text.split(",") if RUN_ID.fullmatch(each))
    return tuple(dict.fromkeys(ids))[:MOST_COMPARED]


def _read_order(text: str | None, notices: list[str]) -> RunOrder | None:
    if not text:
        return None
    name = text.removeprefix("-")
    if name.startswith(OF_PARAM) and name != OF_PARAM:
        return RunOrder(name, descending=text.startswith("-"))
    found = None if name in ORDER_NAMES else find_metric(name, WHOLE_METRICS)
    if found is not None:
        return RunOrder(found.key, descending=text.startswith("-") is not found.is_negated)
    if name not in ORDER_NAMES:
        known = ", ".join((*ORDER_NAMES, "the key of any metric", "param.NAME"))
        notices.append(f"Runs cannot be sorted by “{name}”; use {known}.")
        return None
    return RunOrder(name, descending=text.startswith("-"))


def _read_scale(text: str | None, notices: list[str]) -> ScaleChoice:
    if text == "full":
        return "full"
    if text not in {None, "", "fit"}:
        notices.append(f"There is no scale “{text}”; use fit or full.")
    return "fit"


def _cursor_values(cursor: Cursor | None) -> dict[str, str | None]:
    if cursor is None:
        return {}
    place = cursor.place
    key = place.key.isoformat() if isinstance(place.key, datetime) else str(place.key)
    text = _SEPARATOR.join((place.group[0], key, place.run_id))
    return {"before" if cursor.backwards else "after": text}


def _read_cursor(values: Mapping[str, str], order: RunOrder, notices: list[str]) -> Cursor | None:
    found = read_place(values, lambda text: _read_place(text, order), notices)
    return None if found is None else Cursor(found[0], backwards=found[1])


def _read_place(text: str, order: RunOrder) -> Place | None:
    run_label, _, rest = text.partition(_SEPARATOR)
    key, _, run_id = rest.rpartition(_SEPARATOR)
    group = next((group for group in groups_of(order) if group[0] == run_label), None)
    if group is None or not run_id:
        return None
    try:
        return Place(group, _read_key(key, group, order), run_id)
    except ValueError:
        return None


def _read_key(text: str, group: Group, order: RunOrder) -> float | str | datetime:
    if group is Group.UNDEFINED or order.name == "logged":
        moment = datetime.fromisoformat(text)
        if moment.utcoffset() is None:
            raise ValueError(text)
        return moment
    if order.name in FIELD_ORDERS or group is Group.TEXT:
        return text
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number

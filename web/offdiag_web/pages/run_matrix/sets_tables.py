"""Tables of a multi-label run and their address: single labels, and the fractional matrix."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, cast, get_args

import numpy as np
from markupsafe import Markup

from offdiag.domain.values import MetricValue
from offdiag.metrics.counted import CountedSets
from offdiag.metrics.orientation import actual_totals, predicted_totals
from offdiag.services.examples.selection import ExampleQuestion, Kind
from offdiag.store.run_page import RunResults
from offdiag_web.charts.marks import interval_mark
from offdiag_web.charts.svg import UNIT
from offdiag_web.components import numbers
from offdiag_web.components.classes import ClassHead, class_head
from offdiag_web.components.controls import Paging, Segment, paging
from offdiag_web.components.matrix_colours import ramp_class
from offdiag_web.components.metric_values import (
    CLASS_METRIC_TITLES,
    Notes,
    ShownValue,
    extent_of,
    interval_name,
    interval_text,
    shown,
)
from offdiag_web.urls.query_string import read_start, with_query
from offdiag_web.urls.run import ExamplesAddress, cell_url

LabelOrder = Literal["support", "label", "f1"]
MassNorm = Literal["mass", "row", "col"]
FORMS = ("csv", "json", "md")


@dataclass(frozen=True, slots=True)
class LabelSetsAddress:
    """How the labels of a run are shown: sorted by what, starting with which one.

    `norm` is the number in a cell of the matrix: its mass, or the share of its row or column.
    `part` is the only slice that is counted.
    """

    run_id: str
    order: LabelOrder = "f1"
    norm: MassNorm = "mass"
    start: int = 0
    part: str | None = None

    def url(self, form: str = "", *, grid: bool = False) -> str:
        """Canonical URL of the page, or of the matrix alone in one of `FORMS`."""
        path = f"/runs/{self.run_id}"
        is_whole = form in {"csv", "json"}
        usual = "support" if form else "f1"
        return with_query(
            f"{path}/matrix.{form}" if form else path,
            {
                "slice": self.part,
                "order": None if self.order == usual or is_whole else self.order,
                "norm": None if self.norm == "mass" or is_whole else self.norm,
                "from": str(self.start + 1) if self.start and not form else None,
                "layout": "grid" if grid else None,
            },
        )


def read_label_sets(
    run_id: str, values: Mapping[str, str], *, default: LabelOrder = "f1"
) -> tuple[LabelSetsAddress, list[str]]:
    """The address in a query string, with a notice for each invalid value.

    `default` is the order of labels where none is given.
    """
    notices: list[str] = []
    order = values.get("order") or default
    if order not in get_args(LabelOrder):
        notices.append(f"There is no order “{order}”; use support, label or f1.")
        order = default
    norm = values.get("norm") or "mass"
    if norm not in get_args(MassNorm):
        notices.append(f"Cells cannot show “{norm}”; use mass, row or col.")
        norm = "mass"
    start, unread = read_start(
        values, unread="The position among the labels is invalid; the first labels are shown."
    )
    address = LabelSetsAddress(
        run_id, cast(LabelOrder, order), cast(MassNorm, norm), start, values.get("slice") or None
    )
    return address, notices + unread


LABELS_AT_ONCE = 30
"""Number of labels shown at once; the others are on further pages."""
_ORDERS: tuple[tuple[LabelOrder, str], ...] = (
    ("f1", "F1"),
    ("support", "Support"),
    ("label", "Label"),
)


class LinkedCell(NamedTuple):
    """A number with its colour; `url` leads to its examples, None if there are none."""

    text: str
    css: str
    url: str | None


@dataclass(frozen=True, slots=True)
class LabelTable:
    """The two-by-two table of a label."""

    head: ClassHead
    support: str
    found: LinkedCell
    missed: LinkedCell
    spurious: LinkedCell
    absent: LinkedCell


@dataclass(frozen=True, slots=True)
class LabelValue:
    """A value of a label with its interval, and the mark of both."""

    value: ShownValue
    interval: str | None
    mark: Markup | None


@dataclass(frozen=True, slots=True)
class LabelStrip:
    """A label in one line: F1, precision and recall."""

    head: ClassHead
    support: str
    values: tuple[LabelValue, ...]


STRIP = ("f1", "precision", "recall")


def label_strips(
    results: RunResults, counted: CountedSets, codes: list[int], notes: Notes
) -> tuple[LabelStrip, ...]:
    """The lines of these labels, in the order of their codes."""
    return tuple(
        LabelStrip(
            class_head(counted.labels.names[code]),
            numbers.count(int(counted.actual[code])),
            tuple(_label_value(key, results.per_class[key][code], notes) for key in STRIP),
        )
        for code in codes
    )


def _label_value(key: str, value: MetricValue, notes: Notes) -> LabelValue:
    extent, interval = extent_of(value), interval_text(value)
    title = CLASS_METRIC_TITLES[key]
    mark = None
    if extent is not None:
        mark = interval_mark(
            extent, scale=UNIT, name=f"{title} from 0 to 1: {interval_name(interval)}"
        )
    return LabelValue(shown(value, notes), interval, mark)


def label_codes(results: RunResults, counted: CountedSets, order: LabelOrder) -> list[int]:
    """Codes of all labels in an order; equal ones stay in declared order."""
    codes = list(range(counted.n_classes))
    if order == "label":
        return codes
    if order == "f1":
        values = results.per_class["f1"]
        return sorted(codes, key=lambda code: _undefined_last(values[code]))
    supports: list[int] = counted.actual.tolist()
    return sorted(codes, key=lambda code: -supports[code])


def _undefined_last(value: MetricValue) -> tuple[bool, float]:
    return value.value is None, value.value or 0.0


def window_of(codes: list[int], address: LabelSetsAddress) -> Paging:
    """The labels shown on this page, starting at that of the address."""
    return paging(
        len(codes),
        address.start,
        per_page=LABELS_AT_ONCE,
        words=("label", "labels"),
        url=lambda start: replace(address, start=start).url(),
    )


def order_segments(address: LabelSetsAddress) -> tuple[Segment, ...]:
    """The choice of the order of labels."""
    return tuple(
        Segment(text, replace(address, order=order, start=0).url(), order == address.order)
        for order, text in _ORDERS
    )


def label_tables(
    counted: CountedSets, codes: list[int], address: LabelSetsAddress
) -> tuple[LabelTable, ...]:
    """The tables of these labels, in the order of their codes."""
    return tuple(_table(counted, code, address) for code in codes)


def _table(counted: CountedSets, code: int, address: LabelSetsAddress) -> LabelTable:
    name = counted.labels.names[code]
    hits, actual = int(counted.correct[code]), int(counted.actual[code])
    missed, spurious = actual - hits, int(counted.predicted[code]) - hits
    others = counted.total - actual

    def cell(
        count: int, of: int, question: ExampleQuestion | None, *, is_correct: bool
    ) -> LinkedCell:
        url = None
        if question is not None and count:
            asked = replace(question, part=address.part)
            url = ExamplesAddress(address.run_id, asked).url()
        share = count / max(of, 1)
        return LinkedCell(numbers.count(count), ramp_class(share, is_correct=is_correct), url)

    return LabelTable(
        head=class_head(name),
        support=numbers.plural(actual, "example"),
        found=cell(hits, actual, ExampleQuestion(actual=name, kind=Kind.RIGHT), is_correct=True),
        missed=cell(missed, actual, ExampleQuestion(actual=name), is_correct=False),
        spurious=cell(spurious, others, ExampleQuestion(predicted=name), is_correct=False),
        absent=cell(others - spurious, others, None, is_correct=True),
    )


MOST_LINKED = 14
"""Most labels for which every cell links to its samples; more links would outweigh the page."""
_NORMS: tuple[tuple[MassNorm, str], ...] = (
    ("mass", "mass"),
    ("row", "row share"),
    ("col", "column share"),
)
_SAID: dict[MassNorm, str] = {
    "mass": "Each cell is the mass of the actual label on the predicted one.",
    "row": "Each cell is the share of the mass of the actual label: not its recall.",
    "col": "Each cell is the share of the mass on the predicted label: not its precision.",
}


@dataclass(frozen=True, slots=True)
class MassTable:
    """The matrix of the labels shown; totals are those of all labels."""

    caption: str
    heads: tuple[ClassHead, ...]
    lines: tuple[tuple[ClassHead, tuple[LinkedCell, ...], str], ...]
    totals: tuple[str, ...]
    total: str
    turned_heads: bool


def norm_segments(address: LabelSetsAddress) -> tuple[Segment, ...]:
    """The choices for the number in the cells."""
    return tuple(
        Segment(text, replace(address, norm=norm).url(), norm == address.norm)
        for norm, text in _NORMS
    )


def mass_table(counted: CountedSets, codes: list[int], address: LabelSetsAddress) -> MassTable:
    """Present the cells between these labels, in the order of their codes."""
    found = counted.matrix
    masses = {"mass": found.cells, "row": found.row_share.value, "col": found.column_share.value}
    numbers_shown, shares = masses[address.norm], found.row_share.value
    names = counted.labels.names
    off_diagonal = np.where(np.eye(len(names), dtype=np.bool_), 0.0, np.nan_to_num(shares))
    largest_error = float(off_diagonal.max(initial=0.0)) or 1.0
    of_rows, of_columns = actual_totals(found.cells), predicted_totals(found.cells)

    def cell(actual: int, predicted: int) -> LinkedCell:
        mass, number = float(found.cells[actual, predicted]), numbers_shown[actual, predicted]
        is_linked = mass > 0 and len(codes) <= MOST_LINKED
        return LinkedCell(
            _text(float(number)),
            ramp_class(
                float(shares[actual, predicted]),
                is_correct=actual == predicted,
                end=1.0 if actual == predicted else largest_error,
            ),
            cell_url(address.run_id, names[actual], names[predicted], address.part)
            if is_linked
            else None,
        )

    return MassTable(
        caption=f"Fractional multi-label matrix, Algorithm 1. {_SAID[address.norm]} Rows: "
        f"actual label. Columns: predicted label. {numbers.plural(found.n_samples, 'example')} "
        "whose two sets are not empty.",
        heads=tuple(class_head(names[code]) for code in codes),
        lines=tuple(
            (
                class_head(names[actual]),
                tuple(cell(actual, predicted) for predicted in codes),
                two_decimals(float(of_rows[actual])),
            )
            for actual in codes
        ),
        totals=tuple(two_decimals(float(of_columns[code])) for code in codes),
        total=two_decimals(float(np.asarray(of_rows, dtype=np.float64).sum())),
        turned_heads=len(codes) > 8,
    )


def two_decimals(mass: float) -> str:
    """Mass in two decimals: "1.33", "0" for none, "<0.01" for very little."""
    if mass == 0:
        return "0"
    return "<0.01" if mass < 0.005 else f"{mass:,.2f}"


def _text(number: float) -> str:
    return "\N{EN DASH}" if math.isnan(number) else two_decimals(number)

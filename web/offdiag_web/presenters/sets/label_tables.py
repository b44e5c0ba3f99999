"""One small table for each label: is it true, was it predicted."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.domain.values import MetricValue
from offdiag.metrics.counted import CountedSets
from offdiag.services.examples.question import ExampleQuestion, Kind
from offdiag.store.run_page import RunResults
from offdiag_web.addresses.label_sets import LabelOrder, LabelSetsAddress
from offdiag_web.presenters import numbers
from offdiag_web.presenters.class_order import ClassHead, class_head
from offdiag_web.presenters.segments import Segment
from offdiag_web.presenters.sets.ramp import ramp_class
from offdiag_web.presenters.values import Notes, ShownValue, interval_text, shown
from offdiag_web.urls.examples import ExamplesAddress

LABELS_AT_ONCE = 30
"""So many labels are shown together; more of them come page by page."""
_ORDERS: tuple[tuple[LabelOrder, str], ...] = (
    ("support", "support"),
    ("label", "label"),
    ("f1", "lowest F1"),
)


@dataclass(frozen=True, slots=True)
class TableCell:
    """A count of cases, coloured by its share of the row, and the address of the cases."""

    count: str
    css: str
    url: str | None


@dataclass(frozen=True, slots=True)
class LabelTable:
    """The two-by-two table of a label, with its F1."""

    head: ClassHead
    support: str
    found: TableCell
    missed: TableCell
    spurious: TableCell
    absent: TableCell
    f1: ShownValue
    recall: ShownValue
    recall_interval: str | None


@dataclass(frozen=True, slots=True)
class Window:
    """Which of many labels are shown, and where the others are."""

    range_text: str
    first_url: str | None
    previous_url: str | None
    next_url: str | None


def label_codes(results: RunResults, counted: CountedSets, order: LabelOrder) -> list[int]:
    """Codes of all labels in an order; equal ones stay as they were declared."""
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


def windowed(codes: list[int], start: int) -> list[int]:
    """The labels from a place on that are shown together."""
    first = min(start, max(len(codes) - 1, 0) // LABELS_AT_ONCE * LABELS_AT_ONCE)
    return codes[first : first + LABELS_AT_ONCE]


def window_of(codes: list[int], address: LabelSetsAddress) -> Window | None:
    """Where the labels that are shown stand among all; None where all are shown."""
    if len(codes) <= LABELS_AT_ONCE:
        return None
    shown_codes = windowed(codes, address.start)
    start = codes.index(shown_codes[0])
    end = start + len(shown_codes)
    return Window(
        f"{numbers.count(start + 1)}\N{EN DASH}{numbers.count(end)} of "
        f"{numbers.plural(len(codes), 'label')}",
        address.starting_at(0).url() if start else None,
        address.starting_at(max(start - LABELS_AT_ONCE, 0)).url() if start else None,
        address.starting_at(end).url() if end < len(codes) else None,
    )


def order_segments(address: LabelSetsAddress) -> tuple[Segment, ...]:
    """The orders that labels can stand in."""
    return tuple(
        Segment(text, address.ordered(order).url(), order == address.order)
        for order, text in _ORDERS
    )


def label_tables(
    results: RunResults, counted: CountedSets, codes: list[int], run_id: str, notes: Notes
) -> tuple[LabelTable, ...]:
    """The tables of some labels, in the order of their codes."""
    return tuple(_table(results, counted, code, run_id, notes) for code in codes)


def _table(
    results: RunResults, counted: CountedSets, code: int, run_id: str, notes: Notes
) -> LabelTable:
    name = counted.labels.names[code]
    hits, actual = int(counted.correct[code]), int(counted.actual[code])
    missed, spurious = actual - hits, int(counted.predicted[code]) - hits
    others = counted.total - actual
    recall = results.per_class["recall"][code]

    def cell(
        count: int, of: int, question: ExampleQuestion | None, *, is_right: bool
    ) -> TableCell:
        url = None if question is None or not count else ExamplesAddress(run_id, question).url()
        share = count / max(of, 1)
        return TableCell(numbers.count(count), ramp_class(share, is_right=is_right), url)

    return LabelTable(
        head=class_head(name),
        support=numbers.plural(actual, "case"),
        found=cell(hits, actual, ExampleQuestion(actual=name, kind=Kind.RIGHT), is_right=True),
        missed=cell(missed, actual, ExampleQuestion(actual=name), is_right=False),
        spurious=cell(spurious, others, ExampleQuestion(predicted=name), is_right=False),
        absent=cell(others - spurious, others, None, is_right=True),
        f1=shown(results.per_class["f1"][code], notes),
        recall=shown(recall, notes),
        recall_interval=interval_text(recall),
    )

"""Every per-class value of a run, and the address of that table."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal, cast, get_args

from flask import Blueprint, jsonify, request
from werkzeug.wrappers import Response

from offdiag.domain.number_text import Amounts, amounts_for
from offdiag.domain.values import MetricValue
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.store.run_page import RunDetail, RunResults
from offdiag_web.app.exports import Cell, csv_response
from offdiag_web.app.parameters import understood
from offdiag_web.components.classes import ClassHead, class_head
from offdiag_web.components.controls import (
    CLASSES,
    LABELS,
    ClassWords,
    Paging,
    Segment,
    SortHead,
    aria_sort,
    class_words,
    paging,
)
from offdiag_web.components.metric_values import (
    CLASS_METRIC_TITLES,
    Notes,
    ShownValue,
    interval_text,
    shown,
)
from offdiag_web.components.runs.frame import (
    RUN,
    results_of,
    run_page,
    stored_run,
    unlabelled_text,
)
from offdiag_web.components.slices import PARAMETER
from offdiag_web.urls.query_string import read_start, with_query

ColumnGroup = Literal["main", "counts", "rates", "scores", "ratios", "ranking"]


@dataclass(frozen=True, slots=True)
class ClassesAddress:
    """Which columns are shown, sorted by which, from which class on (counted from 0).

    `part` is the slice that the values are from.
    """

    run_id: str
    group: ColumnGroup = "main"
    sort_key: str = "support"
    descending: bool = True
    start: int = 0
    part: str | None = None

    def url(self, form: str = "") -> str:
        """Canonical URL of the table, or of its export where `form` is "json" or "csv"."""
        path = f"/runs/{self.run_id}/classes"
        is_default = self.sort_key == "support" and self.descending
        return with_query(
            f"{path}.{form}" if form else path,
            {
                "slice": self.part,
                "show": None if self.group == "main" or form else self.group,
                "sort": None if is_default else f"{'-' if self.descending else ''}{self.sort_key}",
                "from": str(self.start + 1) if self.start and not form else None,
            },
        )

    def sorted_by(self, key: str) -> ClassesAddress:
        """The table sorted by a column; lowest first, because that is where a model fails."""
        again = self.sort_key == key
        first_descending = key in {"support", "predicted"}
        descending = not self.descending if again else first_descending
        return replace(self, sort_key=key, descending=descending, start=0)


def read_classes(
    run_id: str, values: Mapping[str, str], known_keys: Collection[str]
) -> tuple[ClassesAddress, list[str]]:
    """The address in a query string, with a notice for each invalid value."""
    notices: list[str] = []
    address = ClassesAddress(run_id, part=values.get("slice") or None)
    group = values.get("show")
    if group in get_args(ColumnGroup):
        address = replace(address, group=cast(ColumnGroup, group))
    elif group:
        known = ", ".join(get_args(ColumnGroup))
        notices.append(f"There are no columns “{group}”; use {known}.")
    sort = values.get("sort")
    if sort:
        key = sort.removeprefix("-")
        if key in known_keys or key == "label":
            address = replace(address, sort_key=key, descending=sort.startswith("-"))
        else:
            notices.append(f"Classes cannot be sorted by “{key}”.")
    start, unread = read_start(
        values, unread="The position in the table is invalid; its beginning is shown."
    )
    return replace(address, start=start), notices + unread


CLASSES_PER_PAGE = 50
COUNTS = frozenset({"support", "predicted", "tp", "fn", "fp", "tn"})
"""Values that are whole numbers, or sums of weights."""

GROUPS: Mapping[ColumnGroup, tuple[str, ...]] = {
    "main": ("support", "predicted", "recall", "precision", "f1", "jaccard", "specificity", "npv"),
    "counts": (
        *("support", "predicted", "tp", "fn", "fp", "tn"),
        *("prevalence", "predicted_rate", "imbalance_coefficient"),
    ),
    "rates": ("recall", "specificity", "precision", "npv", "fpr", "fnr", "fdr", "for"),
    "scores": (
        *("f1", "f0_5", "f2", "jaccard", "accuracy_ovr", "balanced_accuracy_ovr"),
        *("informedness", "markedness", "gmean", "fowlkes_mallows", "mcc_ovr", "p4"),
    ),
    "ratios": ("lr_plus", "lr_minus", "dor", "lift", "prevalence_threshold"),
    "ranking": ("roc_auc", "average_precision"),
}
"""Columns by group; the last group exists only if scores were logged."""


@dataclass(frozen=True, slots=True)
class ClassCell:
    """A value and, if there is one, its 95 % interval."""

    value: ShownValue
    interval: str | None


@dataclass(frozen=True, slots=True)
class ClassTable:
    """A page of classes, with a line of each: its values of the chosen columns."""

    groups: tuple[Segment, ...]
    label_head: SortHead
    heads: tuple[SortHead, ...]
    lines: tuple[tuple[ClassHead, tuple[ClassCell, ...]], ...]
    paging: Paging
    title: str


def class_table(
    results: RunResults, address: ClassesAddress, notes: Notes, words: ClassWords = CLASSES
) -> ClassTable:
    """The classes on the page of the address, in its order and with its columns."""
    keys = [key for key in GROUPS[address.group] if key in results.per_class]
    codes, sums = sorted_codes(results, address), _sums_of(results)
    page = paging(
        len(codes),
        address.start,
        per_page=CLASSES_PER_PAGE,
        words=(words.one, words.many),
        url=lambda start: replace(address, start=start).url(),
    )
    return ClassTable(
        groups=tuple(
            Segment(group, replace(address, group=group).url(), group == address.group)
            for group, keys_of_group in GROUPS.items()
            if any(key in results.per_class for key in keys_of_group)
        ),
        label_head=_head("label", words.one.capitalize(), address),
        heads=tuple(_head(key, CLASS_METRIC_TITLES[key], address) for key in keys),
        lines=tuple(
            _line(results, code, keys, notes, sums) for code in codes[page.start : page.end]
        ),
        paging=page,
        title="Every label by itself" if words is LABELS else "Every class against the rest",
    )


def sorted_codes(results: RunResults, address: ClassesAddress) -> list[int]:
    """All class codes sorted by the chosen column; undefined values are last either way."""
    codes = list(range(results.counted.n_classes))
    if address.sort_key == "label":
        return codes[::-1] if address.descending else codes
    values = results.per_class[address.sort_key]
    sign = -1 if address.descending else 1

    def place(code: int) -> tuple[bool, float, int]:
        value = values[code].value
        return (value is None, sign * (value or 0.0), code)

    return sorted(codes, key=place)


def _sums_of(results: RunResults) -> Amounts:
    """The format for numbers of examples; sums of weights get decimals, else small ones are 0."""
    if not isinstance(results.counted, WeightedCounts):
        return Amounts(0)
    of_classes = (results.per_class[key] for key in COUNTS & results.per_class.keys())
    sums = [value.value or 0.0 for values in of_classes for value in values]
    return Amounts(0) if all(each.is_integer() for each in sums) else amounts_for(sums)


def _line(
    results: RunResults, code: int, keys: list[str], notes: Notes, sums: Amounts
) -> tuple[ClassHead, tuple[ClassCell, ...]]:
    cells = []
    for key in keys:
        value = results.per_class[key][code]
        is_sum = key in COUNTS and value.value is not None
        text = ShownValue(sums.text(value.value or 0.0)) if is_sum else shown(value, notes)
        cells.append(ClassCell(text, interval_text(value)))
    return class_head(results.counted.labels.names[code], longest=32), tuple(cells)


def _head(key: str, title: str, address: ClassesAddress) -> SortHead:
    order = aria_sort(is_current=address.sort_key == key, descending=address.descending)
    return SortHead(title, address.sorted_by(key).url(), order)


def class_records(results: RunResults) -> dict[str, object]:
    """Every value of every class for the JSON export, in label order."""
    return {
        "labels": list(results.counted.labels.names),
        "per_class": {
            key: [value.to_dict() for value in values] for key, values in results.per_class.items()
        },
    }


def class_columns(results: RunResults) -> tuple[str, ...]:
    """Columns of the CSV export: a value, and bounds if the key has intervals."""
    columns = ["label"]
    for key, values in results.per_class.items():
        columns.append(key)
        if _has_interval(values):
            columns += [f"{key}_ci_low", f"{key}_ci_high"]
    return tuple(columns)


def class_rows(results: RunResults, address: ClassesAddress) -> list[tuple[Cell, ...]]:
    """One row per class in the order of the page."""
    return [
        (results.counted.labels.names[code], *_export_cells(results, code))
        for code in sorted_codes(results, address)
    ]


def _export_cells(results: RunResults, code: int) -> tuple[Cell, ...]:
    cells: list[Cell] = []
    for key, values in results.per_class.items():
        value = values[code]
        is_count = key in COUNTS and value.value is not None and value.value.is_integer()
        cells.append(int(value.value or 0) if is_count else value.value)
        if _has_interval(values):
            cells += [value.ci_low, value.ci_high]
    return tuple(cells)


def _has_interval(values: tuple[MetricValue, ...]) -> bool:
    return any(value.ci_method is not None for value in values)


blueprint = Blueprint("run_classes", __name__)


@blueprint.get(f"{RUN}/classes")
def page(run_id: str) -> Response:
    detail = _stored(run_id)
    address, notices = _address(run_id, detail.results)
    notes = Notes()
    words = class_words(detail.run.task)
    table = None
    unlabelled = unlabelled_text(detail)
    if detail.results is not None and not unlabelled:
        table = class_table(detail.results, address, notes, words)
    return run_page(
        "run_classes/page.html",
        detail,
        "classes",
        address=address,
        table=table,
        unlabelled=unlabelled,
        is_weighted=detail.run.is_weighted,
        words=words,
        notes=notes.texts,
        notices=notices,
    )


@blueprint.get(f"{RUN}/classes.json")
def classes_json(run_id: str) -> Response:
    results = results_of(_stored(run_id))
    understood(_address(run_id, results))  # Links of the page have its order, too.
    return jsonify(class_records(results))


@blueprint.get(f"{RUN}/classes.csv")
def classes_csv(run_id: str) -> Response:
    results = results_of(_stored(run_id))
    address = understood(_address(run_id, results))
    return csv_response(f"{run_id}-classes", class_columns(results), class_rows(results, address))


def _stored(run_id: str) -> RunDetail:
    return stored_run(run_id, request.args.get(PARAMETER) or None)


def _address(run_id: str, results: RunResults | None) -> tuple[ClassesAddress, list[str]]:
    return read_classes(run_id, request.args, results.per_class if results else ())

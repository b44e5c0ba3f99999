"""The classes beside the matrix of a run, each with its recall and the interval of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from markupsafe import Markup

from offdiag.domain.values import MetricValue, worst_first
from offdiag.store.run_page import RunResults
from offdiag_web.charts.marks import IN_PANEL, interval_mark
from offdiag_web.charts.svg import UNIT
from offdiag_web.components import numbers
from offdiag_web.components.classes import ClassHead, Grouping, class_head, class_order
from offdiag_web.components.metric_values import (
    Notes,
    ShownValue,
    extent_of,
    interval_name,
    interval_text,
    shown,
)
from offdiag_web.urls.run import MatrixAddress, cell_url, missed_url

MOST_CLASSES = 30
LOWEST_SHOWN = 6


@dataclass(frozen=True, slots=True)
class ClassRecall:
    """One class with its recall: `found` of its `support` examples are predicted correctly."""

    head: ClassHead
    support: str
    found: str
    recall: ShownValue
    interval: str | None
    mark: Markup | None
    precision: ShownValue
    specificity: ShownValue | None
    """Only for one of two classes."""
    found_url: str | None = None
    missed_url: str | None = None
    """Address of the examples predicted as another class; None if there are none to show."""


@dataclass(frozen=True, slots=True)
class ClassPanel:
    """Classes in the order of the matrix, or the worst of many."""

    title: str
    classes: tuple[ClassRecall, ...]

    @property
    def is_binary(self) -> bool:
        return all(each.specificity is not None for each in self.classes)


def class_panel(
    results: RunResults,
    address: MatrixAddress,
    notes: Notes,
    *,
    run_id: str | None = None,
    grouping: Grouping | None = None,
) -> ClassPanel:
    """All classes up to `MOST_CLASSES`, else those with the lowest recall.

    With the id of a run that stores predictions, each has the address of its missed samples.
    """
    codes = class_order(results.matrix, address.order, grouping)
    title = "Per class"
    if len(codes) > MOST_CLASSES:
        codes = _by_recall(results, codes)[:LOWEST_SHOWN]
        title = "Worst classes"
    elif address.worst_first:
        codes = _by_recall(results, codes)
    accuracy = results.aggregate.get("overall_accuracy")
    classes = tuple(_class_recall(results, code, accuracy, notes) for code in codes)
    if run_id is not None:
        classes = tuple(
            replace(
                each,
                found_url=_found_url(run_id, results, code, address.part),
                missed_url=_missed_url(run_id, results, code, address.part),
            )
            for code, each in zip(codes, classes, strict=True)
        )
    return ClassPanel(title, classes)


def _found_url(run_id: str, results: RunResults, code: int, part: str | None) -> str | None:
    name = results.matrix.labels.names[code]
    return cell_url(run_id, name, name, part) if results.matrix.counts[code, code] else None


def _missed_url(run_id: str, results: RunResults, code: int, part: str | None) -> str | None:
    matrix = results.matrix
    is_whole = matrix.actual[code] == matrix.counts[code, code]
    return None if is_whole else missed_url(run_id, matrix.labels.names[code], part)


def _by_recall(results: RunResults, codes: list[int]) -> list[int]:
    shown = set(codes)
    sizes = [each.value or 0.0 for each in results.per_class["support"]]
    order = worst_first(results.per_class["recall"], sizes)
    return [code for code in order if code in shown]


def _class_recall(
    results: RunResults, code: int, accuracy: MetricValue | None, notes: Notes
) -> ClassRecall:
    matrix = results.matrix
    recall = results.per_class["recall"][code]
    extent = extent_of(recall)
    interval = interval_text(recall)
    return ClassRecall(
        head=class_head(matrix.labels.names[code], longest=20),
        support=numbers.count(int(matrix.actual[code])),
        found=numbers.count(int(matrix.counts[code, code])),
        recall=shown(recall, notes),
        interval=interval,
        mark=interval_mark(
            extent,
            scale=UNIT,
            name=f"Recall from 0 to 1: {interval_name(interval)}",
            baseline=None if accuracy is None else accuracy.value,
            stands_out=lies_below(recall, accuracy),
            canvas=IN_PANEL,
        )
        if extent
        else None,
        precision=shown(results.per_class["precision"][code], notes),
        specificity=shown(results.per_class["specificity"][code], notes)
        if len(matrix.labels.names) == 2
        else None,
    )


def lies_below(value: MetricValue, other: MetricValue | None) -> bool:
    """Whether the whole interval of a value is below the whole interval of another."""
    if other is None or value.ci_high is None or other.ci_low is None:
        return False
    return value.ci_high < other.ci_low

"""The displayed run: results, possibly with collapsed groups, its classes, or its predictions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from flask import current_app
from markupsafe import Markup

from offdiag.domain.hierarchy import ALL_GROUPS, Collapse
from offdiag.domain.runs import Task
from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.services.evaluation.compute import CollapsedEvaluation, collapse_matrix
from offdiag.services.evaluation.slices import sliced_run
from offdiag.services.lru_cache import LruCache
from offdiag.store.predictions import predicted_chunks
from offdiag.store.run_page import RunDetail, RunHeader, RunResults, run_detail
from offdiag_web.app.context import current_registry
from offdiag_web.charts.marks import IN_PANEL, interval_mark
from offdiag_web.charts.svg import UNIT
from offdiag_web.components import numbers
from offdiag_web.components.classes import ClassHead, Grouping, class_head, class_order
from offdiag_web.components.datasets import labels_command
from offdiag_web.components.metric_values import (
    Notes,
    ShownValue,
    extent_of,
    interval_name,
    interval_text,
    shown,
)
from offdiag_web.components.runs.frame import n_unlabelled, results_of, stored_run
from offdiag_web.urls.run import MatrixAddress, cell_url, missed_url

_CACHE = "offdiag collapsed matrices"
MOST_CACHED = 64


@dataclass(frozen=True)
class DisplayedRun:
    """Results of the displayed classes, and the canonical address of the view."""

    results: RunResults
    address: MatrixAddress
    grouping: Grouping | None = None
    notices: tuple[str, ...] = ()

    @property
    def collapse(self) -> Collapse | None:
        """What is collapsed; None if nothing is."""
        if self.grouping is None or not self.grouping.collapse.groups:
            return None
        return self.grouping.collapse


def displayed_run(run: RunHeader, results: RunResults, address: MatrixAddress) -> DisplayedRun:
    """Results as the address requests them; unknown groups are ignored, with a notice.

    Collapsed results have neither metrics of scores nor costs, which concern single classes.
    """
    if run.hierarchy is None or not isinstance(results.counted, ConfusionMatrix):
        none = ("The classes of this dataset have no groups.",) if address.collapse else ()
        return DisplayedRun(results, replace(address, collapse=()), None, none)
    known = {ALL_GROUPS, *run.hierarchy.by_name}
    notices = tuple(
        f"There is no group of classes “{name}”." for name in address.collapse if name not in known
    )
    grouping = Grouping.of(run.labels, run.hierarchy, address.collapse)
    address = replace(address, collapse=grouping.collapsed if grouping.collapse.groups else ())
    if grouping.collapse.groups:
        results = _collapsed(run, results, grouping)
    return DisplayedRun(results, address, grouping, notices)


def requested_matrix(address: MatrixAddress) -> DisplayedRun:
    """The displayed run of an address, which needs results. Raises as `results_of` does."""
    detail = stored_run(address.run_id, address.part)
    return displayed_run(detail.run, results_of(detail), address)


def drawn_matrix(address: MatrixAddress) -> DisplayedRun:
    """The same for a picture, which is requested often and only needs counts.

    Aggregates, flags and costs are not read.
    """
    with current_registry().database.read() as session:
        detail = run_detail(session, address.run_id, aggregates=False)
    if address.part is not None:
        detail = sliced_run(current_registry().database, detail, address.part)
    return displayed_run(detail.run, results_of(detail), address)


def matrix_file_name(address: MatrixAddress) -> str:
    """The name of a file of the view, without its suffix."""
    parts = [address.run_id]
    if address.part:
        parts.append("slice")
    parts.append("matrix")
    if address.transposed:
        parts.append("transposed")
    if address.collapse:
        parts.append("collapsed")
    return "-".join(parts)


def _collapsed(run: RunHeader, results: RunResults, grouping: Grouping) -> RunResults:
    names = [group.name for group in grouping.collapse.groups]
    key = (results.matrix.digest, run.labels.inferred, grouping.collapse)
    found = _cache().get(
        key,
        lambda: collapse_matrix(
            results.matrix, labels=run.labels, hierarchy=run.hierarchy, groups=names
        ),
    )
    return replace(
        results,
        counted=found.matrix,
        aggregate=found.values.aggregate,
        per_class={key: tuple(values) for key, values in found.values.per_class.items()},
        costs=None,
    )


def _cache() -> LruCache[CollapsedEvaluation]:
    cache = current_app.extensions.setdefault(_CACHE, LruCache(most=MOST_CACHED))
    return cast("LruCache[CollapsedEvaluation]", cache)


MOST_COUNTED = 30


@dataclass(frozen=True, slots=True)
class UnlabelledRun:
    """The counts of predictions, most frequent first; none for sets of labels."""

    total: str
    command: str
    lines: tuple[tuple[str, str, str], ...]


def unlabelled_run(detail: RunDetail) -> UnlabelledRun | None:
    """Predictions of a run without labelled examples; None if it has any, or no results yet."""
    run, n_all = detail.run, n_unlabelled(detail)
    if not n_all:
        return None
    command = labels_command(run.project, run.dataset)
    lines = () if run.task is Task.MULTILABEL else _predicted(run.id, run.labels.names)
    return UnlabelledRun(numbers.count(n_all), command, lines)


def _predicted(run_id: str, names: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    counts = np.zeros(len(names), dtype=np.int64)
    with current_registry().database.read() as session:
        for chunk in predicted_chunks(session, [run_id]):
            counts += np.bincount(chunk.codes, minlength=len(names))
    total = int(counts.sum())
    order = np.argsort(-counts, kind="stable")[:MOST_COUNTED]
    return tuple(
        (
            names[code],
            numbers.count(int(counts[code])),
            numbers.whole_percent(int(counts[code]), total),
        )
        for code in order
        if counts[code]
    )


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
    """Lowest first; classes without examples have no recall and come last."""
    recalls = results.per_class["recall"]
    return sorted(
        codes, key=lambda code: (recalls[code].value is None, recalls[code].value or 0.0)
    )


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

"""The columns of the list of runs: which ones, in which order, and the axes of their marks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from offdiag.domain.runs import Task
from offdiag.domain.sentences import inside
from offdiag.services.champions.leaders import primary_metric
from offdiag.store.dataset_page import DatasetFacts
from offdiag.store.run_order import AGGREGATE_ORDERS, OF_PARAM, RunOrder, order_by
from offdiag.store.run_rows import RunEntry
from offdiag_web.charts.svg import UNIT, Scale
from offdiag_web.components import numbers
from offdiag_web.components.controls import AriaSort, aria_sort
from offdiag_web.components.runs.rows import (
    OFFERED,
    ONLY_OF_CLASSES,
    ONLY_OF_SETS,
    WORST_COLUMN,
    MetricColumn,
    column_scale,
    metric_column,
)
from offdiag_web.components.tiles import COST_KEY, CostColumn, cost_column
from offdiag_web.urls.run_list import (
    EXACTLY,
    LOWER_IS_BETTER,
    NEWEST_FIRST,
    OTHER_COLUMNS,
    RunListAddress,
    is_of_slices,
)

PARAMS_SHOWN = 2
MOST_OFFERED_PARAMS = 20
OTHER_TITLES = {
    "cost": "Cost / 1,000",
    "problems": "Problems",
    "params": "Two parameters that differ most",
    "logged": "Logged",
    "by": "By",
}


@dataclass(frozen=True, slots=True)
class Head:
    """Head of a column, whose width is stored under `key`; `ends` are printed above the marks.

    `aria_sort` is None if the list cannot be sorted by it.
    """

    key: str
    title: str
    css: str
    sort_url: str = ""
    aria_sort: AriaSort | None = None
    ends: tuple[str, str] | None = None
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns for runs of one dataset; `left_out` says which chosen ones are not shown."""

    metrics: tuple[tuple[MetricColumn, Scale], ...]
    worst: Scale | None
    costs: CostColumn | None
    params: tuple[str, ...]
    others: frozenset[str]
    worst_title: str
    left_out: str | None = None
    numeric_params: frozenset[str] = frozenset()

    @property
    def n_of_results(self) -> int:
        """How many columns are empty for a run without metrics."""
        return len(self.metrics) + (self.worst is not None) + (self.costs is not None)

    def param_css(self, name: str) -> str:
        """Numbers are right-aligned."""
        return "param number" if name in self.numeric_params else "param"


def best_first(dataset: DatasetFacts) -> RunOrder:
    """The order by the primary metric of a dataset."""
    key = primary_metric(dataset)
    return order_by(key, descending=key not in LOWER_IS_BETTER)


def usual_metrics(scope: DatasetFacts | None) -> tuple[str, ...]:
    """The metrics shown unless others are chosen; the primary one comes first."""
    if scope is None:
        return ("balanced_accuracy", "overall_accuracy")
    primary = primary_metric(scope)
    beside = "overall_accuracy"
    if scope.task is Task.MULTILABEL:
        beside = "subset_accuracy"
    elif primary == beside:
        beside = "balanced_accuracy"
    return (primary, beside)


def chosen_metrics(scope: DatasetFacts | None, chosen: Sequence[str]) -> tuple[str, ...]:
    """Keys of the metrics among the columns."""
    keys = [key for key in chosen if key not in {EXACTLY, *OTHER_COLUMNS}]
    named = tuple(key for key in keys if not key.startswith(OF_PARAM) and not is_of_slices(key))
    plain = named or (() if EXACTLY in chosen else usual_metrics(scope))
    return (*plain, *filter(is_of_slices, keys))


def drawn_columns(
    scope: DatasetFacts,
    entries: Sequence[RunEntry],
    address: RunListAddress,
    chosen: Sequence[str],
) -> Columns:
    """The columns of a page, on request without those in which its runs do not differ."""
    others = frozenset(set(chosen) & set(OTHER_COLUMNS))
    if EXACTLY not in chosen:
        others = frozenset(OTHER_COLUMNS)
    metrics = chosen_metrics(scope, chosen)
    evaluated = [entry for entry in entries if entry.is_evaluated]
    same: list[str] = []
    if address.only_differences and len(evaluated) > 1:
        same = [key for key in metrics if not _differs(key, evaluated)]
    left_out = None
    if same and len(same) < len(metrics):
        titles = numbers.listed([metric_column(key).title for key in same])
        left_out = f"Left out, with the same value in all runs shown: {titles}."
        metrics = tuple(key for key in metrics if key not in same)
    params = tuple(key.removeprefix(OF_PARAM) for key in chosen if key.startswith(OF_PARAM))
    if not params and "params" in others:
        params = differing_params(entries)
    has_costs = "cost" in others and COST_KEY not in metrics
    return Columns(
        metrics=tuple(
            (column, column_scale(column, entries, address.scale))
            for column in map(metric_column, metrics)
        ),
        worst=UNIT if "worst" in others else None,
        costs=cost_column(scope, entries) if has_costs else None,
        params=params,
        others=others,
        worst_title=worst_title(scope),
        left_out=left_out,
        numeric_params=frozenset(name for name in params if _is_numeric(name, entries)),
    )


def _is_numeric(name: str, entries: Sequence[RunEntry]) -> bool:
    values = [entry.params[name] for entry in entries if entry.params.get(name) is not None]
    return all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in values)


def worst_title(scope: DatasetFacts) -> str:
    """The title of the column; elsewhere, the worst label is the one with the lowest F1."""
    return "Worst label recall" if scope.task is Task.MULTILABEL else "Worst class"


def _differs(key: str, entries: Sequence[RunEntry]) -> bool:
    found = [entry.metrics.get(key) for entry in entries]
    return len({None if each is None else (each.value, each.reason) for each in found}) > 1


def differing_params(entries: Sequence[RunEntry], *, most: int = PARAMS_SHOWN) -> tuple[str, ...]:
    """The parameters whose values are spread most evenly over these runs, by entropy."""
    names = {name for entry in entries for name in entry.params}
    spread = {name: _entropy(repr(entry.params.get(name)) for entry in entries) for name in names}
    differing = [name for name in names if spread[name] > 0]
    return tuple(sorted(differing, key=lambda name: (-spread[name], name))[:most])


def _entropy(values: Iterable[str]) -> float:
    counts = Counter(values)
    total = counts.total()
    return -sum(n / total * math.log(n / total) for n in counts.values())


def column_choices(
    scope: DatasetFacts, columns: Columns, entries: Sequence[RunEntry]
) -> tuple[tuple[str, str, bool], ...]:
    """The choices for columns: metrics that the dataset's runs can have, the rest, parameters."""
    shown = [column.key for column, _ in columns.metrics]
    never = ONLY_OF_CLASSES if scope.task is Task.MULTILABEL else ONLY_OF_SETS
    metrics = [*shown, *(key for key in OFFERED if key not in shown and key not in never)]
    names = {name for entry in entries for name in entry.params} - set(columns.params)
    params = [*columns.params, *sorted(names)][:MOST_OFFERED_PARAMS]
    fixed = {*(each for each in columns.others if each != "params")}
    titles = {**OTHER_TITLES, "worst": columns.worst_title}
    return (
        *((key, metric_column(key).title, key in shown) for key in metrics),
        *((key, titles[key], key in fixed) for key in OTHER_COLUMNS if key != "params"),
        *((OF_PARAM + name, name, name in columns.params) for name in params),
    )


def column_heads(columns: Columns, address: RunListAddress, order: RunOrder) -> tuple[Head, ...]:
    """The heads after those of run and best, in the order of the cells."""
    sortable = partial(sortable_head, address=address, order=order)
    heads = [
        Head(column.key, column.title, _metric_css(place), ends=scale.ends)
        if is_of_slices(column.key)
        else sortable(column.key, column.title, column.order, css=_metric_css(place), scale=scale)
        for place, (column, scale) in enumerate(columns.metrics)
    ]
    if columns.worst is not None:
        title, by = columns.worst_title, WORST_COLUMN.order
        heads.append(sortable("worst", title, by, scale=columns.worst))
    if columns.costs is not None:
        costs, title = columns.costs, OTHER_TITLES["cost"]
        heads.append(sortable("cost", title, COST_KEY, scale=costs.scale, hint=costs.title))
    if "problems" in columns.others:
        heads.append(sortable("problems", "Problems", "flags"))
    heads += [
        sortable(OF_PARAM + name, name, OF_PARAM + name, css=columns.param_css(name))
        for name in columns.params
    ]
    if "logged" in columns.others:
        heads.append(sortable("logged", "Logged", "logged"))
    if "by" in columns.others:
        heads.append(Head("by", "By", "by"))
    return tuple(heads)


def _metric_css(place: int) -> str:
    return "metric" if place else "metric first"


def sortable_head(
    key: str,
    title: str,
    by: str,
    *,
    address: RunListAddress,
    order: RunOrder,
    css: str = "",
    scale: Scale | None = None,
    hint: str = "",
) -> Head:
    """A head whose link sorts by its column."""
    return Head(
        key=key,
        title=title,
        css=css or key,
        sort_url=replace(address, order=order).sorted_by(by).url(),
        aria_sort=aria_sort(is_current=order.name == by, descending=order.descending),
        ends=scale.ends if scale else None,
        hint=hint,
    )


def order_words(order: RunOrder) -> str:
    """ "sorted by balanced accuracy"; empty if the newest come first."""
    if order == NEWEST_FIRST:
        return "newest first"
    named = {"logged": "time", "name": "name", "worst": "lowest recall", "flags": "problems"}
    if order.param is not None:
        return f"sorted by {order.param}"
    if order.name in named:
        return f"sorted by {named[order.name]}"
    title = metric_column(AGGREGATE_ORDERS.get(order.name, order.name)).title
    return f"sorted by {inside(title)}"

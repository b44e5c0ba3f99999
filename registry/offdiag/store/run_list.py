"""Reading the runs list: a page of runs with the metrics it shows, and the dataset it is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from offdiag.domain.runs import Task
from offdiag.filters.conditions import Condition, MetricField
from offdiag.store.dataset_page import DatasetFacts, dataset_list
from offdiag.store.models import DatasetRow, EvaluationRow, ProjectRow, RunRow, TruthVersionRow
from offdiag.store.run_count import (
    MatchingRuns,
    RunCount,
    count_of,
    count_weighted,
    counted_runs,
    evaluated_runs,
    matches_without_each,
    matching_runs,
)
from offdiag.store.run_filter import FilterField, FilterTerm, RunFilter
from offdiag.store.run_neighbours import BaselineValues, baseline_values
from offdiag.store.run_order import (
    FIELD_ORDERS,
    Cursor,
    Group,
    Place,
    RunOrder,
    beyond,
    groups_of,
    in_group,
    sorted_by,
)
from offdiag.store.run_rows import (
    LISTED_METRICS,
    LISTED_OF_SETS,
    RUN_COLUMNS,
    RunEntry,
    run_entries,
)
from offdiag.store.run_slices import with_values_on_slices

NEWEST_FIRST = RunOrder()


def lines() -> Select[Any]:
    """A query for all runs with the columns of their lines."""
    return (
        evaluated_runs(*RUN_COLUMNS)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .join(ProjectRow, ProjectRow.id == RunRow.project_id)
        .outerjoin(
            TruthVersionRow,
            TruthVersionRow.id
            == func.coalesce(EvaluationRow.truth_version_id, RunRow.truth_version_id),
        )
    )


SORTED_IN_MEMORY = 1_000
"""Up to this many matching runs are fetched and sorted instead of walking along an index."""


@dataclass(frozen=True, slots=True)
class RunListPage:
    """A page of a sorted list; `position` is that of its first entry, counted from 1.

    More runs than `total` match unless it `counts_all`. `n_weighted` is as in `RunCount`.
    """

    entries: tuple[RunEntry, ...]
    total: int
    position: int
    previous: Cursor | None
    following: Cursor | None
    counts_all: bool = True
    n_weighted: int = 0


@dataclass(frozen=True, slots=True)
class _Found:
    """A run on the page, before its metrics are read."""

    row: Any
    place: Place


def run_list(
    session: Session,
    *,
    terms: RunFilter,
    dataset_id: int | None,
    order: RunOrder,
    cursor: Cursor | None,
    limit: int,
    metrics: Sequence[str] = LISTED_METRICS,
    on_slices: Sequence[MetricField] = (),
) -> RunListPage:
    """A page of the runs that match all terms.

    `dataset_id` narrows the list to one dataset; `metrics` are the keys shown in its lines, and
    `on_slices` metrics of slices. At most four statements, one more for each border between groups
    that a page contains and if many runs have weights, and a few more for each slice.
    """
    runs = matching_runs(session, terms, dataset_id)
    found, counted = _read(session, runs, order, cursor, limit + 1)
    before, backwards = counted.before, cursor is not None and cursor.backwards
    has_more, found = len(found) > limit, found[:limit]
    if backwards:
        found.reverse()
        before -= len(found)
    following = Cursor(found[-1].place) if found and (backwards or has_more) else None
    total, last = counted.total, before + len(found)
    if not counted.counts_all:
        # A page beyond the counted runs knows of more, and the last page knows the exact number.
        total = last if following is None else max(total, last)
    entries = run_entries(session, [run.row for run in found], metrics=metrics)
    if on_slices:
        values = with_values_on_slices(session, [entry.id for entry in entries], on_slices)
        entries = tuple(
            replace(entry, metrics={**entry.metrics, **values[entry.id]}) for entry in entries
        )
    return RunListPage(
        entries=entries,
        total=total,
        position=before + 1,
        previous=Cursor(found[0].place, backwards=True) if found and before > 0 else None,
        following=following,
        counts_all=counted.counts_all or following is None,
        n_weighted=counted.n_weighted,
    )


@dataclass(frozen=True, slots=True)
class _Plan:
    """The runs to read, their order and where to start.

    Walking along the index of a metric pays if most runs match; otherwise the few that match are
    sorted. `n_weighted` runs have sample weights, `n_others` none.
    """

    where: Sequence[ColumnElement[bool]]
    order: RunOrder
    cursor: Cursor | None
    n_others: float
    n_weighted: int = 0

    @property
    def backwards(self) -> bool:
        return self.cursor is not None and self.cursor.backwards


def _read(
    session: Session, runs: MatchingRuns, order: RunOrder, cursor: Cursor | None, limit: int
) -> tuple[list[_Found], RunCount]:
    """Up to `limit` runs in the reading direction of the cursor, and how many there are."""
    if cursor is None and order.name in FIELD_ORDERS and runs.with_metric is None:
        # Avoids reading runs twice: if the page holds all that match, they need no counting.
        found = _page(session, _Plan(runs.where, order, cursor, n_others=inf), limit)
        if len(found) < limit:
            return found, RunCount(len(found))
        return found, counted_runs(session, runs, order, cursor)
    counted = counted_runs(session, runs, order, cursor)
    if counted.total == 0:
        return [], counted
    are_many = not counted.counts_all or counted.total > SORTED_IN_MEMORY
    where = runs.where if are_many else runs.narrowed
    n_weighted, n_others = counted.n_weighted, inf
    if counted.counts_all:
        n_others = counted.total - n_weighted
    elif n_weighted > SORTED_IN_MEMORY:
        # If there are few others, the search for them would go through all runs.
        n_others = session.execute(select(count_of(runs.where))).scalar_one() - n_weighted
    return _page(session, _Plan(where, order, cursor, n_others, n_weighted), limit), counted


def _page(session: Session, plan: _Plan, limit: int) -> list[_Found]:
    """Up to `limit` runs from the cursor on, in its reading direction."""
    matching = lines().where(*plan.where)
    dialect = session.get_bind().dialect.name
    groups = groups_of(plan.order)[::-1] if plan.backwards else groups_of(plan.order)
    if plan.cursor is not None:
        groups = groups[groups.index(plan.cursor.place.group) :]
    found: list[_Found] = []
    for group in groups:
        n_runs = plan.n_weighted if group is Group.WEIGHTED else plan.n_others
        if not n_runs and group is not Group.UNDEFINED:
            continue
        is_long = n_runs > SORTED_IN_MEMORY
        part = in_group(matching, plan.order, group, uses_index=is_long, dialect=dialect)
        runs = part.runs
        if plan.cursor is not None and plan.cursor.place.group is group:
            runs = runs.where(beyond(part, plan.cursor.place, backwards=plan.backwards))
        rows = session.execute(
            sorted_by(runs, part, backwards=plan.backwards)
            .add_columns(part.column.label("place"))
            .limit(limit - len(found))
        )
        found += [_Found(row, Place(group, row.place, row.id)) for row in rows]
        if len(found) == limit:
            break
    return found


RUNS_PER_PAGE = 50
RUNS_READ_AT_ONCE = 500


def all_entries(
    session: Session,
    *,
    terms: RunFilter,
    dataset_id: int | None,
    order: RunOrder,
    cursor: Cursor | None,
    metrics: Sequence[str],
    on_slices: Sequence[MetricField],
) -> Iterator[RunEntry]:
    """The runs of all pages of a list, from a place on."""
    while True:
        page = run_list(
            session,
            terms=terms,
            dataset_id=dataset_id,
            order=order,
            cursor=cursor,
            limit=RUNS_READ_AT_ONCE,
            metrics=metrics,
            on_slices=on_slices,
        )
        yield from page.entries
        if page.following is None:
            return
        cursor = page.following


@dataclass(frozen=True, slots=True)
class ListedDatasets:
    """All datasets, and the one that a list is about, None if its runs are of several."""

    datasets: tuple[DatasetFacts, ...]
    scope: DatasetFacts | None


@dataclass(frozen=True, slots=True)
class RunOverview:
    """The runs list with the dataset it is about.

    `scope` is None if the runs belong to several datasets, whose values are not comparable.
    `matches_without` is only set if nothing matched and says how many runs each term alone hides.
    `n_without_slices` counts runs with sample weights if slices are requested.
    """

    datasets: tuple[DatasetFacts, ...]
    scope: DatasetFacts | None
    page: RunListPage
    matches_without: tuple[int, ...] = ()
    baseline: BaselineValues | None = None
    order: RunOrder = NEWEST_FIRST
    n_without_slices: int = 0


def listed_datasets(session: Session, terms: RunFilter) -> ListedDatasets:
    """The datasets a list may be about, in one statement."""
    datasets = dataset_list(session)
    return ListedDatasets(datasets, _scope(datasets, terms))


def run_overview(
    session: Session,
    *,
    terms: RunFilter = (),
    order: RunOrder | None = None,
    cursor: Cursor | None = None,
    metrics: Sequence[str] = (),
    baseline: str | None = None,
    listed: ListedDatasets | None = None,
    limit: int | None = None,
    on_slices: Sequence[MetricField] = (),
) -> RunOverview:
    """One page of runs, with the dataset they share, if they do.

    `metrics` are keys that lines have in addition to the usual ones, and `on_slices` metrics of
    slices. `baseline` is a run to compare the others with, by default the one that is pinned for
    the dataset. `listed` are the datasets if the caller has read them already.
    """
    listed = listed or listed_datasets(session, terms)
    scope, order = listed.scope, order or RunOrder()
    keys = (*listed_metrics(listed.datasets, scope), *metrics)
    page = run_list(
        session,
        terms=terms,
        dataset_id=None if scope is None else scope.id,
        order=order,
        cursor=cursor,
        limit=limit or RUNS_PER_PAGE,
        metrics=keys,
        on_slices=on_slices,
    )
    reference = baseline_values(
        session,
        run_id=baseline,
        dataset_id=None if scope is None else scope.id,
        keys=keys,
    )
    without: tuple[int, ...] = ()
    if page.total == 0:
        without = matches_without_each(session, terms=terms)
    n_weighted = 0
    if on_slices:
        dataset_id = None if scope is None else scope.id
        n_weighted = count_weighted(session, terms=terms, dataset_id=dataset_id)
    return RunOverview(listed.datasets, scope, page, without, reference, order, n_weighted)


def listed_metrics(
    datasets: Sequence[DatasetFacts], scope: DatasetFacts | None = None
) -> tuple[str, ...]:
    """The keys in every line of a list, by the tasks of its datasets.

    These are the dataset `scope`, or all datasets if that is None.
    """
    about = datasets if scope is None else [scope]
    of_sets = {dataset.task is Task.MULTILABEL for dataset in about}
    return (
        *(LISTED_METRICS if of_sets != {True} else ()),
        *(LISTED_OF_SETS if True in of_sets else ()),
    )


def _scope(datasets: tuple[DatasetFacts, ...], terms: RunFilter) -> DatasetFacts | None:
    """The only dataset that the terms leave: by name, by project, or because there is no other."""
    left = [dataset for dataset in datasets if all(_allows(term, dataset) for term in terms)]
    return left[0] if len(left) == 1 else None


def _allows(term: FilterTerm | Condition, dataset: DatasetFacts) -> bool:
    """Whether runs of a dataset may match a term; patterns and other fields exclude none."""
    if not isinstance(term, FilterTerm) or term.is_pattern or term.negated:
        return True
    if term.field is FilterField.DATASET:
        return dataset.name == term.text
    if term.field is FilterField.PROJECT:
        return dataset.project == term.text
    return True

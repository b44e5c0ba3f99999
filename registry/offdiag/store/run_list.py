"""The runs list: one page of runs with the few metrics it shows, and the dataset it is about.

Runs are counted up to a bound: a higher one where an index has them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import inf
from operator import add
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, Select, and_, func, literal, select
from sqlalchemy.orm import Session

from offdiag.domain.runs import Task
from offdiag.filters.conditions import Condition, MetricField, apart_from_slices
from offdiag.store.dataset_page import DatasetFacts, dataset_list
from offdiag.store.evaluations import counts_for_its_run
from offdiag.store.models import DatasetRow, EvaluationRow, ProjectRow, RunRow, TruthVersionRow
from offdiag.store.run_conditions import with_value
from offdiag.store.run_filter import (
    FilterField,
    FilterTerm,
    RunFilter,
    conditions,
    counted_by_index,
)
from offdiag.store.run_neighbours import BaselineValues, baseline_values
from offdiag.store.run_order import (
    FIELD_ORDERS,
    Cursor,
    Group,
    InGroup,
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
from offdiag.store.run_slices import with_values_on_slices, without_slices

NEWEST_FIRST = RunOrder()
MOST_COUNTED = 1_000
"""Up to this many matching runs are counted where each has to be looked at."""
MOST_COUNTED_BY_INDEX = 10_000
"""Up to this many are counted along an index, so that no list takes longer for runs beyond."""


@dataclass(frozen=True, slots=True)
class MatchingRuns:
    """What holds for the runs that are meant, and how they are counted.

    `with_metric` finds the ids of the runs within the bound of a metric along its index, None
    where no bound is asked for; `besides` is what holds for them apart from that. `is_indexed`
    says that an index has all of them together.
    """

    where: Sequence[ColumnElement[bool]]
    besides: Sequence[ColumnElement[bool]]
    with_metric: Select[str] | None
    is_indexed: bool

    @property
    def narrowed(self) -> Sequence[ColumnElement[bool]]:
        """The same condition for few runs: with a bound of a metric, only those are looked at."""
        if self.with_metric is None:
            return self.where
        return (*self.besides, RunRow.id.in_(self.with_metric))


@dataclass(frozen=True, slots=True)
class RunCount:
    """The runs of a list, and those before the place where reading begins.

    More runs than `total` match unless it `counts_all`. `n_weighted` of them stand behind the
    others as their samples have weights.
    """

    total: int
    before: int = 0
    counts_all: bool = True
    n_weighted: int = 0


def matching_runs(session: Session, terms: RunFilter, dataset_id: int | None) -> MatchingRuns:
    """The runs for which all terms hold, of one dataset or of all."""
    dialect = session.get_bind().dialect.name
    terms = tuple(
        term if isinstance(term, FilterTerm) else without_slices(session, term) for term in terms
    )
    of_dataset = [] if dataset_id is None else [RunRow.dataset_id == dataset_id]
    place, with_metric = _first_bound(terms)
    return MatchingRuns(
        conditions(terms, dialect) + of_dataset,
        besides=conditions(terms[:place] + terms[place + 1 :], dialect) + of_dataset,
        with_metric=with_metric,
        is_indexed=counted_by_index(terms),
    )


def _first_bound(terms: RunFilter) -> tuple[int, Select[str] | None]:
    """Where the first bound of a metric stands, and the runs within it."""
    for place, term in enumerate(terms):
        found = None if isinstance(term, FilterTerm) else with_value(term)
        if found is not None:
            return place, found
    return len(terms), None


def counted_runs(
    session: Session, runs: MatchingRuns, order: RunOrder, cursor: Cursor | None
) -> RunCount:
    """Count the runs of a list, in one statement.

    Only the group of the cursor is counted: what lies before a place among the undefined
    values is all but what lies after it.
    """
    groups = groups_of(order)
    n_weighted = _weighted(runs) if Group.WEIGHTED in groups else literal(0)
    if cursor is None:
        counted, weighted = session.execute(select(_total(runs), n_weighted)).one()
        return _bounded(runs, RunCount(int(counted), n_weighted=int(weighted)))
    place, is_last_group = cursor.place, cursor.place.group is Group.UNDEFINED
    # Fields are the run's own, and to join what is not asked for would double the time.
    all_runs = (
        select(func.count()).select_from(RunRow)
        if order.name in FIELD_ORDERS
        else evaluated_runs(func.count())
    )
    dialect = session.get_bind().dialect.name
    matching = all_runs.where(*runs.where)

    def part_of(group: Group) -> InGroup:
        # Of a whole group as much is looked at by the index of the metric as without.
        is_part = group is place.group
        return in_group(matching, order, group, uses_index=is_part, dialect=dialect)

    part = part_of(place.group)
    side = beyond(
        part,
        place,
        descending=part.descending if is_last_group else not part.descending,
        inclusive=cursor.backwards if is_last_group else not cursor.backwards,
    )
    total = count_of(runs.where) if is_last_group else _total(runs)
    on_this_side = [part.runs.where(side)]
    if not is_last_group:
        on_this_side += [part_of(group).runs for group in groups[: groups.index(place.group)]]
    on_side = reduce(add, (each.scalar_subquery() for each in on_this_side))
    counted, n_there, weighted = map(
        int, session.execute(select(total, on_side, n_weighted)).one()
    )
    if is_last_group:
        return RunCount(counted, counted - n_there, n_weighted=weighted)
    return _bounded(runs, RunCount(counted, n_there, n_weighted=weighted))


def evaluated_runs(*columns: Any) -> Select[Any]:
    """All runs, each with its current evaluation of all its samples, if it has one."""
    is_current = and_(EvaluationRow.run_id == RunRow.id, counts_for_its_run())
    return select(*columns).select_from(RunRow).outerjoin(EvaluationRow, is_current)


def lines() -> Select[Any]:
    """All runs with what their lines are made of."""
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


def count_of(where: Sequence[ColumnElement[bool]]) -> ScalarSelect[int]:
    """The number of all runs for which something holds, however many there are."""
    return select(func.count()).select_from(RunRow).where(*where).scalar_subquery()


def _total(runs: MatchingRuns) -> ScalarSelect[int]:
    """One more than are counted at most, or all where there are fewer."""
    some = select(literal(1).label("one"))
    if runs.with_metric is not None:
        found = runs.with_metric.subquery()
        some = some.select_from(found).join(RunRow, RunRow.id == found.c.run_id)
    elif runs.is_indexed:
        some = some.select_from(RunRow)
    else:
        # Newest first, as a list begins: the index of any other order may begin with all the
        # datasets where nothing matches.
        some = some.select_from(RunRow).order_by(RunRow.created_at.desc(), RunRow.id.desc())
    counted = some.where(*runs.besides).limit(_most_counted(runs) + 1).subquery()
    return select(func.count()).select_from(counted).scalar_subquery()


def _most_counted(runs: MatchingRuns) -> int:
    return MOST_COUNTED_BY_INDEX if runs.is_indexed else MOST_COUNTED


def _bounded(runs: MatchingRuns, counted: RunCount) -> RunCount:
    most = _most_counted(runs)
    return counted if counted.total <= most else replace(counted, total=most, counts_all=False)


SORTED_IN_MEMORY = 1_000
"""Up to this many matching runs are fetched and sorted rather than found along an index."""


@dataclass(frozen=True, slots=True)
class RunListPage:
    """A page of a sorted list; `position` is that of its first entry, counted from 1.

    More runs than `total` match unless it `counts_all`. `n_weighted` as in `RunCount`.
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
    """A run on the page, before its metrics are known."""

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
    """A page of the runs for which all terms hold.

    `dataset_id` narrows the list to one dataset; `metrics` are the keys that its lines have, and
    `on_slices` metrics of slices. At most four statements, one more for each border between
    groups that a page holds and where many runs have weights, and a few more for each slice.
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
        # A page beyond what was counted knows of more, and the last of all knows the number.
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


def count_weighted(session: Session, *, terms: RunFilter, dataset_id: int | None) -> int:
    """How many runs with sample weights are not found for what the terms say of slices.

    Their slices are not kept counted, so they have no metrics of them. Where no term is about
    slices, which are columns then, all that are found are counted.
    """
    others = tuple(
        term if isinstance(term, FilterTerm) else apart_from_slices(term) for term in terms
    )
    n_runs = weighted_among(session, others, dataset_id)
    return n_runs if others == terms else n_runs - weighted_among(session, terms, dataset_id)


def weighted_among(session: Session, terms: RunFilter, dataset_id: int | None = None) -> int:
    """How many of the runs for which all terms hold have sample weights."""
    return session.scalar(select(_weighted(matching_runs(session, terms, dataset_id)))) or 0


def _weighted(runs: MatchingRuns) -> ScalarSelect[int]:
    return count_of([*runs.where, and_(RunRow.is_weighted)])


def matches_without_each(session: Session, *, terms: RunFilter) -> tuple[int, ...]:
    """How many runs would be listed without the first term, without the second, and so on."""
    if not terms:
        return ()
    counts = [
        count_of(matching_runs(session, terms[:left_out] + terms[left_out + 1 :], None).where)
        for left_out in range(len(terms))
    ]
    return tuple(int(count) for count in session.execute(select(*counts)).one())


@dataclass(frozen=True, slots=True)
class _Plan:
    """Which runs, in which order, from where on.

    Walking along the index of a metric pays where most runs match; else the few that match are
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
    """Up to `limit` runs in reading direction of the cursor, and how many there are."""
    if cursor is None and order.name in FIELD_ORDERS and runs.with_metric is None:
        # Each run that has to be looked at is looked at once: where the page has all that
        # match, they need no counting.
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
        # Few others would be looked for among all of them.
        n_others = session.execute(select(count_of(runs.where))).scalar_one() - n_weighted
    return _page(session, _Plan(where, order, cursor, n_others, n_weighted), limit), counted


def _page(session: Session, plan: _Plan, limit: int) -> list[_Found]:
    """Up to `limit` runs from the cursor on, in reading direction of the cursor."""
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
        runs, direction = part.runs, part.descending != plan.backwards
        if plan.cursor is not None and plan.cursor.place.group is group:
            runs = runs.where(beyond(part, plan.cursor.place, descending=direction))
        rows = session.execute(
            sorted_by(runs, part, descending=direction)
            .add_columns(part.column.label("place"))
            .limit(limit - len(found))
        )
        found += [_Found(row, Place(group, row.place, row.id)) for row in rows]
        if len(found) == limit:
            break
    return found


RUNS_PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class ListedDatasets:
    """All datasets, and the one that a list is about, None where its runs are of several."""

    datasets: tuple[DatasetFacts, ...]
    scope: DatasetFacts | None


@dataclass(frozen=True, slots=True)
class RunOverview:
    """The runs list with the dataset it is about.

    `scope` is None where the runs belong to several datasets, whose numbers do not compare.
    `matches_without` says, only where nothing matched, how many runs each term alone hides.
    `n_without_slices` counts runs with sample weights where slices are asked for.
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
    """One page of runs, with the dataset they share if they do.

    `metrics` are keys that lines have beside the usual ones, and `on_slices` metrics of slices.
    `baseline` is a run to hold the others against, by default the one that is pinned for the
    dataset. `listed` are the datasets where they are known.
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
    """The keys that every line of a list has, by what samples carry: those of its `scope`, or of
    all datasets where it has none."""
    about = datasets if scope is None else [scope]
    of_sets = {dataset.task is Task.MULTILABEL for dataset in about}
    return (
        *(LISTED_METRICS if of_sets != {True} else ()),
        *(LISTED_OF_SETS if True in of_sets else ()),
    )


def _scope(datasets: tuple[DatasetFacts, ...], terms: RunFilter) -> DatasetFacts | None:
    """The one dataset the terms leave: by name, by project, or because there is no other."""
    left = [dataset for dataset in datasets if all(_allows(term, dataset) for term in terms)]
    return left[0] if len(left) == 1 else None


def _allows(term: FilterTerm | Condition, dataset: DatasetFacts) -> bool:
    """Whether runs of a dataset may pass a term; patterns and other fields say nothing."""
    if not isinstance(term, FilterTerm) or "*" in term.text or term.negated:
        return True
    if term.field is FilterField.DATASET:
        return dataset.name == term.text
    if term.field is FilterField.PROJECT:
        return dataset.project == term.text
    return True

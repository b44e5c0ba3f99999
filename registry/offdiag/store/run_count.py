"""Counting the runs that match a list, up to a limit that is higher if an index can count them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, Select, and_, func, literal, select
from sqlalchemy.orm import Session

from offdiag.filters.conditions import apart_from_slices
from offdiag.store.evaluations import has_results_of_run
from offdiag.store.models import EvaluationRow, RunRow
from offdiag.store.run_conditions import with_value
from offdiag.store.run_filter import FilterTerm, RunFilter, conditions, counted_by_index
from offdiag.store.run_order import (
    FIELD_ORDERS,
    Cursor,
    Group,
    InGroup,
    RunOrder,
    beyond,
    groups_of,
    in_group,
)
from offdiag.store.run_slices import without_slices

MOST_COUNTED = 1_000
"""Matching runs are counted up to this limit if each row has to be read."""
MOST_COUNTED_BY_INDEX = 10_000
"""Matching runs are counted up to this limit along an index, so that lists stay fast."""


@dataclass(frozen=True, slots=True)
class MatchingRuns:
    """The conditions that select runs, and how these are counted.

    `with_metric` finds the ids of the runs within a bound on a metric along its index, None
    without such a bound; `besides` are the other conditions. `is_indexed` says that the runs are
    contiguous in an index.
    """

    where: Sequence[ColumnElement[bool]]
    besides: Sequence[ColumnElement[bool]]
    with_metric: Select[str] | None
    is_indexed: bool

    @property
    def narrowed(self) -> Sequence[ColumnElement[bool]]:
        """The conditions for few runs: with a bound on a metric, only runs within it are read."""
        if self.with_metric is None:
            return self.where
        return (*self.besides, RunRow.id.in_(self.with_metric))


@dataclass(frozen=True, slots=True)
class RunCount:
    """The number of runs in a list, and of those before the place where reading begins.

    More runs than `total` match unless it `counts_all`. `n_weighted` of them come after the others
    because their samples have weights.
    """

    total: int
    before: int = 0
    counts_all: bool = True
    n_weighted: int = 0


def matching_runs(session: Session, terms: RunFilter, dataset_id: int | None) -> MatchingRuns:
    """The runs that match all terms, of one dataset or of all."""
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
    """The position of the first bound on a metric, and the runs within it."""
    for place, term in enumerate(terms):
        found = None if isinstance(term, FilterTerm) else with_value(term)
        if found is not None:
            return place, found
    return len(terms), None


def counted_runs(
    session: Session, runs: MatchingRuns, order: RunOrder, cursor: Cursor | None
) -> RunCount:
    """Count the runs of a list, in one statement.

    Only the group of the cursor is counted. Among undefined values the runs before a place are all
    runs without those after it.
    """
    groups = groups_of(order)
    n_weighted = _weighted(runs) if Group.WEIGHTED in groups else literal(0)
    if cursor is None:
        counted, weighted = session.execute(select(_total(runs), n_weighted)).one()
        return _bounded(runs, RunCount(int(counted), n_weighted=int(weighted)))
    place, is_last_group = cursor.place, cursor.place.group is Group.UNDEFINED
    # These fields belong to the run itself; joining unneeded tables would double the time.
    all_runs = (
        select(func.count()).select_from(RunRow)
        if order.name in FIELD_ORDERS
        else evaluated_runs(func.count())
    )
    dialect = session.get_bind().dialect.name
    matching = all_runs.where(*runs.where)

    def part_of(group: Group) -> InGroup:
        # Counting a whole group along the index of the metric would read no less.
        is_part = group is place.group
        return in_group(matching, order, group, uses_index=is_part, dialect=dialect)

    part = part_of(place.group)
    side = beyond(
        part,
        place,
        backwards=not is_last_group,
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
    runs = select(*columns).select_from(RunRow)
    return runs.outerjoin(EvaluationRow, has_results_of_run())


def count_of(where: Sequence[ColumnElement[bool]]) -> ScalarSelect[int]:
    """The number of all runs that match the conditions, however many there are."""
    return select(func.count()).select_from(RunRow).where(*where).scalar_subquery()


def _total(runs: MatchingRuns) -> ScalarSelect[int]:
    """The number of matching runs, capped at one more than the counting limit."""
    some = select(literal(1).label("one"))
    if runs.with_metric is not None:
        found = runs.with_metric.subquery()
        some = some.select_from(found).join(RunRow, RunRow.id == found.c.run_id)
    elif runs.is_indexed:
        some = some.select_from(RunRow)
    else:
        # Newest first, as a list begins: the index of any other order may begin with all the
        # datasets in which nothing matches.
        some = some.select_from(RunRow).order_by(RunRow.created_at.desc(), RunRow.id.desc())
    counted = some.where(*runs.besides).limit(_most_counted(runs) + 1).subquery()
    return select(func.count()).select_from(counted).scalar_subquery()


def _most_counted(runs: MatchingRuns) -> int:
    return MOST_COUNTED_BY_INDEX if runs.is_indexed else MOST_COUNTED


def _bounded(runs: MatchingRuns, counted: RunCount) -> RunCount:
    most = _most_counted(runs)
    return counted if counted.total <= most else replace(counted, total=most, counts_all=False)


def count_weighted(session: Session, *, terms: RunFilter, dataset_id: int | None) -> int:
    """How many runs with sample weights are missing because terms are about slices.

    Slice counts of such runs are not stored, so they have no metrics of slices. If no term is
    about slices, they are columns, and all such runs that match are counted.
    """
    others = tuple(
        term if isinstance(term, FilterTerm) else apart_from_slices(term) for term in terms
    )
    n_runs = weighted_among(session, others, dataset_id)
    return n_runs if others == terms else n_runs - weighted_among(session, terms, dataset_id)


def weighted_among(session: Session, terms: RunFilter, dataset_id: int | None = None) -> int:
    """How many of the runs that match all terms have sample weights."""
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

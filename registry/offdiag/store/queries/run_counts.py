"""How many runs match, up to a bound: a higher one where an index has them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, Select, and_, func, literal, select
from sqlalchemy.orm import Session

from offdiag.store.current_evaluations import counts_for_its_run
from offdiag.store.models import EvaluationRow, RunRow
from offdiag.store.queries.run_conditions import with_value
from offdiag.store.queries.run_filter import FilterTerm, RunFilter, conditions, counted_by_index
from offdiag.store.queries.run_order import FIELD_ORDERS, Cursor, Group, RunOrder, beyond, in_group

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

    More runs than `total` match unless it `counts_all`.
    """

    total: int
    before: int = 0
    counts_all: bool = True


def matching_runs(session: Session, terms: RunFilter, dataset_id: int | None) -> MatchingRuns:
    """The runs for which all terms hold, of one dataset or of all."""
    dialect = session.get_bind().dialect.name
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
    if cursor is None:
        return _bounded(runs, int(session.execute(select(_total(runs))).scalar_one()), 0)
    place, is_last_group = cursor.place, cursor.place.group is Group.UNDEFINED
    # Fields are the run's own, and to join what is not asked for would double the time.
    all_runs = (
        select(func.count()).select_from(RunRow)
        if order.name in FIELD_ORDERS
        else evaluated_runs(func.count())
    )
    part = in_group(all_runs.where(*runs.where), order, place.group, uses_index=True)
    side = beyond(
        part,
        place,
        descending=part.descending if is_last_group else not part.descending,
        inclusive=cursor.backwards if is_last_group else not cursor.backwards,
    )
    total = count_of(runs.where) if is_last_group else _total(runs)
    counted, on_side = session.execute(
        select(total, part.runs.where(side).scalar_subquery())
    ).one()
    if is_last_group:
        return RunCount(int(counted), int(counted - on_side))
    return _bounded(runs, int(counted), int(on_side))


def evaluated_runs(*columns: Any) -> Select[Any]:
    """All runs, each with its current evaluation of all its cases, if it has one."""
    is_current = and_(EvaluationRow.run_id == RunRow.id, counts_for_its_run())
    return select(*columns).select_from(RunRow).outerjoin(EvaluationRow, is_current)


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


def _bounded(runs: MatchingRuns, counted: int, before: int) -> RunCount:
    most = _most_counted(runs)
    if counted <= most:
        return RunCount(counted, before)
    return RunCount(most, before, counts_all=False)

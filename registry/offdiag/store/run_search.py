"""Searching runs by a condition, sorted, and reading them with all that is known of each.

A search returns ids; full records are read for tables outside the dashboard.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Label, Row, Select, and_, case, false, literal, or_, select
from sqlalchemy.orm import Session

from offdiag.domain.runs import FoundRun
from offdiag.filters.conditions import Condition, Field, MetricField, Ordering, Side
from offdiag.store.evaluations import aggregates_of, counts_for_its_run, has_results_of_run
from offdiag.store.models import (
    DatasetRow,
    EvaluationRow,
    MetricValueRow,
    ProjectRow,
    RunRow,
    TruthVersionRow,
)
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.run_conditions import holds, sorted_by
from offdiag.store.run_rows import FOUND_COLUMNS, found_fields, worst_classes
from offdiag.store.run_slices import with_values_on_slices, without_slices

_Sorting = Sequence[tuple[Label[Any], bool]]
"""The sort keys of runs, each with whether it is descending."""
SortValue = str | float | bool | datetime | None


@dataclass(frozen=True, slots=True)
class SearchPlace:
    """The position of a run in a sorted search: its sort keys, then its age and its id."""

    values: tuple[SortValue, ...]
    created_at: datetime
    run_id: str


@dataclass(frozen=True, slots=True)
class FoundIds:
    """Ids in order; the next page comes after the place `following`, None at the end."""

    ids: tuple[str, ...]
    following: SearchPlace | None


def found_runs(
    session: Session, condition: Condition, *, order: Sequence[Ordering], limit: int
) -> list[str]:
    """Ids of at most `limit` runs that meet the condition; newest first among equals."""
    return list(found_page(session, condition, order=order, after=None, limit=limit).ids)


def found_page(
    session: Session,
    condition: Condition,
    *,
    order: Sequence[Ordering],
    after: SearchPlace | None,
    limit: int,
) -> FoundIds:
    """A page of ids, from a place of a search with this order on."""
    dialect = session.get_bind().dialect.name
    sorting = [
        (value.label(f"sorted_by_{place}_{part}"), descending)
        for place, ordering in enumerate(order)
        for part, (value, descending) in enumerate(_sorted_by(ordering, dialect))
    ]
    plain = without_slices(session, condition)
    where = [RunRow.deleted_at.is_(None), holds(plain, dialect)]
    rows: list[Row[*tuple[Any, ...]]] = []
    first = order[0].field if order else None
    if _is_indexed(first) and not (after is not None and after.values[0] is None):
        assert isinstance(first, MetricField)  # noqa: S101  # As was just looked at.
        for weighted in (False, True) if after is None else range(bool(after.values[0]), 2):
            among = _along_index(first.key, sorting, after, weighted=bool(weighted)).where(*where)
            rows += session.execute(among.limit(limit + 1 - len(rows))).all()
            if len(rows) > limit:
                break
    if len(rows) <= limit:
        # Fewer runs have the metric than are wanted, or something else is sorted by first.
        found = select(RunRow.id, RunRow.created_at, *(value for value, _ in sorting))
        asked = _in_order(_beyond(found.where(*where), sorting, after), sorting)
        rows = list(session.execute(asked.limit(limit + 1)))
    following = None
    if len(rows) > limit:
        last = rows[limit - 1]
        following = SearchPlace(tuple(last[2:]), last.created_at, last.id)
    return FoundIds(tuple(row.id for row in rows[:limit]), following)


def _is_indexed(first: Field | None) -> bool:
    """Whether an index has runs in the order of a field."""
    return (
        isinstance(first, MetricField) and first.class_label is None and first.side is Side.VALUE
    )


def _sorted_by(ordering: Ordering, dialect: str) -> Iterator[tuple[ColumnElement[Any], bool]]:
    """The sort keys of an ordering, each with whether it is descending.

    Metrics of weighted samples are not comparable: they come after all others.
    """
    values = sorted_by(ordering.field, dialect)
    if ordering.is_by_metric:
        yield case((values[0].is_not(None), RunRow.is_weighted)), False
    for value in values:
        yield value, ordering.descending


def _along_index(
    key: str, sorting: _Sorting, after: SearchPlace | None, *, weighted: bool
) -> Select[*tuple[Any, ...]]:
    """The runs that have a value of the first metric, weighted or not, sorted.

    They are found along the index of the metric; looking it up for every run takes time in
    proportion to the number of runs.
    """
    (kind, _), (first, descending) = sorting[:2]
    value = MetricValueRow.value
    narrowed: _Sorting = [
        (RunRow.is_weighted.label(kind.name), False),
        (value.label(first.name), descending),
        *sorting[2:],
    ]
    found = (
        select(RunRow.id, RunRow.created_at, *(each for each, _ in narrowed))
        .join(EvaluationRow, EvaluationRow.run_id == RunRow.id)
        .join(MetricValueRow, MetricValueRow.evaluation_id == EvaluationRow.id)
        .where(
            counts_for_its_run(),
            MetricValueRow.key == key,
            MetricValueRow.class_index == AGGREGATE,
            value.is_not(None),
            RunRow.is_weighted == weighted,
        )
    )
    if after is not None and after.values[0] == weighted:
        at = after.values[1]
        found = found.where(value <= at if descending else value >= at)
    return _in_order(_beyond(found, narrowed, after), narrowed[1:], n_defined=1)


def _beyond(
    found: Select[*tuple[Any, ...]], sorting: _Sorting, after: SearchPlace | None
) -> Select[*tuple[Any, ...]]:
    """Rows from a place on."""
    return found if after is None else found.where(_is_beyond(after, sorting))


def _in_order(
    found: Select[*tuple[Any, ...]], sorting: _Sorting, *, n_defined: int = 0
) -> Select[*tuple[Any, ...]]:
    """Rows in order; the first `n_defined` values are never NULL."""
    for place, (value, descending) in enumerate(sorting):
        if place >= n_defined:
            # Neither database sorts NULL last in both directions by itself.
            found = found.order_by(value.is_(None))
        found = found.order_by(value.desc() if descending else value)
    return found.order_by(RunRow.created_at.desc(), RunRow.id.desc())


def _is_beyond(place: SearchPlace, sorting: _Sorting) -> ColumnElement[bool]:
    """Whether a run comes after a place, if missing values come last."""
    columns: list[tuple[ColumnElement[Any], bool, SortValue]] = [
        *(
            (value, descending, at)
            for (value, descending), at in zip(sorting, place.values, strict=True)
        ),
        (RunRow.created_at.expression, True, place.created_at),
        (RunRow.id.expression, True, place.run_id),
    ]
    ties: list[ColumnElement[bool]] = []
    beyond: list[ColumnElement[bool]] = []
    for column, descending, at in columns:
        value = getattr(column, "element", column)
        if at is None:
            ties.append(value.is_(None))
            continue
        known = literal(at, value.type)
        further = value < known if descending else value > known
        beyond.append(and_(*ties, or_(further, value.is_(None))))
        ties.append(value == known)
    return or_(false(), *beyond)


_AT_ONCE = 500
"""Runs named in one statement: databases limit its parameters."""


def run_records(
    session: Session,
    ids: Sequence[str],
    *,
    with_worst_class: bool = False,
    on_slices: Sequence[MetricField] = (),
) -> list[FoundRun]:
    """The named runs in the order of their ids; two or three statements for each 500.

    `on_slices` are metrics of slices that are read as well, with a few statements more.
    """
    found: dict[str, FoundRun] = {}
    for some in _batches(ids):
        rows = session.execute(_facts(some)).all()
        evaluations = [row.evaluation_id for row in rows if row.evaluation_id]
        metrics = aggregates_of(session, evaluations)
        worst = worst_classes(session, evaluations) if with_worst_class else {}
        values = with_values_on_slices(session, some, on_slices)
        found |= {
            row.id: FoundRun(
                **found_fields(row),
                metrics={**metrics.get(row.evaluation_id, {}), **values[row.id]},
                worst_class=worst.get(row.evaluation_id),
            )
            for row in rows
        }
    return [found[run_id] for run_id in ids if run_id in found]


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), _AT_ONCE):
        yield ids[start : start + _AT_ONCE]


def _facts(ids: Sequence[str]) -> Select[*tuple[Any, ...]]:
    return (
        select(*FOUND_COLUMNS)
        .join(ProjectRow, ProjectRow.id == RunRow.project_id)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .outerjoin(EvaluationRow, has_results_of_run())
        .outerjoin(TruthVersionRow, TruthVersionRow.id == EvaluationRow.truth_version_id)
        .where(RunRow.id.in_(ids))
    )

"""Runs by a metric of a slice: the kept counts of all runs are read, of each its one slice.

Such a condition is no SQL: margins of slices are stored as arrays. It becomes one on the ids of
the runs that meet it.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import LargeBinary, func, select
from sqlalchemy.orm import Session

from offdiag.domain.values import MetricValue
from offdiag.errors import Forbidden, InvalidInput
from offdiag.filters.conditions import (
    AllOf,
    AnyOf,
    Attribute,
    AttributeField,
    Comparison,
    Condition,
    MetricField,
    Not,
    Operator,
    Over,
    Side,
)
from offdiag.metrics.slices.counts import CONDITION_AXIS
from offdiag.metrics.slices.values import OF_A_CLASS, OF_ALL, over_slices, slice_value
from offdiag.settings import load_settings
from offdiag.store.evaluations import counts_for_its_run
from offdiag.store.models import DatasetRow, EvaluationRow, LabelSetRow, RunRow, SliceCountsRow
from offdiag.store.slices import counted_now

MOST_FOUND = 30_000
"""Runs that one condition may leave: each is a parameter of a statement."""
_AT_ONCE = 500
_COMPARE: Mapping[Operator, Callable[[float, Any], bool]] = {
    Operator.EQUAL: operator.eq,
    Operator.UNEQUAL: operator.ne,
    Operator.GREATER: operator.gt,
    Operator.AT_LEAST: operator.ge,
    Operator.LESS: operator.lt,
    Operator.AT_MOST: operator.le,
}


def without_slices(session: Session, condition: Condition) -> Condition:
    """The condition with ids of runs in place of what is said about their slices.

    Raises `Forbidden` where small groups are hidden, and `InvalidInput` for a metric that slices
    are not counted by, for more than two columns and for too many runs.
    """
    match condition:
        case AllOf(conditions):
            return AllOf(tuple(without_slices(session, each) for each in conditions))
        case AnyOf(conditions):
            return AnyOf(tuple(without_slices(session, each) for each in conditions))
        case Not(inner):
            return Not(without_slices(session, inner))
        case Comparison(field=MetricField() as field) if field.is_of_slices:
            return _of_runs(
                run_id
                for run_id, value in values_on_slices(session, field).items()
                if _holds(condition, end_of(value, field.side))
            )
        case _:
            return condition


def _of_runs(run_ids: Iterable[str]) -> Condition:
    found = tuple(run_ids)
    if len(found) > MOST_FOUND:
        raise InvalidInput(
            f"a condition on a slice holds for {len(found):,} runs.",
            field="filter",
            hint=f"Up to {MOST_FOUND:,} are listed; ask for a higher or lower value.",
        )
    return Comparison(AttributeField(Attribute.ID), Operator.IN, found)


def end_of(value: MetricValue, side: Side) -> float | None:
    """The value, or an end of its interval."""
    return {Side.LOW: value.ci_low, Side.HIGH: value.ci_high}.get(side, value.value)


def _holds(condition: Comparison, measured: float | None) -> bool:
    if measured is None:
        return False
    if condition.operator is Operator.IN:
        return measured in condition.operands
    return _COMPARE[condition.operator](measured, condition.operand)


@dataclass(frozen=True, slots=True)
class _Counted:
    """Where the numbers of a run are: its columns, and how its arrays are stored."""

    run_id: str
    evaluation_id: int
    columns: Sequence[Mapping[str, Any]]
    n_slices: int
    n_parts: int
    dtype: np.dtype[Any]
    labels: Sequence[str]

    @property
    def n_numbers(self) -> int:
        """Numbers of one part of the samples of a slice."""
        return 2 + 3 * len(self.labels)

    @property
    def width(self) -> int:
        """Numbers of a slice."""
        return self.n_parts * self.n_numbers

    def column(self, name: str) -> range:
        """The places of all slices of a column; none where it is not there."""
        first = 0
        for each in self.columns:
            n_choices = len(each["choices"])
            if each["name"] == name:
                return range(first, first + n_choices)
            first += n_choices
        return range(0)

    def choice(self, name: str, value: str) -> int | None:
        """The place of the slice with one value."""
        found = next((each["choices"] for each in self.columns if each["name"] == name), ())
        return self.column(name)[found.index(value)] if value in found else None


def values_on_slices(
    session: Session, field: MetricField, run_ids: Collection[str] | None = None
) -> dict[str, MetricValue]:
    """A metric on a slice by run, of all runs or of some; runs without that slice are left out.

    Raises as `without_slices`.
    """
    _require_searchable(field)
    label, min_size = field.class_label, load_settings().slices.min_size
    runs = [run for run in _counted(session, run_ids) if label is None or label in run.labels]
    if field.by is None:
        places = _places(session, runs, field.part.pairs if field.part else ())
        wanted = {at: range(place, place + 1) for at, place in places.items()}
    else:
        # The numbers of all samples come first, at -1.
        columns = {run.evaluation_id: run.column(field.by) for run in runs}
        wanted = {at: range(-1, places.stop) for at, places in columns.items() if places}
    numbers = _numbers(session, runs, wanted)
    values = {}
    for run in runs:
        found = numbers.get(run.evaluation_id)
        if found is None:
            continue
        code = None if label is None else run.labels.index(label)
        if field.by is None:
            values[run.run_id] = slice_value(found[0], field.key, code)
            continue
        groups = found[1:][run.column(field.by).start :]
        is_gap = field.over is Over.GAP
        if is_gap and groups[:, 0].sum() > found[0, 0]:
            continue  # Groups that overlap, such as tags, have no gap between them.
        values[run.run_id] = over_slices(groups, field.key, code, min_size=min_size, is_gap=is_gap)
    return values


def with_values_on_slices(
    session: Session, run_ids: Collection[str], fields: Collection[MetricField]
) -> dict[str, dict[str, MetricValue]]:
    """Metrics of slices by run and by the text of the metric."""
    found: dict[str, dict[str, MetricValue]] = {run_id: {} for run_id in run_ids}
    for field in fields if run_ids else ():
        for run_id, value in values_on_slices(session, field, run_ids).items():
            found[run_id][str(field)] = value
    return found


def _require_searchable(field: MetricField) -> None:
    if load_settings().slices.suppress_below:
        raise Forbidden(
            "runs are not searched by slices here: small groups are hidden, and what runs meet a "
            "condition would tell of them.",
            field="filter",
            hint="The limit is the setting slices.suppress_below.",
        )
    known = OF_ALL if field.class_label is None else OF_A_CLASS
    if field.key not in known:
        raise InvalidInput(
            f"runs are not searched by {field.key!r} of a slice.",
            field="filter",
            hint=f"These can be used: {', '.join(sorted(known))}.",
        )
    if field.part is not None and len(field.part.terms) > 2:
        raise InvalidInput(
            f"{field.part} has {len(field.part.terms)} columns.",
            field="filter",
            hint="Runs are searched by slices of one column and crosses of two.",
        )


def _counted(session: Session, run_ids: Collection[str] | None) -> list[_Counted]:
    """All runs with kept counts of the present version, or those of some."""
    statement = (
        select(
            RunRow.id,
            SliceCountsRow.evaluation_id,
            SliceCountsRow.columns,
            SliceCountsRow.n_slices,
            SliceCountsRow.n_parts,
            SliceCountsRow.dtype,
            LabelSetRow.names,
        )
        .join(EvaluationRow, EvaluationRow.id == SliceCountsRow.evaluation_id)
        .join(RunRow, RunRow.id == EvaluationRow.run_id)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .join(LabelSetRow, LabelSetRow.id == DatasetRow.label_set_id)
        .where(counts_for_its_run(), RunRow.deleted_at.is_(None), counted_now())
    )
    if run_ids is not None:
        statement = statement.where(RunRow.id.in_(run_ids))
    return [
        _Counted(run_id, at, columns, n_slices, n_parts, np.dtype(kind).newbyteorder("<"), names)
        for run_id, at, columns, n_slices, n_parts, kind, names in session.execute(statement)
    ]


def _places(
    session: Session, runs: Sequence[_Counted], terms: Sequence[tuple[str, str]]
) -> dict[int, int]:
    """Where the slice is in the counts of each evaluation that has it."""
    choices = {
        run.evaluation_id: sorted(
            at for at in (run.choice(*term) for term in terms) if at is not None
        )
        for run in runs
    }
    complete = {at: places for at, places in choices.items() if len(places) == len(terms)}
    if len(terms) == 1:
        return {at: place for at, (place,) in complete.items()}
    found = {}
    for ids in _blocks(complete):
        rows = session.execute(
            select(SliceCountsRow.evaluation_id, SliceCountsRow.members).where(
                SliceCountsRow.evaluation_id.in_(ids)
            )
        )
        for at, members in rows:
            pairs = np.frombuffer(members, "<i4").reshape(-1, 2)
            places = np.flatnonzero((pairs == complete[at]).all(axis=CONDITION_AXIS))
            if len(places):
                found[at] = int(places[0])
    return found


def _numbers(
    session: Session, runs: Sequence[_Counted], wanted: Mapping[int, range]
) -> dict[int, NDArray[np.int64]]:
    """The numbers of slices (S, 2 + 3 K) by evaluation; those of all samples are at place -1."""
    alike: dict[tuple[int, int], dict[int, _Counted]] = defaultdict(dict)
    for run in runs:
        places = wanted.get(run.evaluation_id)
        if places is not None:
            row = run.width * run.dtype.itemsize
            alike[(1 + places.start) * row, len(places) * row][run.evaluation_id] = run
    found = {}
    for (start, length), counted in alike.items():
        part = func.substr(SliceCountsRow.numbers, start + 1, length, type_=LargeBinary)
        for ids in _blocks(counted):
            rows = session.execute(
                select(SliceCountsRow.evaluation_id, part).where(
                    SliceCountsRow.evaluation_id.in_(ids)
                )
            )
            for at, stored in rows:
                run = counted[at]
                numbers = np.frombuffer(stored, run.dtype).astype(np.int64)
                found[at] = np.einsum("shf->sf", numbers.reshape(-1, run.n_parts, run.n_numbers))
    return found


def _blocks(ids: Iterable[int]) -> Iterable[list[int]]:
    listed = list(ids)
    for start in range(0, len(listed), _AT_ONCE):
        yield listed[start : start + _AT_ONCE]

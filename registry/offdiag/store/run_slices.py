"""Finding runs by a metric on a slice, from the stored counts of that slice for all runs.

Such a condition is not SQL, because margins of slices are stored as arrays. It is replaced by one
on the ids of the runs that meet it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import LargeBinary, func, select
from sqlalchemy.orm import Session

from offdiag.domain.runs import Task
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
    compare_metric,
)
from offdiag.metrics.groups.gaps import (
    OF_A_CLASS,
    OF_ALL,
    is_of_slices,
    over_slices,
    slice_value,
)
from offdiag.metrics.slices.counts import CONDITION_AXIS
from offdiag.settings import load_settings
from offdiag.store.datasets import stored_labels
from offdiag.store.evaluations import counts_for_its_run
from offdiag.store.models import (
    DatasetRow,
    EvaluationRow,
    LabelSetRow,
    RunRow,
    SliceCountsRow,
)
from offdiag.store.slices import counted_now
from offdiag.store.truths import newest_id

MOST_FOUND = 30_000
"""The largest number of runs that one condition may leave: each is a statement parameter."""
_AT_ONCE = 500


def without_slices(session: Session, condition: Condition) -> Condition:
    """The condition with ids of runs in place of terms on slices.

    Raises `Forbidden` if small groups are hidden, and `InvalidInput` for a metric that slices are
    not counted for, for more than two columns and for too many runs.
    """
    match condition:
        case AllOf(conditions):
            return AllOf(tuple(without_slices(session, each) for each in conditions))
        case AnyOf(conditions):
            return AnyOf(tuple(without_slices(session, each) for each in conditions))
        case Not(inner):
            return Not(without_slices(session, inner))
        case Comparison(field=MetricField() as field) if field.is_of_slices:
            found = tuple(
                run_id
                for run_id, value in values_on_slices(session, field).items()
                if _holds(condition, end_of(value, field.side))
            )
            if len(found) > MOST_FOUND:
                raise InvalidInput(
                    f"a condition on a slice holds for {len(found):,} runs.",
                    field="filter",
                    hint=f"Up to {MOST_FOUND:,} are listed; ask for a higher or lower value.",
                )
            return Comparison(AttributeField(Attribute.ID), Operator.IN, found)
        case _:
            return condition


def end_of(value: MetricValue, side: Side) -> float | None:
    """The value, or an end of its interval."""
    return {Side.LOW: value.ci_low, Side.HIGH: value.ci_high}.get(side, value.value)


def _holds(condition: Comparison, measured: float | None) -> bool:
    return measured is not None and bool(compare_metric(measured, condition))


@dataclass(frozen=True, slots=True)
class _Counted:
    """Where to find the counts of a run: its columns, and how its arrays are stored."""

    run_id: str
    evaluation_id: int
    columns: Sequence[Mapping[str, Any]]
    n_slices: int
    n_parts: int
    dtype: np.dtype[Any]
    labels: Sequence[str]
    of_sets: bool

    @property
    def n_numbers(self) -> int:
        """How many numbers one part of the samples of a slice has."""
        return 2 + 3 * len(self.labels)

    @property
    def width(self) -> int:
        """How many numbers a slice has."""
        return self.n_parts * self.n_numbers

    def has(self, field: MetricField) -> bool:
        """Whether the run has this metric: its class, or a metric of its task."""
        if field.class_label is not None:
            return field.class_label in self.labels
        return is_of_slices(field.key, of_sets=self.of_sets)

    def column(self, name: str) -> range:
        """The positions of all slices of a column; empty if there is no such column."""
        first = 0
        for each in self.columns:
            n_choices = len(each["choices"])
            if each["name"] == name:
                return range(first, first + n_choices)
            first += n_choices
        return range(0)

    def choice(self, name: str, value: str) -> int | None:
        """The position of the slice with one value."""
        found = next((each["choices"] for each in self.columns if each["name"] == name), ())
        return self.column(name)[found.index(value)] if value in found else None


def values_on_slices(
    session: Session,
    field: MetricField,
    run_ids: Collection[str] | None = None,
    *,
    dataset_id: int | None = None,
) -> dict[str, MetricValue]:
    """A metric on a slice by run, of all runs or of some; runs without that slice are left out.

    With `dataset_id` only runs that are evaluated on the newest labels of the dataset. Raises the
    same as `without_slices`.
    """
    _require_searchable(field)
    label, min_size = field.class_label, load_settings().slices.min_size
    runs = [run for run in _counted(session, run_ids, dataset_id) if run.has(field)]
    wanted: Mapping[int, Sequence[int]]
    if field.by is None:
        terms = field.part.pairs if field.part else ()
        members = _members(session, runs) if len(terms) > 1 else {}
        wanted = {at: [place] for at, place in _places(runs, terms, members).items()}
    else:
        # The numbers of all samples come first, at -1.
        columns = {run.evaluation_id: run.column(field.by) for run in runs}
        wanted = {at: [-1, *places] for at, places in columns.items() if places}
    numbers = _numbers(session, runs, wanted)
    values = {}
    for run in runs:
        found = numbers.get(run.evaluation_id)
        if found is None:
            continue
        code = None if label is None else run.labels.index(label)
        if field.by is None:
            values[run.run_id] = slice_value(found[0], field.key, code, of_sets=run.of_sets)
            continue
        groups = found[1:]
        is_gap = field.over is Over.GAP
        if is_gap and groups[:, 0].sum() > found[0, 0]:
            continue  # Groups that overlap, such as tags, have no gap between them.
        values[run.run_id] = over_slices(
            groups, field.key, code, of_sets=run.of_sets, min_size=min_size, is_gap=is_gap
        )
    return values


def values_of_slices(
    session: Session, fields: Collection[MetricField], run_ids: Collection[str]
) -> dict[tuple[str, MetricField], MetricValue]:
    """Metrics on slices, as the fields name them, by run and field.

    At most two statements for each 500 runs of a dataset, however many slices there are.
    """
    for field in fields:
        _require_searchable(field)
    runs = _counted(session, run_ids) if fields and run_ids else []
    wanted: dict[int, set[int]] = defaultdict(set)
    place_of: dict[tuple[int, MetricField], int] = {}
    by_terms: dict[tuple[tuple[str, str], ...], list[MetricField]] = defaultdict(list)
    for field in fields:
        by_terms[field.part.pairs if field.part else ()].append(field)
    members = _members(session, runs) if any(len(terms) > 1 for terms in by_terms) else {}
    for terms, alike in by_terms.items():
        for at, place in _places(runs, terms, members).items():
            wanted[at].add(place)
            place_of |= {(at, field): place for field in alike}
    numbers = _numbers(session, runs, {at: sorted(places) for at, places in wanted.items()})
    values = {}
    for run, field in product(runs, fields):
        at, label = run.evaluation_id, field.class_label
        if (at, field) not in place_of or not run.has(field):
            continue
        code = None if label is None else run.labels.index(label)
        of_slice = numbers[at][sorted(wanted[at]).index(place_of[at, field])]
        values[run.run_id, field] = slice_value(of_slice, field.key, code, of_sets=run.of_sets)
    return values


def best_on_slice(
    session: Session, dataset_id: int, field: MetricField
) -> tuple[str, MetricValue] | None:
    """The run of a dataset, by id, with the highest value on its newest labels."""
    known = {
        run_id: value
        for run_id, value in values_on_slices(session, field, dataset_id=dataset_id).items()
        if value.value is not None
    }
    best = max(known, key=lambda run_id: (known[run_id].value or 0.0, run_id), default=None)
    return None if best is None else (best, known[best])


def with_values_on_slices(
    session: Session, run_ids: Collection[str], fields: Collection[MetricField]
) -> dict[str, dict[str, MetricValue]]:
    """Metrics on slices by run and by the text of the metric."""
    found: dict[str, dict[str, MetricValue]] = {run_id: {} for run_id in run_ids}
    for field in fields if run_ids else ():
        for run_id, value in values_on_slices(session, field, run_ids).items():
            found[run_id][str(field)] = value
    return found


def _require_searchable(field: MetricField) -> None:
    if load_settings().slices.suppress_below:
        raise Forbidden(
            "runs are not searched by slices here: small groups are hidden, and matching runs "
            "would reveal them.",
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


def _counted(
    session: Session, run_ids: Collection[str] | None, dataset_id: int | None = None
) -> list[_Counted]:
    """Runs with stored counts of the current version: all, these ids, or those of a dataset."""
    statement = (
        select(
            RunRow.id,
            SliceCountsRow.evaluation_id,
            SliceCountsRow.columns,
            SliceCountsRow.n_slices,
            SliceCountsRow.n_parts,
            SliceCountsRow.dtype,
            LabelSetRow,
            DatasetRow.task,
        )
        .join(EvaluationRow, EvaluationRow.id == SliceCountsRow.evaluation_id)
        .join(RunRow, RunRow.id == EvaluationRow.run_id)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .join(LabelSetRow, LabelSetRow.id == DatasetRow.label_set_id)
        .where(counts_for_its_run(), RunRow.deleted_at.is_(None), counted_now())
    )
    if run_ids is not None:
        statement = statement.where(RunRow.id.in_(run_ids))
    if dataset_id is not None:
        statement = statement.where(
            RunRow.dataset_id == dataset_id,
            EvaluationRow.truth_version_id == newest_id(dataset_id),
        )
    labels_of = cache(stored_labels)
    return [
        _Counted(
            run_id,
            at,
            columns,
            n_slices,
            n_parts,
            np.dtype(kind).newbyteorder("<"),
            labels_of(label_set).names,
            of_sets=task == Task.MULTILABEL,
        )
        for run_id, at, columns, n_slices, n_parts, kind, label_set, task in session.execute(
            statement
        )
    ]


def _members(session: Session, runs: Sequence[_Counted]) -> dict[int, NDArray[np.int32]]:
    """The choices that make up each slice, by evaluation."""
    found: dict[int, NDArray[np.int32]] = {}
    for ids in _blocks(run.evaluation_id for run in runs):
        rows = session.execute(
            select(SliceCountsRow.evaluation_id, SliceCountsRow.members).where(
                SliceCountsRow.evaluation_id.in_(ids)
            )
        )
        found |= {at: np.frombuffer(members, "<i4").reshape(-1, 2) for at, members in rows}
    return found


def _places(
    runs: Sequence[_Counted],
    terms: Sequence[tuple[str, str]],
    members: Mapping[int, NDArray[np.int32]],
) -> dict[int, int]:
    """The position of the slice in the counts of each evaluation that has it."""
    found: dict[int, int] = {}
    for run in runs:
        choices = [at for at in (run.choice(*term) for term in terms) if at is not None]
        if len(choices) < len(terms):
            continue
        if len(terms) == 1:
            found[run.evaluation_id] = choices[0]
            continue
        is_it = (members[run.evaluation_id] == sorted(choices)).all(axis=CONDITION_AXIS)
        if is_it.any():
            found[run.evaluation_id] = int(is_it.argmax())
    return found


def _numbers(
    session: Session, runs: Sequence[_Counted], wanted: Mapping[int, Sequence[int]]
) -> dict[int, NDArray[np.int64]]:
    """The numbers of slices (S, 2 + 3 K) by evaluation; those of all samples are at place -1."""
    alike: dict[tuple[int, tuple[int, ...]], dict[int, _Counted]] = defaultdict(dict)
    for run in runs:
        places = wanted.get(run.evaluation_id)
        if places:
            row = run.width * run.dtype.itemsize
            alike[row, tuple(places)][run.evaluation_id] = run
    found = {}
    for (row, places), counted in alike.items():
        stretches = [
            func.substr(
                SliceCountsRow.numbers, (1 + first) * row + 1, length * row, type_=LargeBinary
            )
            for first, length in _stretches(places)
        ]
        for ids in _blocks(counted):
            rows = session.execute(
                select(SliceCountsRow.evaluation_id, *stretches).where(
                    SliceCountsRow.evaluation_id.in_(ids)
                )
            )
            for at, *stored in rows:
                run = counted[at]
                numbers = np.frombuffer(b"".join(stored), run.dtype).astype(np.int64)
                found[at] = np.einsum("shf->sf", numbers.reshape(-1, run.n_parts, run.n_numbers))
    return found


def _stretches(places: Sequence[int]) -> list[tuple[int, int]]:
    """Sorted positions as contiguous ranges, each given by its first position and its length."""
    found: list[tuple[int, int]] = []
    for place in places:
        if found and sum(found[-1]) == place:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((place, 1))
    return found


def _blocks(ids: Iterable[int]) -> Iterable[list[int]]:
    listed = list(ids)
    for start in range(0, len(listed), _AT_ONCE):
        yield listed[start : start + _AT_ONCE]

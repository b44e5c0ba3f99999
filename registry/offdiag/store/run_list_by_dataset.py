"""Lists of runs by dataset: the first few runs of each, and the newest runs of a model.

Values of different datasets are not comparable, so runs are sorted within their dataset only. They
are found along the indexes that lists of one dataset use, in one statement for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from sqlalchemy import func, select, union_all
from sqlalchemy.orm import Session

from offdiag.errors import NotFound
from offdiag.filters.conditions import Attribute, AttributeField, Comparison, Operator
from offdiag.store.dataset_page import DatasetFacts, dataset_list
from offdiag.store.models import RunRow
from offdiag.store.run_count import evaluated_runs, matches_without_each, matching_runs
from offdiag.store.run_filter import RunFilter
from offdiag.store.run_list import SORTED_IN_MEMORY, all_entries, lines, run_list
from offdiag.store.run_order import RunOrder, groups_of, in_group, order_of, sorted_by
from offdiag.store.run_rows import LISTED_METRICS, LISTED_OF_SETS, RunEntry, run_entries

MOST_GROUPS = 30
RUNS_EACH = 3


@dataclass(frozen=True, slots=True)
class RunGroup:
    """The first runs of a dataset in some order, out of `total` that match."""

    dataset: DatasetFacts
    order: RunOrder
    entries: tuple[RunEntry, ...]
    total: int


@dataclass(frozen=True, slots=True)
class RunGroups:
    """Groups by project and dataset; `n_further` datasets with runs have no group here.

    `matches_without` is only set if nothing matched and says how many runs each term alone hides.
    """

    groups: tuple[RunGroup, ...]
    total: int
    n_further: int = 0
    matches_without: tuple[int, ...] = ()


def run_groups(
    session: Session,
    datasets: Sequence[DatasetFacts],
    *,
    terms: RunFilter,
    orders: Mapping[int, RunOrder],
    metrics: Mapping[int, Sequence[str]],
) -> RunGroups:
    """The first runs of each of the datasets; `orders` and `metrics` are by dataset.

    Four statements, and more if few runs of a dataset have the value that they are sorted by.
    """
    where = matching_runs(session, terms, None).where
    counted = select(RunRow.dataset_id, func.count().label("n")).where(*where)
    totals = {
        row.dataset_id: int(row.n) for row in session.execute(counted.group_by(RunRow.dataset_id))
    }
    there = [each for each in datasets if each.id in totals]
    if not there:
        return RunGroups((), 0, matches_without=matches_without_each(session, terms=terms))
    shown = there[:MOST_GROUPS]
    found = _first_runs(session, terms, {each.id: orders[each.id] for each in shown}, totals)
    keys = tuple(dict.fromkeys(key for each in shown for key in metrics[each.id]))
    entries = _entries(session, [run for ids in found.values() for run in ids], keys)
    groups = tuple(
        RunGroup(
            each,
            orders[each.id],
            tuple(entries[run] for run in found.get(each.id, []) if run in entries),
            totals[each.id],
        )
        for each in shown
    )
    return RunGroups(groups, sum(totals.values()), len(there) - len(shown))


def _first_runs(
    session: Session,
    terms: RunFilter,
    orders: Mapping[int, RunOrder],
    totals: Mapping[int, int],
) -> dict[int, list[str]]:
    """Ids by dataset, first those of runs that have the value they are sorted by.

    More statements look for runs without it in datasets with too few of the former. They come
    later because they read all runs to find that there are none.
    """
    found: dict[int, list[str]] = {dataset_id: [] for dataset_id in orders}
    groups = {dataset_id: groups_of(order) for dataset_id, order in orders.items()}
    dialect = session.get_bind().dialect.name
    for rank in range(max(map(len, groups.values()))):
        parts = []
        for dataset_id, order in orders.items():
            missing = min(RUNS_EACH, totals[dataset_id]) - len(found[dataset_id])
            if not missing or rank >= len(groups[dataset_id]):
                continue
            where = matching_runs(session, terms, dataset_id).where
            runs = evaluated_runs(RunRow.id, RunRow.dataset_id).where(*where)
            is_long = totals[dataset_id] > SORTED_IN_MEMORY
            group = groups[dataset_id][rank]
            part = in_group(runs, order, group, uses_index=is_long, dialect=dialect)
            first = (
                sorted_by(part.runs, part)
                .add_columns(part.column.label("key"), RunRow.created_at.label("logged_at"))
                .limit(missing)
                .subquery()
            )
            logged_at = None if part.logged_at is None else first.c.logged_at
            few = replace(part, column=first.c.key, run_id=first.c.id, logged_at=logged_at)
            place = func.row_number().over(order_by=order_of(few))
            parts.append(select(first.c.dataset_id, place.label("place"), first.c.id))
        if parts:
            rows = session.execute(union_all(*parts)).all()
            for row in sorted(rows, key=lambda row: row.place):
                found[row.dataset_id].append(row.id)
    return found


def _entries(session: Session, ids: Sequence[str], keys: Sequence[str]) -> dict[str, RunEntry]:
    rows = session.execute(lines().where(RunRow.id.in_(ids))).all()
    return {entry.id: entry for entry in run_entries(session, rows, metrics=keys)}


RUNS_OF_A_MODEL = 50


@dataclass(frozen=True, slots=True)
class ModelRuns:
    """Runs of a model, oldest first, by project and dataset; `total` counts all there are."""

    name: str
    total: int
    by_dataset: tuple[tuple[DatasetFacts, tuple[RunEntry, ...]], ...]


def runs_of_model(session: Session, name: str) -> ModelRuns:
    """The newest runs that were logged under a model's name. Raises `NotFound`."""
    page = run_list(
        session,
        terms=(_with_model(name),),
        dataset_id=None,
        order=RunOrder(),
        cursor=None,
        limit=RUNS_OF_A_MODEL,
        metrics=(*LISTED_METRICS, *LISTED_OF_SETS),
    )
    return _by_dataset(session, name, page.entries, page.total)


def all_runs_of_model(session: Session, name: str) -> ModelRuns:
    """All runs that were logged under a model's name. Raises `NotFound`."""
    entries = tuple(
        all_entries(
            session,
            terms=(_with_model(name),),
            dataset_id=None,
            order=RunOrder(),
            cursor=None,
            metrics=(*LISTED_METRICS, *LISTED_OF_SETS),
            on_slices=(),
        )
    )
    return _by_dataset(session, name, entries, len(entries))


def _with_model(name: str) -> Comparison:
    return Comparison(AttributeField(Attribute.MODEL), Operator.EQUAL, (name,))


def _by_dataset(session: Session, name: str, entries: Sequence[RunEntry], total: int) -> ModelRuns:
    datasets = {(each.project, each.name): each for each in dataset_list(session)}
    if not entries:
        raise NotFound(
            f"no run was logged with the model {name!r}.",
            field="model",
            hint="Names are compared letter by letter; the list of runs has them all.",
        )
    oldest_first = sorted(entries, key=lambda run: (run.project, run.dataset, run.created_at))
    grouped = groupby(oldest_first, key=lambda run: (run.project, run.dataset))
    return ModelRuns(
        name, total, tuple((datasets[dataset], tuple(runs)) for dataset, runs in grouped)
    )

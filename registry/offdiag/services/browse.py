"""What the dashboard's pages read, one function per page and one transaction per call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from offdiag.domain.runs import RunState, Task
from offdiag.filters.conditions import Condition
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.store.database import Database
from offdiag.store.dataset_page import (
    DatasetFacts,
    LoggedRuns,
    dataset_list,
    dataset_overview,
)
from offdiag.store.run_filter import FilterField, FilterTerm, RunFilter
from offdiag.store.run_list import RunListPage, matches_without_each, run_list
from offdiag.store.run_order import Cursor, RunOrder
from offdiag.store.run_page import RunDetail, run_detail, run_flags
from offdiag.store.run_ranks import BaselineValues, baseline_values
from offdiag.store.run_rows import LISTED_METRICS, LISTED_OF_SETS
from offdiag.store.session import Session
from offdiag.store.staleness import outdated_results

RUNS_PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class RunOverview:
    """The runs list with the dataset it is about.

    `scope` is None where the runs belong to several datasets, whose numbers do not compare.
    `matches_without` says, only where nothing matched, how many runs each term alone hides.
    """

    datasets: tuple[DatasetFacts, ...]
    scope: DatasetFacts | None
    page: RunListPage
    matches_without: tuple[int, ...] = ()
    baseline: BaselineValues | None = None


def browse_datasets(database: Database) -> tuple[tuple[DatasetFacts, LoggedRuns], ...]:
    """All datasets with their runs counted."""
    with database.read() as session:
        return dataset_overview(session)


def browse_runs(
    database: Database,
    *,
    terms: RunFilter = (),
    order: RunOrder | None = None,
    cursor: Cursor | None = None,
    metrics: Sequence[str] = (),
    baseline: str | None = None,
) -> RunOverview:
    """One page of runs, with the dataset they share if they do.

    `metrics` are keys that lines have beside the usual ones. `baseline` is a run to hold the
    others against, by default the one that is pinned for the dataset.
    """
    with database.read() as session:
        datasets = dataset_list(session)
        scope = _scope(datasets, terms)
        keys = (*listed_metrics(scope), *metrics)
        page = run_list(
            session,
            terms=terms,
            dataset_id=None if scope is None else scope.id,
            order=order or RunOrder(),
            cursor=cursor,
            limit=RUNS_PER_PAGE,
            metrics=keys,
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
    return RunOverview(datasets, scope, page, without, reference)


def listed_metrics(scope: DatasetFacts | None) -> tuple[str, ...]:
    """The keys that every line of a list has, by what the cases of its dataset carry."""
    of_sets = scope is not None and scope.task is Task.MULTILABEL
    return LISTED_OF_SETS if of_sets else LISTED_METRICS


def browse_run(database: Database, run_id: str) -> RunDetail:
    """One run with its results. Raises `NotFound`."""
    with database.read() as session:
        return run_with_currency(session, run_id)


def run_with_currency(session: Session, run_id: str, *, aggregates: bool = True) -> RunDetail:
    """A run that says whether its results are out of date, with its flags. Raises `NotFound`.

    `aggregates` as in `run_detail`.
    """
    detail = run_detail(session, run_id, aggregates=aggregates)
    if detail.results is None:
        return detail
    outdated = outdated_results(
        session,
        run_id,
        suite_version=SUITE_VERSION,
        has_failed=detail.run.state is RunState.FAILED,
    )
    return replace(detail, outdated=outdated, flags=run_flags(session, run_id))


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

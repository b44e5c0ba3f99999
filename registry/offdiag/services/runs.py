"""What the pages of runs and of models read: lists, one run with its counts, its history.

One function per page and one transaction per call. The history tells how the results of a run
came to be what they are: every evaluation, and what differed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from offdiag.domain.runs import Task
from offdiag.errors import NotFound
from offdiag.filters.conditions import Attribute, AttributeField, Comparison, Condition, Operator
from offdiag.store import runs
from offdiag.store.database import Database
from offdiag.store.dataset_page import DatasetFacts, dataset_list
from offdiag.store.evaluations import PastEvaluation, evaluation_history
from offdiag.store.run_filter import FilterField, FilterTerm, RunFilter
from offdiag.store.run_list import RunListPage, matches_without_each, run_list
from offdiag.store.run_order import Cursor, RunOrder
from offdiag.store.run_page import RunDetail, read_run
from offdiag.store.run_ranks import BaselineValues, baseline_values
from offdiag.store.run_rows import LISTED_METRICS, LISTED_OF_SETS, RunEntry

HISTORY_KEYS = ("overall_accuracy", "balanced_accuracy", "mcc", "macro_f1")
KEYS_OF_SETS = ("subset_accuracy", "hamming_loss", "example_jaccard")
"""What runs have, beside the last of these, whose cases carry sets of labels."""
ALL_KEYS = (*HISTORY_KEYS, *KEYS_OF_SETS)


@dataclass(frozen=True)
class HistoryEntry:
    """An evaluation and, in words, what was different from the one before it of the same cases.

    `differences` is empty for the first one.
    """

    evaluation: PastEvaluation
    differences: tuple[str, ...]


def run_history(database: Database, run_id: str) -> tuple[HistoryEntry, ...]:
    """All evaluations of a run and of its slices, oldest first. Raises `NotFound`."""
    with database.read() as session:
        runs.get_run(session, run_id)
        found = evaluation_history(session, run_id, keys=ALL_KEYS)
    return with_differences(found)


def with_differences(evaluations: Sequence[PastEvaluation]) -> tuple[HistoryEntry, ...]:
    """Each evaluation, oldest first, compared with the one before it of the same slice."""
    latest: dict[str | None, PastEvaluation] = {}
    entries = []
    for evaluation in evaluations:
        before = latest.get(evaluation.slice)
        differs = () if before is None else _differences(before, evaluation)
        entries.append(HistoryEntry(evaluation, differs))
        latest[evaluation.slice] = evaluation
    return tuple(entries)


def _differences(before: PastEvaluation, after: PastEvaluation) -> tuple[str, ...]:
    compared = (
        ("truth version", before.truth_number, after.truth_number),
        ("metrics version", before.suite_version, after.suite_version),
        ("offdiag", before.engine_version, after.engine_version),
        ("labelled cases", before.n_labelled, after.n_labelled),
    )
    return tuple(f"{what} {was} → {now}" for what, was, now in compared if was != now)


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


@dataclass(frozen=True, slots=True)
class RunHistory:
    """A run with all its evaluations, oldest first, those of its slices included."""

    detail: RunDetail
    entries: tuple[HistoryEntry, ...]


def browse_history(database: Database, run_id: str) -> RunHistory:
    """How the results of a run came about. Raises `NotFound`."""
    with database.read() as session:
        detail = read_run(session, run_id)
        found = evaluation_history(session, run_id, keys=ALL_KEYS)
    return RunHistory(detail, with_differences(found))


RUNS_OF_A_MODEL = 50


@dataclass(frozen=True, slots=True)
class ModelRuns:
    """A model's newest runs, oldest first, by project and dataset; `total` counts all."""

    name: str
    total: int
    by_dataset: tuple[tuple[RunEntry, ...], ...]


def browse_model(database: Database, name: str) -> ModelRuns:
    """The newest runs that were logged under a model's name. Raises `NotFound`."""
    named = Comparison(AttributeField(Attribute.MODEL), Operator.EQUAL, (name,))
    with database.read() as session:
        page = run_list(
            session,
            terms=(named,),
            dataset_id=None,
            order=RunOrder(),
            cursor=None,
            limit=RUNS_OF_A_MODEL,
        )
    if page.total == 0:
        raise NotFound(
            f"no run was logged with the model {name!r}.",
            field="model",
            hint="Names are compared letter by letter; the list of runs has them all.",
        )
    oldest_first = sorted(page.entries, key=lambda run: (run.project, run.dataset, run.created_at))
    grouped = groupby(oldest_first, key=lambda run: (run.project, run.dataset))
    return ModelRuns(name, page.total, tuple(tuple(runs) for _, runs in grouped))

"""MLflow: import runs from its tracking store, and log to offdiag beside it.

File stores, SQLite databases and tracking servers are read without MLflow itself. What it alone
reads, such as Databricks or its PostgreSQL database, needs its package.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from offdiag.domain.runs import Scalar
from offdiag.errors import DatabaseUnavailable, OffdiagError
from offdiag.importers.imported import Imported, ImportedLabels, Stated
from offdiag.importers.mlflow import TrackedRun, read_tracked
from offdiag.sdk.integrations.tracking_stores import opened_store
from offdiag.sdk.logging import log_imported
from offdiag.sdk.registry import SearchQuestion
from offdiag.sdk.run import Run
from offdiag.sdk.target import target

_RUN_ID = "mlflow.run_id"
"""The tag by which a run is known to be imported."""
_USUAL = ("target", "outputs")
"""What MLflow itself calls the columns."""
_IMPORTED = f"tags.'{_RUN_ID}' like '%'"
_MOST_RUNS = 100_000


@dataclass(frozen=True, slots=True)
class MlflowImport:
    """What became of a run of MLflow.

    `run` is the run here, or None for the reason in `problem`. `artifact` is the path that was
    read, `columns` those of the actual and the predicted class in a table; both are None for a
    run that was there already.
    """

    mlflow_run_id: str
    name: str
    run: Run | None
    already_imported: bool = False
    artifact: str | None = None
    columns: tuple[str, str] | None = None
    problem: str | None = None


def import_run(
    run_id: str,
    *,
    dataset: str,
    tracking_uri: str | None = None,
    artifact: str | None = None,
    true_column: str | None = None,
    pred_column: str | None = None,
    orientation: str | None = None,
    labels: Iterable[object] | None = None,
    name: str | None = None,
    project: str | None = None,
    model: str | None = None,
    tags: Mapping[str, Any] | None = None,
    url: str | None = None,
) -> Run:
    """Log the predictions or the confusion matrix that a run of MLflow has as an artifact.

    `artifact` is its path, unless the run has one evaluation table, one table whose columns are
    recognised or one confusion matrix. In a table `true_column` and `pred_column` hold the
    classes; without them, columns with usual names do, such as label and prediction. A matrix
    has to name its axes or `orientation` says what its rows are, "actual_rows" or
    "actual_columns"; it is never guessed. Parameters, last metrics and tags come along, the name
    too unless another is given. Importing the same artifact again finds the run. Raises
    `InvalidInput`, `Conflict` and `NotFound`.
    """
    stated = Stated.of(
        labels=labels,
        orientation=orientation,
        artifact=artifact,
        true_column=true_column,
        pred_column=pred_column,
    )
    with opened_store(tracking_uri) as store:
        return _log(
            store.run(run_id),
            stated,
            {
                "name": name,
                "dataset": dataset,
                "project": project,
                "model": model,
                "tags": tags,
                "url": url,
            },
        )[0]


def import_experiment(
    experiment: str,
    *,
    dataset: str | None = None,
    tracking_uri: str | None = None,
    artifact: str | None = None,
    true_column: str | None = None,
    pred_column: str | None = None,
    orientation: str | None = None,
    labels: Iterable[object] | None = None,
    project: str | None = None,
    model: str | None = None,
    tags: Mapping[str, Any] | None = None,
    url: str | None = None,
) -> list[MlflowImport]:
    """Import the active runs of an experiment, by its name or id, oldest first.

    `dataset` is the name of the experiment unless given. The other arguments are those of
    `import_run`. A run that was imported is found and left as it is, and its artifacts are not
    read. One that is not finished, or has nothing that can be imported, says why; the others are
    imported all the same. Raises `NotFound` without such an experiment, and `DatabaseUnavailable`
    where a server or database cannot be reached; what was imported by then stays.
    """
    stated = Stated.of(
        labels=labels,
        orientation=orientation,
        artifact=artifact,
        true_column=true_column,
        pred_column=pred_column,
    )
    facts = {
        "name": None,
        "dataset": dataset or experiment,
        "project": project,
        "model": model,
        "tags": tags,
        "url": url,
    }
    known = _imported_before(project, url) if artifact is None else {}
    outcomes = []
    with opened_store(tracking_uri) as store:
        for tracked in store.runs(experiment):
            found = known.get(tracked.run_id)
            outcomes.append(
                _import(tracked, stated, facts)
                if found is None
                else MlflowImport(tracked.run_id, tracked.name, found, already_imported=True)
            )
    return outcomes


def _import(tracked: TrackedRun, stated: Stated, facts: Mapping[str, Any]) -> MlflowImport:
    outcome = MlflowImport(tracked.run_id, tracked.name, None)
    if not tracked.is_finished:
        return replace(outcome, problem="it is not finished in MLflow.")
    try:
        run, artifact, found = _log(tracked, stated, facts)
    except DatabaseUnavailable:
        raise
    except OffdiagError as error:
        return replace(outcome, problem=str(error))
    return replace(outcome, run=run, artifact=artifact, columns=_columns(found))


def _imported_before(project: str | None, url: str | None) -> dict[str, Run]:
    """Runs of the project that were imported, by the id that they have in MLflow."""
    at = target(url)
    question = SearchQuestion(_IMPORTED, (), project or at.project, _MOST_RUNS)
    return {str(found.tags.get(_RUN_ID)): Run(at, found.id) for found in at.search(question).runs}


def _log(
    tracked: TrackedRun, stated: Stated, facts: Mapping[str, Any]
) -> tuple[Run, str, Imported]:
    artifact, found = read_tracked(tracked, stated)
    origin: dict[str, Scalar] = {_RUN_ID: tracked.run_id}
    columns = _columns(found)
    if columns is not None and columns not in (_USUAL, (stated.true_column, stated.pred_column)):
        origin["import.columns"] = f"y_true = {columns[0]}, y_pred = {columns[1]}"
    known = replace(found, tags={**found.tags, **origin})
    run = log_imported(
        known,
        **{**facts, "name": facts["name"] or tracked.name},
        client_key=f"mlflow:{tracked.run_id}:{artifact}",
    )
    return run, artifact, known


def _columns(found: Imported) -> tuple[str, str] | None:
    return found.content.columns if isinstance(found.content, ImportedLabels) else None

"""MLflow: import runs from its tracking store, and log to offdiag in addition to it.

File stores, SQLite databases and tracking servers are read without MLflow. Other stores, such as
Databricks or a PostgreSQL database, need the package mlflow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from offdiag.domain.look_alikes import warn_of
from offdiag.domain.runs import FoundRun, Scalar
from offdiag.domain.sentences import listed
from offdiag.errors import Conflict, DatabaseUnavailable, KeyUsed, OffdiagError
from offdiag.importers.imported import Imported, ImportedLabels, Stated
from offdiag.importers.mlflow import TrackedRun, read_tracked
from offdiag.sdk.integrations.tracking_stores import opened_store
from offdiag.sdk.logging import log_imported
from offdiag.sdk.registry import SearchQuestion, quoted
from offdiag.sdk.run import Run
from offdiag.sdk.target import target

_RUN_ID = "mlflow.run_id"
"""The tag that identifies an imported run."""
_USUAL = ("target", "outputs")
"""MLflow's own names of the columns."""
_ARTIFACT = "import.artifact"
"""The tag with the path of the artifact that was read; runs of earlier versions lack it."""
_MOST_RUNS = 100_000


@dataclass(frozen=True, slots=True)
class MlflowImport:
    """The outcome of importing a run of MLflow.

    * `run`: the imported run, or None for the reason in `problem`.
    * `already_imported`: whether the run existed before.
    * `artifact`, `columns`: the path that was read, and the columns of the actual and the
      predicted class in a table; both are None for a run that existed before.
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
    """Log the predictions or the confusion matrix in an artifact of an MLflow run.

    Returns the `Run`, with the parameters, last metrics and tags of the MLflow run.

    * `run_id`: the id of the run in MLflow.
    * `dataset`: the name of the dataset.
    * `tracking_uri`: the tracking store. Default: that of MLflow.
    * `artifact`: the path of the artifact. Not needed if the run has one evaluation table, one
      table whose columns are recognised, or one confusion matrix.
    * `true_column`, `pred_column`: the columns of the classes in a table. Default: columns with
      usual names, such as label and prediction.
    * `orientation`: what the rows of a matrix are, "actual_rows" or "actual_columns"; required
      unless the matrix names its axes. It is never guessed.
    * `labels`: the classes in order.
    * `name`: the name of the run. Default: that in MLflow.
    * `project`, `model`, `tags`, `url`: as in `log_run`.

    Importing the same artifact again finds the run and leaves it as it is; a warning names
    parameters and metrics that changed in MLflow. Raises `InvalidInput`, `NotFound`, and
    `Conflict` for another dataset, model or content than it was imported with.
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
    """Import the active runs of an MLflow experiment, oldest first; returns an outcome for each.

    * `experiment`: its name or id.
    * `dataset`: the name of the dataset. Default: `experiment`.
    * Other arguments are those of `import_run`.

    A run that was imported before is found and left as it is, and its artifacts are not read. A
    run that is not finished, or that has nothing to import, has the reason in `problem`; the
    others are imported anyway. Raises `NotFound` if there is no such experiment, and
    `DatabaseUnavailable` if a server or database cannot be reached; runs imported by then stay.
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
    at = target(url)
    known = {
        found.tags.get(_RUN_ID): Run(at, found.id)
        for found in _imported(f"tags.'{_RUN_ID}' like '%'", project, url)
        if artifact is None or _is_of(found, artifact)
    }
    outcomes = []
    with opened_store(tracking_uri) as store:
        for tracked in store.runs(experiment):
            before = known.get(tracked.run_id)
            outcomes.append(
                _import(tracked, stated, facts)
                if before is None
                else MlflowImport(tracked.run_id, tracked.name, before, already_imported=True)
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


def _imported(condition: str, project: str | None, url: str | None) -> Sequence[FoundRun]:
    """Runs of the project that were imported from matching runs of MLflow."""
    at = target(url)
    return at.search(SearchQuestion(condition, (), project or at.project, _MOST_RUNS)).runs


def _is_of(found: FoundRun, artifact: str) -> bool:
    """Whether a run was imported from the artifact with this path."""
    if _ARTIFACT in found.tags:
        return bool(found.tags[_ARTIFACT] == artifact)
    return bool(found.tags.get("import.file") == PurePosixPath(artifact).name)


def _log(
    tracked: TrackedRun, stated: Stated, facts: Mapping[str, Any]
) -> tuple[Run, str, Imported]:
    artifact, found = read_tracked(tracked, stated)
    origin: dict[str, Scalar] = {_RUN_ID: tracked.run_id, _ARTIFACT: artifact}
    columns = _columns(found)
    if columns is not None and columns not in (_USUAL, (stated.true_column, stated.pred_column)):
        origin["import.columns"] = f"y_true = {columns[0]}, y_pred = {columns[1]}"
    known = replace(found, tags={**found.tags, **origin})
    said = {
        **facts,
        "name": facts["name"] or tracked.name,
        "client_key": f"mlflow:{tracked.run_id}:{artifact}",
    }
    try:
        run = log_imported(known, **said)
    except Conflict as error:
        run = _found_again(tracked, artifact, known, said, error)
    return run, artifact, known


def _found_again(
    tracked: TrackedRun, artifact: str, read: Imported, said: Mapping[str, Any], error: Conflict
) -> Run:
    """The run that an artifact was imported as, if its facts or those of MLflow differ now.

    Raises the `Conflict`, in terms of the MLflow run, if it is about the caller's arguments or
    about the content.
    """
    about = f"run {tracked.run_id} of MLflow was imported"
    condition = f"tags.'{_RUN_ID}' = {quoted(tracked.run_id)}"
    candidates = _imported(condition, said["project"], said["url"])
    before = next((each for each in candidates if _is_of(each, artifact)), None)
    if before is None:
        # It was deleted here, or lost its tag.
        if error.field != "client_key" and not isinstance(error, KeyUsed):
            raise error
        hint = (
            f"{error.hint} The key is made of the run of MLflow and the path {artifact!r}; in "
            "another project it is free."
        )
        raise Conflict(f"{about} before: {error.message}", field="run_id", hint=hint) from error
    for field in ("dataset", "model"):
        was, now = getattr(before, field), said[field]
        if now not in (None, was):
            raise Conflict(
                f"{about} as {before.id}, with {field} {'none' if was is None else repr(was)}, "
                f"not {now!r}.",
                field=field,
                hint="Leave it as it was, or import the run into another project.",
            ) from error
    described = {"name": before.name, "model": before.model, "tags": before.tags}
    try:
        run = log_imported(replace(read, params=before.params, tags={}), **{**said, **described})
    except Conflict as other:
        if other.field != "client_key":
            raise
        raise Conflict(
            f"{about} as {before.id}, with other content than {artifact} has now.",
            field="artifact",
            hint="Read it as before, or import the run into another project.",
        ) from other
    changed = [key for key, value in read.params.items() if before.params.get(key) != value]
    if changed:
        note = f"{about} as {before.id}, which stays as it is; MLflow has changed since: "
        warn_of([f"{note}{listed(sorted(changed))}."], UserWarning)
    return run


def _columns(found: Imported) -> tuple[str, str] | None:
    return found.content.columns if isinstance(found.content, ImportedLabels) else None

"""Opening a run: the first of the three steps open, put chunks, finish."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunFacts, RunState, new_run_id
from offdiag.errors import Conflict, InvalidInput
from offdiag.services.ingest.dataset import project_and_dataset, require_hierarchy
from offdiag.store import datasets, runs
from offdiag.store.database import Database
from offdiag.store.datasets import DatasetRecord
from offdiag.store.failures import after_races
from offdiag.store.runs import RunRecord
from offdiag.store.session import Session


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """A run and the dataset it was opened on."""

    run: RunRecord
    dataset: DatasetRecord


def open_run(
    database: Database,
    *,
    facts: RunFacts,
    dataset: str,
    labels: LabelSet | None,
    positive_label: str | None,
    hierarchy: object | None = None,
) -> OpenedRun:
    """Open a run, or find the one opened with the same client key.

    `labels` may be None when the dataset exists; inferred ones then give way to its own. Raises
    `InvalidInput` when it does not exist, and `Conflict` when labels, positive class or groups
    of classes differ from the dataset's, or when the key belongs to a run that was described
    otherwise.
    """

    def transaction() -> OpenedRun:
        with database.write() as session:
            now = database.clock()
            known = datasets.find_dataset(session, project=facts.project, name=dataset)
            names = labels
            if known is not None and (labels is None or labels.inferred):
                names = known.labels
            if names is None:
                raise labels_needed(dataset)
            frame = project_and_dataset(
                session,
                project=facts.project,
                name=dataset,
                labels=names,
                positive_label=positive_label,
                now=now,
            )
            frame = require_hierarchy(session, frame, hierarchy)
            run = already_opened(session, frame, facts)
            if run is not None:
                require_same_run(run, frame, facts)
                return OpenedRun(run, frame)
            run = runs.insert_run(
                session,
                run_id=new_run_id(),
                project_id=frame.project_id,
                dataset_id=frame.id,
                facts=facts,
                source=SourceOrientation.PREDICTIONS,
                now=now,
            )
            return OpenedRun(run, frame)

    return after_races(transaction, finds_itself=facts.client_key is not None)


def already_opened(session: Session, dataset: DatasetRecord, facts: RunFacts) -> RunRecord | None:
    """The run this client key opened before, if any. Raises `Conflict` if it was deleted."""
    if facts.client_key is None:
        return None
    run = runs.find_by_client_key(
        session, project_id=dataset.project_id, client_key=facts.client_key
    )
    if run is not None and run.deleted_at is not None:
        raise Conflict(
            f"client key {facts.client_key!r} belongs to run {run.id}, which was deleted.",
            field="client_key",
            hint=f"`offdiag runs restore {run.id}` brings it back; a new run needs a new key.",
        )
    return run


def require_same_run(known: RunRecord, dataset: DatasetRecord, facts: RunFacts) -> None:
    """Raise `Conflict` where a client key is used again to say something else of a run."""
    said = {
        "dataset": (known.dataset_id, dataset.id),
        "name": (known.name, facts.name),
        "model": (known.model, facts.model),
        "params": (dict(known.params), dict(facts.params)),
    }
    if known.state is RunState.OPEN:  # People edit the tags of runs that are complete.
        said["tags"] = (dict(known.tags), dict(facts.tags))
    for field, (before, now) in said.items():
        if before != now:
            raise Conflict(
                f"client key {known.client_key!r} belongs to run {known.id}, which was opened "
                f"with another {field}.",
                field=field,
                hint="Use a new key for a new run; a retry must send the same.",
            )


def labels_needed(dataset: str) -> InvalidInput:
    """The error for a first run of a dataset whose classes nobody named."""
    return InvalidInput(
        f"dataset {dataset!r} does not exist yet, so its classes are unknown.",
        field="labels",
        hint="Give labels=[...] in their order.",
    )

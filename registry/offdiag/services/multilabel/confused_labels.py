"""Which labels of a stored multi-label run are confused, in sentences with their evidence."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import Task
from offdiag.errors import Conflict
from offdiag.metrics.arguments import confidence_level
from offdiag.metrics.multilabel.suite import LabelledSets
from offdiag.metrics.multilabel_runs.confused import ConfusedLabel, confused_labels
from offdiag.services.evaluation.inputs import read_inputs
from offdiag.store import datasets, runs
from offdiag.store.database import Database
from offdiag.store.session import Session

MOST_MEMBERS = 100_000_000
"""Samples times labels up to which sets are read while somebody waits."""


@dataclass(frozen=True)
class ConfusedLabels:
    """The significant sentences about a run, of `n` labelled examples."""

    run_id: str
    n: int
    n_labels: int
    confidence: float
    found: tuple[ConfusedLabel, ...]


def confused_labels_of(
    database: Database, run_id: str, *, confidence: float = 0.95
) -> ConfusedLabels:
    """Which labels are missed, added, or predicted in place of another one, and when.

    Raises `NotFound`, `InvalidInput` for a confidence outside (0, 1), and `Conflict` for a run
    whose examples have one class each.
    """
    level = confidence_level(confidence)
    with database.read() as session:
        sets, labels = sets_of_run(session, run_id)
    found = confused_labels(sets.actual, sets.predicted, labels, confidence=level)
    return ConfusedLabels(run_id, sets.n_samples, len(labels), level, found)


def sets_of_run(session: Session, run_id: str) -> tuple[LabelledSets, LabelSet]:
    """The labelled sets of a multi-label run, and its labels.

    Raises as `confused_labels_of` does.
    """
    run = runs.get_run(session, run_id)
    dataset = datasets.get_dataset(session, run.dataset_id)
    if dataset.task is not Task.MULTILABEL:
        raise Conflict(
            f"the examples of run {run_id} have one class each.",
            field="run",
            hint="Its confusion matrix shows which classes are confused.",
        )
    if run.n_predictions * len(dataset.labels) > MOST_MEMBERS:
        raise Conflict(
            f"run {run_id} has {run.n_predictions:,} sets of {len(dataset.labels):,} labels.",
            field="run",
            hint=f"At most {MOST_MEMBERS:,} members of sets are read at once.",
        )
    sets = read_inputs(session, run_id).sets
    assert sets is not None  # noqa: S101  # As every multi-label run has.
    return sets, dataset.labels

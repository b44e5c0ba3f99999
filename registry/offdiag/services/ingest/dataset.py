"""The dataset of a run: found, checked against what the caller states, or created.

The first log that states them decides the class hierarchy, and whether samples have one class or a
set of labels.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from offdiag.domain.hierarchy import Hierarchy
from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import Task, require_name
from offdiag.errors import Conflict, InvalidInput
from offdiag.services.ingest.dataset_labels import (
    PositiveClass,
    positive_class,
    require_same_labels,
)
from offdiag.services.jobs.submit import submit_evaluations
from offdiag.store import datasets, retention, runs
from offdiag.store.database import Database, Session
from offdiag.store.datasets import DatasetRecord
from offdiag.store.retries import after_races


def require_hierarchy(session: Session, dataset: DatasetRecord, given: object) -> DatasetRecord:
    """The dataset with the hierarchy that a log states; None states nothing.

    Raises `InvalidInput` for what is not a hierarchy over its classes, and `Conflict` if the
    dataset has another one: a training job that was started before a change must not undo it.
    """
    if given is None:
        return dataset
    hierarchy = Hierarchy.declared(given, dataset.labels)
    if hierarchy == dataset.hierarchy:
        return dataset
    if dataset.hierarchy is not None:
        raise Conflict(
            f"the classes of dataset {dataset.name!r} are grouped in another way.",
            field="hierarchy",
            hint="Leave hierarchy= out, or change it with set_hierarchy or `offdiag hierarchy`.",
        )
    datasets.set_hierarchy(session, dataset.id, hierarchy)
    return replace(dataset, hierarchy=hierarchy)


def require_task(session: Session, dataset: DatasetRecord, *, of_sets: bool) -> DatasetRecord:
    """The dataset, with its task set by what is logged, if nothing has been logged to it before.

    Raises `Conflict` if the dataset has samples of the other kind, and `InvalidInput` for sets of
    labels that are declared ordinal or of which one is declared positive.
    """
    if of_sets:
        if dataset.positive_by_convention:
            datasets.set_positive_label(session, dataset.id, None)
            dataset = replace(dataset, positive_label=None, positive_by_convention=False)
        if dataset.labels.ordinal:
            raise InvalidInput(
                "the labels of sets have no meaningful order.",
                field="ordinal",
                hint="Leave it out.",
            )
        if dataset.positive_label is not None:
            raise InvalidInput(
                "no label of a set is the positive one: each is present or not.",
                field="positive_label",
                hint="Leave it out; every label is evaluated against the rest.",
            )
    if (dataset.task is Task.MULTILABEL) == of_sets:
        return dataset
    if datasets.holds_samples(session, dataset.id):
        raise other_kind(dataset, of_sets=of_sets)
    task = Task.MULTILABEL if of_sets else datasets.single_label_task(dataset.labels)
    datasets.set_task(session, dataset.id, task)
    return replace(dataset, task=task)


def other_kind(dataset: DatasetRecord, *, of_sets: bool) -> Conflict:
    """The error for logging sets of labels to a dataset of single classes, or vice versa."""
    if of_sets:
        return Conflict(
            f"the samples of dataset {dataset.name!r} have one class each; this run comes with "
            "sets of labels.",
            field="y_pred",
            hint="Log it to a dataset of another name.",
        )
    return Conflict(
        f"the samples of dataset {dataset.name!r} have sets of labels; this run comes with one "
        "class for each.",
        field="y_pred",
        hint="Give a set or list of labels for each sample, an (n, q) table of 0 and 1, or log to "
        "a dataset of another name.",
    )


def project_and_dataset(
    session: Session,
    *,
    project: str,
    name: str,
    labels: LabelSet,
    positive_label: str | None,
    now: datetime,
) -> DatasetRecord:
    """Find or create the dataset. Raises `Conflict` if its labels or positive class differ.

    If none is named, the positive class is the conventional one, if there is one. If a dataset had
    none, or only a conventional one, a named one replaces it, and runs with scores are evaluated
    again.
    """
    require_name(name, "dataset")
    positive = positive_class(labels, positive_label)
    known = datasets.find_dataset(session, project=project, name=name)
    if known is None:
        project_id = datasets.project_id(session, project)
        if project_id is None:
            project_id = datasets.create_project(session, project, now)
        return datasets.create_dataset(
            session,
            project_id=project_id,
            name=name,
            labels=labels,
            positive=None if positive is None else positive.label,
            by_convention=positive is not None and positive.by_convention,
            now=now,
        )
    require_same_labels(known, labels)
    if positive is None or not _is_news(known, positive):
        return known
    if known.positive_label not in (None, positive.label):
        _require_no_scores_of_one_class(session, known, positive.label)
    datasets.set_positive_label(
        session, known.id, positive.label, by_convention=positive.by_convention
    )
    if positive.label != known.positive_label:
        _evaluate_scores_again(session, known.id)
    return datasets.get_dataset(session, known.id)


def _is_news(dataset: DatasetRecord, positive: PositiveClass) -> bool:
    """Whether the positive class of a dataset changes, or is now named instead of conventional."""
    if positive.by_convention:
        return dataset.positive_label is None and dataset.task is not Task.MULTILABEL
    return positive.label != dataset.positive_label or dataset.positive_by_convention


def _require_no_scores_of_one_class(
    session: Session, dataset: DatasetRecord, positive: str
) -> None:
    """Raise `Conflict` unless the positive class is conventional and no scores depend on it."""
    if not dataset.positive_by_convention:
        raise Conflict(
            f"dataset {dataset.name!r} counts {dataset.positive_label!r} as positive, "
            f"not {positive!r}.",
            field="positive_label",
            hint="Leave positive_label out, or log to a dataset of another name.",
        )
    if datasets.may_have_scores_of_one_class(session, dataset.id):
        raise Conflict(
            f"dataset {dataset.name!r} counts {dataset.positive_label!r} as positive by "
            f"convention, and has scores that were logged for it, or open runs that may get some; "
            f"{positive!r} cannot take over.",
            field="positive_label",
            hint="Leave positive_label out, or log to a dataset of another name.",
        )


def _evaluate_scores_again(session: Session, dataset_id: int) -> None:
    """Submit the runs with scores: a change of the positive class affects their evaluations."""
    scored = runs.complete_run_ids(session, dataset_id, with_scores=True)
    retention.drop_current_evaluations(session, scored)
    submit_evaluations(session, scored)


@dataclass(frozen=True, slots=True)
class Declared:
    """A dataset, and whether it already existed."""

    dataset: DatasetRecord
    was_there: bool


def declare_dataset(
    database: Database,
    *,
    project: str,
    name: str,
    labels: Iterable[str],
    ordinal: bool = False,
    positive_label: str | None = None,
) -> Declared:
    """Create a dataset with these classes in this order, or find the one that is the same.

    Raises `InvalidInput` for unusable names and labels, and `Conflict` if the project has a
    dataset of this name with other classes.
    """
    require_name(project, "project")
    declared = LabelSet.declared(labels, ordinal=ordinal)

    def transaction(session: Session) -> Declared:
        was_there = datasets.find_dataset(session, project=project, name=name) is not None
        dataset = project_and_dataset(
            session,
            project=project,
            name=name,
            labels=declared,
            positive_label=positive_label,
            now=database.clock(),
        )
        return Declared(dataset, was_there)

    return after_races(database, transaction)

"""Whether the samples of a dataset have one class or a set of labels: settled by the first log."""

from __future__ import annotations

from dataclasses import replace

from offdiag.domain.runs import Task
from offdiag.errors import Conflict, InvalidInput
from offdiag.store import datasets
from offdiag.store.datasets import DatasetRecord
from offdiag.store.session import Session


def settle_task(session: Session, dataset: DatasetRecord, *, of_sets: bool) -> DatasetRecord:
    """The dataset, whose task becomes what is logged if nothing was logged to it before.

    Raises `Conflict` where the dataset holds the other kind, and `InvalidInput` for sets of
    labels whose order is said to have a meaning, or one of which is said to be positive.
    """
    if of_sets:
        if dataset.positive_by_convention:
            datasets.set_positive_label(session, dataset.id, None)
            dataset = replace(dataset, positive_label=None, positive_by_convention=False)
        _require_plain_labels(dataset)
    if (dataset.task is Task.MULTILABEL) == of_sets:
        return dataset
    if datasets.holds_cases(session, dataset.id):
        raise other_kind(dataset, of_sets=of_sets)
    task = Task.MULTILABEL if of_sets else datasets.single_label_task(dataset.labels)
    datasets.set_task(session, dataset.id, task)
    return replace(dataset, task=task)


def other_kind(dataset: DatasetRecord, *, of_sets: bool) -> Conflict:
    """The error for logging sets of labels among single classes, or the reverse."""
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
        hint="Give a set or list of labels for each case, an (n, q) table of 0 and 1, or log to "
        "a dataset of another name.",
    )


def _require_plain_labels(dataset: DatasetRecord) -> None:
    if dataset.labels.ordinal:
        raise InvalidInput(
            "the labels of sets have no order that could have a meaning.",
            field="ordinal",
            hint="Leave it out.",
        )
    if dataset.positive_label is not None:
        raise InvalidInput(
            "no label of a set is the positive one: each is present or not.",
            field="positive_label",
            hint="Leave it out; every label is evaluated against the rest.",
        )

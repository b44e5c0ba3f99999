"""The dataset a run belongs to: found, checked against what the caller says, or created."""

from __future__ import annotations

from datetime import datetime

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import require_name
from offdiag.errors import Conflict, InvalidInput
from offdiag.store import datasets
from offdiag.store.datasets import DatasetRecord
from offdiag.store.session import Session


def project_and_dataset(
    session: Session,
    *,
    project: str,
    name: str,
    labels: LabelSet,
    positive_label: str | None,
    now: datetime,
) -> DatasetRecord:
    """Find or create the dataset. Raises `Conflict` if its labels or positive class differ."""
    require_name(name, "dataset")
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
            positive_label=positive_in(labels, positive_label),
            now=now,
        )
    require_same_labels(known, labels)
    positive = positive_in(known.labels, positive_label)
    if positive is None or positive == known.positive_label:
        return known
    if known.positive_label is not None:
        raise Conflict(
            f"dataset {name!r} counts {known.positive_label!r} as positive, not {positive!r}.",
            field="positive_label",
            hint="Leave positive_label out, or log to a dataset of another name.",
        )
    datasets.set_positive_label(session, known.id, positive)
    return datasets.get_dataset(session, known.id)


def require_same_labels(dataset: DatasetRecord, labels: LabelSet) -> None:
    """Raise `Conflict` unless the labels are the dataset's, in the same order."""
    if labels.digest == dataset.labels.digest:
        return
    how = "inferred from its first run" if dataset.labels_inferred else "declared"
    difference = (
        "in another order or with another meaning of it"
        if set(labels.names) == set(dataset.labels.names)
        else f"with {labels.preview()}"
    )
    raise Conflict(
        f"dataset {dataset.name!r} has the labels {dataset.labels.preview()}, {how}; "
        f"this run comes {difference}.",
        field="labels",
        hint="Leave labels= out to use the dataset's, or log to a dataset of another name.",
    )


def positive_in(labels: LabelSet, positive_label: str | None) -> str | None:
    """The positive label, if one is named: it must be one of two classes."""
    if positive_label is None:
        return None
    labels.code_of(positive_label, field_name="positive_label")
    if len(labels) != 2:
        raise InvalidInput(
            f"there are {len(labels)} classes.",
            field="positive_label",
            hint="Only a dataset of two classes has a positive one; leave it out.",
        )
    return positive_label

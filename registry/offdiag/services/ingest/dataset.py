"""The dataset a run belongs to: found, checked against what the caller says, or created."""

from __future__ import annotations

from datetime import datetime

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import require_name
from offdiag.errors import Conflict
from offdiag.services.ingest.classes import positive_in, require_same_labels
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

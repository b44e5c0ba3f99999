"""The dataset a run belongs to: found, checked against what the caller says, or created."""

from __future__ import annotations

from datetime import datetime

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import Task, require_name
from offdiag.errors import Conflict
from offdiag.services.ingest.classes import PositiveClass, positive_class, require_same_labels
from offdiag.services.work.submit import submit_evaluations
from offdiag.store import datasets, retention
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
    """Find or create the dataset. Raises `Conflict` if its labels or positive class differ.

    Without a named one the positive class is the conventional one, if there is one. Where a
    dataset had none, or only that one, a named one takes its place, and runs with scores are
    evaluated again.
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
    """Whether the positive class of a dataset becomes another one, or becomes a named one."""
    if positive.by_convention:
        return dataset.positive_label is None and dataset.task is not Task.MULTILABEL
    return positive.label != dataset.positive_label or dataset.positive_by_convention


def _require_no_scores_of_one_class(
    session: Session, dataset: DatasetRecord, positive: str
) -> None:
    """Only a conventional positive class gives way, and only while no score was logged for it."""
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
    """Ask for the evaluations that another positive class changes: those with scores."""
    scored = retention.complete_runs_with_scores(session, dataset_id)
    retention.drop_current_evaluations(session, scored)
    submit_evaluations(session, scored)

"""Finding a dataset and a version of its ground truth by what people call them."""

from __future__ import annotations

from offdiag.errors import NotFound
from offdiag.store import datasets, truths
from offdiag.store.datasets import DatasetRecord
from offdiag.store.session import Session
from offdiag.store.truths import TruthRecord


def dataset_named(session: Session, *, project: str, name: str) -> DatasetRecord:
    """A dataset by project and name. Raises `NotFound`."""
    dataset = datasets.find_dataset(session, project=project, name=name)
    if dataset is None:
        raise NotFound(
            f"project {project!r} has no dataset {name!r}.",
            field="dataset",
            hint="A dataset is made by the first run that is logged on it.",
        )
    return dataset


def version_of(session: Session, dataset: DatasetRecord, number: int | None) -> TruthRecord:
    """A truth version by its number, the newest one without a number. Raises `NotFound`."""
    if number is None:
        found = truths.latest_truth(session, dataset.id)
    else:
        found = truths.numbered_truth(session, dataset_id=dataset.id, number=number)
    if found is None:
        which = "ground truth" if number is None else f"truth version {number}"
        raise NotFound(
            f"dataset {dataset.name!r} has no {which}.",
            field="dataset" if number is None else "version",
            hint="`offdiag truth show` lists the versions of a dataset.",
        )
    return found

"""The datasets of a registry, and a note where a list is empty because none has a wanted name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from offdiag.cli.documents import Server, connected
from offdiag.cli.output import note
from offdiag.domain.unknown_names import unknown_name
from offdiag.records.datasets.dataset import DatasetList, DatasetSummary, dataset_summary

if TYPE_CHECKING:
    from offdiag.store.database import Database


def known_datasets(registry: Database | Server) -> list[DatasetSummary]:
    """All datasets, on a server those that the caller may see."""
    if isinstance(registry, Server):
        return registry.ask("/datasets", DatasetList).datasets
    from offdiag.store.dataset_page import dataset_overview

    with registry.read() as session:
        return [dataset_summary(*each) for each in dataset_overview(session)]


def note_unknown_name(url: str | None, *, project: str | None, dataset: str | None) -> None:
    """Tell the user that no project or dataset has the name that an empty list was asked for."""
    if project is None and dataset is None:
        return
    with connected(url) as registry:
        known = [(each.project, each.name) for each in known_datasets(registry)]
    sentence = unknown_name(known, project=project, dataset=dataset)
    if sentence is not None:
        note(sentence)

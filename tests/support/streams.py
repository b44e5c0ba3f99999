"""Runs that are opened, filled batch by batch and finished."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts
from offdiag.services.ingest.batch import read_batch
from offdiag.services.ingest.chunks import put_chunk
from offdiag.services.ingest.finish_run import finish_run
from offdiag.services.ingest.log_predictions import OpenedRun, open_run
from offdiag.store.database import Database
from offdiag.store.runs import RunRecord


def opened(
    database: Database,
    dataset: str = "holdout",
    labels: Sequence[str] | None = None,
    *,
    positive_label: str | None = None,
) -> OpenedRun:
    """An open run; without labels the dataset is there already."""
    return open_run(
        database,
        facts=RunFacts(name="streamed"),
        dataset=dataset,
        labels=None if labels is None else LabelSet.declared(labels),
        positive_label=positive_label,
    )


def streamed(
    database: Database,
    parts: Iterable[Mapping[str, Any]],
    dataset: str = "holdout",
    labels: Sequence[str] | None = None,
    *,
    positive_label: str | None = None,
) -> RunRecord:
    """A finished run of several batches, each without what is not given."""
    found = opened(database, dataset, labels, positive_label=positive_label)
    for seq, part in enumerate(parts):
        given = {"y_true": None, "y_score": None, "ids": None, **part}
        batch = read_batch(labels=found.dataset.labels, positive_label=positive_label, **given)
        put_chunk(database, found.run.id, seq, batch)
    return finish_run(database, found.run.id)

"""The predictions of a run without labelled examples, counted by class."""

from __future__ import annotations

import numpy as np

from offdiag.domain.runs import Task
from offdiag.store.predictions import predicted_chunks
from offdiag.store.run_page import RunDetail
from offdiag_web.app.context import current_registry
from offdiag_web.components import numbers
from offdiag_web.components.datasets import labels_command
from offdiag_web.components.runs.frame import n_unlabelled

MOST_COUNTED = 30


def unlabelled_run(detail: RunDetail) -> dict[str, object] | None:
    """Predictions of a run without labelled examples; None if it has any, or no results yet."""
    run, n_all = detail.run, n_unlabelled(detail)
    if not n_all:
        return None
    command = labels_command(run.project, run.dataset)
    lines = () if run.task is Task.MULTILABEL else _predicted(run.id, run.labels.names)
    return {"total": numbers.count(n_all), "command": command, "lines": lines}


def _predicted(run_id: str, names: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    counts = np.zeros(len(names), dtype=np.int64)
    with current_registry().database.read() as session:
        for chunk in predicted_chunks(session, [run_id]):
            counts += np.bincount(chunk.codes, minlength=len(names))
    total = int(counts.sum())
    order = np.argsort(-counts, kind="stable")[:MOST_COUNTED]
    return tuple(
        (
            names[code],
            numbers.count(int(counts[code])),
            numbers.whole_percent(int(counts[code]), total),
        )
        for code in order
        if counts[code]
    )

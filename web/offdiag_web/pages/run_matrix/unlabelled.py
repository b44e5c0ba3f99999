"""A run none of whose examples has a label yet: what was predicted, and how labels are added."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

import numpy as np

from offdiag.domain.runs import Task
from offdiag.store.predictions import predicted_chunks
from offdiag.store.run_page import RunDetail
from offdiag_web.app.context import current_registry
from offdiag_web.components import numbers

MOST_COUNTED = 30


@dataclass(frozen=True, slots=True)
class PredictedCount:
    """How many examples were predicted as a class."""

    name: str
    count: str
    share: str


@dataclass(frozen=True, slots=True)
class UnlabelledRun:
    """The counts, most frequent first; none for sets of labels."""

    total: str
    command: str
    lines: tuple[PredictedCount, ...]


def unlabelled_run(detail: RunDetail) -> UnlabelledRun | None:
    """None where there are results of labelled examples, or none yet."""
    run, results = detail.run, detail.results
    if results is None or results.facts.n_cases or not results.facts.n_unlabelled:
        return None
    project = "" if run.project == "default" else f" --project {shlex.quote(run.project)}"
    command = f"offdiag truth revise {shlex.quote(run.dataset)} labels.csv --reason …{project}"
    n_all = results.facts.n_unlabelled
    lines = () if run.task is Task.MULTILABEL else _predicted(run.id, run.labels.names)
    return UnlabelledRun(numbers.count(n_all), command, lines)


def _predicted(run_id: str, names: tuple[str, ...]) -> tuple[PredictedCount, ...]:
    counts = np.zeros(len(names), dtype=np.int64)
    with current_registry().database.read() as session:
        for chunk in predicted_chunks(session, [run_id]):
            counts += np.bincount(chunk.codes, minlength=len(names))
    total = int(counts.sum())
    order = np.argsort(-counts, kind="stable")[:MOST_COUNTED]
    return tuple(
        PredictedCount(
            names[code],
            numbers.count(int(counts[code])),
            numbers.whole_percent(int(counts[code]), total),
        )
        for code in order
        if counts[code]
    )

"""Runs with scores, identifiers, slices and missing labels, and the same predictions as lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts
from offdiag.services.ingest.batch import read_batch
from offdiag.services.ingest.chunks import put_chunk
from offdiag.services.ingest.finishing import finish_run
from offdiag.services.ingest.opening import open_run
from offdiag.services.truth.revise import revise_truth
from offdiag.store.database import Database
from support.logging_runs import log

Ids = Literal["text", "int", "none"]
DATASET = "scored"


@dataclass(frozen=True)
class ScoredCases:
    """n cases in the order they are logged in; `actual` None is no label."""

    labels: tuple[str, ...]
    actual: list[str | None]
    predicted: list[str]
    scores: NDArray[np.float32]
    ids: list[Any] | None
    country: list[str]

    def __len__(self) -> int:
        return len(self.predicted)


def scored_cases(
    n_cases: int = 200,
    *,
    labels: Sequence[str] = ("cat", "dog", "fox", "owl"),
    ids: Ids = "text",
    n_unlabelled: int = 0,
    seed: int = 5,
) -> ScoredCases:
    """Cases of which about three in four are right, with many equal scores."""
    generator = np.random.default_rng(seed)
    n_classes = len(labels)
    actual = generator.integers(0, n_classes, n_cases)
    weights = generator.random((n_cases, n_classes)) + np.eye(n_classes)[actual] * 0.6
    scores = np.floor(100 * weights / weights.sum(axis=1, keepdims=True)) / 100
    scores[:, -1] = 1 - scores[:, :-1].sum(axis=1)
    stored = scores.astype(np.float32)
    numbers = generator.permutation(n_cases).tolist()
    names: dict[Ids, list[Any] | None] = {
        "text": [f"img/{number:04d}.png" for number in numbers],
        "int": numbers,
        "none": None,
    }
    truth: list[str | None] = [labels[code] for code in actual.tolist()]
    truth[:n_unlabelled] = [None] * n_unlabelled
    return ScoredCases(
        labels=tuple(labels),
        actual=truth,
        predicted=[labels[code] for code in stored.argmax(axis=1).tolist()],
        scores=stored,
        ids=names[ids],
        country=[("DE", "FR", "SI")[number % 3] for number in numbers],
    )


def log_scored(
    database: Database, cases: ScoredCases, *, name: str = "scored", **given: Any
) -> str:
    """Log all cases in one call; those without a label need identifiers. Returns the run's id."""
    is_late = None in cases.actual
    run = log(
        database,
        y_true=None if is_late else cases.actual,
        y_pred=cases.predicted,
        labels=list(cases.labels),
        facts=RunFacts(name=name),
        **{
            "dataset": DATASET,
            "y_score": cases.scores,
            "sample_ids": cases.ids,
            "slices": {"country": cases.country},
        }
        | given,
    )
    if is_late:
        give_labels(database, cases)
    return run.id


def stream_scored(database: Database, cases: ScoredCases, *, chunk: int) -> str:
    """Log the cases in chunks of this size, in their order; returns the run's id."""
    labels = LabelSet.declared(cases.labels)
    opened = open_run(
        database,
        facts=RunFacts(name="streamed"),
        dataset=DATASET,
        labels=labels,
        positive_label=None,
    )
    is_late = None in cases.actual
    for seq, start in enumerate(range(0, len(cases), chunk)):
        part = slice(start, start + chunk)
        batch = read_batch(
            y_pred=cases.predicted[part],
            y_true=None if is_late else cases.actual[part],
            y_score=cases.scores[part],
            ids=None if cases.ids is None else cases.ids[part],
            slices={"country": cases.country[part]},
            labels=labels,
            positive_label=None,
        )
        put_chunk(database, opened.run.id, seq, batch)
    run = finish_run(database, opened.run.id)
    if is_late:
        give_labels(database, cases)
    return run.id


def give_labels(database: Database, cases: ScoredCases) -> None:
    """Tell those labels that are known, after the run was logged without any."""
    assert cases.ids is not None
    revise_truth(
        database,
        project="default",
        dataset=DATASET,
        labels={
            name: label
            for name, label in zip(cases.ids, cases.actual, strict=True)
            if label is not None
        },
        reason="labels arrived",
        author=None,
    )

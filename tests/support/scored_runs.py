"""Runs with scores, identifiers, slices and missing labels, and the same predictions as lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts
from offdiag.store.database import Database
from support.dashboard import HOSTILE_NAMES
from support.logging_runs import correct_labels, log, stream, work_off

Ids = Literal["text", "int", "none"]
DATASET = "scored"


@dataclass(frozen=True)
class ScoredCases:
    """n cases in the order they are logged in; `actual` None is not a label."""

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
    """Log all samples in one call; those without a label need ids. Returns the id of the run."""
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
    """Log the samples in chunks of this size, in their order; returns the run's id."""
    labels = LabelSet.declared(cases.labels)
    is_late = None in cases.actual
    chunks = [
        {
            "y_pred": cases.predicted[part],
            "y_true": None if is_late else cases.actual[part],
            "y_score": cases.scores[part],
            "ids": None if cases.ids is None else cases.ids[part],
            "slices": {"country": cases.country[part]},
        }
        for start in range(0, len(cases), chunk)
        for part in [slice(start, start + chunk)]
    ]
    run = stream(database, chunks, DATASET, labels, facts=RunFacts(name="streamed"))
    if is_late:
        give_labels(database, cases)
    return run.id


def give_labels(database: Database, cases: ScoredCases) -> None:
    """Tell those labels that are known, after the run was logged without any."""
    assert cases.ids is not None
    pairs = zip(cases.ids, cases.actual, strict=True)
    known = {name: label for name, label in pairs if label is not None}
    correct_labels(database, known, dataset=DATASET, reason="labels arrived")


@dataclass(frozen=True)
class ScoredRegistry:
    """Runs with scores of all kinds, to be read only; ids of runs by what they are."""

    database: Database
    several: str
    """Five classes, identifiers, slices, and samples without a label; `cases` says which."""
    cases: ScoredCases
    event: str
    """A rare positive class with probabilities, reported from 0.3 on; no identifiers."""
    margins: str
    """Two classes with scores that are not probabilities."""
    many: str
    """Twenty-four classes."""
    hostile: str
    """Everything anybody may write is hostile."""
    waiting: str
    """Logged with scores and not evaluated yet."""


def fill_scored(database: Database) -> ScoredRegistry:
    """Log runs with scores into a registry."""
    cases = scored_cases(
        400, n_unlabelled=40, labels=("cat", "dog", "fox", "owl", "red panda"), seed=3
    )
    several = stream_scored(database, cases, chunk=150)
    many = scored_cases(600, labels=[f"species {code:02d}" for code in range(24)], ids="int")
    runs = {
        "event": _log_event(database),
        "margins": _log_margins(database),
        "many": log_scored(database, many, name="many", dataset="species"),
        "hostile": _log_hostile(database),
    }
    work_off(database)
    waiting = _log_event(database, dataset="events to come")
    return ScoredRegistry(database, several=several, cases=cases, waiting=waiting, **runs)


def _log_event(database: Database, dataset: str = "events") -> str:
    generator = np.random.default_rng(1)
    is_fraud = generator.random(3_000) < 0.04
    p = 1 / (1 + np.exp(-(generator.normal(-3.6, 1.1, 3_000) + is_fraud * 2.6)))
    run = log(
        database,
        y_true=np.where(is_fraud, "fraud", "fine"),
        y_pred=np.where(p.astype(np.float32) >= np.float32(0.3), "fraud", "fine"),
        y_score=p.astype(np.float32),
        labels=["fine", "fraud"],
        positive_label="fraud",
        dataset=dataset,
        facts=RunFacts(name="xgb"),
    )
    return run.id


def _log_margins(database: Database) -> str:
    generator = np.random.default_rng(2)
    is_sick = generator.random(300) < 0.4
    margin = generator.normal(0, 1, 300) + 1.3 * is_sick
    run = log(
        database,
        y_true=np.where(is_sick, "sick", "well"),
        y_pred=np.where(margin > 0.6, "sick", "well"),
        y_score=margin.astype(np.float32),
        labels=["well", "sick"],
        positive_label="sick",
        dataset="margins",
        facts=RunFacts(name="svm"),
    )
    return run.id


def _log_hostile(database: Database) -> str:
    n_names = len(HOSTILE_NAMES)
    actual = [place % n_names for place in range(10 * n_names)]
    predicted = [(code + (place % 4 == 0)) % n_names for place, code in enumerate(actual)]
    scores = np.full((len(actual), n_names), 0.05, dtype=np.float32)
    scores[np.arange(len(actual)), predicted] = 1 - 0.05 * (n_names - 1)
    run = log(
        database,
        y_true=[HOSTILE_NAMES[code] for code in actual],
        y_pred=[HOSTILE_NAMES[code] for code in predicted],
        y_score=scores,
        labels=list(HOSTILE_NAMES),
        sample_ids=[f"{HOSTILE_NAMES[code]} {place}" for place, code in enumerate(actual)],
        slices={HOSTILE_NAMES[1]: [HOSTILE_NAMES[code] for code in actual]},
        dataset=HOSTILE_NAMES[0],
        facts=RunFacts(name=HOSTILE_NAMES[0]),
    )
    return run.id

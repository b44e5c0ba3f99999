"""Two models on the same examples: one is better on a small class and worse on a large one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.runs import RunFacts
from offdiag.store.database import Database
from offdiag.store.runs import RunRecord
from support.logging_runs import log

CLASSES = ("nv", "mel", "df")
SIZES = (120, 40, 20)
N = sum(SIZES)
TRUTH = tuple(name for name, size in zip(CLASSES, SIZES, strict=True) for _ in range(size))
COUNTRIES = tuple("DE" if place % 3 else "SI" for place in range(N))


def answers(*, wrong: Sequence[float], seed: int) -> list[str]:
    """Answers of which a share is wrong in each class; a wrong answer is the following class."""
    rng = np.random.default_rng(seed)
    return [
        CLASSES[(CLASSES.index(name) + 1) % 3]
        if rng.random() < wrong[CLASSES.index(name)]
        else name
        for name in TRUTH
    ]


PLAIN = answers(wrong=(0.05, 0.3, 0.9), seed=1)
FOCAL = answers(wrong=(0.25, 0.2, 0.1), seed=2)
ALMOST_FOCAL = [*FOCAL[:-1], "nv"]


def sample_names(start: int = 0, stop: int = N) -> list[str]:
    return [f"img-{place:04}" for place in range(start, stop)]


def log_model(
    database: Database,
    predicted: Sequence[str],
    *,
    name: str,
    dataset: str = "derm",
    truth: Sequence[str] = TRUTH,
    facts: dict[str, Any] | None = None,
    **given: Any,
) -> RunRecord:
    """Log the answers of a model."""
    return log(
        database,
        y_true=list(truth),
        y_pred=list(predicted),
        labels=list(CLASSES),
        dataset=dataset,
        facts=RunFacts(name=name, **(facts or {})),
        **given,
    )


def scores_for(predicted: Sequence[str], *, sharpness: float = 2.0) -> NDArray[np.float64]:
    """Probabilities whose largest one is that of the answer, (n, K)."""
    logits = np.random.default_rng(len(predicted)).random((len(predicted), len(CLASSES)))
    logits[np.arange(len(predicted)), [CLASSES.index(name) for name in predicted]] += sharpness
    table: NDArray[np.float64] = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return table

"""Read models made up for the gallery; their metrics are computed like real ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.services.evaluation.compute import of_matrix
from offdiag.store.evaluations import EvaluationWork
from offdiag.store.run_page import EvaluationFacts, RunResults
from support.dashboard import LESION_COUNTS, LESIONS

NOW = datetime(2026, 11, 16, 9, 30, tzinfo=UTC)

HOSTILE_NAMES = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{7*7}}",
    "=1+1",
    "a class whose name is far too long to be shown in any head of any table on this page",
)


def results_of(counts: NDArray[np.int64], names: tuple[str, ...]) -> RunResults:
    """The results of a run with this matrix, (K, K), actual classes along the first axis."""
    return evaluated(ConfusionMatrix(counts, LabelSet(names)))


def evaluated(matrix: ConfusionMatrix) -> RunResults:
    """The results of a run with this matrix."""
    values = of_matrix(matrix)
    return RunResults(
        facts=EvaluationFacts(
            id=1,
            suite_version=1,
            engine_version="0.0.0",
            input_digest="0" * 64,
            matrix_digest=matrix.digest,
            n_cases=matrix.total,
            computed_at=NOW,
            duration_s=0.012,
        ),
        counted=matrix,
        aggregate=values.aggregate,
        per_class={key: tuple(found) for key, found in values.per_class.items()},
    )


def _matrix(counts: ArrayLike, names: tuple[str, ...]) -> ConfusionMatrix:
    return ConfusionMatrix(np.array(counts, np.int64), LabelSet(names))


def skin_lesions() -> ConfusionMatrix:
    """Seven classes, one large, the smallest never found."""
    return _matrix(LESION_COUNTS, LESIONS)


def always_the_same() -> ConfusionMatrix:
    """Three classes of which one is always answered, and one does not occur at all."""
    return _matrix([[0, 10, 0], [0, 90, 0], [0, 0, 0]], ("rare", "common", "absent"))


def hostile() -> ConfusionMatrix:
    """Class names that are code somewhere."""
    size = len(HOSTILE_NAMES)
    return _matrix(np.eye(size, dtype=np.int64) * 7 + 1, HOSTILE_NAMES)


def many_classes(n_classes: int) -> ConfusionMatrix:
    """A diagonal with neighbours that are confused."""
    counts = np.eye(n_classes, dtype=np.int64) * 80 + np.eye(n_classes, k=1, dtype=np.int64) * 9
    return _matrix(counts, tuple(f"class {code}" for code in range(n_classes)))


def work(state: str, error: str | None = None) -> EvaluationWork:
    """Work that was asked for 12 seconds ago."""
    asked_at = NOW - timedelta(seconds=12)
    if state == "dead":
        return EvaluationWork(481, "dead", asked_at, 5, error)
    return EvaluationWork(481, "doing" if state == "doing" else "todo", asked_at, 0, error)

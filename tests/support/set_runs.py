"""Runs whose cases carry sets of labels, for tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.metrics.multilabel.sets import pack_sets
from offdiag.metrics.multilabel_runs.paired import PairedSets
from offdiag.store.database import Database
from offdiag.store.runs import RunRecord
from support.logging_runs import log

LABELS = ("sea", "sky", "sand", "boat")
TRUE_SETS = [{"sea", "sky"}, {"sea"}, set(), {"sand"}, {"sea", "boat"}, {"sky"}, set()]
PREDICTED_SETS = [{"sea"}, {"sea", "sky"}, {"sky"}, set(), {"sea", "boat"}, {"sand"}, set()]
IDS = [11, 12, 13, 14, 15, 16, 17]


def log_sets(database: Database, **given: Any) -> RunRecord:
    """Log seven sets of four labels, or whatever is given instead."""
    facts = {"dataset": "photos", "y_true": TRUE_SETS, "y_pred": PREDICTED_SETS, "labels": LABELS}
    return log(database, **(facts | given))


def random_sets(
    n_cases: int, n_labels: int, *, seed: int = 1, wrong: float = 0.15
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """True and predicted indicators (n_cases, n_labels); early labels are frequent."""
    rng = np.random.default_rng(seed)
    share = 0.6 / np.arange(1, n_labels + 1)
    true = rng.random((n_cases, n_labels)) < share
    return true, true ^ (rng.random((n_cases, n_labels)) < wrong)


def paired_runs(actual: NDArray[np.bool_], *predicted: NDArray[np.bool_]) -> PairedSets:
    """Runs on the same samples from indicators (n, q)."""
    names = tuple(f"label {code:02}" for code in range(actual.shape[1]))
    return PairedSets(pack_sets(actual), tuple(map(pack_sets, predicted)), LabelSet(names))

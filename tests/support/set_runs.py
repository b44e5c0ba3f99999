"""Runs whose cases carry sets of labels, for tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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

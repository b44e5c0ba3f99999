"""What the reference pages say of intervals, beside what is computed."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.catalogue import CATALOGUE, Scope
from offdiag.metrics.catalogue.interval_methods import interval_method
from offdiag.metrics.intervals.scores import score_intervals
from offdiag.metrics.intervals.suite import suite_intervals
from support.forecasts import of_event
from support.matrices import matrix_of

WORDS = {
    "wilson": "Wilson's, of a binomial",
    "wilson, transformed": "Wilson's, of the binomial",
    "wilson ends combined (MOVER)": "MOVER",
    "posterior draws": "posterior",
    "multinomial bootstrap, shifted": "shifted",
    "multinomial bootstrap": "resampled matrices",
    "newcombe": "Newcombe",
    "two-sample": "Kolmogorov-Smirnov bound",
    "delta, logit": "Student's t of (positive cases",
    "student t, log": "log scale",
    "consistency": "consistency resampling",
    "row bootstrap, reflected": "reflected",
}


def said_of(method: str) -> str:
    """The words that a method is described by: those of the longest beginning that fits."""
    return WORDS[max((start for start in WORDS if method.startswith(start)), key=len)]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_pages_name_the_method_of_each_metric_of_a_matrix(n_classes: int) -> None:
    counts = np.full((n_classes, n_classes), 5) + 30 * np.eye(n_classes, dtype=np.int64)
    found = suite_intervals(matrix_of(counts, ordinal=True), seed=1, replicates=20)

    for scope, intervals in (
        (Scope.AGGREGATE, found.aggregate),
        (Scope.PER_CLASS, found.per_class),
    ):
        for key, spec in CATALOGUE[scope].items():
            text = interval_method(spec)
            if key in intervals:
                assert said_of(intervals[key].method) in text, key
            elif key not in ("roc_auc", "average_precision"):
                assert text.startswith("None"), key


def test_pages_name_the_method_of_each_metric_of_scores() -> None:
    p = np.round(np.random.default_rng(1).random(60), 1).clip(0.1, 0.9)
    found = score_intervals(of_event([0, 1] * 30, p.tolist()), seed=1)

    for key, interval in found.items():
        assert said_of(interval.method) in interval_method(CATALOGUE[Scope.PROBABILISTIC][key]), (
            key
        )

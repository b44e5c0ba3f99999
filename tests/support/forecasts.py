"""Small sets of forecasts for tests, and slow exact definitions of what is measured on them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.ranking import RankedScores, rank_scores


def ranked(actual: Sequence[int], scores: Sequence[float]) -> RankedScores:
    """Scores of positive (1) and negative (0) cases."""
    return rank_scores(np.array(actual, dtype=np.bool_), np.array(scores, dtype=np.float64))


def ranked_apart(positive: NDArray[np.float64], negative: NDArray[np.float64]) -> RankedScores:
    """Scores of positive and of negative samples."""
    is_positive = np.repeat([True, False], [len(positive), len(negative)])
    return rank_scores(is_positive, np.concatenate([positive, negative]))


def of_table(actual: NDArray[Any], table: NDArray[np.float64]) -> Forecasts:
    """Codes (n,) and a score for every class, (n, K)."""
    return Forecasts(actual, table, n_classes=table.shape[1])


def of_event(actual: Sequence[int], scores: Sequence[float]) -> Forecasts:
    """Two classes, of which class 1 is positive and alone has scores."""
    column = np.array(scores, dtype=np.float64).reshape(-1, 1)
    return Forecasts(np.array(actual, dtype=np.uint8), column, n_classes=2, positive=1)


def of_classes(
    actual: Sequence[int], scores: Sequence[Sequence[float]], positive: int | None = None
) -> Forecasts:
    """A score for every class."""
    table = np.array(scores, dtype=np.float64)
    return Forecasts(
        np.array(actual, dtype=np.uint8), table, n_classes=table.shape[1], positive=positive
    )


def exact_auc(actual: Sequence[int], scores: Sequence[float]) -> Fraction:
    """Share of (positive, negative) pairs in order, ties counting one half."""
    wins = [
        Fraction(1 if high > low else 0) if high != low else Fraction(1, 2)
        for high, is_positive in zip(scores, actual, strict=True)
        if is_positive
        for low, other in zip(scores, actual, strict=True)
        if not other
    ]
    return sum(wins, Fraction(0)) / len(wins)


def exact_average_precision(actual: Sequence[int], scores: Sequence[float]) -> Fraction:
    """Precision at each distinct threshold times the recall gained there."""
    total, seen = Fraction(0), 0
    for threshold in sorted(set(scores), reverse=True):
        reported = [hit for hit, score in zip(actual, scores, strict=True) if score >= threshold]
        hits = sum(reported)
        total += Fraction(hits - seen, sum(actual)) * Fraction(hits, len(reported))
        seen = hits
    return total


def rates(
    actual: Sequence[int], scores: Sequence[float], threshold: float
) -> tuple[Fraction, Fraction]:
    """False and true positive rate when scores from the threshold up are reported."""
    reported = [score >= threshold for score in scores]
    pairs = list(zip(actual, reported, strict=True))
    n_positive = sum(actual)
    return (
        Fraction(sum(not hit and yes for hit, yes in pairs), len(actual) - n_positive),
        Fraction(sum(bool(hit) and yes for hit, yes in pairs), n_positive),
    )

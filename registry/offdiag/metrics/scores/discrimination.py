"""How well scores separate classes: areas under the curve, average precision, Kolmogorov-Smirnov.

Nothing here needs probabilities: only the order of the scores counts.

With several classes an area compares one class with the rest, or one with one. Both follow
from one table of whole numbers: how often a sample of class i beats one of class j when both are
judged by the score for i.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.ranked_cells import Ranking
from offdiag.metrics.scores.ranking import SAMPLES_PER_BLOCK, RankedScores, undefined_if_one_sided
from offdiag.metrics.spec import OF_SCORES, MetricSpec


def roc_auc(ranked: Ranking) -> MetricValue:
    """Probability that a positive sample scores higher than a negative one, ties counting 1/2.

    The Mann-Whitney statistic over its maximum, exact until one final division; 0 to 1, and
    below 1/2 when the scores point the wrong way. Undefined unless both kinds of samples exist
    (Hanley and McNeil 1982).
    """
    undefined = undefined_if_one_sided(ranked)
    if undefined is not None:
        return undefined
    pairs = ranked.n_positive * ranked.n_negative
    return MetricValue(ranked.sums.doubled_wins / (2 * pairs))


def average_precision(ranked: Ranking) -> MetricValue:
    """Precision at each distinct threshold, weighted by the recall gained there; 0 to 1.

    A sum of steps, not of trapezoids, which would be too optimistic (Davis and Goadrich 2006).
    Undefined without positive samples.
    """
    if ranked.n_positive == 0:
        return MetricValue(None, Reason.NO_ACTUAL_POSITIVES.value)
    return MetricValue(ranked.sums.precision_sum / ranked.n_positive)


def ks(ranked: Ranking) -> MetricValue:
    """Largest gap between the score distributions of positive and negative samples; 0 to 1.

    The two-sample Kolmogorov-Smirnov statistic, which is also the largest |TPR - FPR| over all
    thresholds. Undefined unless both kinds of samples exist.
    """
    undefined = undefined_if_one_sided(ranked)
    if undefined is not None:
        return undefined
    return MetricValue(ranked.sums.largest_gap / (ranked.n_positive * ranked.n_negative))


@dataclass(frozen=True, eq=False)
class PairwiseWins:
    """`doubled[i, j]`: for each sample of class i and each sample of class j, 2 if the first has
    the higher score for i, 1 for a tie. int64 (K, K); the diagonal is not used. `support` is (K,).
    """

    doubled: NDArray[np.int64]
    support: NDArray[np.int64]


def pairwise_wins(forecasts: Forecasts) -> PairwiseWins:
    """Compare all pairs of samples; each class needs a column of scores."""
    return forecasts.once("wins", lambda: _pairwise_wins(forecasts))


def _pairwise_wins(forecasts: Forecasts) -> PairwiseWins:
    n_classes = forecasts.n_classes
    support = forecasts.support
    doubled = np.zeros((n_classes, n_classes), dtype=np.int64)
    for code in np.flatnonzero(support).tolist():
        classes = forecasts.actual[forecasts.order(code)]
        beaten_by = samples_beaten_by(forecasts.ranked(code))
        # Sums of whole numbers in double precision are exact as long as a block is short.
        for start in range(0, len(classes), SAMPLES_PER_BLOCK):
            part = slice(start, start + SAMPLES_PER_BLOCK)
            won = np.bincount(classes[part], weights=beaten_by[part], minlength=n_classes)
            doubled[code] += won.astype(np.int64)
    return PairwiseWins(doubled, support)


def samples_beaten_by(ranked: RankedScores) -> NDArray[np.int64]:
    """For each sample in order, twice the number of positives that beat it, ties counting 1."""
    parts = []
    for block in ranked.blocks():
        above = 2 * (ranked.n_positive - block.positives_below) - block.positive
        parts.append(np.repeat(above, block.positive + block.negative))
    return np.concatenate(parts)


def auc_averages(wins: PairwiseWins) -> Mapping[str, MetricValue]:
    """`roc_auc_{ovr,ovo}_{macro,weighted}`.

    One against one is the mean of both directions of a pair (Hand and Till 2001), which then
    counts once (macro) or by its number of samples (weighted). All are undefined if any
    class has no sample: leaving it out, or counting it as 0, would compare different things.
    """
    keys = [
        f"roc_auc_{kind}_{average}" for kind in ("ovr", "ovo") for average in ("macro", "weighted")
    ]
    support = wins.support.tolist()
    if not all(support) or len(support) < 2:
        reason = Reason.CLASS_VALUE_UNDEFINED if len(support) > 1 else Reason.TOO_FEW_CLASSES
        return {key: MetricValue(None, reason.value) for key in keys}
    total = sum(support)
    against_rest = [
        _beaten(row, code) / (2 * cases * (total - cases))
        for code, (row, cases) in enumerate(zip(wins.doubled.tolist(), support, strict=True))
    ]
    pairs = list(combinations(range(len(support)), 2))
    against_one = [
        (int(wins.doubled[i, j]) + int(wins.doubled[j, i])) / (4 * support[i] * support[j])
        for i, j in pairs
    ]
    pair_weights = [support[i] + support[j] for i, j in pairs]
    values: tuple[float, ...] = (
        float(np.average(against_rest)),
        float(np.average(against_rest, weights=support)),
        float(np.average(against_one)),
        float(np.average(against_one, weights=pair_weights)),
    )
    return {key: MetricValue(value) for key, value in zip(keys, values, strict=True)}


def _beaten(row: list[int], code: int) -> int:
    """Doubled wins of a class against all others."""
    return sum(row) - row[code]


_ONE_SIDED = {
    Reason.NO_ACTUAL_POSITIVES: "no example is positive",
    Reason.NO_ACTUAL_NEGATIVES: "every example is positive",
}

_ABSENT_CLASS = {
    Reason.CLASS_VALUE_UNDEFINED: "a declared class has no example",
    Reason.TOO_FEW_CLASSES: "only one class is declared",
}

_PAIRS_IN_CELLS = {
    Reason.FORECASTS_IN_CELLS: "scores were counted for each class against the rest, not in pairs"
}

_ORDER_ONLY = ("the scores, except for their order", "the share of positive examples")

_AVERAGED_AREA = (
    "DeLong's variance of the average, on the logit scale. No ends with fewer than 5 examples in "
    "the smallest class."
)
_MANN_WHITNEY = "Hanley and McNeil 1982, The meaning and use of the area under a ROC curve"

_HAND_TILL = "Hand and Till 2001, A simple generalisation of the area under the ROC curve"


def _averaged(kind: str, average: str) -> MetricSpec:
    parts = {
        "ovr": ("one-vs-rest", "classes", "the examples of the class", _MANN_WHITNEY),
        "ovo": ("one-vs-one", "pairs of classes", "the examples of the pair", _HAND_TILL),
    }
    versus, over, weight, source = parts[kind]
    weighting = "with equal weight" if average == "macro" else f"weighted by {weight}"
    return OF_SCORES(
        key=f"roc_auc_{kind}_{average}",
        interval=_AVERAGED_AREA,
        title=f"ROC AUC ({average}, {versus})",
        formula=f"mean over {over} of the area {versus}, {weighting}",
        source=source,
        undefined_when=_ABSENT_CLASS if kind == "ovr" else _ABSENT_CLASS | _PAIRS_IN_CELLS,
        ignores=("the scores, except for their order",),
        other_names={
            "scikit-learn": f"roc_auc_score(multi_class='{kind}', average='{average}')",
            "torchmetrics": "multiclass_auroc (an absent class counts 0.0 there)"
            if kind == "ovr"
            else "none",
        },
        notes="The value of a pair is the mean of its two directions." if kind == "ovo" else "",
    )


SPECS: tuple[MetricSpec, ...] = (
    OF_SCORES(
        key="roc_auc",
        interval="Newcombe's score interval (method 5), which also works at 1. No ends with fewer "
        "than 5 examples in the smaller class.",
        title="ROC AUC",
        formula="share of (positive, negative) pairs where the positive example scores higher, "
        "ties counting 1/2",
        source=_MANN_WHITNEY,
        symbol="AUC",
        undefined_when=_ONE_SIDED,
        ignores=_ORDER_ONLY,
        other_names={
            "scikit-learn": "roc_auc_score",
            "SciPy": "mannwhitneyu statistic / (P N)",
            "PyCM": "none (its AUC is balanced accuracy)",
        },
        notes="Below 0.5, the scores rank the classes the wrong way round, for example because "
        "they are the scores of the other class.",
    ),
    OF_SCORES(
        key="average_precision",
        interval="The delta method on the logit scale, with Student's t of (positive examples - "
        "1) degrees of freedom. Unreliable with fewer than 20 examples in the smaller class, no "
        "ends with fewer than 5.",
        title="Average precision",
        formula="sum over distinct thresholds of precision times the increase in recall",
        source="Davis and Goadrich 2006, The relationship between precision-recall and ROC curves",
        symbol="AP",
        undefined_when={Reason.NO_ACTUAL_POSITIVES: "no example is positive"},
        ignores=("the scores, except for their order",),
        other_names={
            "scikit-learn": "average_precision_score (0.0 without positive examples)",
        },
        notes="Scores without skill reach the share of positive examples. The trapezoidal area "
        "under the precision-recall curve is a different, larger number.",
    ),
    OF_SCORES(
        key="ks",
        interval="The two-sample Kolmogorov-Smirnov bound, value -+ 1.358 sqrt(1/m + 1/n) for m "
        "and n examples of the two classes. It is valid but wide; scores without skill stay below "
        "1.358 sqrt(1/m + 1/n).",
        title="KS statistic",
        formula="max over thresholds of |TPR - FPR|",
        source="Smirnov 1948, Table for estimating the goodness of fit of empirical distributions",
        symbol="KS",
        undefined_when=_ONE_SIDED,
        ignores=_ORDER_ONLY,
        other_names={"SciPy": "ks_2samp statistic"},
        notes="Also large for scores that rank the classes the wrong way round.",
    ),
    *(_averaged(kind, average) for kind in ("ovr", "ovo") for average in ("macro", "weighted")),
)

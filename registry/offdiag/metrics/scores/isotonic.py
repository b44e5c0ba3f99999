"""Components of the Brier score by isotonic regression (CORP), which needs no bins.

For an event with outcomes y let c be the isotonic regression of y on its probabilities p, found by
pooling adjacent violators: the calibrated forecasts that keep the order of p. With the mean score
S of p, S_c of c and S_r of the share r of events

    miscalibration = S - S_c,  discrimination = S_r - S_c,  uncertainty = S_r,

none is negative and S = miscalibration - discrimination + uncertainty. Dimitriadis, Gneiting and
Jordan 2021, Stable reliability diagrams for probabilistic classifiers, PNAS 118(8) e2016191118,
for one event. Here the components are added over classes, each against the rest, and so are on
the scale of `brier_sum`: with two classes they are twice those of the event.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.losses import loss_moments
from offdiag.metrics.scores.ranked_cells import RankedCells, Ranking
from offdiag.metrics.spec import NOT_PROBABILITIES, OF_SCORES, Direction, MetricSpec

MISCALIBRATION, DISCRIMINATION = "brier_miscalibration", "brier_discrimination"

Counts = NDArray[np.int64]


def isotonic_parts(forecasts: Forecasts) -> Mapping[str, MetricValue]:
    """Both components for probabilities of at least one sample, by key."""
    share = forecasts.support / forecasts.n_samples
    positive = forecasts.positive
    if forecasts.has_all_columns or positive is None:
        explained = sum(explained_share(forecasts.ranked(k)) for k in range(forecasts.n_classes))
    else:
        explained = of_two(explained_share(forecasts.ranked(positive)), float(share[positive]))
    return parts_of(
        loss_moments(forecasts).squared.mean,
        explained,
        concentration=float(np.square(share).sum()),
    )


def parts_of(score: float, explained: float, *, concentration: float) -> dict[str, MetricValue]:
    """Both components from `brier_sum`, the summed `explained_share` and squared class shares.

    The score of the regressions is 1 - `explained`, the uncertainty 1 - `concentration`.
    """
    return {
        # Differences of equal numbers may be rounded below zero.
        MISCALIBRATION: MetricValue(max(0.0, score - (1 - explained))),
        DISCRIMINATION: MetricValue(max(0.0, explained - concentration)),
    }


def of_two(explained: float, share: float) -> float:
    """The explained share summed over two classes, from that of the class with this share.

    The regression of 1 - p for the other class is 1 - c, from which its mean square follows.
    """
    return 1 - 2 * share + 2 * explained


def explained_share(ranked: Ranking) -> float:
    """Mean square of the isotonic regression of an event on its scores, 0 to 1.

    The regression is the mean of each of its levels, so the score of one event is its share
    minus this; over classes the shares add up to 1.
    """
    positive, size = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for block in ranked.blocks():
        # Violators within a block also violate the order overall: levels only ever merge.
        pooled = levels(block.positive, block.positive + block.negative)
        positive = np.concatenate([positive, pooled[0]])
        size = np.concatenate([size, pooled[1]])
    return _mean_square(positive, size)


def explained_range(event: RankedCells) -> tuple[float, float]:
    """The least and greatest possible `explained_share` of scores counted in cells.

    The least treats a cell as one score, which only rules regressions out. For the greatest, the
    negative samples of a cell of several scores come before its positive ones: if they are sorted
    like that, the regression of any other order within cells is as good or better.
    """
    tied = explained_share(event)
    if not event.is_open.any():
        return tied, tied
    first = np.where(event.is_open, event.negative, event.negative + event.positive)
    events = np.where(event.is_open, 0, event.positive)
    size = np.column_stack([first, event.negative + event.positive - first]).reshape(-1)
    positive = np.column_stack([events, event.positive - events]).reshape(-1)
    return tied, _mean_square(positive[size > 0], size[size > 0])


def levels(positive: Counts, size: Counts) -> tuple[Counts, Counts]:
    """Events and samples of each level of the regression, (l,), in ascending order.

    `positive` and `size` (m,) are those of m distinct scores, ascending, each of at least one
    sample. The order of pooling does not matter: all adjacent violators are pooled at once as
    long as that removes many, then the rest one after the other, so the time is linear in m.
    """
    # SciPy has this too, in a package that takes longer to import than a million scores take here.
    while len(size) > 1:
        share = positive / size
        starts = np.flatnonzero(np.append(True, share[1:] > share[:-1]))
        if len(starts) == len(size):
            return positive, size
        takes_few = len(starts) > _MANY_LEFT * len(size)
        positive, size = np.add.reduceat(positive, starts), np.add.reduceat(size, starts)
        if takes_few:
            return _pooled_one_by_one(positive.tolist(), size.tolist())
    return positive, size


_MANY_LEFT = 0.9
"""Share of scores left above which pooling all violators at once removes too few."""


def _pooled_one_by_one(positive: list[int], size: list[int]) -> tuple[Counts, Counts]:
    kept: list[tuple[int, int]] = []
    for events, samples in zip(positive, size, strict=True):
        while kept and kept[-1][0] * samples >= events * kept[-1][1]:
            before = kept.pop()
            events, samples = events + before[0], samples + before[1]  # noqa: PLW2901
        kept.append((events, samples))
    pooled = np.array(kept, np.int64)
    return pooled[:, 0], pooled[:, 1]


def _mean_square(positive: Counts, size: Counts) -> float:
    positive, size = levels(positive, size)
    return float((np.square(positive.astype(np.float64)) / size).sum()) / int(size.sum())


_CORP = (
    "Dimitriadis, Gneiting and Jordan 2021, Stable reliability diagrams for probabilistic "
    "classifiers"
)
_NONE = (
    "None. Noise increases the value, and isotonic regression converges at a rate of n^(-1/3) "
    "without a normal limit, so neither the delta method nor resampling has correct coverage. For "
    "a test of calibration, see `ece_positive_15`."
)
_BOTH = (
    "The regression pools adjacent violators. With more than two classes, each class is fitted "
    "against the rest. brier_sum = miscalibration - discrimination + uncertainty."
)

SPECS: tuple[MetricSpec, ...] = (
    OF_SCORES(
        key=MISCALIBRATION,
        interval=_NONE,
        title="Brier miscalibration (isotonic regression)",
        formula="brier_sum of the probabilities - brier_sum of their isotonic regression",
        high=2,
        direction=Direction.LOWER,
        source=_CORP,
        undefined_when=NOT_PROBABILITIES,
        ignores=("how well the scores separate the classes",),
        other_names={"R reliabilitydiag": "miscalibration, half of this for two classes"},
        notes="How much calibration could improve the score; 0 if the scores equal their own "
        f"isotonic regression. {_BOTH}",
    ),
    OF_SCORES(
        key=DISCRIMINATION,
        interval=_NONE,
        title="Brier discrimination (isotonic regression)",
        formula="brier_uncertainty - brier_sum of the isotonic regression of the probabilities",
        source=_CORP,
        undefined_when=NOT_PROBABILITIES,
        ignores=("how well the scores are calibrated",),
        other_names={"R reliabilitydiag": "discrimination, half of this for two classes"},
        notes=f"Depends only on the order of the scores. {_BOTH}",
    ),
)

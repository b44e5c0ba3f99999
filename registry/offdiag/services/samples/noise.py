"""Label noise: how wrong labels could change accuracy, recall and the ranking of models."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.runs import Task
from offdiag.errors import Conflict, InvalidInput
from offdiag.metrics.label_errors.noise import bounds_under_noise, most_wrong_labels
from offdiag.services.lru_cache import LruCache
from offdiag.services.samples.suspects import Family, RankedDataset, ranked_dataset
from offdiag.services.truth.versions import version_of
from offdiag.store.database import Database
from offdiag.store.dataset_page import DatasetSize, dataset_size
from offdiag.store.datasets import DatasetRecord, dataset_named

USUAL_SHARE = 0.03
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class NoisyRecall:
    """The recall of a class on the present labels, and its bounds under the estimated noise."""

    label: str
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class NoisyModel:
    """The best run of a model. Bounds of accuracy are None if noise cannot be estimated.

    `any_low` to `any_high` hold for any wrong labels up to the requested share, and `rank_low` to
    `rank_high` are the possible ranks for these, 1 being the most accurate model.
    """

    family: Family
    accuracy: float
    low: float | None
    high: float | None
    any_low: float
    any_high: float
    rank_low: int
    rank_high: int
    recalls: tuple[NoisyRecall, ...]


@dataclass(frozen=True, slots=True)
class NoisyPair:
    """A model and a less accurate one. With any wrong labels up to `share`, it still leads.

    `share` is None if the two cannot be distinguished even with correct labels.
    """

    leader: Family
    other: Family
    difference: float
    share: float | None


@dataclass(frozen=True)
class LabelNoise:
    """The possible effect of wrong labels on the models of a dataset, the most accurate one first.

    `estimated` is the estimated share of wrong labels, None for the reason in `missing`. It has no
    interval: it depends on the errors that all models share, which are not chance. Pairs hold
    simultaneously at the level 95 %.
    """

    dataset: DatasetRecord
    size: DatasetSize
    version: int
    n: int
    share: float
    estimated: float | None
    missing: str | None
    models: tuple[NoisyModel, ...]
    pairs: tuple[NoisyPair, ...]
    weighted: tuple[str, ...] = ()
    """Models that are left out because their runs have sample weights: labels are counted."""


def label_noise(
    database: Database,
    *,
    project: str,
    dataset: str,
    share: float = USUAL_SHARE,
    kept: LruCache[RankedDataset] | None = None,
) -> LabelNoise:
    """How much wrong labels matter for the best run of each model.

    The noise matrix is that of confident learning (Northcutt et al. 2021, equation 3) from the
    mean probabilities of the models. Raises `NotFound`, `InvalidInput` for a share outside 0 to
    0.5, and `Conflict` for sets of labels.
    """
    if not 0 <= share <= 0.5:
        raise InvalidInput(
            f"{share} is not a share of wrong labels.", field="share", hint="Give 0 to 0.5."
        )
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        truth = version_of(session, known, None)
        if known.task is Task.MULTILABEL:
            raise Conflict(
                "samples with sets of labels have no noise matrix.",
                field="dataset",
                hint="Label noise is reported for samples with one class each.",
            )
        found, _ = ranked_dataset(session, known, truth, kept)
        size = dataset_size(session, known.id)
    n, names = len(found.labels), known.labels.names
    pairs = noisy_pairs(found)
    noise, missing = _matrix(found, len(names))
    n_wrong = round_down(share, n)
    models = tuple(
        _model(at, found, pairs, n_wrong, _bounds(at, found, names, noise)) for at in _order(found)
    )
    estimated = None if noise is None else 1 - float(np.trace(noise))
    weighted = tuple(family.name for family in found.families if family.is_weighted)
    return LabelNoise(
        known, size, truth.number, n, share, estimated, missing, models, pairs, weighted
    )


def round_down(share: float, n: int) -> int:
    """How many of n labels a share is, without the rounding error of 0.03 x 100."""
    return int(share * n + 1e-9)


def _order(found: RankedDataset) -> list[int]:
    """The positions of the models without weights, the most accurate one first."""
    right = [int((predicted == found.labels).sum()) for predicted in found.predicted]
    counted = [at for at, family in enumerate(found.families) if not family.is_weighted]
    return sorted(counted, key=lambda at: -right[at])


def _matrix(found: RankedDataset, n_classes: int) -> tuple[NDArray[np.float64] | None, str | None]:
    if not found.families:
        return None, "No run predicts the samples better than their largest class does."
    if all(family.is_weighted for family in found.families):
        return None, "All models have sample weights, which label noise does not count."
    if found.ranked is None or not any(each.has_probabilities for each in found.families):
        return None, "No model has probabilities, so the noise cannot be estimated."
    confident = found.ranked.confident
    counts = np.bincount(found.labels, minlength=n_classes).astype(np.int64)
    unsure = np.flatnonzero((counts > 0) & (confident.joint.diagonal() == 0))
    if len(unsure):
        return None, (
            f"The models are not confident of any example of {len(unsure)} of {n_classes} "
            "classes, so the noise cannot be estimated."
        )
    return confident.noise(counts), None


def noisy_pairs(found: RankedDataset) -> tuple[NoisyPair, ...]:
    """All pairs of models. Their best runs were selected, so all pairs of runs share the level."""
    n = len(found.labels)
    order = _order(found)
    chosen = list(combinations(order, 2))
    n_runs = [found.families[at].n_runs for at in order]
    n_pairs = sum(one * other for one, other in combinations(n_runs, 2))
    confidence = 1 - (1 - LEVEL) / max(n_pairs, 1)
    pairs = []
    for first, second in chosen:
        is_first, is_second = (found.predicted[at] == found.labels for at in (first, second))
        only_first, only_second = (
            int((is_first & ~is_second).sum()),
            int((is_second & ~is_first).sum()),
        )
        most = most_wrong_labels(only_first, only_second, n, confidence=confidence)
        pairs.append(
            NoisyPair(
                found.families[first],
                found.families[second],
                (only_first - only_second) / n,
                None if most < 0 else most / n,
            )
        )
    return tuple(pairs)


@dataclass(frozen=True, slots=True)
class _Bounds:
    low: float | None = None
    high: float | None = None
    recalls: tuple[NoisyRecall, ...] = ()


def _bounds(
    at: int, found: RankedDataset, names: tuple[str, ...], noise: NDArray[np.float64] | None
) -> _Bounds:
    if noise is None:
        return _Bounds()
    n_classes = len(names)
    cells = found.labels * n_classes + found.predicted[at]
    counts = np.bincount(cells, minlength=n_classes**2).reshape(n_classes, n_classes)
    bounds = bounds_under_noise(counts.astype(np.int64), noise)
    given = np.bincount(found.labels, minlength=n_classes)
    return _Bounds(
        bounds.low,
        bounds.high,
        tuple(
            NoisyRecall(
                name,
                float(counts[code, code] / given[code]) if given[code] else None,
                _finite(bounds.recall_low[code]),
                _finite(bounds.recall_high[code]),
            )
            for code, name in enumerate(names)
        ),
    )


def _model(
    at: int, found: RankedDataset, pairs: tuple[NoisyPair, ...], n_wrong: int, bounds: _Bounds
) -> NoisyModel:
    family, n = found.families[at], len(found.labels)
    n_ranked = sum(not each.is_weighted for each in found.families)
    right = int((found.predicted[at] == found.labels).sum())
    surely = [pair for pair in pairs if pair.share is not None and pair.share * n >= n_wrong - 0.5]
    return NoisyModel(
        family,
        right / n,
        bounds.low,
        bounds.high,
        max(right - n_wrong, 0) / n,
        min(right + n_wrong, n) / n,
        1 + sum(pair.other == family for pair in surely),
        n_ranked - sum(pair.leader == family for pair in surely),
        bounds.recalls,
    )


def _finite(value: np.float64) -> float | None:
    return float(value) if np.isfinite(value) else None

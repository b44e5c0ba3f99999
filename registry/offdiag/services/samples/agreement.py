"""How many models agree with the label of each sample, by the same votes as suspect labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.services.lru_cache import LruCache
from offdiag.services.samples.suspects import RankedDataset, ranked_dataset
from offdiag.store import truths
from offdiag.store.datasets import get_dataset
from offdiag.store.session import Session

WITHOUT_LABEL = -1


@dataclass(frozen=True, eq=False)
class AgreeingModels:
    """Of `n_models`, how many predict the label of each sample, (n_samples,) in truth order.

    It is `WITHOUT_LABEL` where there is none to agree with.
    """

    n_models: int
    by_place: NDArray[np.int64]


def agreeing_models(
    session: Session, truth_id: int, kept: LruCache[RankedDataset] | None
) -> AgreeingModels:
    """Count the best run of each model that agrees with the labels of a version.

    Which models have a vote is what `suspect_labels` says of it.
    """
    truth = truths.get_truth(session, truth_id)
    found, _ = ranked_dataset(session, get_dataset(session, truth.dataset_id), truth, kept)
    by_place = np.full(truth.n_samples, WITHOUT_LABEL, np.int64)
    by_place[found.places] = sum(
        (predicted == found.labels for predicted in found.predicted),
        start=np.zeros(len(found.labels), np.int64),
    )
    return AgreeingModels(len(found.predicted), by_place)

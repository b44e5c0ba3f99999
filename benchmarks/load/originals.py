"""Runs that are logged and evaluated by the product itself, a few on each dataset."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from load.plan import SeededDataset
from offdiag.domain.runs import RunFacts
from offdiag.services.ingest.batch import Predictions
from offdiag.services.ingest.log_predictions import log_predictions
from offdiag.services.jobs.attempts import RetryPolicy
from offdiag.services.jobs.leases import LeaseKeeper
from offdiag.services.jobs.run_job import run_next_job
from offdiag.store.database import Database

Codes = NDArray[np.int64]
MODELS = ("gradient boosting", "logistic regression", "random forest", "small transformer")


@dataclass(frozen=True, slots=True)
class Originals:
    """Ids of the runs of one dataset that were logged, and the truth that they share."""

    dataset: SeededDataset
    run_ids: tuple[str, ...]
    truth: Codes


def log_originals(database: Database, dataset: SeededDataset, n_originals: int) -> Originals:
    """Log and evaluate runs of models that share most of their errors, as models do."""
    rng = np.random.default_rng([11, dataset.place])
    truth = _truth(rng, dataset)
    hard = rng.random(dataset.n_samples) < rng.uniform(0.03, 0.25)
    lure = rng.integers(0, dataset.n_classes, dataset.n_samples)
    labels = [f"class {code}" for code in range(dataset.n_classes)]
    names = np.array(labels)
    run_ids = []
    for number in range(min(n_originals, dataset.n_runs)):
        run = log_predictions(
            database,
            facts=RunFacts(
                project=dataset.project,
                name=run_name(dataset, number),
                model=MODELS[number % len(MODELS)],
                params={"depth": 2 + number, "rate": 0.1 / (1 + number)},
                tags={"team": f"team {number % 4}", "stage": "seeded"},
                author="seed",
            ),
            dataset=dataset.name,
            given=Predictions(
                y_true=names[truth],
                y_pred=names[_answers(rng, truth, hard, lure)],
                labels=labels,
            ),
        )
        run_ids.append(run.id)
    work_off(database)
    return Originals(dataset, tuple(run_ids), truth)


def run_name(dataset: SeededDataset, number: int) -> str:
    return f"run {dataset.place:03d}-{number:04d}"


def work_off(database: Database) -> None:
    """Do all due work in this process, as `offdiag worker` does it."""
    with LeaseKeeper(database, lease_s=60) as keeper:
        while run_next_job(database, keeper, RetryPolicy()) is not None:
            pass


def _truth(rng: np.random.Generator, dataset: SeededDataset) -> Codes:
    """Classes of very different sizes, each of which has a few cases."""
    shares = 0.5 ** np.arange(dataset.n_classes)
    drawn = rng.choice(dataset.n_classes, dataset.n_samples, p=shares / shares.sum())
    drawn[: dataset.n_classes] = np.arange(dataset.n_classes)
    return drawn


def _answers(
    rng: np.random.Generator, truth: Codes, hard: NDArray[np.bool_], lure: Codes
) -> Codes:
    own = rng.random(len(truth)) < rng.uniform(0.02, 0.12)
    noise = rng.integers(0, truth.max() + 1, len(truth))
    drawn = hard & (rng.random(len(truth)) < 0.9)
    found: Codes = np.where(drawn, lure, np.where(own, noise, truth))
    return found

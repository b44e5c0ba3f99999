"""A registry of runs to compare, shared by tests that only read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offdiag.domain.runs import RunFacts
from offdiag.store.database import Database
from support.dashboard import HOSTILE_NAMES, log_counts, open_lesions
from support.logging_runs import log, upload_matrix, work_off
from support.two_models import (
    ALMOST_FOCAL,
    CLASSES,
    COUNTRIES,
    FOCAL,
    PLAIN,
    TRUTH,
    answers,
    log_model,
    sample_names,
    scores_for,
)

N_ALIKE = 9
N_CLASSES = 40


@dataclass(frozen=True)
class ComparedRegistry:
    """Ids of runs by what they are; all but the last ones predicted the same examples."""

    database: Database
    plain: str
    focal: str
    almost: str
    matrix: str
    alike: tuple[str, ...]
    """Runs that differ by chance only."""
    still_open: str
    elsewhere: str
    part: str
    other_part: str
    hostile: str
    more_hostile: str
    most_hostile: str
    large: str
    larger: str
    """Runs on more classes than a table holds."""

    @property
    def pair(self) -> str:
        return f"runs={self.plain},{self.focal}"

    def runs(self, *names: str) -> str:
        """A query that names runs by their attributes."""
        return f"runs={','.join(getattr(self, name) for name in names)}"


def fill_compared(database: Database) -> ComparedRegistry:
    """Log runs of all kinds into an empty registry."""
    known = {
        "plain": _model(database, PLAIN, "plain CE", params={"loss": "ce", "lr": 0.1}),
        "focal": _model(database, FOCAL, "focal", params={"loss": "focal", "lr": 0.1}),
        "almost": _model(database, ALMOST_FOCAL, "almost focal", params={"loss": "focal"}),
        "part": _part(database, slice(0, 150)),
        "other_part": _part(database, slice(20, None)),
        "hostile": _hostile(database, seed=1),
        "more_hostile": _hostile(database, seed=2),
        "most_hostile": _hostile(database, seed=3),
        "large": _large(database, seed=1),
        "larger": _large(database, seed=2),
        "elsewhere": log_counts(database, [[3, 1], [1, 3]], ("yes", "no"), name="elsewhere"),
        "still_open": open_lesions(database),
    }
    counts = [[60, 30, 30], [10, 20, 10], [5, 5, 10]]
    matrix = upload_matrix(database, counts, list(CLASSES), name="from a paper", dataset="derm")
    alike = tuple(
        _model(database, answers(wrong=(0.2, 0.2, 0.2), seed=seed), f"seed {seed}")
        for seed in range(N_ALIKE)
    )
    work_off(database)
    return ComparedRegistry(database, matrix=matrix.id, alike=alike, **known)


def _model(database: Database, predicted: list[str], name: str, **facts: object) -> str:
    run = log_model(
        database,
        predicted,
        name=name,
        sample_ids=sample_names(),
        slices={"country": COUNTRIES},
        y_score=scores_for(predicted) if name in {"plain CE", "focal"} else None,
        facts=dict(facts),
    )
    return run.id


def _part(database: Database, part: slice) -> str:
    run = log_model(
        database,
        FOCAL[part],
        name="part",
        dataset="parts",
        truth=TRUTH[part],
        sample_ids=sample_names()[part],
    )
    return run.id


def _hostile(database: Database, *, seed: int) -> str:
    """Names that are code somewhere: of run, dataset, classes, examples, parameters, slices."""
    rng = np.random.default_rng(seed)
    names = list(HOSTILE_NAMES)
    truth = [names[place % len(names)] for place in range(60)]
    predicted = [each if rng.random() < 0.6 else names[rng.integers(len(names))] for each in truth]
    run = log(
        database,
        y_true=truth,
        y_pred=predicted,
        labels=names,
        dataset=HOSTILE_NAMES[1],
        sample_ids=[f"{HOSTILE_NAMES[place % len(names)]} {place}" for place in range(60)],
        slices={HOSTILE_NAMES[0]: [names[place % 3] for place in range(60)]},
        facts=RunFacts(
            name=HOSTILE_NAMES[seed - 1],
            model=HOSTILE_NAMES[2],
            params={HOSTILE_NAMES[0]: seed, HOSTILE_NAMES[3]: HOSTILE_NAMES[seed]},
            tags={HOSTILE_NAMES[5]: HOSTILE_NAMES[seed]},
        ),
    )
    return run.id


def _large(database: Database, *, seed: int) -> str:
    rng = np.random.default_rng(seed)
    names = [f"class {code:02}" for code in range(N_CLASSES)]
    truth = np.arange(800) % N_CLASSES
    wrong = rng.random(800) < 0.1 * seed
    predicted = np.where(wrong, (truth + 1) % N_CLASSES, truth)
    run = log(
        database,
        y_true=[names[code] for code in truth],
        y_pred=[names[code] for code in predicted],
        labels=names,
        dataset="many classes",
        facts=RunFacts(name=f"large {seed}"),
    )
    return run.id

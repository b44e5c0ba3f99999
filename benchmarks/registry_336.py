"""A registry of 336 runs as after months of training: eight datasets, two models each.

    python benchmarks/registry_336.py sqlite:///registry.db

Every model gets better over its runs and worse again in the last ones. Some classes are rare, and
some are hardly found. The same call writes the same runs, half a week apart up to a fixed day.
`tests/services/problems_test.py` uses it to check how many lines the list of problems has.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.runs import RunFacts
from offdiag.flags.problems import folded
from offdiag.records.problem import chosen_problems
from offdiag.services.evaluation.results import evaluation_of
from offdiag.services.ingest.batch import Predictions
from offdiag.services.ingest.log_predictions import log_predictions
from offdiag.settings import JobsSettings
from offdiag.store.database import Database
from offdiag.store.problems import find_problems
from offdiag.store.schema import open_database

STEPS = 21
MOST_LINES = 40
BETWEEN = timedelta(days=3, hours=12)
LAST_DAY = datetime(2026, 11, 20, 9, tzinfo=UTC)
JOBS = JobsSettings(max_attempts=1, lease_s=60)


@dataclass(frozen=True, slots=True)
class Plan:
    """A dataset: classes with their shares, examples, models with the skill they reach.

    Classes in `hard` have their recall reduced by this much; errors fall on similar classes.
    """

    name: str
    shares: dict[str, float]
    n: int
    models: dict[str, float]
    hard: dict[str, float]
    sets: bool = False


GROUPS = ("tool", "toy", "fruit", "bird", "chair", "shoe", "lamp", "boat", "drum", "leaf")
COLOURS = ("red", "blue", "grey", "green", "white", "black", "brown", "pink", "gold", "teal")
PLANS = (
    Plan(
        "payments",
        {"fine": 0.96, "fraud": 0.04},
        2400,
        {"boosting": 0.8, "mlp": 0.6},
        {"fraud": 0.4},
    ),
    Plan(
        "renewals", {"stays": 0.88, "leaves": 0.12}, 1800, {"boosting": 0.75, "linear": 0.55}, {}
    ),
    Plan(
        "tickets",
        {"low": 0.6, "normal": 0.3, "urgent": 0.1},
        900,
        {"bert": 0.8, "tf-idf": 0.6},
        {"urgent": 0.25},
    ),
    Plan("reviews", {"bad": 0.3, "mixed": 0.2, "good": 0.5}, 1200, {"bert": 0.85, "llm": 0.8}, {}),
    Plan(
        "skin",
        {
            "nv": 0.67,
            "mel": 0.11,
            "bkl": 0.11,
            "bcc": 0.05,
            "akiec": 0.03,
            "vasc": 0.015,
            "df": 0.015,
        },
        1500,
        {"effnet": 0.8, "resnet": 0.75},
        {"df": 0.6, "mel": 0.2},
    ),
    Plan(
        "products",
        {
            "shirt": 0.2,
            "coat": 0.18,
            "shoe": 0.15,
            "boot": 0.12,
            "hat": 0.1,
            "sock": 0.08,
            "belt": 0.07,
            "scarf": 0.05,
            "bag": 0.03,
            "backpack": 0.02,
        },
        1500,
        {"vit": 0.85, "resnet": 0.7},
        {"backpack": 0.5, "scarf": 0.2},
    ),
    Plan(
        "objects",
        {f"{c} {g}": 0.01 for c in COLOURS for g in GROUPS},
        4000,
        {"vit": 0.8, "convnext": 0.7},
        {f"teal {g}": 0.35 for g in GROUPS},
    ),
    Plan(
        "photo tags",
        {"sky": 0.5, "people": 0.4, "sea": 0.3, "car": 0.2, "dog": 0.08, "night": 0.03},
        600,
        {"clip": 0.85, "swin": 0.75},
        {"night": 0.4},
        sets=True,
    ),
)


def fill(
    database: Database, *, plans: Sequence[Plan] = PLANS, steps: int = STEPS, share: float = 1.0
) -> None:
    """Log and evaluate the runs; a `share` of the examples gives a small registry."""
    usual = database.clock
    try:
        for plan in plans:
            _fill(database, plan, steps, max(60, int(plan.n * share)))
    finally:
        database.clock = usual


def _fill(database: Database, plan: Plan, steps: int, n: int) -> None:
    rng = np.random.default_rng(len(plan.name) * 1000 + len(plan.shares))
    names, shares = list(plan.shares), np.array(list(plan.shares.values()))
    hard = np.array([plan.hard.get(name, 0.0) for name in names])
    ids = [f"e{i:05d}" for i in range(n)]
    shown = np.array(names)
    actual: NDArray[Any]
    if plan.sets:
        actual = codes = (rng.random((n, len(names))) < shares).astype(int)
    else:
        codes = rng.choice(len(names), n, p=shares / shares.sum())
        actual = shown[codes]
    for step in range(steps):
        for model, best in plan.models.items():
            at = LAST_DAY - BETWEEN * (steps - 1 - step)
            database.clock = lambda at=at: at  # type: ignore[misc]
            skill = np.clip(_skill(step, steps, best) - hard, 0.02, 0.99)
            answers = (
                _answers_of_sets(rng, codes, skill)
                if plan.sets
                else shown[_answers(rng, codes, skill, shares)]
            )
            run = log_predictions(
                database,
                facts=RunFacts(
                    name=f"{model} {step + 1:02d}", model=model, params={"epoch": step + 1}
                ),
                dataset=plan.name,
                given=Predictions(
                    y_true=actual,
                    y_pred=answers,
                    sample_ids=ids,
                    labels=names,
                ),
            )
            evaluation_of(database, run.id, timeout_s=60, settings=JOBS)


def _skill(step: int, steps: int, best: float) -> float:
    """Rises to the best value at two thirds of the steps, and falls a little at the end."""
    x = step / max(steps - 1, 1)
    return best - 0.35 * max(0.0, 1 - x / 0.65) - 0.1 * max(0.0, (x - 0.65) / 0.35)


def _answers(
    rng: np.random.Generator, codes: NDArray[Any], skill: NDArray[Any], shares: NDArray[Any]
) -> NDArray[Any]:
    """Right by the skill of the class; wrong predictions fall on frequent classes."""
    k = len(shares)
    right = rng.random(len(codes)) < skill[codes] ** (1 - shares[codes])
    offered = rng.choice(k, len(codes), p=shares / shares.sum())
    wrong = np.where(
        offered == codes, (codes + 1 + rng.integers(0, k - 1, len(codes))) % k, offered
    )
    return np.asarray(np.where(right, codes, wrong))


def _answers_of_sets(
    rng: np.random.Generator, actual: NDArray[Any], skill: NDArray[Any]
) -> NDArray[Any]:
    draw = rng.random(actual.shape)
    return np.where(actual == 1, draw < skill, draw < 0.1 * (1 - skill)).astype(int)


def inbox_lines(database: Database) -> int:
    """How many lines the list of problems has when it is opened."""
    with database.read() as session:
        found = find_problems(session, now=database.clock())
    return len(folded(chosen_problems(found, state=None, low=False)))


if __name__ == "__main__":
    target = open_database(sys.argv[1], synchronous="normal")
    fill(target)
    listed = inbox_lines(target)
    target.close()
    print(f"{listed} lines in the list of problems, at most {MOST_LINES} wanted")
    sys.exit(listed > MOST_LINES)

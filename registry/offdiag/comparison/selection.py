"""What the highest of several runs is expected to reach on new examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.comparison import wording
from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue
from offdiag.metrics.catalogue import CATALOGUE, Direction, Scope
from offdiag.metrics.paired.selection import BestOfMany, Codes, Floats, best_of_many
from offdiag.metrics.suite import AGGREGATE_KEYS, evaluate_stack

FEWEST_RUNS = 3
MOST_PREDICTIONS = 10_000_000
"""Predictions of all runs together up to which the choice is corrected: some seconds."""
MOST_CELLS = 1_000_000
"""Cells of all matrices together, for the same reason."""


def best_by_metric(
    actual: Codes,
    predicted: Sequence[Codes],
    keys: Sequence[str],
    *,
    labels: LabelSet,
    seed: int,
) -> dict[str, BestOfMany]:
    """The best of three or more runs by each aggregate metric that has a better direction.

    `actual` and each of `predicted` are the codes of the same n samples. The values are those of
    the metric, also where lower is better. Empty where `is_small_enough` does not hold.
    """
    signs = {key: _sign(key) for key in keys if key in AGGREGATE_KEYS and _sign(key)}
    if not signs or not is_small_enough(len(actual), len(predicted), len(labels)):
        return {}

    def score(stack: NDArray[np.int64]) -> dict[str, Floats]:
        suite = evaluate_stack(stack, ordinal=labels.has_declared_order).aggregate
        return {key: sign * np.asarray(suite[key].value) for key, sign in signs.items()}

    found = best_of_many(actual, predicted, score, n_classes=len(labels), seed=seed)
    return {key: _turned(each, signs[key]) for key, each in found.items()}


def is_small_enough(n_samples: int, n_runs: int, n_classes: int) -> bool:
    """Whether the choice among so many runs is corrected: three or more, within the bounds."""
    return (
        n_runs >= FEWEST_RUNS
        and 0 < n_samples * n_runs <= MOST_PREDICTIONS
        and n_runs * n_classes**2 <= MOST_CELLS
    )


def selection_sentence(key: str, found: BestOfMany) -> str:
    """ "The highest balanced accuracy of 9 runs is 0.873; chosen for being highest, ..."."""
    title, runs = wording.title_inside(key), f"{found.n_runs} runs"
    said = f"The highest {title} of {runs} is {found.value:.3f}"
    if found.corrected.value is None:
        return (
            f"{said}, which flatters a run that was chosen for being highest; it is not corrected "
            "for that, because a class has too few examples."
        )
    return (
        f"{said}; chosen for being highest, that run is expected to reach about "
        f"{found.corrected.value:.3f} on new examples."
    )


def selection_record(found: Mapping[str, BestOfMany], names: Sequence[str]) -> dict[str, Any]:
    """Plain values by metric; `names` are those of the runs in their order."""
    return {
        key: {
            "run": names[each.run],
            "n_runs": each.n_runs,
            "value": each.value,
            "corrected": each.corrected.to_dict(),
        }
        for key, each in found.items()
    }


def _turned(found: BestOfMany, sign: float) -> BestOfMany:
    corrected = found.corrected.value
    return replace(
        found,
        value=sign * found.value,
        corrected=found.corrected if corrected is None else MetricValue(sign * corrected),
    )


def _sign(key: str) -> float:
    direction = CATALOGUE[Scope.AGGREGATE][key].direction
    return {Direction.HIGHER: 1.0, Direction.LOWER: -1.0}.get(direction, 0.0)

"""The cost of a confusion matrix, compared with a constant prediction and with no errors.

The baseline is the best constant prediction ("trivial" in names): the class that costs least if it
is always predicted. A model with a ratio above 1 is worse than that. With a declared prevalence q
the samples of actual class i are first weighted by q_i / (t_i / N), as if the test set had the
classes in these shares.

The mean cost is a weighted sum of cells, and the cost of a constant or of perfect predictions is a
weighted sum of the actual samples, so the gradients of the costs are the weights themselves. The
best constant prediction is treated as fixed, which is exact unless another one costs the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.gradients import Cells, Codes, Floats, Gradient
from offdiag.metrics.orientation import STACK_ACTUAL_AXIS, STACK_PREDICTED_AXIS, actual_totals
from offdiag.metrics.quantity import Quantity, cause, defined_except, first_cause, fraction
from offdiag.metrics.spec import Direction, MetricSpec, Scope, Symmetry

CLASS_AXIS = -1
CELL_AXIS = -1


def evaluate_costs(
    counts: NDArray[Any], weights: Floats, *, prevalence: Floats | None = None
) -> Mapping[str, Quantity]:
    """Costs of one matrix (K, K) or of many (..., K, K), quantities of shape (...).

    `counts` are numbers of samples with the actual class along the last axis but one, `weights`
    (K, K) the costs [actual, predicted], `prevalence` (K,) the shares at deployment or None.

    * `total_cost` = sum W_ij c_ij over the test set (re-weighted to N samples), any sign;
    * `mean_cost` = total / N;
    * `best_trivial_class` = code of the constant prediction j that costs least, the lowest of
      equals, and `best_trivial_cost` = sum_i t_i W_ij for it;
    * `cost_ratio_to_best_trivial` = total / trivial, undefined for a trivial cost <= 0;
    * `skill_vs_trivial` = (trivial - total) / (trivial - perfect), 1 for a perfect matrix and
      0 for a trivial one; undefined where a constant prediction is as cheap as a perfect one.

    All are undefined without samples, or if a class that is expected at deployment has none,
    since its errors are unknown. Sums run over cells in row order, one after the other, so that
    another program adding in the same order gets the same digits.
    """
    tested = actual_totals(counts.astype(np.float64))
    n_samples = tested.sum(axis=CLASS_AXIS)
    undefined = cause(Reason.NO_SAMPLES, np.asarray(n_samples == 0))
    if prevalence is not None:
        unknown = ((prevalence > 0) & (tested == 0)).any(axis=CLASS_AXIS)
        undefined = first_cause(undefined, cause(Reason.CLASS_ABSENT, np.asarray(unknown)))
    expected, support = expected_samples(counts, prevalence=prevalence)
    total = _added_in_order((expected * weights).reshape(*expected.shape[:-2], weights.size))
    # Cost of each constant prediction, shape (..., K): all samples of class i pay W_ij.
    constant = np.add.accumulate(support[..., np.newaxis] * weights, axis=STACK_ACTUAL_AXIS)
    constant = constant.take(-1, axis=STACK_ACTUAL_AXIS)
    best = constant.argmin(axis=CLASS_AXIS)
    trivial = constant.min(axis=CLASS_AXIS)
    perfect = _added_in_order(
        support * np.diagonal(weights, axis1=STACK_ACTUAL_AXIS, axis2=STACK_PREDICTED_AXIS)
    )
    avoidable = trivial - perfect
    return {
        "total_cost": defined_except(total, undefined),
        "mean_cost": fraction(total, n_samples, undefined),
        "best_trivial_class": defined_except(best, undefined),
        "best_trivial_cost": defined_except(trivial, undefined),
        "cost_ratio_to_best_trivial": fraction(
            total,
            trivial,
            first_cause(undefined, cause(Reason.TRIVIAL_COST_NOT_POSITIVE, trivial <= 0)),
        ),
        "skill_vs_trivial": fraction(
            trivial - total,
            avoidable,
            first_cause(undefined, cause(Reason.TRIVIAL_COST_IS_PERFECT, avoidable <= 0)),
        ),
    }


def expected_samples(
    counts: NDArray[Any], *, prevalence: Floats | None = None
) -> tuple[Floats, Floats]:
    """Samples that costs are summed over, (..., K, K), and those of each actual class, (..., K).

    Without a prevalence they are the counts. With one, the samples of each class are weighted so
    that the class has its share of the total.
    """
    expected = counts.astype(np.float64)
    support = actual_totals(expected)
    if prevalence is None:
        return expected, support
    wanted = prevalence * support.sum(axis=CLASS_AXIS)[..., np.newaxis]
    factor = np.divide(wanted, support, out=np.zeros_like(support), where=support > 0)
    return expected * factor[..., np.newaxis], wanted


def _added_in_order(values: Floats) -> Floats:
    """0 plus each value along the last axis in turn, without pairwise regrouping."""
    return np.asarray(np.add.accumulate(values, axis=CELL_AXIS)[..., -1] + 0.0)


@dataclass(frozen=True)
class _Linear:
    """A value with slope factor_i W_ij + offset_i at cell (i, j)."""

    value: float
    factor: Floats
    offset: Floats

    def __add__(self, other: _Linear) -> _Linear:
        return _Linear(
            self.value + other.value, self.factor + other.factor, self.offset + other.offset
        )

    def __mul__(self, number: float) -> _Linear:
        return _Linear(self.value * number, self.factor * number, self.offset * number)

    def __sub__(self, other: _Linear) -> _Linear:
        return self + other * -1.0

    def __truediv__(self, other: _Linear) -> _Linear:
        quotient = float(np.divide(self.value, other.value))
        slopes = (self - other * quotient) * float(np.divide(1.0, other.value))
        return _Linear(quotient, slopes.factor, slopes.offset)


def cost_gradients(
    matrix: Cells, costs: CostMatrix, prevalence: Floats | None
) -> dict[str, Gradient]:
    """Gradients of the five costs of a non-empty matrix, optionally at another prevalence.

    Value and slopes are not finite where a cost is undefined.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, trivial, perfect = (
            _at_test_prevalence(matrix, costs)
            if prevalence is None
            else _at_prevalence(matrix, costs, prevalence)
        )
        found = {
            "total_cost": mean * float(matrix.total),
            "mean_cost": mean,
            "best_trivial_cost": trivial * float(matrix.total),
            "cost_ratio_to_best_trivial": mean / trivial,
            "skill_vs_trivial": (trivial - mean) / (trivial - perfect),
        }
    return {key: _gradient(linear, costs.weights) for key, linear in found.items()}


def _at_test_prevalence(matrix: Cells, costs: CostMatrix) -> tuple[_Linear, _Linear, _Linear]:
    """Mean, best trivial and perfect cost per sample at the class shares of the test set."""
    shares, weights = matrix.actual / matrix.total, costs.weights
    nothing = np.zeros(matrix.n_classes)
    mean = float((matrix.counts * weights).sum() / matrix.total)
    best = weights[:, int((shares @ weights).argmin())]
    perfect = np.diagonal(weights)
    return (
        _Linear(mean, nothing + 1.0, nothing),
        _Linear(float(shares @ best), nothing, best),
        _Linear(float(shares @ perfect), nothing, perfect),
    )


def _at_prevalence(
    matrix: Cells, costs: CostMatrix, prevalence: Floats
) -> tuple[_Linear, _Linear, _Linear]:
    """The same three costs with each actual class weighted by its share at deployment.

    The cost of constant predictions then no longer depends on the samples.
    """
    weights = costs.weights
    nothing = np.zeros(matrix.n_classes)
    support = np.where(prevalence > 0, matrix.actual, 1)
    class_means = actual_totals(matrix.counts * weights) / support
    factor = prevalence * matrix.total / support
    trivial = float((prevalence @ weights).min())
    perfect = float(prevalence @ np.diagonal(weights))
    return (
        _Linear(float(prevalence @ class_means), factor, -factor * class_means),
        _Linear(trivial, nothing, nothing),
        _Linear(perfect, nothing, nothing),
    )


def _gradient(linear: _Linear, weights: Floats) -> Gradient:
    def cell_term(actual: Codes, predicted: Codes) -> Floats:
        slopes: Floats = linear.factor[actual] * weights[actual, predicted]
        return slopes

    nothing = np.zeros(len(weights))
    return Gradient(linear.value, nothing, linear.offset, nothing, cell_term)


_NO_SAMPLES = {
    Reason.NO_SAMPLES: "the matrix has no examples",
    Reason.CLASS_ABSENT: "a class expected at the declared prevalence has no examples",
}

_ELKAN = "Elkan 2001, The foundations of cost-sensitive learning, IJCAI, 973-978"

# Costs belong to cells named by class, so they survive a stated relayout and a reordering of
# the labels, and nothing else unless the cost matrix happens to be symmetric.
_COST = partial(
    MetricSpec,
    scope=Scope.COST,
    low=-math.inf,
    high=math.inf,
    source=_ELKAN,
    undefined_when=_NO_SAMPLES,
    symmetry=Symmetry(),
)
"""What most entries have in common."""

_BY_COST = "Draws of the share of examples at each cost, with a prior of one example"
_COSTLY_END = (
    "The end with the higher cost also allows for errors that did not occur: it is the more "
    "extreme of the end of these draws and that of draws with Jeffreys' prior for the class with "
    "the most expensive errors."
)
_OF_CLASSES = "of the class shares, with Jeffreys' prior for two classes and 1/K for more."

SPECS: tuple[MetricSpec, ...] = (
    _COST(
        key="total_cost",
        interval=f"{_BY_COST}. {_COSTLY_END}",
        title="Total cost",
        formula="sum over i, j of W_ij c_ij",
        direction=Direction.LOWER,
        other_names={"NannyML": "business_value (negated: gains instead of costs)"},
        notes="In the currency of the cost matrix. With a declared prevalence q, each example of "
        "class i counts q_i / (t_i / N) times, so N stays the same.",
    ),
    _COST(
        key="mean_cost",
        interval=f"{_BY_COST}. {_COSTLY_END}",
        title="Mean cost per example",
        formula="total_cost / N",
        direction=Direction.LOWER,
        ignores=("the number of examples",),
        other_names={"NannyML": "business_value with normalize_business_value='per_prediction'"},
        notes="If every error costs 1 and correct predictions cost 0, it is the error rate.",
    ),
    _COST(
        key="best_trivial_class",
        interval="None.",
        title="Best constant prediction",
        formula="the class j with the lowest sum over i of t_i W_ij",
        low=0,
        direction=Direction.NEITHER,
        ignores=("the predictions",),
        notes="A class code; if costs are equal, the lowest code. It need not be the majority "
        "class.",
        symmetry=Symmetry(label_permutation=False),
    ),
    _COST(
        key="best_trivial_cost",
        interval=f"Draws {_OF_CLASSES}",
        title="Cost of the best constant prediction",
        formula="min over j of sum over i of t_i W_ij",
        direction=Direction.NEITHER,
        ignores=("the predictions",),
        notes="The baseline of every other cost: a model that costs more should not be used.",
    ),
    _COST(
        key="cost_ratio_to_best_trivial",
        interval=f"{_BY_COST}, together with draws {_OF_CLASSES} {_COSTLY_END}",
        title="Cost relative to the best constant prediction",
        formula="total_cost / best_trivial_cost",
        direction=Direction.LOWER,
        undefined_when=_NO_SAMPLES
        | {
            Reason.TRIVIAL_COST_NOT_POSITIVE: "the best constant prediction costs nothing, or its "
            "cost is negative"
        },
        ignores=("the number of examples", "the unit of the costs"),
        notes="Above 1, the model costs more than the best constant prediction.",
    ),
    _COST(
        key="skill_vs_trivial",
        interval=f"{_BY_COST}, together with draws {_OF_CLASSES} {_COSTLY_END}",
        title="Cost skill score",
        formula="(best_trivial_cost - total_cost) / (best_trivial_cost - sum over i of t_i W_ii)",
        source="Murphy and Daan 1985, Forecast evaluation, in: Probability, Statistics, and "
        "Decision Making in the Atmospheric Sciences, 379-437 (skill scores)",
        undefined_when=_NO_SAMPLES
        | {
            Reason.TRIVIAL_COST_IS_PERFECT: "a constant prediction costs no more than a perfect "
            "classifier"
        },
        ignores=("the number of examples", "the unit and the zero point of the costs"),
        notes="1 if all predictions are correct, 0 for the cost of the best constant prediction, "
        "negative if the model costs more.",
    ),
)
COST_KEYS: tuple[str, ...] = tuple(spec.key for spec in SPECS)

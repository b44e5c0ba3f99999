"""What the cost keys mean."""

from __future__ import annotations

import math

from offdiag.domain.values import Reason
from offdiag.metrics.spec import Direction, MetricSpec, Scope, Symmetry

_NO_CASES = {
    Reason.NO_CASES: "the matrix has no cases",
    Reason.CLASS_ABSENT: "a class expected at the declared prevalence has no cases",
}
_ELKAN = "Elkan 2001, The foundations of cost-sensitive learning, IJCAI, 973-978"
# Costs belong to cells named by class, so they survive a stated relayout and a reordering of
# the labels, and nothing else unless the cost matrix happens to be symmetric.
_BY_CELL = Symmetry()

SPECS: tuple[MetricSpec, ...] = (
    MetricSpec(
        key="total_cost",
        scope=Scope.COST,
        title="Total cost",
        formula="sum over i, j of W_ij c_ij",
        low=-math.inf,
        high=math.inf,
        direction=Direction.LOWER,
        source=_ELKAN,
        undefined_when=_NO_CASES,
        other_names={"NannyML": "business_value (negated: gains instead of costs)"},
        notes="In the currency of the cost matrix. With a declared prevalence q the cases of "
        "class i count q_i / (t_i / N) each, so that N stays the same.",
        symmetry=_BY_CELL,
    ),
    MetricSpec(
        key="mean_cost",
        scope=Scope.COST,
        title="Mean cost per case",
        formula="total_cost / N",
        low=-math.inf,
        high=math.inf,
        direction=Direction.LOWER,
        source=_ELKAN,
        undefined_when=_NO_CASES,
        ignores=("the number of cases",),
        other_names={"NannyML": "business_value with normalize_business_value='per_prediction'"},
        notes="With a cost of 1 for every error and 0 otherwise it is the error rate.",
        symmetry=_BY_CELL,
    ),
    MetricSpec(
        key="best_trivial_class",
        scope=Scope.COST,
        title="Best constant answer",
        formula="the j with the least sum over i of t_i W_ij",
        low=0,
        high=math.inf,
        direction=Direction.NEITHER,
        source=_ELKAN,
        undefined_when=_NO_CASES,
        ignores=("the predictions",),
        notes="A class code; of equally cheap answers the lowest code. The cheapest constant "
        "answer need not be the majority class.",
        symmetry=Symmetry(label_permutation=False),
    ),
    MetricSpec(
        key="best_trivial_cost",
        scope=Scope.COST,
        title="Cost of the best constant answer",
        formula="min over j of sum over i of t_i W_ij",
        low=-math.inf,
        high=math.inf,
        direction=Direction.NEITHER,
        source=_ELKAN,
        undefined_when=_NO_CASES,
        ignores=("the predictions",),
        notes="The yardstick for every other cost: a model above it should not be used.",
        symmetry=_BY_CELL,
    ),
    MetricSpec(
        key="cost_ratio_to_best_trivial",
        scope=Scope.COST,
        title="Cost relative to the best constant answer",
        formula="total_cost / best_trivial_cost",
        low=-math.inf,
        high=math.inf,
        direction=Direction.LOWER,
        source=_ELKAN,
        undefined_when=_NO_CASES
        | {Reason.TRIVIAL_COST_NOT_POSITIVE: "the best constant answer costs nothing or gains"},
        ignores=("the number of cases", "the unit of the costs"),
        notes="Above 1 the model is worse than a constant answer.",
        symmetry=_BY_CELL,
    ),
    MetricSpec(
        key="skill_vs_trivial",
        scope=Scope.COST,
        title="Cost skill",
        formula="(best_trivial_cost - total_cost) / (best_trivial_cost - sum over i of t_i W_ii)",
        low=-math.inf,
        high=math.inf,
        direction=Direction.HIGHER,
        source="Murphy and Daan 1985, Forecast evaluation, in: Probability, Statistics, and "
        "Decision Making in the Atmospheric Sciences, 379-437 (skill scores)",
        undefined_when=_NO_CASES
        | {
            Reason.TRIVIAL_COST_IS_PERFECT: "a constant answer costs no more than being right "
            "throughout"
        },
        ignores=("the number of cases", "the unit and the zero of the costs"),
        notes="1 for a perfect matrix, 0 for the best constant answer, negative below it.",
        symmetry=_BY_CELL,
    ),
)

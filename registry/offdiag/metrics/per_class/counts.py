"""Per class: the counts of one class against the rest, and its shares of all samples."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from offdiag.metrics.per_class.one_vs_rest import ClassMetric, OneVsRest
from offdiag.metrics.quantity import Quantity, as_float, defined, fraction
from offdiag.metrics.spec import (
    FALSE_NEGATIVES,
    FALSE_POSITIVES,
    LECTURE,
    NO_INTERVAL,
    NO_SAMPLES,
    TRUE_NEGATIVES,
    TRUE_POSITIVES,
    WILSON,
    ZENG,
    Direction,
    Symmetry,
    Transformation,
)


def _cases(c: OneVsRest, whole: NDArray[Any]) -> Quantity:
    return defined(as_float(whole) / float(c.unit))


_ROLES, _CLASSES = Transformation.ROLE_SWAP, Transformation.CLASS_INVERSION

SPECS: tuple[ClassMetric, ...] = (
    ClassMetric(
        key="tp",
        compute=lambda c: _cases(c, c.tp),
        interval=NO_INTERVAL,
        title="True positives",
        symbol="TP",
        formula="c_kk",
        high=math.inf,
        source=f"{ZENG}, item 1; {LECTURE}, section 12.2",
        ignores=(FALSE_NEGATIVES, FALSE_POSITIVES, TRUE_NEGATIVES),
        other_names={"PyCM": "TP", "torchmetrics": "stat_scores [0]", "TFMA": "TruePositives"},
        symmetry=Symmetry(role_swap=True, becomes={_CLASSES: "tn"}),
    ),
    ClassMetric(
        key="fn",
        compute=lambda c: _cases(c, c.fn),
        interval=NO_INTERVAL,
        title="False negatives",
        symbol="FN",
        formula="t - c_kk",
        high=math.inf,
        direction=Direction.LOWER,
        source=f"{ZENG}, item 3; {LECTURE}, section 12.2",
        ignores=(TRUE_POSITIVES, FALSE_POSITIVES, TRUE_NEGATIVES),
        other_names={"PyCM": "FN", "torchmetrics": "stat_scores [3]", "TFMA": "FalseNegatives"},
        symmetry=Symmetry(becomes={_ROLES: "fp", _CLASSES: "fp"}),
    ),
    ClassMetric(
        key="fp",
        compute=lambda c: _cases(c, c.fp),
        interval=NO_INTERVAL,
        title="False positives",
        symbol="FP",
        formula="p - c_kk",
        high=math.inf,
        direction=Direction.LOWER,
        source=f"{ZENG}, item 2; {LECTURE}, section 12.2",
        ignores=(TRUE_POSITIVES, FALSE_NEGATIVES, TRUE_NEGATIVES),
        other_names={"PyCM": "FP", "torchmetrics": "stat_scores [1]", "TFMA": "FalsePositives"},
        symmetry=Symmetry(becomes={_ROLES: "fn", _CLASSES: "fn"}),
    ),
    ClassMetric(
        key="tn",
        compute=lambda c: _cases(c, c.tn),
        interval=NO_INTERVAL,
        title="True negatives",
        symbol="TN",
        formula="N - t - p + c_kk",
        high=math.inf,
        source=f"{ZENG}, item 4; {LECTURE}, section 12.2",
        ignores=(TRUE_POSITIVES, FALSE_NEGATIVES, FALSE_POSITIVES),
        other_names={"PyCM": "TN", "torchmetrics": "stat_scores [2]", "TFMA": "TrueNegatives"},
        notes="With many classes almost every example is a true negative of almost every class.",
        symmetry=Symmetry(role_swap=True, becomes={_CLASSES: "tp"}),
    ),
    ClassMetric(
        key="support",
        compute=lambda c: _cases(c, c.positives),
        interval=NO_INTERVAL,
        title="Support",
        symbol="t",
        formula="TP + FN",
        high=math.inf,
        direction=Direction.NEITHER,
        source=f"{ZENG}, item 5",
        ignores=(FALSE_POSITIVES, TRUE_NEGATIVES),
        other_names={"scikit-learn": "support", "PyCM": "P"},
        notes="The number of examples, which decides how far the recall can be trusted.",
        symmetry=Symmetry(becomes={_ROLES: "predicted"}),
    ),
    ClassMetric(
        key="predicted",
        compute=lambda c: _cases(c, c.predicted_positives),
        interval=NO_INTERVAL,
        title="Predicted positives",
        symbol="p",
        formula="TP + FP",
        high=math.inf,
        direction=Direction.NEITHER,
        source=f"{ZENG}, equation 11",
        ignores=(FALSE_NEGATIVES, TRUE_NEGATIVES),
        other_names={"PyCM": "TOP"},
        symmetry=Symmetry(becomes={_ROLES: "support"}),
    ),
    ClassMetric(
        key="prevalence",
        compute=lambda c: fraction(c.positives, c.total, c.no_samples),
        slopes=lambda s: s.positives,
        interval=WILSON,
        title="Prevalence",
        formula="t / N",
        direction=Direction.NEITHER,
        source="Kuhn 2008, Journal of Statistical Software 28(5) (caret)",
        undefined_when=NO_SAMPLES,
        other_names={"PyCM": "PRE", "TFMA": "Prevalence", "caret": "Prevalence"},
        notes="The share of the class in the evaluated data, which need not be its share in use.",
        symmetry=Symmetry(full_inversion=True, becomes={_ROLES: "predicted_rate"}),
    ),
    ClassMetric(
        key="imbalance_coefficient",
        compute=lambda c: fraction(c.positives - c.negatives, c.total, c.no_samples),
        interval=NO_INTERVAL,
        title="Imbalance coefficient",
        symbol="δ",
        formula="2 t / N - 1",
        low=-1,
        direction=Direction.NEITHER,
        source="Luque et al. 2019, Symmetry 11(1) 47, section 2",
        undefined_when=NO_SAMPLES,
        notes="0 where the class has half of the examples, -1 where it has none. Metrics that are "
        "not prevalence independent change with it, whatever the model.",
        symmetry=Symmetry(full_inversion=True),
    ),
    ClassMetric(
        key="predicted_rate",
        compute=lambda c: fraction(c.predicted_positives, c.total, c.no_samples),
        slopes=lambda s: s.predicted,
        interval=WILSON,
        title="Predicted prevalence",
        formula="p / N",
        direction=Direction.NEITHER,
        source="Kuhn 2008, Journal of Statistical Software 28(5) (caret)",
        undefined_when=NO_SAMPLES,
        other_names={
            "PyCM": "TOPR",
            "TFMA": "PredictedPositiveRate",
            "caret": "Detection Prevalence",
        },
        notes="Far below the prevalence, the class is under-predicted.",
        symmetry=Symmetry(scoring_inversion=True, becomes={_ROLES: "prevalence"}),
    ),
)

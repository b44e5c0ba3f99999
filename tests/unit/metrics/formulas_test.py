"""The formula printed for a per-class metric computes what the suite computes."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.catalogue import CATALOGUE, MetricSpec, Scope
from offdiag.metrics.suite import Suite, evaluate_stack
from support.formulas import computed, sides
from support.published_matrices import EXERCISE, THREE_CLASSES, WINE

SPECS = list(CATALOGUE[Scope.PER_CLASS].values())


def quantities(suite: Suite, code: int) -> dict[str, float]:
    """Every name a formula may use, for one class."""
    of_class = {key: float(suite.per_class[key].value[code]) for key in suite.per_class}
    names = {
        "TP": "tp",
        "FN": "fn",
        "FP": "fp",
        "TN": "tn",
        "c_kk": "tp",
        "t": "support",
        "p": "predicted",
        "NPV": "npv",
        "FPR": "fpr",
        "FNR": "fnr",
    }
    spelled_out = {name: of_class[key] for name, key in names.items()}
    return {key: of_class[key] for key in ("recall", "specificity", "precision", "prevalence")} | {
        "N": float(suite.aggregate["n"].at().value or 0),
        **spelled_out,
    }


@pytest.mark.parametrize("spec", SPECS, ids=[spec.key for spec in SPECS])
def test_every_side_of_the_formula_gives_the_value(spec: MetricSpec) -> None:
    for matrix in (WINE, THREE_CLASSES, EXERCISE):
        suite = evaluate_stack(np.array(matrix), ordinal=False)
        for code in range(len(matrix)):
            value = suite.per_class[spec.key].at(code).value
            if value is None:
                continue
            for side in sides(spec.formula):
                assert computed(side, quantities(suite, code)) == pytest.approx(value), side


def test_a_formula_is_read_with_products_of_neighbours() -> None:
    assert computed("2 TP / (t + p)", {"TP": 3, "t": 4, "p": 5}) == pytest.approx(6 / 9)
    assert computed("(TP + 1)(t - 1)", {"TP": 3, "t": 4}) == 12
    assert computed("sqrt(t p)", {"t": 4, "p": 9}) == 6
    assert computed("1 - t^2", {"t": 3}) == -8

"""Luque et al. 2019, Symmetry 11(1) 47: ten metrics, their symmetries, skewness and clusters.

The printed Table 10 has shifted ticks and lost that of the geometric mean under labelling
inversion; the expectations here are the corrected ones, and the tests compute them anew.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.catalogue import CATALOGUE, MetricSpec, Scope, Transformation
from offdiag.metrics.per_class import PER_CLASS
from offdiag.metrics.per_class.one_vs_rest import OneVsRest
from offdiag.metrics.symmetry import unit_matrices
from support.symmetry import INVERSIONS, rescaled, skewness

Rates = NDArray[np.float64]

KEYS = {
    "SNS": "recall",
    "SPC": "specificity",
    "PRC": "precision",
    "NPV": "npv",
    "ACC": "accuracy_ovr",
    "F1": "f1",
    "GM": "gmean",
    "MCC": "mcc_ovr",
    "BM": "informedness",
    "MK": "markedness",
}
every_metric = pytest.mark.parametrize("name", KEYS)

LABELLING, SCORING, FULL = (
    Transformation.CLASS_INVERSION,
    Transformation.SCORING_INVERSION,
    Transformation.FULL_INVERSION,
)


def spec_of(name: str) -> MetricSpec:
    return CATALOGUE[Scope.PER_CLASS][KEYS[name]]


def metric(name: str, alpha: Rates, beta: Rates, delta: Rates) -> Rates:
    """The metric on [-1, 1] as a function of both rates and the imbalance."""
    return of_matrices(name, unit_matrices(alpha, beta, delta))


def of_matrices(name: str, matrices: Rates) -> Rates:
    cells = OneVsRest(
        tp=matrices[..., 0, 0],
        fn=matrices[..., 0, 1],
        fp=matrices[..., 1, 0],
        tn=matrices[..., 1, 1],
    )
    return rescaled(PER_CLASS[KEYS[name]].compute(cells).value, spec_of(name))


def random_points(n: int = 500) -> tuple[Rates, Rates, Rates]:
    generator = np.random.default_rng(47)
    alpha, beta = generator.uniform(0.01, 0.99, (2, n))
    return alpha, beta, generator.uniform(-0.98, 0.98, n)


def close(one: Rates, other: Rates) -> bool:
    return bool(np.allclose(one, other, atol=1e-12))


@every_metric
def test_table_10_independence(name: str) -> None:
    alpha, beta, delta = random_points()
    value = metric(name, alpha, beta, delta)

    independent = {
        "alpha": close(metric(name, alpha[::-1], beta, delta), value),
        "beta": close(metric(name, alpha, beta[::-1], delta), value),
        "delta": close(metric(name, alpha, beta, delta[::-1]), value),
    }

    corrected = {"SNS": {"beta", "delta"}, "SPC": {"alpha", "delta"}, "GM": {"delta"}}
    expected = (corrected | {"BM": {"delta"}}).get(name, set())
    assert {variable for variable, holds in independent.items() if holds} == expected
    assert spec_of(name).symmetry is not None
    assert independent["delta"] == spec_of(name).symmetry.prevalence_independent  # type: ignore[union-attr]  # Asserted above.


@every_metric
def test_table_10_symmetries(name: str) -> None:
    alpha, beta, delta = random_points()
    value = metric(name, alpha, beta, delta)

    found = {
        LABELLING: close(metric(name, beta, alpha, -delta), value),
        SCORING: close(metric(name, 1 - alpha, 1 - beta, delta), -value),
        FULL: close(metric(name, 1 - beta, 1 - alpha, -delta), -value),
    }

    corrected = {
        "SNS": {SCORING},
        "SPC": {SCORING},
        "PRC": {FULL},
        "NPV": {FULL},
        "F1": set(),
        "GM": {LABELLING},
    }
    expected = corrected.get(name, {LABELLING, SCORING, FULL})
    assert {inversion for inversion, holds in found.items() if holds} == expected
    for inversion, holds in found.items():
        assert getattr(spec_of(name).symmetry, inversion.value) == holds


@pytest.mark.parametrize("inversion", INVERSIONS)
def test_inverting_a_matrix_is_inverting_its_parameters(inversion: Transformation) -> None:
    alpha, beta, delta = random_points(50)

    inverted = INVERSIONS[inversion](unit_matrices(alpha, beta, delta))

    expected = {
        LABELLING: (beta, alpha, -delta),
        SCORING: (1 - alpha, 1 - beta, delta),
        FULL: (1 - beta, 1 - alpha, -delta),
    }[inversion]
    assert close(inverted, unit_matrices(*expected))


@every_metric
@pytest.mark.parametrize("inversion", INVERSIONS)
def test_table_13_cross_symmetries(name: str, inversion: Transformation) -> None:
    matrices = unit_matrices(*random_points())
    sign = 1 if inversion is LABELLING else -1
    value = of_matrices(name, matrices)

    takes_over = {
        other
        for other in KEYS
        if close(of_matrices(other, INVERSIONS[inversion](matrices)), sign * value)
    }

    crosses = {
        "SNS": {LABELLING: "SPC", FULL: "SPC"},
        "SPC": {LABELLING: "SNS", FULL: "SNS"},
        "PRC": {LABELLING: "NPV", SCORING: "NPV"},
        "NPV": {LABELLING: "PRC", SCORING: "PRC"},
    }
    partner = crosses.get(name, {}).get(inversion)
    symmetry = spec_of(name).symmetry
    assert symmetry is not None
    itself = {name} if getattr(symmetry, inversion.value) else set()
    assert takes_over == itself | ({partner} if partner else set())
    if partner:
        assert symmetry.becomes[inversion] == KEYS[partner]


TABLE_15 = {
    "ACC": (0.500, 0.500, -0.500, -0.500),
    "MCC": (0.503, 0.503, -0.503, -0.503),
    "BM": (0.500, 0.500, -0.500, -0.500),
    "MK": (0.505, 0.505, -0.505, -0.505),
    "GM": (0.497, 0.497, -0.510, -0.510),
    "SNS": (0.600, 0.400, -0.600, -0.400),
    "SPC": (0.400, 0.600, -0.400, -0.600),
    "PRC": (0.455, 0.556, -0.556, -0.455),
    # The last number is printed as -0.566.
    "NPV": (0.556, 0.455, -0.455, -0.556),
    "F1": (0.524, 0.474, -0.579, -0.429),
}


@every_metric
def test_table_15_examples(name: str) -> None:
    alpha, beta = np.array([0.8, 0.7, 0.2, 0.3]), np.array([0.7, 0.8, 0.3, 0.2])

    found = metric(name, alpha, beta, np.zeros(4))

    np.testing.assert_allclose(found, TABLE_15[name], rtol=0, atol=5.01e-4)


def midpoints(low: float, high: float, n: int) -> Rates:
    return low + (np.arange(n) + 0.5) * (high - low) / n


def local_skewness(name: str, delta: float, n: int = 400) -> float:
    """Skewness over all pairs of rates, each equally likely, at one imbalance."""
    alpha, beta = np.meshgrid(midpoints(0, 1, n), midpoints(0, 1, n))
    return skewness(metric(name, alpha, beta, np.array(delta)))


def global_skewness(name: str, n: int) -> float:
    """Skewness over all pairs of rates and all imbalances."""
    alpha, beta, delta = np.meshgrid(midpoints(0, 1, n), midpoints(0, 1, n), midpoints(-1, 1, n))
    return skewness(metric(name, alpha, beta, delta))


SYMMETRIC = ("SNS", "SPC", "ACC", "MCC", "BM", "MK")


@pytest.mark.parametrize("name", SYMMETRIC)
@pytest.mark.parametrize("delta", [-0.5, 0.0, 0.5])
def test_table_14_metrics_symmetric_in_scoring_have_no_local_skewness(
    name: str, delta: float
) -> None:
    assert local_skewness(name, delta) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("name", ["PRC", "NPV"])
def test_predictive_values_are_skewed_by_imbalance_and_back(name: str) -> None:
    right, left = local_skewness(name, 0.5), local_skewness(name, -0.5)

    assert abs(right) == pytest.approx(1.08, abs=0.01)
    assert right == pytest.approx(-left, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, 0.0) for name in (*SYMMETRIC, "PRC", "NPV")),
        ("F1", 0.1446),  # Printed as 0.14.
        ("GM", 0.1872),  # Printed as 0.18.
    ],
)
def test_table_14_global_skewness(name: str, expected: float) -> None:
    # What cancels out does so on any grid; the others come close on a fine one.
    found = global_skewness(name, n=100 if expected else 40)

    assert found == pytest.approx(expected, abs=3e-3)


def test_skewness_of_the_geometric_mean_is_known_exactly_and_the_same_everywhere() -> None:
    exact = (4 / 25 - 3 * (4 / 9) * (1 / 4) + 2 * (4 / 9) ** 3) / (17 / 324) ** 1.5

    assert exact == pytest.approx(0.187180, abs=5e-7)
    assert local_skewness("GM", 0.0, n=1500) == pytest.approx(exact, abs=1e-4)
    everywhere = [local_skewness("GM", delta) for delta in (-0.9, 0.0, 0.5)]
    assert everywhere == pytest.approx([everywhere[0]] * 3, abs=1e-9)


def test_good_f1_scores_are_not_more_likely_than_bad_ones_on_balanced_classes() -> None:
    alpha, beta = np.meshgrid(midpoints(0, 1, 1000), midpoints(0, 1, 1000))

    values = metric("F1", alpha, beta, np.array(0.0))

    # The text says good scores are more likely.
    assert np.mean(values > 0) == pytest.approx(0.5, abs=1e-3)
    assert values.mean() == pytest.approx(-0.0465, abs=5e-5)
    assert skewness(values) == pytest.approx(-0.168, abs=5e-4)


def test_table_16_five_clusters() -> None:
    """Metrics with the same pattern of symmetries and cross-symmetries belong together."""
    clusters: defaultdict[object, set[str]] = defaultdict(set)
    for name in KEYS:
        symmetry = spec_of(name).symmetry
        assert symmetry is not None
        pattern = tuple(
            (getattr(symmetry, inversion.value), inversion in symmetry.becomes)
            for inversion in INVERSIONS
        )
        clusters[pattern].add(name)

    assert sorted(map(sorted, clusters.values())) == sorted(
        map(sorted, [SYMMETRIC[2:], ("SNS", "SPC"), ("PRC", "NPV"), ("GM",), ("F1",)])
    )

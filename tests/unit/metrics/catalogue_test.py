"""The catalogue is complete, and its entries can be read."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from offdiag.metrics.catalogue import CATALOGUE, SPECS, Scope, Symmetry
from offdiag.metrics.intervals.scores import score_intervals
from offdiag.metrics.intervals.suite import suite_intervals
from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS
from support.forecasts import of_event
from support.matrices import matrix_of


@pytest.mark.parametrize(
    ("scope", "keys"), [(Scope.AGGREGATE, AGGREGATE_KEYS), (Scope.PER_CLASS, PER_CLASS_KEYS)]
)
def test_every_key_of_the_suite_has_exactly_one_entry(scope: Scope, keys: tuple[str, ...]) -> None:
    described = [spec.key for spec in SPECS if spec.scope is scope]

    assert Counter(described) == Counter(keys)
    assert set(CATALOGUE[scope]) == set(keys)


def test_an_entry_says_what_it_must() -> None:
    for spec in SPECS:
        assert spec.title.strip(), spec.key
        assert spec.formula.strip(), spec.key
        assert spec.source.strip(), spec.key
        assert spec.low < spec.high, spec.key
        assert spec.version >= 1, spec.key
        assert all(condition.strip() for condition in spec.undefined_when.values()), spec.key


def test_titles_tell_the_metrics_of_a_scope_apart() -> None:
    for scope in Scope:
        titles = Counter(spec.title for spec in CATALOGUE[scope].values())

        assert [title for title, uses in titles.items() if uses > 1] == []


def test_what_a_metric_becomes_is_in_the_catalogue_and_points_back() -> None:
    for spec in SPECS:
        becomes = spec.symmetry.becomes if spec.symmetry else {}
        for transformation, key in becomes.items():
            other = CATALOGUE[spec.scope][key].symmetry

            assert other is not None, (spec.key, transformation)
            if spec.key != "balanced_accuracy":
                # Two metrics share one partner there: classes without samples are left out.
                assert other.becomes[transformation] == spec.key, transformation


def test_an_entry_cannot_be_changed_after_the_fact() -> None:
    spec = CATALOGUE[Scope.PER_CLASS]["recall"]

    with pytest.raises(TypeError):
        spec.other_names["PyCM"] = "something else"  # type: ignore[index]  # That is tested.


def test_symmetry_claims_nothing_unless_told() -> None:
    assert Symmetry() == Symmetry(
        relayout=True,
        role_swap=False,
        label_permutation=True,
        class_inversion=False,
        scoring_inversion=False,
        full_inversion=False,
        prevalence_independent=False,
    )


WORDS = {
    "wilson": "Wilson's score interval of a binomial proportion.",
    "wilson, transformed": "proportion, transformed",
    "wilson, effective size": "effective number",
    "wilson ends combined (MOVER)": "MOVER",
    "posterior draws": "posterior",
    "multinomial bootstrap, shifted": "shifted",
    "multinomial bootstrap": "resampled matrices",
    "newcombe": "Newcombe",
    "two-sample": "Kolmogorov-Smirnov bound",
    "delta, logit": "Student's t of (positive examples",
    "student t, log": "log scale",
    "consistency": "consistency resampling",
    "no interval": "None",
    "moments less noise": "less the noise",
}


def said_of(method: str) -> str:
    """The words that a method is described by: those of the longest beginning that fits."""
    return WORDS[max((start for start in WORDS if method.startswith(start)), key=len)]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_pages_name_the_method_of_each_metric_of_a_matrix(n_classes: int) -> None:
    counts = np.full((n_classes, n_classes), 5) + 30 * np.eye(n_classes, dtype=np.int64)
    found = suite_intervals(matrix_of(counts, ordinal=True), seed=1, replicates=20)

    for scope, intervals in (
        (Scope.AGGREGATE, found.aggregate),
        (Scope.PER_CLASS, found.per_class),
    ):
        for key, spec in CATALOGUE[scope].items():
            text = spec.interval
            if key in intervals:
                assert said_of(intervals[key].method) in text, key
            elif key not in ("roc_auc", "average_precision"):
                assert text.startswith("None"), key


def test_pages_name_the_method_of_each_metric_of_scores() -> None:
    p = np.round(np.random.default_rng(1).random(60), 1).clip(0.1, 0.9)
    found = score_intervals(of_event([0, 1] * 30, p.tolist()), seed=1)

    for key, interval in found.items():
        assert said_of(interval.method) in CATALOGUE[Scope.PROBABILISTIC][key].interval, key


@pytest.mark.parametrize("scope", Scope)
def test_metrics_that_share_a_name_are_in_the_catalogue(scope: Scope) -> None:
    for key, spec in CATALOGUE[scope].items():
        assert set(spec.namesakes) <= CATALOGUE[scope].keys() - {key}

"""The catalogue is complete, and its entries can be read."""

from __future__ import annotations

from collections import Counter

import pytest

from offdiag.metrics.catalogue import CATALOGUE, SPECS, MetricSpec, Scope, Symmetry
from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS

every_entry = pytest.mark.parametrize(
    "spec", SPECS, ids=[f"{spec.scope}-{spec.key}" for spec in SPECS]
)


@pytest.mark.parametrize(
    ("scope", "keys"), [(Scope.AGGREGATE, AGGREGATE_KEYS), (Scope.PER_CLASS, PER_CLASS_KEYS)]
)
def test_every_key_of_the_suite_has_exactly_one_entry(scope: Scope, keys: tuple[str, ...]) -> None:
    described = [spec.key for spec in SPECS if spec.scope is scope]

    assert Counter(described) == Counter(keys)
    assert set(CATALOGUE[scope]) == set(keys)


@every_entry
def test_an_entry_says_what_it_must(spec: MetricSpec) -> None:
    assert spec.title.strip()
    assert spec.formula.strip()
    assert spec.source.strip()
    assert spec.low < spec.high
    assert spec.version >= 1
    assert all(condition.strip() for condition in spec.undefined_when.values())


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
                # Two metrics share one partner there: classes without cases are left out.
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

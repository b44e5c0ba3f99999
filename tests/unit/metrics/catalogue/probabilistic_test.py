"""The catalogue names every key of scores, once."""

from __future__ import annotations

from offdiag.metrics.catalogue.probabilistic import SPECS
from offdiag.metrics.scores.suite import LARGEST_K
from offdiag.metrics.spec import Scope
from offdiag.sdk.scores import evaluate_scores


def test_every_key_of_an_evaluation_is_described_once() -> None:
    n_classes = LARGEST_K + 2
    two = evaluate_scores(y_true=[0, 1], y_score=[[0.5, 0.5], [0.5, 0.5]])
    many = evaluate_scores(
        y_true=[0], y_score=[[1 / n_classes] * n_classes], labels=range(n_classes)
    )

    keys = {*two.aggregate, *many.aggregate, *two.per_class}

    assert sorted(spec.key for spec in SPECS) == sorted(keys)


def test_all_belong_to_scores() -> None:
    assert {spec.scope for spec in SPECS} == {Scope.PROBABILISTIC}
    assert all(spec.symmetry is None for spec in SPECS)

"""The catalogue names every multi-label key, once."""

from __future__ import annotations

from offdiag.metrics.multilabel.suite import SPECS
from offdiag.metrics.spec import Scope
from offdiag.sdk.evaluations.multilabel import evaluate_multilabel


def keys(scope: Scope) -> list[str]:
    return sorted(spec.key for spec in SPECS if spec.scope is scope)


def test_every_key_of_an_evaluation_is_described_once() -> None:
    evaluation = evaluate_multilabel(
        y_true=[{"a"}], y_pred=[{"b"}], y_score=[[0.1, 0.9]], labels=["a", "b"]
    )

    assert keys(Scope.MULTILABEL) == sorted(evaluation.aggregate)
    assert keys(Scope.PER_LABEL) == sorted(evaluation.per_label)


def test_all_belong_to_multilabel_evaluations() -> None:
    assert {spec.scope for spec in SPECS} == {Scope.MULTILABEL, Scope.PER_LABEL}
    assert all(spec.symmetry is None for spec in SPECS)

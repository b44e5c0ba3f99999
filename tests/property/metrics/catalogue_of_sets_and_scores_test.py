"""What the catalogue says about multi-label and score metrics holds for arbitrary data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.multilabel.suite import SPECS as MULTILABEL
from offdiag.metrics.scores.suite import SPECS as PROBABILISTIC
from offdiag.metrics.spec import MetricSpec, Scope
from offdiag.sdk.evaluations.multilabel import evaluate_multilabel
from offdiag.sdk.evaluations.scores import evaluate_scores

LABELS = ("a", "b", "c")


def assert_as_described(
    values: Iterable[tuple[str, MetricValue]], specs: Mapping[str, MetricSpec]
) -> None:
    """Values lie within the stated bounds; reasons are among the stated ones."""
    for key, value in values:
        spec = specs[key]
        if value.value is None:
            assert value.reason is not None
            assert Reason(value.reason) in spec.undefined_when, key
        else:
            assert spec.low <= value.value <= spec.high, key


label_set = st.sets(st.sampled_from(LABELS))


@given(st.lists(st.tuples(label_set, label_set), min_size=1, max_size=6), st.data())
def test_sets_of_labels(cases: list[tuple[set[str], set[str]]], data: st.DataObject) -> None:
    scores = data.draw(
        st.lists(
            st.tuples(*[st.floats(-1e3, 1e3)] * len(LABELS)),
            min_size=len(cases),
            max_size=len(cases),
        )
    )

    evaluation = evaluate_multilabel(
        y_true=[true for true, _ in cases],
        y_pred=[predicted for _, predicted in cases],
        labels=LABELS,
        y_score=scores,
    )

    of_all = {spec.key: spec for spec in MULTILABEL if spec.scope is Scope.MULTILABEL}
    of_label = {spec.key: spec for spec in MULTILABEL if spec.scope is Scope.PER_LABEL}
    assert_as_described(evaluation.aggregate.items(), of_all)
    for key, values in evaluation.per_label.items():
        assert_as_described(((key, value) for value in values.values()), of_label)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=12), st.data(), st.booleans())
def test_scores_of_several_classes(
    actual: list[int], data: st.DataObject, normalised: bool
) -> None:
    rows = st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any)
    table = np.array([data.draw(rows) for _ in actual], dtype=np.float64)
    if normalised:
        table /= table.sum(axis=1, keepdims=True)

    evaluation = evaluate_scores(y_true=actual, y_score=table, labels=[0, 1, 2])

    specs = {spec.key: spec for spec in PROBABILISTIC}
    assert_as_described(evaluation.aggregate.items(), specs)


@given(
    st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=12),
    st.sampled_from([1.0, 5.0]),
)
def test_scores_of_the_positive_class(cases: list[tuple[bool, float]], scale: float) -> None:
    evaluation = evaluate_scores(
        y_true=[happened for happened, _ in cases], y_score=[scale * score for _, score in cases]
    )

    specs = {spec.key: spec for spec in PROBABILISTIC}
    assert_as_described(evaluation.aggregate.items(), specs)
    for key, values in evaluation.per_class.items():
        assert_as_described(((key, value) for value in values.values()), specs)

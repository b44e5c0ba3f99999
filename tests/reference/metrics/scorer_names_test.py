"""The accepted names of scikit-learn's scorers: each gives the value of the scorer.

Samples are drawn with classes that never occur and classes that are never predicted. Where
scikit-learn gives 0 for an undefined MCC, ours stays undefined. That the values themselves agree
is tried on more data beside this.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer, get_scorer_names

import offdiag
from offdiag.metrics.names import SCORERS

OF_PREDICTIONS = (
    "accuracy",
    "balanced_accuracy",
    "matthews_corrcoef",
    *(
        f"{metric}_{average}"
        for metric in ("f1", "precision", "recall", "jaccard")
        for average in ("micro", "macro", "weighted")
    ),
)
OF_TWO_CLASSES = (
    "f1",
    "precision",
    "recall",
    "jaccard",
    "positive_likelihood_ratio",
    "neg_negative_likelihood_ratio",
)
OF_SETS = (
    "accuracy",
    *(
        f"{metric}_{average}"
        for metric in ("f1", "precision", "recall", "jaccard")
        for average in ("micro", "macro", "weighted", "samples")
    ),
)
OF_SCORES = (
    "roc_auc_ovr",
    "roc_auc_ovr_weighted",
    "roc_auc_ovo",
    "roc_auc_ovo_weighted",
    "neg_log_loss",
    "neg_brier_score",
    "top_k_accuracy",
)
OF_TWO_SCORES = ("roc_auc", "average_precision", "neg_log_loss", "neg_brier_score")


class Answers(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A fitted classifier that returns what it was given."""

    def __init__(self, predicted: Any, proba: Any = None) -> None:
        self.predicted, self.proba = predicted, proba
        self.classes_ = np.arange(2 if proba is None else proba.shape[1])

    def fit(self, X: object, y: object) -> Answers:  # noqa: ARG002
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: object) -> Any:  # noqa: ARG002
        return self.predicted

    def predict_proba(self, X: object) -> Any:  # noqa: ARG002
        return self.proba


def scored(name: str, model: Answers, actual: NDArray[Any]) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(get_scorer(name)(model, np.zeros((len(actual), 1)), actual))


@st.composite
def two_columns(draw: st.DrawFn, *, n_classes: int = 4) -> tuple[NDArray[Any], NDArray[Any]]:
    """Actual and predicted classes, each of some of the classes only."""
    size = draw(st.integers(2, 40))
    found = []
    for _ in range(2):
        some = draw(st.lists(st.integers(0, n_classes - 1), min_size=1, unique=True))
        found.append(draw(st.lists(st.sampled_from(some), min_size=size, max_size=size)))
    return np.array(found[0]), np.array(found[1])


def test_every_name_of_the_table_is_a_scorer() -> None:
    functions = {"brier_score_loss"}

    assert {*OF_PREDICTIONS, *OF_TWO_CLASSES, *OF_SETS, *OF_SCORES} <= {*get_scorer_names()}
    assert {*SCORERS} <= {*get_scorer_names(), *functions}


@settings(max_examples=6, deadline=None)
@given(columns=two_columns())
def test_scorers_of_predictions_have_our_values(
    columns: tuple[NDArray[Any], NDArray[Any]],
) -> None:
    actual, predicted = columns
    found = offdiag.evaluate_labels(y_true=actual, y_pred=predicted, labels=range(4)).aggregate

    for name in OF_PREDICTIONS:
        theirs = scored(name, Answers(predicted), actual)
        ours = found[name]
        if ours.value is None:
            assert (name, theirs) == ("matthews_corrcoef", 0.0)
        else:
            assert ours.value == pytest.approx(theirs, abs=1e-12), name


@settings(max_examples=6, deadline=None)
@given(columns=two_columns(n_classes=2))
def test_scorers_of_two_classes_are_about_the_positive_one(
    columns: tuple[NDArray[Any], NDArray[Any]],
) -> None:
    actual, predicted = columns
    found = offdiag.evaluate_labels(y_true=actual, y_pred=predicted, labels=[0, 1]).aggregate

    for name in OF_TWO_CLASSES:
        ours = found[name].value
        if ours is not None:
            theirs = scored(name, Answers(predicted), actual)
            assert ours == pytest.approx(theirs, abs=1e-12), name


@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_scorers_of_sets_have_our_values(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 20))
    cells = st.lists(st.integers(0, 1), min_size=3 * size, max_size=3 * size)
    actual, predicted = (np.array(data.draw(cells)).reshape(size, 3) for _ in range(2))
    found = offdiag.evaluate_multilabel(
        y_true=actual, y_pred=predicted, labels=["a", "b", "c"]
    ).aggregate

    for name in OF_SETS:
        ours = found[name].value
        theirs = scored(name, Answers(predicted), actual)
        assert (0.0 if ours is None else ours) == pytest.approx(theirs, abs=1e-12), name


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_scorers_of_scores_have_our_values(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    actual = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 60)])
    proba = rng.dirichlet(np.ones(n_classes), len(actual))
    names = OF_TWO_SCORES if n_classes == 2 else OF_SCORES
    score = proba[:, 1] if n_classes == 2 else proba

    found = offdiag.evaluate_scores(y_true=actual, y_score=score).aggregate

    for name in names:
        theirs = scored(name, Answers(proba.argmax(axis=-1), proba), actual)
        assert found[name].value == pytest.approx(theirs, abs=1e-9), name

"""What is logged of a booster of XGBoost: the weights of its data, unless others are given."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import offdiag

xgboost: Any = pytest.importorskip(
    "xgboost", reason="xgboost is not installed (pip install 'offdiag[integrations]')"
)

pytestmark = pytest.mark.integrations

X = np.array([[0], [0], [1], [1], [1], [0]])
Y = np.array([0, 0, 1, 1, 0, 1])
"""The booster is right of all but the last two."""
WEIGHTS = [1.0, 2.0, 1.0, 2.0, 3.0, 0.5]


@pytest.fixture
def url(migrated_file: Path, tmp_path: Path) -> str:
    return f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'registry.db')}"


def logged(url: str, *, weight: Any = None, **facts: Any) -> offdiag.Run:
    log = offdiag.xgboost.LogPredictions(
        xgboost.DMatrix(X, label=Y, weight=weight),
        name="booster",
        dataset="d",
        labels=["well", "ill"],
        url=url,
        **facts,
    )
    params = {"objective": "binary:logistic", "max_depth": 1, "min_child_weight": 0}
    xgboost.train(params, xgboost.DMatrix(X, label=Y), 3, callbacks=[log])
    assert log.run is not None
    return log.run


def weighted_accuracy(run: offdiag.Run) -> float | None:
    return run.evaluation().aggregate["overall_accuracy"].value


def test_the_weights_of_the_data_are_those_of_the_samples(url: str) -> None:
    run = logged(url, weight=WEIGHTS)

    assert offdiag.search_runs(url=url)["is_weighted"].tolist() == [True]
    assert weighted_accuracy(run) == pytest.approx(6 / 9.5)


def test_data_without_weights_make_a_run_without_any(url: str) -> None:
    run = logged(url)

    assert offdiag.search_runs(url=url)["is_weighted"].tolist() == [False]
    assert weighted_accuracy(run) == pytest.approx(4 / 6)


def test_what_the_caller_says_of_weights_stands_above_those_of_the_data(url: str) -> None:
    none = logged(url, weight=WEIGHTS, sample_weight=None)
    others = logged(url, weight=WEIGHTS, sample_weight=[1, 1, 1, 1, 4, 4])

    assert weighted_accuracy(none) == pytest.approx(4 / 6)
    assert weighted_accuracy(others) == pytest.approx(4 / 12)


def test_boosters_of_folds_are_refused_with_what_logs_them(url: str) -> None:
    data = xgboost.DMatrix(X, label=Y)
    log = offdiag.xgboost.LogPredictions(
        data, name="folds", dataset="d", labels=["well", "ill"], url=url
    )

    with pytest.raises(offdiag.errors.InvalidInput, match="log_cross_validation"):
        xgboost.cv({"objective": "binary:logistic"}, data, 2, nfold=2, callbacks=[log])

"""What is logged of an estimator of scikit-learn: classes, scores, parameters, folds."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import offdiag

IRIS = load_iris()
NAMES = IRIS.target_names[IRIS.target]
BINARY = np.where(IRIS.target == 0, "setosa", "other")


@pytest.fixture(scope="module")
def url(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """One registry for all tests here: each has datasets of its own."""
    path = shutil.copy(migrated_file, tmp_path_factory.mktemp("sklearn") / "registry.db")
    return f"sqlite:///{path}"


@pytest.fixture
def dataset(request: pytest.FixtureRequest) -> str:
    name: str = request.node.name
    return name


def scores_of(run: offdiag.Run) -> pd.DataFrame:
    return run.examples(kind="all")


def params_of(run: offdiag.Run, url: str) -> Any:
    return offdiag.search_runs(url=url).set_index("run_id").loc[run.id]


def test_probabilities_of_a_pipeline_come_with_its_parameters(url: str, dataset: str) -> None:
    model = Pipeline([("fill", SimpleImputer()), ("classify", KNeighborsClassifier(3))])
    model.fit(IRIS.data, NAMES)

    run = offdiag.sklearn.log_estimator(
        model, IRIS.data, NAMES, name="knn", dataset=dataset, params={"seed": 1}, url=url
    )

    (found,) = offdiag.search_runs(project="default", url=url).query("name == 'knn'").itertuples()
    assert found.model == "KNeighborsClassifier"
    params = params_of(run, url)
    assert params["params.classify__n_neighbors"] == 3
    assert params["params.fill__missing_values"] == "nan"
    assert params["params.fill"] == "SimpleImputer"
    assert params["params.seed"] == 1
    confidence = scores_of(run)["confidence"].to_numpy()
    assert sorted(confidence) == pytest.approx(
        sorted(model.predict_proba(IRIS.data).max(axis=1)), abs=1e-6
    )


@pytest.mark.parametrize("estimator", [RidgeClassifier(), SVC(decision_function_shape="ovr")])
@pytest.mark.parametrize("actual", [NAMES, BINARY], ids=["three classes", "two classes"])
def test_a_decision_function_stands_for_probabilities(
    url: str, dataset: str, estimator: RidgeClassifier, actual: np.ndarray
) -> None:
    estimator.fit(IRIS.data, actual)

    run = offdiag.sklearn.log_estimator(
        estimator, IRIS.data, actual, name="margins", dataset=dataset, url=url
    )

    areas = run.evaluation().per_class["roc_auc"]
    assert all((area.value or 0) > 0.7 for area in areas.values())
    assert (scores_of(run)["margin"] >= 0).all()  # The predicted class has the highest score.


PAIRS = SVC(decision_function_shape="ovo")


@pytest.mark.parametrize("n_classes", [3, 4])  # Three classes have three pairs.
@pytest.mark.parametrize(
    "estimator",
    [PAIRS, make_pipeline(StandardScaler(), GridSearchCV(PAIRS, {"C": [1, 2]}, cv=2))],
    ids=["alone", "searched"],
)
def test_one_score_for_each_pair_of_classes_is_left_out(
    url: str, dataset: str, estimator: Any, n_classes: int
) -> None:
    actual = np.arange(len(IRIS.data)) % n_classes
    model = estimator.fit(IRIS.data, actual)

    run = offdiag.sklearn.log_estimator(
        model, IRIS.data, actual, name="pairs", dataset=dataset, url=url
    )

    assert "confidence" not in scores_of(run)


@pytest.mark.parametrize("is_last_step", [False, True])
def test_parameters_of_a_search_are_those_that_it_found(
    url: str, dataset: str, is_last_step: bool
) -> None:
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [70, 3]}, cv=2)
    model = make_pipeline(StandardScaler(), search) if is_last_step else search
    model.fit(IRIS.data, NAMES)

    run = offdiag.sklearn.log_estimator(
        model, IRIS.data, NAMES, name="search", dataset=dataset, url=url
    )

    params = params_of(run, url)
    place = "gridsearchcv__estimator" if is_last_step else "estimator"
    assert params[f"params.{place}__n_neighbors"] == 3  # The search began with 5.
    assert params[f"params.{place}__weights"] == "uniform"


def test_searches_in_folds_do_not_log_values_of_another_fit(url: str, dataset: str) -> None:
    search = GridSearchCV(KNeighborsClassifier(), [{"n_neighbors": [30, 3]}], cv=2)
    search.fit(IRIS.data, NAMES)

    run = offdiag.sklearn.log_cross_validation(
        search, IRIS.data, NAMES, name="search", dataset=dataset, cv=2, url=url
    )

    params = params_of(run, url).dropna()
    assert "params.estimator__n_neighbors" not in params
    assert params["params.estimator__weights"] == "uniform"


def test_classes_the_estimator_never_saw_have_the_lowest_scores(url: str, dataset: str) -> None:
    known = IRIS.target < 2
    model = GaussianNB().fit(IRIS.data[known], NAMES[known])

    run = offdiag.sklearn.log_estimator(
        model, IRIS.data, NAMES, name="two of three", dataset=dataset, url=url
    )

    evaluation = run.evaluation()
    assert evaluation.matrix.labels.names == ("setosa", "versicolor", "virginica")
    assert evaluation.per_class["recall"]["virginica"].value == 0.0


def test_declared_labels_order_the_scores(url: str, dataset: str) -> None:
    order = ["virginica", "setosa", "versicolor"]
    model = LogisticRegression(max_iter=500).fit(IRIS.data, NAMES)

    run = offdiag.sklearn.log_estimator(
        model, IRIS.data, NAMES, name="ordered", dataset=dataset, labels=order, url=url
    )

    assert run.evaluation().matrix.labels.names == tuple(order)
    found = scores_of(run)
    proba = model.predict_proba(IRIS.data)
    assert found["confidence"].to_numpy() == pytest.approx(
        proba.max(axis=1)[found["sample"].to_numpy()], abs=1e-6
    )


def test_folds_are_slices_and_every_case_is_predicted_once(url: str, dataset: str) -> None:
    frame = pd.DataFrame(IRIS.data, columns=IRIS.feature_names)
    folds = StratifiedKFold(3, shuffle=True, random_state=1)

    runs = [
        offdiag.sklearn.log_cross_validation(
            model, frame, NAMES, cv=folds, name=str(model), dataset=dataset, url=url
        )
        for model in (GaussianNB(), LogisticRegression(max_iter=500))
    ]

    parts = [runs[0].evaluation(slice=f"fold={number}").matrix for number in (1, 2, 3)]
    assert sum(part.total for part in parts) == runs[0].evaluation().matrix.total == 150
    assert offdiag.compare(runs, url=url).counts is not None
    with pytest.raises(offdiag.Conflict, match="has fold"):
        offdiag.sklearn.log_cross_validation(
            GaussianNB(), frame, NAMES, cv=4, name="others", dataset=dataset, url=url
        )


def test_folds_that_leave_cases_out_are_refused(url: str, dataset: str) -> None:
    with pytest.raises(offdiag.InvalidInput, match="cv: the folds do not hold every sample once"):
        offdiag.sklearn.log_cross_validation(
            GaussianNB(), IRIS.data, NAMES, cv=ShuffleSplit(2), name="r", dataset=dataset, url=url
        )


def test_folds_of_groups_are_given_as_folds(url: str, dataset: str) -> None:
    def log(cv: object) -> offdiag.Run:
        return offdiag.sklearn.log_cross_validation(
            GaussianNB(), IRIS.data, NAMES, cv=cv, name="groups", dataset=dataset, url=url
        )

    with pytest.raises(offdiag.InvalidInput, match="cv: GroupKFold needs the group of each"):
        log(GroupKFold(3))

    run = log(list(GroupKFold(3).split(IRIS.data, NAMES, np.arange(150) // 10)))
    assert run.evaluation().matrix.total == 150


def test_weights_follow_the_samples_by_their_index(url: str, dataset: str) -> None:
    rows = [f"row {number}" for number in range(150)]
    weights = pd.Series(np.linspace(0, 3, 150), rows)
    given: dict[str, Any] = {
        "X": pd.DataFrame(IRIS.data, rows),
        "y": pd.Series(NAMES, rows),
        "sample_weight": weights[::-1],
        "dataset": dataset,
        "url": url,
    }
    model = GaussianNB().fit(IRIS.data, NAMES)

    fitted = offdiag.sklearn.log_estimator(model, name="fitted", **given)
    folds = offdiag.sklearn.log_cross_validation(model, name="folds", cv=5, **given)

    for run, predicted in (
        (fitted, model.predict(IRIS.data)),
        (folds, cross_val_predict(model, IRIS.data, NAMES, cv=5)),
    ):
        expected = accuracy_score(NAMES, predicted, sample_weight=weights)
        assert run.evaluation().aggregate["overall_accuracy"].value == pytest.approx(expected)
    with pytest.raises(offdiag.InvalidInput, match="sample_weight: its index is that of X in"):
        offdiag.sklearn.log_estimator(model, name="positions", **{**given, "y": NAMES})


def test_truth_values_that_scikit_learn_makes_numbers_of_are_the_classes(
    url: str, dataset: str
) -> None:
    actual = pd.Series(IRIS.target == 0, dtype="boolean")
    model = LogisticRegression(max_iter=500).fit(IRIS.data, actual)
    assert model.classes_.dtype.kind == "f"

    with pytest.warns(offdiag.errors.LabelNote, match="y_pred holds floats"):
        run = offdiag.sklearn.log_estimator(
            model, IRIS.data, actual, name="nullable", dataset=dataset, url=url
        )

    matrix = run.evaluation().confusion_matrix
    assert matrix.index.tolist() == ["False", "True"]
    assert matrix.to_numpy().tolist() == [[100, 0], [0, 50]]


def test_classes_of_others_than_the_estimator_are_refused(url: str, dataset: str) -> None:
    model = GaussianNB().fit(IRIS.data, NAMES)

    with pytest.raises(offdiag.InvalidInput, match=r"no label of classes_ .* is one of y_true"):
        offdiag.sklearn.log_estimator(
            model, IRIS.data, IRIS.target, name="codes", dataset=dataset, url=url
        )


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_a_missing_class_is_named(url: str, dataset: str, missing: object) -> None:
    actual = np.array(NAMES, dtype=object)
    actual[3] = missing
    model = GaussianNB().fit(IRIS.data, NAMES)

    for log in (offdiag.sklearn.log_estimator, offdiag.sklearn.log_cross_validation):
        with pytest.raises(offdiag.InvalidInput, match="y_true: the value at index 3 is missing"):
            log(model, IRIS.data, actual, name="gaps", dataset=dataset, url=url)


def test_what_predicts_no_classes_is_refused(url: str, dataset: str) -> None:
    model = LinearRegression().fit(IRIS.data, IRIS.target)

    with pytest.raises(
        offdiag.InvalidInput, match="estimator: a LinearRegression has no classes_"
    ):
        offdiag.sklearn.log_estimator(
            model, IRIS.data, IRIS.target, name="line", dataset=dataset, url=url
        )


def test_what_predicts_sets_of_labels_is_refused(url: str, dataset: str) -> None:
    several = np.stack([IRIS.target > 0, IRIS.target > 1], axis=1).astype(int)
    model = KNeighborsClassifier().fit(IRIS.data, several)

    with pytest.raises(offdiag.InvalidInput, match=r"estimator: .* predicts several labels"):
        offdiag.sklearn.log_estimator(
            model, IRIS.data, several, name="sets", labels=["a", "b"], dataset=dataset, url=url
        )


class OneColumn(GaussianNB):  # type: ignore[misc]  # scikit-learn ships no types.
    """Predicts a column, as CatBoost does of more than two classes."""

    def predict(self, X: Any) -> Any:
        return super().predict(X)[:, np.newaxis]


def test_a_column_of_predictions_is_read(url: str, dataset: str) -> None:
    model = OneColumn().fit(IRIS.data, NAMES)

    run = offdiag.sklearn.log_estimator(
        model, IRIS.data, NAMES, name="column", dataset=dataset, url=url
    )
    folds = offdiag.sklearn.log_cross_validation(
        OneColumn(), IRIS.data, NAMES, name="columns", dataset=f"{dataset} by fold", url=url
    )

    right = (model.predict(IRIS.data)[:, 0] == NAMES).mean()
    assert run.evaluation().aggregate["overall_accuracy"].value == right
    assert folds.evaluation().matrix.total == 150


def test_a_list_of_texts_is_cut_into_folds(url: str, dataset: str) -> None:
    texts = [f"a {name} flower" for name in NAMES]
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())

    run = offdiag.sklearn.log_cross_validation(
        model, texts, list(NAMES), name="texts", dataset=dataset, url=url
    )

    assert run.evaluation().aggregate["overall_accuracy"].value == 1.0

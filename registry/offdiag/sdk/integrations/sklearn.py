"""scikit-learn: log the predictions of an estimator with its scores and parameters."""

from __future__ import annotations

import math
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv

from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.runs import MAX_ENTRIES, MAX_TEXT_LENGTH, Scalar
from offdiag.errors import InvalidInput
from offdiag.inputs.labels import infer_labels
from offdiag.inputs.score_columns import PickedColumns
from offdiag.metrics.scores.forecasts import CLASS_AXIS
from offdiag.sdk.integrations.outputs import RunKeywords, found_params, in_one_order
from offdiag.sdk.logging import log_run
from offdiag.sdk.run import Run


def log_estimator(estimator: Any, X: Any, y: Any, **facts: Unpack[RunKeywords]) -> Run:
    """Log the predictions of a fitted classifier, or of a pipeline with one; returns the `Run`.

    * `estimator`: the classifier. Parameters from `get_params` that are numbers, text or booleans
      are logged, and the values that a search found instead of those it began with.
    * `X`: the samples to predict.
    * `y`: the n actual classes.
    * Other keywords are those of `log_run`. By default, `labels` are the sorted classes that the
      estimator knows or `y` contains.

    Scores are those of `predict_proba`, else of `decision_function`, in label order; a classifier
    with neither has none. Raises `InvalidInput` and `Conflict` as `log_run` does.
    """
    X, y, facts = in_one_order(X, y, facts)
    predicted = _predicted(estimator, X)
    labels = _labels(facts, y_true=y, classes_=_classes(estimator))
    scores = _scores(estimator, X, labels)
    return _log(estimator, y, predicted, scores, labels, facts)


def log_cross_validation(
    estimator: Any, X: Any, y: Any, *, cv: Any = 5, **facts: Unpack[RunKeywords]
) -> Run:
    """Log the predictions for each fold of `X` by an estimator fitted to the other folds.

    Returns one `Run` with one prediction for every sample, so that it can be compared with other
    models sample by sample; `run.evaluation(slice="fold=1")` evaluates one fold. The estimator
    itself is not fitted.

    * `estimator`, `X`, `y`, other keywords: as in `log_estimator`.
    * `cv`: a number of folds, or a splitter of scikit-learn that leaves out every sample once.
      Default: 5.

    The dataset keeps the folds, so other models must use the same ones. Raises `InvalidInput`, and
    `Conflict` if the dataset has other folds.
    """
    X, y, facts = in_one_order(X, y, facts)
    actual = np.asarray(y)
    labels = _labels(facts, y_true=y)
    predicted = np.empty(len(actual), dtype=object)
    fold = np.zeros(len(actual), dtype=np.int64)
    tables: list[tuple[NDArray[np.int64], NDArray[np.float64] | None]] = []
    splitter = check_cv(cv, actual, classifier=True)
    for number, (rest, left_out) in enumerate(_folds(splitter, X, actual), start=1):
        fitted = clone(estimator).fit(_rows(X, rest), actual[rest])
        held = _rows(X, left_out)
        predicted[left_out] = _predicted(fitted, held).tolist()
        fold[left_out] += number
        tables.append((left_out, _scores(fitted, held, labels)))
    if sorted(np.concatenate([places for places, _ in tables]).tolist()) != list(range(len(fold))):
        raise InvalidInput(
            "the folds do not hold every sample once.",
            field="cv",
            hint="Use KFold, StratifiedKFold or GroupKFold; repeated or random splits are several "
            "runs.",
        )
    if facts.get("slices") is None:
        facts["slices"] = {"fold": fold}
    return _log(clone(estimator), y, predicted, _together(tables, len(actual)), labels, facts)


def _folds(splitter: Any, X: Any, actual: NDArray[Any]) -> list[Any]:
    try:
        return list(splitter.split(X, actual))
    except ValueError as error:
        if "groups" not in str(error):
            raise
        raise InvalidInput(
            f"{_kind(splitter)} needs the group of each sample.",
            field="cv",
            hint="Give its folds: cv=list(splitter.split(X, y, groups)).",
        ) from None


def _predicted(estimator: Any, X: Any) -> NDArray[Any]:
    predicted = np.asarray(estimator.predict(X))
    if predicted.ndim == 1:
        return predicted
    if predicted.ndim == 2 and predicted.shape[CLASS_AXIS] == 1:
        return predicted[:, 0]  # CatBoost predicts a column where there are several classes.
    raise InvalidInput(
        f"a {_kind(estimator)} predicts several labels per sample.",
        field="estimator",
        hint="Log them with log_run(y_pred=estimator.predict(X), labels=...).",
    )


def _classes(estimator: Any) -> Any:
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise InvalidInput(
            f"a {_kind(estimator)} has no classes_.",
            field="estimator",
            hint="Give a fitted classifier, or log predictions with log_run.",
        )
    return classes


def _labels(facts: RunKeywords, **found: Any) -> LabelSet:
    declared = facts.get("labels")
    if declared is not None:
        return LabelSet.declared(declared, ordinal=facts.get("ordinal", False))
    return infer_labels(*found.items())


def _scores(estimator: Any, X: Any, labels: LabelSet) -> NDArray[np.float64] | None:
    """Scores in label order, 0 or the lowest for classes the estimator does not know; or None."""
    for method, lowest in (("predict_proba", 0.0), ("decision_function", None)):
        if not hasattr(estimator, method):
            continue
        table = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
        if table.ndim == 1:
            table = np.stack([-table, table], axis=CLASS_AXIS)
        names = [label_text(label) for label in estimator.classes_]
        of_pairs = (
            method == "decision_function" and len(names) > 2 and _decides_by_pairs(estimator)
        )
        if table.ndim != 2 or table.shape[CLASS_AXIS] != len(names) or of_pairs:
            return None  # One score for each pair of classes says nothing about one class.
        filler = lowest if lowest is not None else float(table.min()) - 1
        ordered = np.full((len(table), len(labels)), filler)
        ordered[:, [labels.code_of(name) for name in names]] = table
        return ordered
    return None


def _together(
    tables: list[tuple[NDArray[np.int64], NDArray[np.float64] | None]], n_cases: int
) -> NDArray[np.float64] | None:
    whole: NDArray[np.float64] | None = None
    for places, table in tables:
        if table is None:
            return None
        if whole is None:
            whole = np.empty((n_cases, table.shape[CLASS_AXIS]))
        whole[places] = table
    return whole


def _log(
    estimator: Any,
    y: Any,
    predicted: Any,
    scores: NDArray[np.float64] | None,
    labels: LabelSet,
    facts: RunKeywords,
) -> Run:
    known = facts.copy()
    known["labels"] = labels
    known["model"] = facts.get("model") or _kind(estimator)
    known["params"] = found_params(_params(estimator), facts.get("params"))
    table = None if scores is None else PickedColumns(scores, labels.names)
    return log_run(y_true=y, y_pred=predicted, y_score=table, **known)


def _params(estimator: Any) -> dict[str, Scalar]:
    given = _with_found_values(estimator, estimator.get_params())
    plain = {name: _scalar(value) for name, value in sorted(given.items())}
    kept = [(name, value) for name, value in plain.items() if value is not _NO_SCALAR]
    return dict(kept[: MAX_ENTRIES // 2])


def _with_found_values(estimator: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Parameters with the values that a search found; one that is not fitted has found none."""
    search = _last_step(estimator)
    tried = getattr(search, "param_grid", None) or getattr(search, "param_distributions", None)
    if not tried:
        return given
    place = "estimator__" if search is estimator else f"{estimator.steps[-1][0]}__estimator__"
    names = {
        place + name for grid in ([tried] if hasattr(tried, "keys") else tried) for name in grid
    }
    found = {place + name: value for name, value in getattr(search, "best_params_", {}).items()}
    return {name: value for name, value in given.items() if name not in names} | found


_NO_SCALAR = object()


def _scalar(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str) and len(value) <= MAX_TEXT_LENGTH:
        return value
    return type(value).__name__ if hasattr(value, "get_params") else _NO_SCALAR


def _decides_by_pairs(estimator: Any) -> bool:
    """Whether the columns are pairs of classes; three classes have as many pairs."""
    last = _last_step(estimator)
    found = _last_step(getattr(last, "best_estimator_", last))  # A search has tried several.
    return getattr(found, "decision_function_shape", None) == "ovo"


def _kind(estimator: Any) -> str:
    """The class of the classifier, which is the last step of a pipeline."""
    return type(_last_step(estimator)).__name__


def _last_step(estimator: Any) -> Any:
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if steps else estimator


def _rows(X: Any, places: NDArray[np.int64]) -> Any:
    if isinstance(X, list):  # As of texts.
        return [X[place] for place in places]
    return X.iloc[places] if hasattr(X, "iloc") else X[places]

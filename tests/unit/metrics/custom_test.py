"""Functions that a team declares as metrics, against the metrics of the catalogue they repeat."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import offdiag
from offdiag.domain.labels import LabelSet
from offdiag.domain.values import Reason
from offdiag.errors import Conflict, InvalidInput
from offdiag.metrics.aggregates import AGGREGATES
from offdiag.metrics.aggregates.classified import Classified
from offdiag.metrics.aggregates.custom import MOST_CELLS, gradient_of, over_stack
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.custom import CustomMetric, MatrixInput, ScoreInput, _Declared
from offdiag.metrics.intervals.delta import aggregate_gradients
from offdiag.metrics.tally import tally

LABELS = LabelSet.declared(["nv", "mel", "bcc"])
COUNTS = np.array([[70, 6, 4], [9, 30, 0], [2, 5, 14]])


def macro_f1(m: MatrixInput) -> float:
    return float(np.mean(2 * np.diagonal(m.counts) / (m.actual + m.predicted)))


def declared(function: object, *, key: str = "own", high: float = 1) -> CustomMetric:
    facts = {"key": key, "low": 0, "high": high}
    return CustomMetric(function, "matrix", facts)  # type: ignore[arg-type]


def test_a_stack_is_evaluated_matrix_by_matrix_with_the_reasons_of_each() -> None:
    def recall_of_mel(m: MatrixInput) -> float | None:
        mel = m.labels.index("mel")
        return m.counts[mel, mel] / m.actual[mel] if m.actual[mel] else None

    without_mel = COUNTS.copy()
    without_mel[1] = 0
    stack = np.stack([COUNTS, np.zeros_like(COUNTS), without_mel])

    found = over_stack(declared(recall_of_mel))(
        Classified(tally(stack, names=LABELS.names), AGGREGATES)
    )

    assert found.at(0).value == 30 / 39
    assert found.at(1).reason == Reason.NO_SAMPLES
    assert found.at(2).reason == Reason.CUSTOM_METRIC_UNDEFINED


def test_weights_are_given_as_they_were() -> None:
    weights = COUNTS / 8

    found = over_stack(declared(lambda m: m.total, high=100))(
        Classified(tally(weights, names=LABELS.names), AGGREGATES)
    )

    assert found.at(0).value == weights.sum()


def test_a_function_cannot_change_what_other_metrics_are_computed_from() -> None:
    scores, actual = np.array([[0.2, 0.8], [0.6, 0.4]]), np.array([1, 0])

    def in_place(given: ScoreInput) -> float:
        given.scores[:] = 0
        return 0.5

    metric = CustomMetric(in_place, "scores", {"key": "in_place", "low": 0, "high": 1})
    found = metric.called(ScoreInput(actual, scores, ("a", "b")))

    assert found[1] == Reason.CUSTOM_METRIC_FAILED
    assert scores.tolist() == [[0.2, 0.8], [0.6, 0.4]]
    scores[0] = 1  # The array itself can be written to, as before.


@pytest.mark.parametrize("result", [float("nan"), float("inf"), 1.01, -0.5, "much", ValueError()])
def test_a_function_that_fails_makes_its_value_undefined(
    result: object, caplog: pytest.LogCaptureFixture
) -> None:
    def bad(_: MatrixInput) -> object:
        if isinstance(result, Exception):
            raise result
        return result

    value, reason = declared(bad, key=repr(result)).called(MatrixInput(COUNTS, LABELS.names))

    assert np.isnan(value)
    assert reason is Reason.CUSTOM_METRIC_FAILED
    assert not isinstance(result, Exception) or "failed: ValueError" in caplog.text


@pytest.mark.parametrize(
    ("low", "high", "result", "value"),
    [(0, 1, 1 + 1e-12, 1.0), (-1, 1, -1 - 1e-12, -1.0), (0, float("inf"), 1e9, 1e9)],
)
def test_what_rounding_adds_to_a_bound_is_cut_off(
    low: float, high: float, result: float, value: float
) -> None:
    metric = CustomMetric(lambda _: result, "matrix", {"key": "own", "low": low, "high": high})

    assert metric.called(MatrixInput(COUNTS, LABELS.names)) == (value, None)


def test_classes_without_names_are_not_asked_for() -> None:
    found = over_stack(declared(macro_f1))(Classified(tally(COUNTS), AGGREGATES))

    assert found.at(0).reason == Reason.CUSTOM_METRIC_UNDEFINED


def test_slopes_are_those_of_the_formula_in_dual_numbers() -> None:
    matrix = ConfusionMatrix(COUNTS.copy(), LABELS)
    exact = aggregate_gradients(matrix, ["macro_f1"])["macro_f1"]
    actual, predicted = (each.ravel() for each in np.indices(COUNTS.shape))

    found = gradient_of(declared(macro_f1))(matrix)

    # A function of the counts is the same for any multiple of them, so a constant is not told.
    ours, theirs = found.at(actual, predicted), exact.at(actual, predicted)
    shares = COUNTS.ravel() / COUNTS.sum()
    centred = theirs - (shares * theirs).sum()
    occupied = shares > 0
    assert found.value == pytest.approx(exact.value)
    assert ours[occupied] == pytest.approx(centred[occupied], abs=1e-5)
    assert ours[~occupied] == pytest.approx(centred[~occupied], abs=2e-2)  # From one side alone.


def test_too_many_cells_have_no_slopes() -> None:
    size = int(np.sqrt(MOST_CELLS)) + 1
    matrix = ConfusionMatrix(np.ones((size, size), np.int64), LabelSet.numbered(size))
    every = np.indices((size, size)).reshape(2, -1)

    assert np.isnan(gradient_of(declared(macro_f1))(matrix).at(*every)).all()


def test_a_metric_is_declared_before_any_is_used() -> None:
    with pytest.raises(Conflict, match="declared after metrics were used"):

        @offdiag.metric(title="Late", low=0, high=1, direction="higher")
        def late(m: offdiag.MatrixInput) -> float:
            return m.total


def function_of(module: str, name: str = "f2_ill") -> Any:
    namespace: dict[str, object] = {"__name__": Path(module).stem}
    exec(compile(f"def {name}(m): return 0.5", module, "exec"), namespace)
    return namespace[name]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (function_of("team/one.py"), function_of("team/two.py")),
        (function_of("team/one.py", "a"), function_of("team/one.py", "b")),
    ],
)
def test_two_functions_cannot_have_one_key(
    monkeypatch: pytest.MonkeyPatch, first: Any, second: Any
) -> None:
    monkeypatch.setattr("offdiag.metrics.custom._declared", _Declared())
    declare = offdiag.metric(title="Own", low=0, high=1, direction="higher", name="own")
    declare(first)

    with pytest.raises(
        Conflict, match=rf"'own' is declared twice, .*one\.{first.__name__}"
    ) as told:
        declare(second)

    assert f"{second.__module__}.{second.__name__}" in str(told.value)
    assert "another name" in str(told.value)


@pytest.mark.parametrize("again", ["team/one.py", "team/../team/one.py"])
def test_a_function_that_is_read_again_replaces_the_earlier_one(
    monkeypatch: pytest.MonkeyPatch, again: str
) -> None:
    declared = _Declared()
    monkeypatch.setattr("offdiag.metrics.custom._declared", declared)
    declare = offdiag.metric(title="Own", low=0, high=1, direction="higher")
    declare(function_of("team/one.py"))
    second = function_of(again)
    second.__module__ = "__main__" if ".." in again else second.__module__

    declare(second)

    assert declared.metrics["f2_ill"].function is second


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"low": 1, "high": 1}, "low"),
        ({"low": float("nan")}, "low"),
        ({"title": " "}, "title"),
        ({"direction": "up"}, "direction"),
        ({"of": "pictures"}, "of"),
        ({"version": 0}, "version"),
        ({"name": "F2 of mel"}, "name"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, object], field: str) -> None:
    facts = {"title": "Own", "low": 0, "high": 1, "direction": "higher"}

    with pytest.raises(InvalidInput) as refused:
        offdiag.metric(**(facts | given))(macro_f1)  # type: ignore[arg-type]

    assert refused.value.field == field

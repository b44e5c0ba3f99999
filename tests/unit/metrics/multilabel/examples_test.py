"""Example-based averages, and what they say about empty sets."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.domain.values import Reason
from offdiag.metrics.multilabel.examples import example_metrics, sum_over_examples
from offdiag.metrics.multilabel.sets import distinct_patterns
from offdiag.metrics.multilabel.suite import set_metrics
from offdiag.metrics.multilabel.tally import tally_sets
from support.krstinic import ACTUAL_SETS, PREDICTED_SETS, indicator


def metrics(actual: list[str], predicted: list[str]) -> dict[str, float | None]:
    patterns = distinct_patterns(indicator(actual), indicator(predicted))
    values = example_metrics(sum_over_examples(patterns))
    return {key: value.value for key, value in values.items()}


def test_the_worked_example() -> None:
    values = metrics(list(ACTUAL_SETS), list(PREDICTED_SETS))

    assert values["subset_accuracy"] == 1 / 7
    assert values["hamming_loss"] == 10 / 28
    assert values["example_jaccard"] == pytest.approx(
        (1 + 2 / 3 + 1 / 2 + 3 / 4 + 1 / 2 + 1 / 3 + 0) / 7, rel=1e-15
    )
    assert values["example_precision"] == pytest.approx(
        (1 + 2 / 3 + 1 / 2 + 1 + 1 + 1 / 2 + 0) / 7, rel=1e-15
    )
    assert values["example_recall"] == pytest.approx(
        (1 + 1 + 1 + 3 / 4 + 1 / 2 + 1 / 2 + 0) / 7, rel=1e-15
    )
    assert values["example_f1"] == pytest.approx(
        (1 + 4 / 5 + 2 / 3 + 6 / 7 + 2 / 3 + 1 / 2 + 0) / 7, rel=1e-15
    )


@pytest.mark.parametrize(
    ("actual", "predicted", "measure", "scores"),
    [
        ("00", "00", "precision", (1.0, 0.0, 1.0)),
        ("00", "00", "recall", (1.0, 0.0, 1.0)),
        ("00", "00", "jaccard", (1.0, 0.0, 1.0)),
        ("00", "00", "f1", (1.0, 0.0, 1.0)),
        ("10", "00", "precision", (0.0, 0.0, 1.0)),
        ("10", "00", "recall", (0.0, 0.0, 0.0)),
        ("10", "00", "f1", (0.0, 0.0, 0.0)),
        ("00", "10", "recall", (0.0, 0.0, 1.0)),
        ("00", "10", "precision", (0.0, 0.0, 0.0)),
        ("00", "10", "jaccard", (0.0, 0.0, 0.0)),
    ],
)
def test_empty_sets_score_by_the_rule_in_the_name(
    actual: str, predicted: str, measure: str, scores: tuple[float, float, float]
) -> None:
    values = metrics([actual], [predicted])

    keys = [f"example_{measure}{rule}" for rule in ("", "_zd0", "_zd1")]
    assert tuple(values[key] for key in keys) == scores


def test_averages_are_rounded_once() -> None:
    values = metrics(["111"] * 3, ["100", "010", "001"])

    assert values["example_recall"] == 1 / 3


def test_without_cases_everything_is_undefined() -> None:
    nothing = np.zeros((0, 2), dtype=np.bool_)

    values = example_metrics(sum_over_examples(distinct_patterns(nothing, nothing)))

    assert {value.reason for value in values.values()} == {Reason.NO_SAMPLES}


def test_cardinality_and_density_are_of_the_true_sets() -> None:
    actual = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]], dtype=np.bool_)

    values = set_metrics(tally_sets(actual, ~actual))

    assert values["label_cardinality"].value == 1.0
    assert values["label_density"].value == 0.25

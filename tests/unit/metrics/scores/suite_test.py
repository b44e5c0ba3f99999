"""Which metrics a set of scores has, and which are undefined."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.domain.values import Reason
from offdiag.metrics.scores.forecasts import LARGEST_K, Forecasts
from offdiag.metrics.scores.suite import SPECS, class_metrics, score_metrics
from offdiag.metrics.spec import Scope
from offdiag.sdk.evaluations.scores import evaluate_scores
from support.forecasts import of_classes, of_event

RANKING_OF_ONE_CLASS = {"roc_auc", "average_precision", "ks"}
CALIBRATION_OF_ONE_CLASS = {"ece_positive_15", "mce_positive_15", "ece_positive_equal_mass_15"}
AVERAGED_AREAS = {
    "roc_auc_ovr_macro",
    "roc_auc_ovr_weighted",
    "roc_auc_ovo_macro",
    "roc_auc_ovo_weighted",
}
OF_ALL_CLASSES = {
    "log_loss",
    "log_loss_clipped",
    "brier_sum",
    "brier_half",
    "brier_reliability",
    "brier_resolution",
    "brier_uncertainty",
    "brier_miscalibration",
    "brier_discrimination",
    "ece_top_label_15",
    "ece_top_label_equal_mass_15",
}


def test_scores_of_the_positive_class_alone() -> None:
    values = score_metrics(of_event([0, 1, 1], [0.2, 0.4, 0.9]))

    assert set(values) == (
        RANKING_OF_ONE_CLASS | CALIBRATION_OF_ONE_CLASS | OF_ALL_CLASSES | {"top_1_accuracy"}
    )
    assert all(value.is_defined for value in values.values())


def test_a_column_for_each_of_many_classes() -> None:
    table = np.full((7, 7), 1 / 7).tolist()

    values = score_metrics(of_classes(list(range(7)), table))

    top_k = {f"top_{k}_accuracy" for k in range(1, 6)}
    assert set(values) == AVERAGED_AREAS | OF_ALL_CLASSES | top_k
    assert values["roc_auc_ovo_macro"].value == 0.5
    assert values["top_5_accuracy"].value == 5 / 7


def test_two_columns_with_a_positive_class_have_both_kinds() -> None:
    values = score_metrics(of_classes([0, 1], [[0.8, 0.2], [0.3, 0.7]], positive=1))

    assert set(values) == (
        RANKING_OF_ONE_CLASS
        | CALIBRATION_OF_ONE_CLASS
        | AVERAGED_AREAS
        | OF_ALL_CLASSES
        | {"top_1_accuracy"}
    )


def test_complementary_columns_have_the_metrics_of_the_one_column() -> None:
    one = score_metrics(of_event([0, 1, 1], [0.2, 0.4, 0.9]))
    both = score_metrics(of_classes([0, 1, 1], [[0.8, 0.2], [0.6, 0.4], [0.1, 0.9]], positive=1))

    for key, value in one.items():
        assert value.value == pytest.approx(both[key].value, abs=1e-15), key


def test_scores_that_are_no_probabilities_still_rank() -> None:
    values = score_metrics(of_event([0, 1, 1], [-3.0, 2.0, 8.0]))

    undefined = {key for key, value in values.items() if not value.is_defined}
    assert undefined == CALIBRATION_OF_ONE_CLASS | OF_ALL_CLASSES | {"top_1_accuracy"}
    assert {values[key].reason for key in undefined} == {Reason.SCORES_NOT_PROBABILITIES}
    assert values["roc_auc"].value == 1


def test_logits_of_all_classes_still_rank_and_decide() -> None:
    values = score_metrics(of_classes([0, 1, 2], [[9.0, 1, 2], [0, 3, 1], [0, 4, 1]]))

    undefined = {key for key, value in values.items() if not value.is_defined}
    assert undefined == OF_ALL_CLASSES
    assert values["top_1_accuracy"].value == 2 / 3


def test_a_single_case_has_no_area_but_a_score() -> None:
    values = score_metrics(of_event([1], [0.75]))

    assert values["roc_auc"].reason == Reason.NO_ACTUAL_NEGATIVES
    assert values["average_precision"].value == 1
    assert values["brier_half"].value == 0.0625
    assert values["ece_positive_15"].value == 0.25


def test_a_single_declared_class_is_no_problem() -> None:
    values = score_metrics(Forecasts(np.zeros(2, np.uint8), np.ones((2, 1)), n_classes=1))

    assert values["log_loss"].value == 0
    assert values["top_1_accuracy"].value == 1
    assert values["roc_auc_ovr_macro"].reason == Reason.TOO_FEW_CLASSES


def test_each_class_is_judged_against_the_rest() -> None:
    values = class_metrics(of_classes([0, 1], [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1]]))

    assert [value.value for value in values["roc_auc"]] == [1, 1, None]
    assert values["roc_auc"][2].reason == Reason.NO_ACTUAL_POSITIVES
    assert [value.value for value in values["average_precision"]] == [1, 1, None]


def test_the_class_without_a_column_is_ranked_the_other_way_round() -> None:
    values = class_metrics(of_event([0, 1, 0], [0.1, 0.4, 0.9]))

    assert [value.value for value in values["roc_auc"]] == [0.5, 0.5]
    assert [value.value for value in values["average_precision"]] == [(1 + 2 / 3) / 2, 0.5]


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

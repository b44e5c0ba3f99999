"""Names of scikit-learn in place of our metric keys."""

from __future__ import annotations

from typing import Any

import pytest

import offdiag
from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput, UnknownKey
from offdiag.filters.conditions import AllOf, AnyOf, Comparison, MetricField, Operator, Ordering
from offdiag.filters.fields import WHOLE_METRICS
from offdiag.filters.parsing import parse_filter, parse_order
from offdiag.metrics.catalogue import CATALOGUE, Scope
from offdiag.metrics.names import SCORERS, SHORT_NAMES, find_metric, nearest_names, negated
from offdiag.reports.scope import Condition, ReportScope, Side

KEYS = {key for scope in Scope for key in CATALOGUE[scope]}


def test_every_name_stands_for_keys_of_the_catalogue_and_is_none_itself() -> None:
    assert all(each.key in KEYS for found in SCORERS.values() for each in found)
    assert not SCORERS.keys() & KEYS


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("macro_f1", "macro_f1"),
        ("accuracy_score", "overall_accuracy"),
        ("cohen_kappa_score", "cohen_kappa"),
        ("zero_one_loss", "error_rate"),
        ("hamming_loss", "hamming_loss"),
        ("jaccard_samples", "example_jaccard_zd0"),
    ],
)
def test_functions_are_known_where_the_name_alone_is_one_definition(name: str, key: str) -> None:
    found = find_metric(name, WHOLE_METRICS)

    assert found is not None
    assert (found.key, found.is_negated) == (key, False)


@pytest.mark.parametrize("name", ["top_k_accuracy_score", "f1_score", "fbeta_score", "F1", ""])
def test_names_with_several_definitions_are_no_metric_of_a_run(name: str) -> None:
    assert find_metric(name, WHOLE_METRICS) is None


def test_names_with_typing_errors_lead_to_ours() -> None:
    for name in ("f1_makro", "makro_f1"):
        assert nearest_names(name, WHOLE_METRICS) == "Did you mean 'macro_f1'?"
    assert "'mcc'" in nearest_names("mc", WHOLE_METRICS)
    assert nearest_names("zzzzzz", WHOLE_METRICS) == ""


def test_a_negated_value_has_its_interval_turned_round() -> None:
    value = MetricValue(0.5, None, None, 0.4, 0.7, "m")

    assert negated(value) == MetricValue(-0.5, None, None, -0.7, -0.4, "m")
    assert negated(MetricValue(None, "r", "+inf")) == MetricValue(None, "r", "-inf")


class TestSearch:
    def test_a_filter_has_our_key(self) -> None:
        assert parse_filter("metrics.f1_macro > 0.8") == parse_filter("metrics.macro_f1 > 0.8")
        assert parse_filter("metrics.recall_score['a'] > 0.8") == parse_filter(
            "metrics.recall['a'] > 0.8"
        )

    def test_a_bound_on_a_negated_scorer_is_turned_round(self) -> None:
        expected = parse_filter("metrics.log_loss <= 0.3")

        assert parse_filter("metrics.neg_log_loss >= -0.3") == expected

    def test_accuracy_is_that_of_classes_or_of_sets(self) -> None:
        found = parse_filter("metrics.accuracy > 0.9")

        assert found == AnyOf(
            tuple(
                Comparison(MetricField(key), Operator.GREATER, (0.9,))
                for key in ("overall_accuracy", "subset_accuracy")
            )
        )

    def test_the_brier_score_is_halved_for_two_classes_alone(self) -> None:
        two, more = (
            AllOf(
                (
                    Comparison(MetricField("n_classes"), operator, (2,)),
                    Comparison(MetricField(key), Operator.LESS, (0.2,)),
                )
            )
            for key, operator in (
                ("brier_half", Operator.EQUAL),
                ("brier_sum", Operator.UNEQUAL),
            )
        )

        assert parse_filter("metrics.neg_brier_score > -0.2") == AnyOf((two, more))

    def test_an_order_by_a_negated_scorer_is_reversed(self) -> None:
        assert parse_order(["metrics.neg_log_loss desc"]) == (
            Ordering(MetricField("log_loss"), descending=False),
        )
        assert parse_order(["metrics.accuracy desc"]) == (
            Ordering(MetricField("overall_accuracy"), descending=True),
            Ordering(MetricField("subset_accuracy"), descending=True),
        )

    def test_a_metric_of_one_class_is_refused_with_the_averages(self) -> None:
        with pytest.raises(InvalidInput) as refused:
            parse_filter("metrics.f1_score > 0.8")

        assert refused.value.hint is not None
        assert "metrics.f1[…]; or take an average: macro_f1, weighted_f1" in refused.value.hint


class TestEvaluation:
    def test_scorers_are_read_from_aggregates(self) -> None:
        found = offdiag.evaluate_labels(y_true=["a", "a", "b", "c"], y_pred=["a", "b", "b", "a"])

        assert found.aggregate["f1_macro"] == found.aggregate["macro_f1"]
        assert "f1_macro" not in list(found.aggregate)
        with pytest.raises(UnknownKey, match="no metric 'f1'") as refused:
            found.aggregate["f1"]
        assert refused.value.hint is not None
        assert "macro_f1" in refused.value.hint

    def test_a_scorer_of_two_classes_is_about_the_positive_one(self) -> None:
        found = offdiag.evaluate_labels(y_true=[0, 1, 1, 0], y_pred=[0, 1, 0, 0])

        assert found.aggregate["f1"] == found.per_class["f1"]["1"]
        per_class = found.per_class["neg_negative_likelihood_ratio"]["1"].value
        assert per_class == -(found.per_class["lr_minus"]["1"].value or 0.0)

    def test_the_permutation_test_takes_the_name_of_a_scorer(self) -> None:
        columns: dict[str, Any] = {
            "y_true": [0, 1, 1, 0],
            "pred_a": [0, 1, 0, 0],
            "pred_b": [0, 1, 1, 1],
        }

        named = offdiag.stats.permutation_test(**columns, metric="f1_macro", replicates=99)

        assert named == offdiag.stats.permutation_test(**columns, metric="macro_f1", replicates=99)


class TestReports:
    def test_the_scope_of_a_report_has_our_keys(self) -> None:
        scope = ReportScope("p", "d", metrics=("f1_macro", "neg_log_loss"))

        assert scope.metrics == ("macro_f1", "log_loss")

    def test_a_condition_on_a_negated_scorer_is_turned_round(self) -> None:
        found = Condition("neg_log_loss", Side.BELOW, -0.5)

        assert found == Condition("log_loss", Side.ABOVE, 0.5)

    def test_a_metric_of_one_class_is_refused_with_the_averages(self) -> None:
        with pytest.raises(InvalidInput) as refused:
            ReportScope("p", "d", metrics=("f1",))

        assert refused.value.hint == "Use an average: macro_f1, weighted_f1, micro_f1."


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("precision-weighted", "weighted_precision"),
        ("AUC_ROC", "roc_auc"),
        ("Accuracy", "overall_accuracy"),
        ("macro_avg_f1", "macro_f1"),
        ("balanced accuracy", "balanced_accuracy"),
        ("MCC", "mcc"),
        ("acuracy", "overall_accuracy"),
        ("top5", "top_5_accuracy"),
        ("hamming", "hamming_loss"),
        ("youden", "informedness_multiclass"),
        ("calibration", "ece_positive_15"),
    ],
)
def test_an_unknown_name_leads_to_the_metric_with_the_same_words(name: str, meant: str) -> None:
    assert nearest_names(name, WHOLE_METRICS).startswith(f"Did you mean '{meant}'")


def test_usual_short_names_mean_one_metric_of_ours() -> None:
    assert not SHORT_NAMES.keys() & (KEYS | SCORERS.keys())
    assert all(each.key in KEYS for found in SHORT_NAMES.values() for each in found)
    found = {name: find_metric(name, WHOLE_METRICS) for name in ("acc", "kappa", "auc", "bacc")}
    assert [each and each.key for each in found.values()] == [
        "overall_accuracy",
        "cohen_kappa",
        "roc_auc",
        "balanced_accuracy",
    ]


def test_an_unknown_name_in_an_evaluation_leads_to_where_the_metric_is() -> None:
    evaluation = offdiag.evaluate_matrix(
        [[9, 1], [3, 7]], labels=["a", "b"], orientation="actual_rows"
    )

    for table, name, hint in (
        (evaluation.aggregate, "IoU", "Use an average: macro_jaccard, weighted_jaccard"),
        (evaluation.aggregate, "senstivity", "Use an average: macro_recall"),
        (evaluation.aggregate, "npv", "It is a metric of one class. Use per_class['npv']."),
        (evaluation.per_class, "kappa", "Use aggregate['cohen_kappa']."),
        (evaluation.per_class, "F1-score", "Did you mean 'f1'?"),
        (evaluation.per_class, "youden", "Did you mean 'informedness'?"),
        (evaluation.per_class, "Youden's index", "Did you mean 'informedness'?"),
        (evaluation.aggregate, "youden", "Use per_class['informedness']."),
        (evaluation.aggregate, "roc_auc", "roc_auc needs scores"),
        (evaluation.aggregate, "ece", "needs scores"),
        (evaluation.aggregate, "zzzz", "The catalogue of metrics lists all keys."),
    ):
        with pytest.raises(UnknownKey) as refused:
            table[name]
        assert hint in (refused.value.hint or ""), name

    scores = offdiag.evaluate_scores(y_true=[0, 1, 1, 0], y_score=[0.1, 0.2, 0.7, 0.4])
    with pytest.raises(UnknownKey, match="brier_half is not a metric of one class"):
        scores.per_class["brier"]

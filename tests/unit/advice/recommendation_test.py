"""Advice: golden cases of the literature, and sentences that follow from the catalogue."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from offdiag.advice.recommendation import (
    ABOUT_ALL_CLASSES,
    ABOUT_ONE_CLASS,
    ANY_BALANCE,
    ANY_SHARE,
    EITHER_CLASS,
    KNOWN_BALANCE,
    OTHER_BALANCE,
    Advice,
    Candidate,
    Counsel,
    is_prevalence_independent,
    recommend,
)
from offdiag.advice.situation import Goal, Situation
from offdiag.domain.labels import LabelSet
from offdiag.metrics.catalogue import CATALOGUE, Scope

# The screening example: ten ill among a thousand.
SCREENING = Situation(
    goal=Goal.MISSES,
    labels=LabelSet(("well", "ill")),
    cases=(990, 10),
    about="ill",
    balance_known=False,
    has_scores=False,
)
# Machine Learning & Signals Learning, example 12.5: 80, 15 and 5 cases.
LECTURE = Situation(
    goal=Goal.BOTH,
    labels=LabelSet(("A", "B", "C")),
    cases=(80, 15, 5),
    about=None,
    balance_known=False,
    has_scores=False,
)


def names(counsels: tuple[Counsel, ...]) -> list[str]:
    return [counsel.name for counsel in counsels]


def avoided(advice: Advice, name: str) -> tuple[str, ...]:
    return next(counsel.why for counsel in advice.avoid if counsel.name == name)


def test_a_screening_is_reported_by_rates_that_hold_on_any_balance() -> None:
    advice = recommend(SCREENING)

    assert names(advice.report) == ["recall[ill]", "specificity[ill]", "informedness[ill]"]
    assert advice.report[0].question == "How many of the actual examples of 'ill' are detected?"
    assert "Always predicting 'well' scores 99.0 %." in avoided(advice, "overall_accuracy")
    assert avoided(advice, "precision[ill]") == (
        OTHER_BALANCE,
        "It does not depend on false negatives, the errors that matter.",
    )
    assert advice.cautions[0].startswith("Only 10 of 1,000 examples are 'ill'")


def test_a_screening_whose_balance_is_that_of_use_may_report_precision() -> None:
    advice = recommend(replace(SCREENING, balance_known=True))

    assert names(advice.report) == ["recall[ill]", "precision[ill]", "f2[ill]"]
    assert [counsel.why[0] for counsel in advice.report] == [
        ANY_BALANCE,
        KNOWN_BALANCE,
        KNOWN_BALANCE,
    ]
    assert names(advice.avoid) == ["overall_accuracy", "weighted_f1"]


def test_the_lecture_is_told_that_its_accuracy_is_that_of_the_majority_rule() -> None:
    advice = recommend(LECTURE)

    assert names(advice.report) == ["balanced_accuracy", "recall[C]", "gmean_multiclass"]
    assert "Always predicting 'A' scores 80.0 %." in avoided(advice, "overall_accuracy")
    assert any("ten classes" in sentence for sentence in avoided(advice, "average_accuracy"))
    assert {"mcc", "macro_f1", "f1[C]"} <= set(names(advice.avoid))


def test_with_a_known_balance_the_lecture_may_use_one_number_for_all_errors() -> None:
    advice = recommend(replace(LECTURE, balance_known=True))

    assert names(advice.report) == ["mcc", "macro_f1", "f1[C]"]
    assert "mcc" not in names(advice.avoid)


def test_ordered_classes_are_told_near_errors_from_far_ones() -> None:
    ordered = replace(LECTURE, balance_known=True, labels=LabelSet(("A", "B", "C"), ordinal=True))

    assert names(recommend(ordered).report)[0] == "kappa_quadratic"


def test_rankings_are_judged_by_scores_if_there_are_any() -> None:
    ranking = replace(SCREENING, goal=Goal.RANKING, has_scores=True)

    assert names(recommend(ranking).report) == ["roc_auc[ill]", "informedness[ill]", "recall[ill]"]
    assert names(recommend(replace(ranking, balance_known=True)).report)[:2] == [
        "roc_auc[ill]",
        "average_precision[ill]",
    ]


def test_without_scores_a_ranking_cannot_be_judged_and_that_is_said() -> None:
    advice = recommend(replace(SCREENING, goal=Goal.RANKING))

    assert all(counsel.spec.scope is not Scope.PROBABILISTIC for counsel in advice.report)
    assert any("y_score=" in caution for caution in advice.cautions)


def test_probabilities_presuppose_a_balance() -> None:
    unknown = replace(SCREENING, goal=Goal.PROBABILITIES, has_scores=True)

    assert {"log_loss", "ece_top_label_15"} <= set(names(recommend(unknown).avoid))
    assert any(
        "calibrated for one class balance" in caution for caution in recommend(unknown).cautions
    )
    assert names(recommend(replace(unknown, balance_known=True)).report) == [
        "log_loss",
        "ece_top_label_15",
        "roc_auc[ill]",
    ]


def test_of_several_classes_only_the_share_of_the_one_in_question_may_change() -> None:
    advice = recommend(replace(LECTURE, goal=Goal.MISSES, about="B"))

    why = {counsel.name: counsel.why[0] for counsel in advice.report}
    assert why == {
        "recall[B]": ANY_BALANCE,
        "specificity[B]": ANY_SHARE.replace("{class}", "B"),
        "informedness[B]": ANY_SHARE.replace("{class}", "B"),
    }


def test_enough_cases_need_no_caution() -> None:
    advice = recommend(replace(SCREENING, cases=(990, 200), balance_known=True))

    assert advice.cautions == ()


CANDIDATES = {
    (candidate.spec.key, candidate.of_class): candidate
    for offered in (*ABOUT_ONE_CLASS.values(), *ABOUT_ALL_CLASSES.values())
    for candidate in offered
}


@pytest.mark.parametrize("candidate", CANDIDATES.values(), ids=lambda c: c.spec.key)
def test_every_sentence_for_a_metric_follows_from_its_entry(candidate: Candidate) -> None:
    spec = CATALOGUE[candidate.spec.scope][candidate.spec.key]
    found = [
        counsel
        for goal in Goal
        for about in ("ill", None)
        for known in (True, False)
        for counsel in recommend(
            replace(SCREENING, goal=goal, about=about, balance_known=known, has_scores=True)
        ).report
        if counsel.spec == spec
    ]

    for counsel in found:
        balance = ANY_BALANCE if is_prevalence_independent(spec) else KNOWN_BALANCE
        assert counsel.why[0] == balance
        symmetric = spec.symmetry is not None and spec.symmetry.class_inversion
        assert (EITHER_CLASS in counsel.why) is symmetric
        for ignored in spec.ignores:
            if ignored != "the share of positive examples":
                assert any(ignored in sentence for sentence in counsel.why)
        if spec.notes:
            assert counsel.why[-1] == spec.notes


def test_advice_is_plain_values() -> None:
    found = json.loads(json.dumps(recommend(LECTURE).to_dict()))

    assert [entry["key"] for entry in found["report"]] == [
        "balanced_accuracy",
        "recall",
        "gmean_multiclass",
    ]
    assert found["report"][1]["class_label"] == "C"
    assert found["report"][0]["formula"]

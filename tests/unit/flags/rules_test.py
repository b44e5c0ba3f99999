"""Where each rule begins to fire, how grave it is there, and what it says."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.flags.assessment import Assessment, assess
from offdiag.flags.rule_evaluation import at_least, at_most
from offdiag.flags.rules.recall import examples_needed
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Certainty, Severity, Verdict
from support.matrices import matrix_of


def verdicts_of(
    rule: str, counts: Sequence[Sequence[int]], thresholds: Thresholds | None = None
) -> list[Verdict]:
    """The verdicts of one rule on a matrix whose classes are called 0, 1, ...."""
    assessment = assess(matrix_of(counts), thresholds)
    return [verdict for verdict in assessment.verdicts if verdict.rule == rule]


def only_verdict(rule: str, counts: Sequence[Sequence[int]]) -> Verdict:
    (verdict,) = verdicts_of(rule, counts)
    return verdict


class TestCollapsed:
    def test_one_answer_for_two_classes_is_critical(self) -> None:
        verdict = only_verdict("F1", [[15, 0], [5, 0]])

        assert verdict.severity is Severity.CRITICAL
        assert verdict.class_label is None
        assert verdict.evidence["answer"] == "0"
        assert verdict.message == (
            "All 20 predictions are '0'; accuracy equals the share of '0' (75 %)."
        )

    @pytest.mark.parametrize(
        ("others", "fires"), [([4], False), ([5], True), ([2, 2], False), ([3, 2], True)]
    )
    def test_five_examples_of_other_classes_are_needed(
        self, others: list[int], fires: bool
    ) -> None:
        # 0.5**4 = 0.0625 exceeds 0.05, 0.5**5 = 0.031 does not.
        counts = [[row] + [0] * len(others) for row in (90, *others)]

        assert bool(verdicts_of("F1", counts)) is fires

    def test_a_single_other_answer_is_enough_to_stay_silent(self) -> None:
        assert not verdicts_of("F1", [[6, 1], [30, 0]])

    def test_the_answer_may_be_a_class_that_never_occurs(self) -> None:
        assert only_verdict("F1", [[0, 0, 4], [0, 0, 6], [0, 0, 0]]).evidence["answer"] == "2"


class TestNeverPredicted:
    def test_a_class_with_cases_but_no_predictions_is_high(self) -> None:
        verdict = only_verdict("F2", [[9, 1, 0], [0, 9, 0], [0, 7, 0]])

        assert (verdict.class_label, verdict.severity) == ("2", Severity.HIGH)
        assert verdict.message == "'2' is never predicted; it has 7 examples."

    @pytest.mark.parametrize(("examples", "fires"), [(5, False), (6, True)])
    def test_so_few_examples_may_be_missed_by_chance(self, examples: int, fires: bool) -> None:
        # As for zero recall: 0.5**5 = 0.031 exceeds 0.05 / 2, 0.5**6 = 0.016 does not.
        assert bool(verdicts_of("F2", [[90, 0], [examples, 0]])) is fires

    def test_a_class_that_does_not_occur_need_not_be_predicted(self) -> None:
        assert not verdicts_of("F2", [[9, 1, 0], [0, 9, 0], [0, 0, 0]])


class TestZeroRecall:
    @pytest.mark.parametrize(("cases", "fires"), [(5, False), (6, True)])
    def test_six_misses_of_two_classes_are_no_bad_luck(self, cases: int, fires: bool) -> None:
        # 0.5**5 = 0.031 exceeds 0.05 / 2, 0.5**6 = 0.016 does not.
        assert bool(verdicts_of("F3", [[90, 5], [cases, 0]])) is fires

    def test_one_hit_is_enough_to_stay_silent(self) -> None:
        assert not verdicts_of("F3", [[90, 5], [99, 1]])

    def test_a_luckier_detector_of_reference_is_named(self) -> None:
        (verdict,) = verdicts_of("F3", [[90, 5], [40, 0]], Thresholds(zero_recall_chance=0.2))

        assert verdict.evidence["chance_of_missing_all"] == pytest.approx(0.8**40)
        assert verdict.message == (
            "Recall of '1' is 0 of 40 (a detector with 20 % recall: p < 0.001)."
        )


class TestRecallGap:
    def test_a_gap_that_is_surely_above_the_threshold_is_proved(self) -> None:
        # 5,000 hits of 10,000 are far below 70 %, 15 points below the rest are surely not 20.
        verdict = only_verdict("F4", [[9_000, 1_000], [5_000, 5_000]])

        assert (verdict.severity, verdict.certainty) == (Severity.HIGH, Certainty.PROVED)
        assert not verdicts_of("F4", [[90_000, 10_000], [25_000, 75_000]])

    def test_a_gap_of_exactly_the_threshold_is_in_sight_on_any_number_of_cases(self) -> None:
        for size in (10, 100, 1_000):
            verdict = only_verdict("F4", [[90 * size, 10 * size], [30 * size, 70 * size]])

            assert (verdict.severity, verdict.certainty) == (Severity.MEDIUM, Certainty.IN_SIGHT)
            assert verdict.message.endswith("; no realistic number of examples would decide.")

    def test_a_proved_gap_of_forty_points_is_critical(self) -> None:
        # P(X <= 40 | 100, 0.5) = 0.028 exceeds 0.05 / 2, P(X <= 39) = 0.018 does not.
        assert only_verdict("F4", [[900, 100], [60, 40]]).severity is Severity.HIGH
        assert only_verdict("F4", [[900, 100], [61, 39]]).severity is Severity.CRITICAL

    @pytest.mark.parametrize(
        ("examples", "state"), [(1, None), (2, Certainty.IN_SIGHT), (3, Certainty.PROVED)]
    )
    def test_the_rest_is_taken_as_no_better_than_the_cap(
        self, examples: int, state: Certainty | None
    ) -> None:
        # All missed: 0.05**2 = 0.0025 is below 0.01 / 2; 0.25**3 = 0.016 is below 0.05 / 2.
        found = verdicts_of("F4", [[500, 0], [examples, 0]])

        assert [verdict.certainty for verdict in found] == ([] if state is None else [state])

    def test_a_recall_above_the_cap_less_the_threshold_is_silent(self) -> None:
        # 79 % are more than 20 points below 100 %, but surely less below 95 %.
        assert not verdicts_of("F4", [[100_000, 0], [21_000, 79_000]])

    def test_no_gap_is_in_sight_where_the_rest_is_too_bad_for_one(self) -> None:
        assert not verdicts_of("F4", [[190, 810], [40, 0]])

    def test_the_message_of_a_proved_gap_has_the_numbers_that_decide(self) -> None:
        assert only_verdict("F4", [[900, 100], [60, 40]]).message == (
            "Recall of '1' is 40 % (40 of 100, CI 31 to 50 %), against 90 % for all other "
            "examples (p < 0.001)."
        )

    def test_the_message_of_a_gap_in_sight_names_the_doubt_and_the_way_out(self) -> None:
        smaller = only_verdict("F4", [[9_000, 1_000], [51, 149]])
        larger = only_verdict("F4", [[900, 100], [6, 6]])

        assert (
            "gap may be 20 points or more; about 600 more examples would decide."
            in smaller.message
        )
        assert "gap may be under 20 points; about 32 more examples would decide." in larger.message
        assert smaller.evidence["examples_needed"] == 600

    @pytest.mark.parametrize(
        ("recall", "elsewhere", "n_classes"),
        [
            (0.1, 0.95, 2),
            (0.4, 0.9, 4),
            (0.6, 0.85, 2),
            (0.62, 0.9, 7),
            (0.8, 0.9, 2),
            (0.1, 0.5, 5),
        ],
    )
    def test_as_many_examples_as_named_settle_the_gap_in_three_of_four_test_sets(
        self, recall: float, elsewhere: float, n_classes: int
    ) -> None:
        edge, level = elsewhere - 0.2, 0.05 / n_classes
        size = examples_needed(0, recall, edge=edge, level=level)
        assert size is not None

        hits = np.arange(size + 1)
        tail = at_most(hits, size, edge) if recall < edge else at_least(hits, size, edge)
        chances = np.diff(at_most(hits, size, recall), prepend=0.0)

        assert 0.7 < float(chances[tail <= level].sum()) < 0.9

    def test_a_gap_near_the_threshold_takes_no_sensible_number_of_examples(self) -> None:
        assert examples_needed(50, 0.67, edge=0.7, level=0.025) is None
        assert examples_needed(50, 0.669, edge=0.7, level=0.025) == 1_700

    @pytest.mark.parametrize("edge", [0.05, 0.1, 0.2, 0.4])
    @pytest.mark.parametrize("level", [0.05, 0.01])
    def test_a_class_that_stays_without_hits_is_decided_by_so_many(
        self, edge: float, level: float
    ) -> None:
        more = examples_needed(5, 0.0, edge=edge, level=level)

        assert more is not None
        assert (1 - edge) ** (5 + more) <= level

    def test_whether_the_class_is_a_minority_is_part_of_the_evidence(self) -> None:
        minority = only_verdict("F4", [[95, 5], [25, 25]])
        same_size = only_verdict("F4", [[95, 5], [50, 50]])

        assert minority.evidence["is_minority"] is True
        assert same_size.evidence["is_minority"] is False

    def test_a_class_at_the_size_limit_is_a_minority(self) -> None:
        matrix = [[95, 5], [26, 25]]

        assert verdicts_of("F4", matrix)[0].evidence["is_minority"] is False
        assert verdicts_of("F4", [[97, 5], [26, 25]])[0].evidence["is_minority"] is True


class TestMajority:
    def test_a_significant_gain_over_the_constant_answer_is_silent(self) -> None:
        # Five gains and no loss have probability 1/32 by chance, four 1/16.
        assert not verdicts_of("F5", [[90, 0], [15, 5]])
        assert only_verdict("F5", [[90, 0], [15, 4]]).severity is Severity.HIGH

    def test_a_skilled_model_may_lose_against_the_constant_answer(self) -> None:
        assert not verdicts_of("F5", [[850, 100], [10, 40]])

    def test_a_model_without_skill_is_critical(self) -> None:
        verdict = only_verdict("F5", [[89, 1], [10, 0]])

        assert verdict.severity is Severity.CRITICAL
        assert verdict.message == (
            "Accuracy is 89 %; always predicting '0' gives 90 % (0 gained, 1 lost)."
        )


class TestAverages:
    def test_the_gap_to_balanced_accuracy_is_graded(self) -> None:
        # Accuracy minus balanced accuracy is 0.15, then 0.30.
        medium = only_verdict("F6", [[80, 0], [12, 8]])
        high = only_verdict("F6", [[80, 0], [18, 2]])

        assert medium.severity is Severity.MEDIUM
        assert medium.evidence["gap"] == pytest.approx(0.18)
        assert high.severity is Severity.HIGH

    def test_a_smaller_gap_is_silent(self) -> None:
        assert not verdicts_of("F6", [[80, 0], [9, 11]])

    def test_the_gap_to_macro_f1_names_the_worst_classes_first(self) -> None:
        counts = [[900, 0, 0, 0, 0], [9, 1, 0, 0, 0], [2, 0, 8, 0, 0], [8, 0, 0, 2, 0]]
        counts.append([7, 0, 0, 0, 3])

        verdict = only_verdict("F7", counts)

        assert verdict.severity is Severity.MEDIUM
        assert verdict.evidence["worst_classes"] == ["1", "3", "4"]
        assert verdict.message.endswith("; lowest F1: '1', '3', '4'.")

    def test_classes_above_the_mean_are_not_blamed(self) -> None:
        verdict = only_verdict("F7", [[900, 0], [9, 1]])

        assert verdict.evidence["worst_classes"] == ["1"]


class TestLowSkill:
    def test_an_undefined_mcc_counts_as_no_skill(self) -> None:
        verdict = only_verdict("F8", [[90, 0], [10, 0]])

        accuracy, mcc, kappa = verdict.fired
        assert accuracy.holds
        assert kappa.holds
        assert (mcc.measured, mcc.holds) == (None, True)
        assert mcc.to_dict()["reason"] == "constant_predicted"
        assert "reason" not in kappa.to_dict()
        assert verdict.evidence["mcc_reason"] == "constant_predicted"
        assert verdict.message == (
            "Accuracy is 90 %, but MCC is undefined (one class was predicted for all examples) "
            "and Cohen's kappa 0.00."
        )

    def test_what_is_rounded_to_nothing_has_no_sign(self) -> None:
        verdict = only_verdict("F8", [[9_899, 1], [100, 0]])

        assert verdict.message == "Accuracy is 99 %, but MCC is 0.00 and Cohen's kappa 0.00."

    def test_a_low_kappa_is_enough(self) -> None:
        verdict = only_verdict("F8", [[995, 0], [9, 1]])

        accuracy, mcc, kappa = verdict.fired
        assert accuracy.holds
        assert not mcc.holds
        assert kappa.holds
        assert kappa.measured == pytest.approx(0.18034, abs=1e-5)

    def test_a_low_accuracy_is_no_surprise(self) -> None:
        assert not verdicts_of("F8", [[79, 0], [21, 0]])


class TestPrecisionCollapse:
    def test_four_predictions_are_too_few(self) -> None:
        limits = Thresholds(precision_alpha=1.0)

        assert not verdicts_of("F9", [[900, 4], [10, 0]], limits)
        assert verdicts_of("F9", [[900, 5], [10, 0]], limits)

    def test_more_wrong_than_right_must_be_significant(self) -> None:
        # P(X <= 4 | 20, 0.5) = 0.0059 exceeds 0.01 / 2, P(X <= 3) = 0.0013 does not.
        assert not verdicts_of("F9", [[900, 16], [10, 4]])
        verdict = only_verdict("F9", [[900, 17], [10, 3]])
        assert verdict.message == "85 % of predictions of '1' are wrong (17 of 20)."

    def test_only_rarer_classes_than_average_are_looked_at(self) -> None:
        assert not verdicts_of("F9", [[40, 0], [80, 80]])

    def test_all_predictions_of_a_class_without_cases_are_wrong(self) -> None:
        verdict = only_verdict("F9", [[900, 0, 9], [0, 100, 0], [0, 0, 0]])

        assert verdict.message == "100 % of predictions of '2' are wrong (9 of 9)."


class TestUnderPredicted:
    def test_half_as_many_predictions_as_cases_is_silent(self) -> None:
        assert not verdicts_of("F10", [[900, 0], [50, 50]])
        verdict = only_verdict("F10", [[900, 0], [51, 49]])
        assert verdict.message == "'1' is predicted 49 times and occurs 100 times."
        assert verdict.severity is Severity.MEDIUM

    def test_misses_must_outnumber_false_alarms_significantly(self) -> None:
        # Seven misses without a false alarm have probability 1/128 > 0.01/2, eight 1/256.
        assert not verdicts_of("F10", [[900, 0], [7, 1]])
        assert verdicts_of("F10", [[900, 0], [8, 1]])


class TestSupport:
    def test_thirty_cases_of_a_class_that_is_always_found_are_enough(self) -> None:
        assert [v.class_label for v in verdicts_of("F12", [[100, 0], [0, 29]])] == ["1"]
        assert not verdicts_of("F12", [[100, 0], [0, 30]])

    def test_a_wide_interval_fires_with_more_cases(self) -> None:
        assert [v.class_label for v in verdicts_of("F12", [[100, 0], [18, 18]])] == ["1"]
        assert not verdicts_of("F12", [[100, 0], [20, 20]])

    def test_a_class_without_cases_is_named_as_such(self) -> None:
        (verdict,) = verdicts_of("F12", [[50, 0, 0], [0, 50, 0], [0, 0, 0]])

        assert verdict.message == "'2' has no examples."
        assert verdict.evidence["half_width"] is None


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ([[0, 0], [0, 0]], "no_cases"),
        ([[0, 9], [0, 0]], "one_actual_class"),
        ([[9]], "one_actual_class"),
    ],
)
def test_what_cannot_be_assessed_gets_a_reason_and_no_flag(
    counts: list[list[int]], reason: str
) -> None:
    assessment = assess(matrix_of(counts))

    assert assessment == Assessment((), reason)
    assert assessment.badge is False


def test_every_verdict_is_json_with_the_thresholds_it_used() -> None:
    counts = [[880, 10, 10], [60, 0, 0], [38, 1, 1]]
    thresholds = Thresholds(recall_gap=0.25)

    found = [verdict.to_dict() for verdict in assess(matrix_of(counts), thresholds).verdicts]
    stored = json.loads(json.dumps(found, allow_nan=False))

    (verdict,) = (v for v in stored if v["rule"] == "F4" and v["class_label"] == "1")
    assert verdict["version"] == 3
    assert verdict["severity"] == "critical"
    assert verdict["thresholds"] == {
        "recall_gap": 0.25,
        "recall_gap_critical": 0.4,
        "recall_gap_proof_alpha": 0.05,
        "recall_gap_alpha": 0.01,
        "recall_gap_cap": 0.95,
        "minority_share": 0.5,
    }
    assert verdict["fired"][0] == {
        "what": "accuracy elsewhere minus recall",
        "measured": pytest.approx(881 / 940),
        "sign": ">=",
        "threshold": 0.25,
        "holds": True,
    }


def test_the_badge_needs_a_minority_or_a_class_never_found() -> None:
    failing_majority = assess(matrix_of([[60, 40], [0, 100]]))
    failing_minority = assess(matrix_of([[20, 20], [0, 100]]))
    never_found = assess(matrix_of([[0, 100], [1, 99]]))

    assert [v.rule for v in failing_majority.verdicts] == ["F4"]
    assert not failing_majority.badge
    assert failing_minority.badge
    assert never_found.badge


def test_hostile_labels_are_passed_through_for_the_page_to_escape() -> None:
    labels = LabelSet(("<script>", "b"))
    matrix = matrix_of([[0, 10], [0, 90]])

    verdict = assess(type(matrix)(matrix.counts, labels)).verdicts[1]

    assert verdict.class_label == "<script>"

"""Judging: what is compared, what fails because it cannot be measured, what is an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput, UnknownKey
from offdiag.gate.conditions import Differences, MetricValues, RaisedFlag, Subject, parse_condition
from offdiag.gate.evaluate_conditions import Finding, judge
from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS

LABELS = LabelSet(("cat", "dog"))
UNDEFINED = MetricValue(None, "constant_margin")


def subject(
    *,
    aggregate: Mapping[str, MetricValue] | None = None,
    per_class: Mapping[str, Sequence[MetricValue]] | None = None,
    costs: Mapping[str, MetricValue] | None = None,
    **facts: Any,
) -> Subject:
    return Subject(
        labels=LABELS,
        values=MetricValues(
            dict.fromkeys(AGGREGATE_KEYS, MetricValue(0.5)) | dict(aggregate or {}),
            {key: [MetricValue(0.9), MetricValue(0.1)] for key in PER_CLASS_KEYS}
            | dict(per_class or {}),
            costs,
        ),
        asked=frozenset({"F3", "F4", "F5"}),
        **facts,
    )


def finding(text: str, judged: Subject | None = None) -> Finding:
    (found,) = judge([parse_condition(text)], judged or subject())
    return found


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("mcc>=0.5", True),
        ("mcc>0.5", False),
        ("mcc<=0.5", True),
        ("mcc<0.5", False),
        ("mcc=0.5", True),
        ("recall[cat]>=0.9", True),
        ("recall[dog]>=0.9", False),
    ],
)
def test_a_value_is_compared_with_the_threshold(text: str, passes: bool) -> None:
    assert finding(text).passed is passes


def test_the_rounding_of_floats_decides_nothing() -> None:
    judged = subject(aggregate={"mcc": MetricValue(1 - 0.8)})

    assert finding("mcc>=0.2", judged).passed
    assert not finding("mcc<0.2", judged).passed


def test_an_end_of_the_interval_is_compared_in_place_of_the_value() -> None:
    judged = subject(aggregate={"mcc": MetricValue(0.7, None, None, 0.4, 0.9, "wilson")})

    assert finding("low(mcc)>=0.5", judged) == Finding(
        parse_condition("low(mcc)>=0.5"),
        passed=False,
        measured=0.4,
        value=judged.values.aggregate["mcc"],
    )
    assert finding("high(mcc)>=0.5", judged).measured == 0.9


@pytest.mark.parametrize("text", ["mcc>=-1", "mcc<=1", "low(mcc)>=-1", "mcc<0.5", "mcc>0.5"])
def test_an_undefined_value_meets_no_condition_and_says_why(text: str) -> None:
    found = finding(text, subject(aggregate={"mcc": UNDEFINED}))

    assert (found.passed, found.measured, found.reason) == (False, None, "constant_margin")


def test_a_value_that_tends_to_infinity_is_undefined_all_the_same() -> None:
    unbounded = MetricValue(None, "positive_over_zero", "+inf")

    assert not finding("dor[cat]>=5", subject(per_class={"dor": [unbounded, unbounded]})).passed


def test_a_missing_interval_fails_the_condition_on_its_end() -> None:
    assert finding("low(mcc)>=0").reason == "no_interval"


@pytest.mark.parametrize("text", ["brier_sum<=0.9", "high(brier_sum)<=0.9"])
def test_why_there_is_no_interval_is_said_whether_the_value_or_an_end_is_compared(
    text: str,
) -> None:
    few = MetricValue(0.5, ci_method="m; unreliable, n = 3")

    assert finding(text, subject(aggregate={"brier_sum": few})).note == "unreliable, n = 3"


@pytest.mark.parametrize(
    ("not_paired", "value", "why"),
    [
        ("its threshold was chosen here", MetricValue(0.1), "its threshold was chosen here"),
        (None, MetricValue(0.1, ci_method="m; only 3 examples"), "only 3 examples"),
        (None, MetricValue(0.1), "gates compute no interval of this difference"),
    ],
)
@pytest.mark.parametrize("text", ["diff(mcc)>=0", "diff(mcc)>=0.2", "low(diff(mcc))>=0"])
def test_a_difference_without_interval_is_called_untested_whether_it_passes_or_not(
    text: str, not_paired: str | None, value: MetricValue, why: str
) -> None:
    judged = subject(differences=Differences(MetricValues({"mcc": value}, {}), not_paired))

    assert finding(text, judged).note == f"not tested: {why}"


def test_an_interval_without_an_upper_end_fails_the_condition_on_it() -> None:
    half_open = MetricValue(3.0, None, None, 1.5, None, "log")

    found = finding("high(dor[cat])<=9", subject(per_class={"dor": [half_open, half_open]}))

    assert (found.passed, found.reason) == (False, "open_interval")


def test_metrics_of_scores_are_undefined_without_scores() -> None:
    assert finding("log_loss<=1").reason == "no_scores"


def test_a_difference_is_that_to_the_baseline() -> None:
    gaps = MetricValues({"mcc": MetricValue(-0.01, None, None, -0.05, 0.03, "bootstrap")}, {})
    judged = subject(differences=Differences(gaps))

    assert finding("diff(mcc)>=-0.02", judged).passed
    assert not finding("low(diff(mcc))>=-0.02", judged).passed


def test_the_interval_of_a_difference_needs_pairs() -> None:
    gaps = Differences(MetricValues({"mcc": MetricValue(0.1)}, {}), "other ground truth")
    judged = subject(differences=gaps)

    assert finding("diff(mcc)>=0", judged).passed
    assert finding("low(diff(mcc))>=0", judged).reason == "runs_not_paired"


def test_costs_are_compared_once_they_are_known() -> None:
    judged = subject(costs={"mean_cost": MetricValue(2.0)})

    assert finding("mean_cost<=2.5", judged).passed


def test_a_raised_flag_fails_the_condition_with_its_message() -> None:
    judged = subject(flags=(RaisedFlag("F4", "dog", "1 of 9 found."),))

    found = finding("no-flag F4", judged)

    assert (found.passed, found.reason, found.note) == (False, "flag_raised", "1 of 9 found.")
    assert not finding("no-flag F4[dog]", judged).passed
    assert finding("no-flag F4[cat]", judged).passed
    assert finding("no-flag F3", judged).passed


def test_a_dismissed_flag_is_no_obstacle() -> None:
    judged = subject(accepted=(RaisedFlag("F4", "dog", "1 of 9 found."),))

    found = finding("no-flag F4", judged)

    assert (found.passed, found.note) == (True, "dismissed")


def test_the_badge_can_close_a_gate() -> None:
    assert finding("no-warning").passed
    assert not finding("no-warning", subject(hides_minority=True)).passed


def test_only_who_asks_for_it_is_held_up_by_what_is_not_proved() -> None:
    in_sight = RaisedFlag("F4", "dog", "6 of 9 found.", is_proved=False)
    judged = subject(flags=(in_sight,), may_hide_minority=True)

    badge, flag = finding("no-warning", judged), finding("no-flag F4", judged)

    assert (badge.passed, flag.passed) == (True, True)
    assert badge.note == (
        "accuracy may hide a minority class (not proved; 'no-possible-warning' fails on it too)"
    )
    assert flag.note == "6 of 9 found. (not proved; 'no-possible-flag F4' fails on it too)"
    assert not finding("no-possible-warning", judged).passed
    assert not finding("no-possible-flag F4", judged).passed
    assert not finding("no-possible-flag F4[dog]", judged).passed
    assert not finding("no-possible-warning", subject(hides_minority=True)).passed
    assert finding("no-possible-warning", subject()).passed


@pytest.mark.parametrize("text", ["no-warning", "no-flag F4"])
def test_a_run_about_which_no_rule_can_be_asked_has_not_been_cleared(text: str) -> None:
    found = finding(text, subject(not_assessable="one_actual_class"))

    assert (found.passed, found.reason) == (False, "one_actual_class")


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("acuracy>=0.5", UnknownKey, "'overall_accuracy'"),
        ("balanced_acuracy>=0.5", UnknownKey, "'balanced_accuracy'"),
        ("precison[cat]>=0.5", UnknownKey, "'precision'"),
        ("xyzzy>=0.5", UnknownKey, "catalogue"),
        ("recall[dgo]>=0.5", UnknownKey, "Did you mean 'dog'?"),
        ("recall[bird]>=0.5", UnknownKey, "Known classes: cat, dog"),
        ("no-flag F4[dgo]", UnknownKey, "Did you mean 'dog'?"),
        ("recall>=0.5", InvalidInput, "Write recall[class], or use an average: macro_recall"),
        ("specificity>=0.5", InvalidInput, "Write specificity[class]."),
        ("mcc[cat]>=0.5", InvalidInput, "a metric of the whole run, not of class"),
        ("mean_cost[cat]>=0.5", InvalidInput, "a metric of the whole run, not of class"),
        ("overall_accuracy<=80", InvalidInput, "Write 80 % as 0.8."),
        ("neg_log_loss>=0.5", InvalidInput, "log_loss is in the range 0 to inf."),
        ("recall[cat]>=1.5", InvalidInput, "recall is in the range 0 to 1. Write 1.5 % as 0.015"),
        ("mcc>=-1.5", InvalidInput, "mcc is in the range -1 to 1."),
        ("mean_cost<=1", InvalidInput, "`offdiag cost default DATASET NAME`"),
        ("diff(mcc)>=0", InvalidInput, "`offdiag runs baseline RUN`"),
        ("diff(mcc)>=0", InvalidInput, "there is none, or only this run"),
        ("no-flag F11", InvalidInput, "--weights"),
        ("no-flag F14", InvalidInput, "`offdiag runs baseline RUN`"),
    ],
)
def test_a_condition_that_makes_no_sense_is_an_error_and_not_a_failure(
    text: str, kind: type[Exception], says: str
) -> None:
    with pytest.raises(kind) as refused:
        finding(text)

    assert says in str(refused.value)


def test_a_gate_without_conditions_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="no condition"):
        judge([], subject())


def test_findings_are_plain_values() -> None:
    found = finding("low(mcc)>=0.5", subject(aggregate={"mcc": UNDEFINED}))

    assert found.to_dict() == {
        "condition": "low(mcc)>=0.5",
        "passed": False,
        "measured": None,
        "reason": "constant_margin",
        "value": {"value": None, "reason": "constant_margin", "limit": None},
        "note": "",
    }


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (
            "low(diff(mcc))>=-0.02",
            (
                "undecided: a difference of 0.02 needs about 3,100 labelled examples in all; the "
                "present 1,000 detect one of 0.035"
            ),
        ),
        ("low(diff(mcc))>0", "undecided: a difference of 0.01 needs about 12,000 labelled"),
        ("low(diff(mcc))>=0.02", ""),
        ("diff(mcc)>=0.02", ""),
        ("low(diff(mcc))>=-0.05", ""),
    ],
)
def test_a_difference_that_too_few_examples_leave_open_says_how_many_settle_it(
    text: str, note: str
) -> None:
    error = 0.0125
    low, high = (0.001 + side * 1.96 * error for side in (-1, 1))
    difference = MetricValue(0.001, ci_low=low, ci_high=high)
    values = MetricValues({"mcc": difference}, {})
    judged = subject(aggregate={"n": MetricValue(1_000.0)}, differences=Differences(values))

    found = finding(text, judged).note

    assert found.startswith(note)
    assert bool(found) == bool(note)


def test_examples_that_are_short_are_more_than_those_there_are() -> None:
    """To two digits these are 1,000, and what the present 1,000 detect is the same number, too."""
    low, high = (-0.025 + side * 1.96 * 0.0125 for side in (-1, 1))
    values = MetricValues({"mcc": MetricValue(-0.025, ci_low=low, ci_high=high)}, {})
    judged = subject(aggregate={"n": MetricValue(1_000.0)}, differences=Differences(values))

    found = finding("low(diff(mcc))>=-0.0347", judged).note

    assert found == (
        "undecided: a difference of 0.0347 needs about 1,019 labelled examples in all"
    )


def test_examples_that_are_short_on_a_slice_are_those_of_the_slice() -> None:
    low, high = (side * 1.96 * 0.0125 for side in (-1, 1))
    values = MetricValues({"mcc": MetricValue(0.0, ci_low=low, ci_high=high)}, {})
    part = subject(aggregate={"n": MetricValue(100.0)}, differences=Differences(values))
    judged = replace(subject(), parts={"site=z": part})

    found = finding("low(diff(mcc)@site=z)>=-0.02", judged).note

    assert found.startswith(
        "undecided: a difference of 0.02 needs about 310 labelled examples of site=z in all"
    )


SCORES = {
    "log_loss": MetricValue(0.3, None, None, 0.25, 0.4),
    "brier_half": MetricValue(0.1),
    "brier_sum": MetricValue(0.2),
}


@pytest.mark.parametrize(
    ("text", "measured", "passes"),
    [
        ("accuracy>=0.5", 0.5, True),
        ("f1_macro>0.5", 0.5, False),
        ("jaccard_score[dog]<=0.1", 0.1, True),
        ("neg_log_loss>=-0.3", 0.3, True),
        ("neg_log_loss>-0.3", 0.3, False),
        ("low(neg_log_loss)>=-0.39", 0.4, False),
        ("high(neg_log_loss)<-0.2", 0.25, True),
        ("neg_brier_score=-0.1", 0.1, True),
        ("f1>=0.5", 0.1, False),
        ("neg_negative_likelihood_ratio>=-0.1", 0.1, True),
    ],
)
def test_names_of_scikit_learn_are_read_and_negated_ones_turned_round(
    text: str, measured: float, passes: bool
) -> None:
    judged = replace(subject(aggregate=SCORES), positive_label="dog")

    found = finding(text, judged)

    assert (found.measured, found.passed) == (measured, passes)
    assert found.condition.text == text

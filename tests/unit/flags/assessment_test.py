"""What every rule measured, whether it fires or not."""

from __future__ import annotations

import pytest

from offdiag.flags.assessment import assess, rule_checks
from offdiag.flags.rule_evaluation import ClassRule
from offdiag.flags.rules import MATRIX_RULES
from offdiag.flags.thresholds import Thresholds
from support.matrices import matrix_of

LESION = [[90, 5, 5], [1, 40, 0], [8, 0, 2]]


@pytest.mark.parametrize("label", ["0", "1", "2"])
def test_the_rules_that_fire_are_those_that_raise_flags(label: str) -> None:
    matrix = matrix_of(LESION)

    fired = {
        (check.rule, check.class_label)
        for check in rule_checks(matrix, Thresholds(), class_label=label)
        if check.fires
    }

    raised = {(v.rule, v.class_label) for v in assess(matrix).verdicts}
    assert fired == {each for each in raised if each[1] in {None, label}}


def test_what_is_measured_is_what_the_verdict_says() -> None:
    matrix = matrix_of(LESION)
    verdict = next(v for v in assess(matrix).verdicts if (v.rule, v.class_label) == ("F4", "2"))

    check = next(c for c in rule_checks(matrix, Thresholds(), class_label="2") if c.rule == "F4")

    assert check.conditions == verdict.fired


def test_without_a_class_only_the_rules_about_the_run_are_asked() -> None:
    checks = rule_checks(matrix_of(LESION), Thresholds(), class_label=None)

    about_run = {id_ for id_, r in MATRIX_RULES.items() if not isinstance(r, ClassRule)}
    assert {check.rule for check in checks} == about_run
    assert {check.class_label for check in checks} == {None}


def test_a_class_that_the_matrix_does_not_have_is_asked_about_by_nobody() -> None:
    assert rule_checks(matrix_of(LESION), Thresholds(), class_label="gone") == rule_checks(
        matrix_of(LESION), Thresholds(), class_label=None
    )


def test_a_matrix_with_cases_of_one_class_has_nothing_to_compare() -> None:
    assert rule_checks(matrix_of([[5, 1], [0, 0]]), Thresholds(), class_label="0") == ()


def test_undefined_conditions_have_their_reason() -> None:
    absent = [[90, 10, 0], [0, 20, 0], [0, 0, 0]]
    constant = [[90, 0], [10, 0]]

    found = {
        (check.rule, condition.what): condition.reason
        for matrix, label in ((absent, "2"), (constant, None))
        for check in rule_checks(matrix_of(matrix), Thresholds(), class_label=label)
        for condition in check.conditions
        if condition.measured is None
    }

    assert found["F4", "accuracy elsewhere minus recall"] == "no_actual_positives"
    assert found["F8", "MCC"] == "constant_predicted"
    assert [about for about, reason in found.items() if reason is None] == []

"""Each identity, bound and count, broken by one number and explained by its statement."""

from __future__ import annotations

from typing import Any

import pytest

from offdiag.audit.findings import AuditReport, AuditVerdict
from offdiag.sdk.evaluations.audit import audit_reported

CONSISTENT, IMPOSSIBLE = AuditVerdict.CONSISTENT, AuditVerdict.IMPOSSIBLE
OTHER = AuditVerdict.OTHER_DEFINITION

THREE = {"labels": "ABC"}
SIZES = {"class_counts": {"A": 80, "B": 15, "C": 5}}
EVEN = {"class_counts": {"A": 50, "B": 50, "C": 50}}

ADJUSTED = (
    "balanced_accuracy = macro recall; adjusted balanced accuracy = (balanced accuracy - 1/3) / "
    "(1 - 1/3)"
)
REACH = (
    "macro recall is lowest if all errors fall on the smallest classes and highest if they fall "
    "on the largest"
)
CLASS_B = (
    "the values of a class come from whole numbers of hits and predictions, here of 15 "
    "examples in 100"
)
WEIGHTED_F1 = (
    "weighted_f1 = weighted mean of the f1 that whole numbers of examples leave for each class"
)


def failed(report: AuditReport) -> set[str]:
    return {check.statement for check in report.checks if not check.holds}


@pytest.mark.parametrize(
    ("right", "wrong", "known", "statement"),
    [
        (
            {"accuracy": "0.80", "micro_f1": "0.80"},
            {"micro_f1": "0.82"},
            {},
            "micro_f1 = accuracy where every example has one label and one prediction",
        ),
        (
            {"accuracy": "0.80", "weighted_recall": "0.80"},
            {"accuracy": "0.78"},
            {},
            "weighted_recall = accuracy where every example has one label and one prediction",
        ),
        (
            {
                "precision": {"A": "0.90", "B": "0.70", "C": "0.50"},
                "recall": {"A": "0.80", "B": "0.60", "C": "0.50"},
                "macro_f1": "0.664",
            },
            {"macro_f1": "0.694"},
            THREE,
            "macro f1 = mean of the f1 of the 3 classes",
        ),
        (
            {"macro_recall": "0.80", "macro_f1": "0.85"},
            {"macro_f1": "0.95"},
            {},
            "macro_f1 is at most 2x / (1 + x), x being macro_recall",
        ),
        (
            {"macro_precision": "0.80", "macro_recall": "0.70", "macro_f1": "0.50"},
            {"macro_f1": "0.48"},
            {},
            "macro F1 is at least macro precision + macro recall - 1",
        ),
        (
            {"precision": "0.80", "f1": "0.85"},
            {"f1": "0.95"},
            {"labels": ("ill", "well"), "positive_label": "ill"},
            "f1 is at most 2x / (1 + x), x being precision",
        ),
        (
            {"accuracy": "0.80", "error_rate": "0.20"},
            {"error_rate": "0.30"},
            {},
            "error rate = 1 - accuracy",
        ),
        (
            {"accuracy": "0.80", "average_accuracy": "0.87"},
            {"average_accuracy": "0.85"},
            THREE,
            "average accuracy = 1 - 2/3 + 2/3 accuracy",
        ),
        (
            {"error_rate": "0.20", "average_error_rate": "0.13"},
            {"average_error_rate": "0.15"},
            THREE,
            "error rate = 1 - accuracy; average error rate = 2/3 error rate",
        ),
        (
            {"accuracy": "0.80", "micro_jaccard": "0.67"},
            {"micro_jaccard": "0.70"},
            {},
            "micro Jaccard = accuracy / (2 - accuracy)",
        ),
        (
            {"balanced_accuracy": "0.57", "macro_recall": "0.57"},
            {"macro_recall": "0.60"},
            {},
            "balanced_accuracy = macro recall",
        ),
        (
            {"balanced_accuracy": "0.567", "balanced_accuracy_adjusted": "0.350"},
            {"balanced_accuracy_adjusted": "0.400"},
            THREE,
            ADJUSTED,
        ),
        (
            {"macro_precision": "0.580", "macro_recall": "0.567", "macro_f1_harmonic": "0.573"},
            {"macro_f1_harmonic": "0.600"},
            {},
            "harmonic macro F1 = 2 P R / (P + R) of macro precision and macro recall",
        ),
        (
            {"weighted_precision": "0.792", "accuracy": "0.800", "weighted_f1_harmonic": "0.796"},
            {"weighted_f1_harmonic": "0.810"},
            {},
            "harmonic weighted F1 = 2 P R / (P + R) of weighted precision and weighted recall",
        ),
        (
            {"macro_precision": "0.580", "macro_recall": "0.567", "macro_f1": "0.572"},
            {"macro_f1": "0.580"},
            {},
            "macro F1 is at most the harmonic mean of macro precision and macro recall",
        ),
        (
            {"weighted_precision": "0.792", "accuracy": "0.800", "weighted_f1": "0.795"},
            {"weighted_f1": "0.803"},
            {},
            "weighted F1 is at most the harmonic mean of weighted precision and weighted recall",
        ),
        (
            {"macro_f1": "0.572", "macro_f1_harmonic": "0.573"},
            {"macro_f1": "0.580"},
            {},
            "the mean of class F1 is at most the harmonic macro F1",
        ),
        (
            {"mcc": "0.47", "cohen_kappa": "0.41"},
            {"cohen_kappa": "0.50"},
            {},
            "Cohen's kappa lies between 0 and MCC",
        ),
        (
            {"precision": {"A": "0.50"}, "recall": {"A": "0.25"}, "f1": {"A": "0.33"}},
            {"f1": {"A": "0.40"}},
            THREE,
            "F1 = 2 P R / (P + R)",
        ),
        (
            {"recall": {"A": "0.50"}, "fnr": {"A": "0.50"}},
            {"fnr": {"A": "0.40"}},
            THREE,
            "fnr = 1 - recall",
        ),
        (
            {"f1": {"A": "0.50"}, "jaccard": {"A": "0.33"}},
            {"jaccard": {"A": "0.40"}},
            THREE,
            "Jaccard = F1 / (2 - F1)",
        ),
        (
            {"recall": {"A": "0.64"}, "specificity": {"A": "0.36"}, "gmean": {"A": "0.48"}},
            {"gmean": {"A": "0.60"}},
            THREE,
            "G-mean = sqrt(recall specificity)",
        ),
        (
            {"precision": {"A": "0.64"}, "npv": {"A": "0.86"}, "markedness": {"A": "0.50"}},
            {"markedness": {"A": "0.60"}},
            THREE,
            "markedness = precision + NPV - 1",
        ),
        (
            {"recall": {"A": "0.6", "B": "0.7", "C": "0.8"}, "macro_recall": "0.70"},
            {"macro_recall": "0.80"},
            THREE,
            "macro recall = mean of the recall of the 3 classes",
        ),
        (
            {"recall": {"A": "0.10"}, "macro_recall": "0.70"},
            {"macro_recall": "0.80"},
            THREE,
            "macro recall = mean of the recall of the 3 classes",
        ),
        ({"accuracy": "0.80", "macro_recall": "0.50"}, {"macro_recall": "0.20"}, SIZES, REACH),
        (
            {"accuracy": "0.8000"},
            {"accuracy": "0.8050"},
            SIZES,
            "accuracy is a whole number of 100 examples",
        ),
        (
            {"majority_baseline": "0.80"},
            {"majority_baseline": "0.85"},
            SIZES,
            "majority baseline = share of the largest class",
        ),
        ({"recall": {"B": "0.400"}}, {"recall": {"B": "0.410"}}, SIZES, CLASS_B),
        (
            {"recall": ["0.900", "0.400", "0.400"], "accuracy": "0.800"},
            {"accuracy": "0.810"},
            SIZES,
            "accuracy = hits of all classes / examples",
        ),
        (
            {"recall": ["0.9", "0.4", "0.4"], "precision": ["0.878", "0.462", "0.400"]},
            {"precision": ["0.878", "0.462", "0.200"]},
            SIZES,
            "the predictions of all classes add up to 100",
        ),
        (
            {"recall": ["0.900", "0.400", "0.400"], "weighted_recall": "0.800"},
            {"weighted_recall": "0.830"},
            SIZES,
            "accuracy = hits of all classes / examples",
        ),
        (
            {
                "recall": ["0.900", "0.400", "0.400"],
                "f1": ["0.889", "0.429", "0.400"],
                "weighted_f1": "0.795",
            },
            {"weighted_f1": "0.799"},
            SIZES,
            WEIGHTED_F1,
        ),
        (
            {"accuracy": "0.8000", "macro_recall": "0.566667"},
            {"macro_recall": "0.566700"},
            SIZES,
            "accuracy and macro recall come from the same whole numbers of hits",
        ),
        (
            {"accuracy": "0.80", "macro_recall": "0.80"},
            {"macro_recall": "0.78"},
            EVEN,
            "macro_recall of classes of equal size = accuracy",
        ),
        (
            {"macro_f1": "0.79", "weighted_f1": "0.79"},
            {"macro_f1": "0.77"},
            EVEN,
            "macro_f1 = weighted_f1 if classes are equal",
        ),
        (
            {"recall": "0.80", "specificity": "0.98"},
            {"recall": "0.804"},
            {"class_counts": {"+": 100, "-": 9900}, "positive_label": "+"},
            "all values come from one matrix of 100 and 9900 examples",
        ),
        (
            {"recall": {"+": "0.80"}, "specificity": {"-": "0.80"}},
            {"specificity": {"-": "0.70"}},
            {"labels": "+-"},
            "a rate of one of two classes is one of the other class, too",
        ),
    ],
)
def test_one_wrong_number_is_refuted_by_its_statement(
    right: dict[str, Any], wrong: dict[str, Any], known: dict[str, Any], statement: str
) -> None:
    true_table = audit_reported(reported=right, **known)
    false_table = audit_reported(reported={**right, **wrong}, **known)

    assert true_table.verdict is CONSISTENT, true_table
    assert not failed(true_table)
    assert false_table.verdict is not CONSISTENT
    assert statement in failed(false_table)


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("accuracy", "57.3", "; a percentage needs its sign"),
        ("mcc", "-1.2", ""),
        ("f1", "1.01", ""),
    ],
)
def test_a_number_out_of_range_is_impossible_by_itself(name: str, value: str, hint: str) -> None:
    report = audit_reported(reported={name: value, "error_rate": "0.2"})

    bad, good = report.findings
    assert bad.verdict is IMPOSSIBLE
    assert "lies between" in bad.why
    assert hint in bad.why
    assert good.verdict is CONSISTENT


def test_a_number_that_several_others_contradict_is_the_only_one_blamed() -> None:
    reported = {"accuracy": "0.80", "micro_f1": "0.80", "micro_recall": "0.60", "error": "0.20"}

    report = audit_reported(reported=reported)

    verdicts = {finding.claim.name: finding.verdict for finding in report.findings}
    assert verdicts.pop("micro_recall") is IMPOSSIBLE
    assert set(verdicts.values()) == {CONSISTENT}
    assert str(report).splitlines()[0] == report.headline
    assert report.why.startswith("micro_recall: it contradicts")


def test_numbers_that_nothing_is_known_about_pass_without_proof() -> None:
    report = audit_reported(reported={"mcc": "0.5"})

    assert report.verdict is CONSISTENT
    assert report.findings[0].why == "nothing contradicts it"


def test_zeros_that_libraries_print_for_undefined_values_are_named() -> None:
    """A classifier that always says no: precision and MCC are 0/0, recall and F1 are 0."""
    reported = {
        "accuracy": "0.9900",
        "precision": "0.0000",
        "recall": "0.0000",
        "f1": "0.0000",
        "mcc": "0.0",
    }

    report = audit_reported(
        reported=reported, class_counts={"yes": 10, "no": 990}, positive_label="yes"
    )

    notes = {finding.claim.name: finding.definition.note for finding in report.findings}
    assert report.verdict is OTHER
    assert notes == {
        "accuracy": "",
        "precision": "0/0 counted as 0",
        "recall": "",
        "f1": "",
        "mcc": "0/0 counted as 0",
    }


def test_a_zero_that_can_be_a_value_is_taken_for_one() -> None:
    report = audit_reported(
        reported={"accuracy": "0.99", "precision": "0.00", "recall": "0.00"},
        class_counts={"yes": 10, "no": 990},
        positive_label="yes",
    )

    assert report.verdict is CONSISTENT


def test_more_contradictions_than_can_be_sorted_out_are_all_reported() -> None:
    reported = {
        "accuracy": "0.90",
        "micro_f1": "0.80",
        "micro_recall": "0.70",
        "micro_precision": "0.60",
        "weighted_recall": "0.50",
        "error rate": "0.60",
        "micro_jaccard": "0.10",
        "mcc": "0.5",
    }

    report = audit_reported(reported=reported)

    *family, mcc = report.findings
    assert {finding.verdict for finding in family} == {IMPOSSIBLE}
    assert mcc.verdict is CONSISTENT


def test_a_number_that_contradicts_only_the_corrected_table_is_reported_too() -> None:
    """While accuracy and error rate disagree, nothing can be said about the harmonic mean."""
    reported = {
        "accuracy": "0.80",
        "micro_f1": "0.80",
        "error rate": "0.40",
        "weighted_precision": "0.80",
        "weighted_f1_harmonic": "0.20",
    }

    report = audit_reported(reported=reported)

    verdicts = {finding.claim.name: finding.verdict for finding in report.findings}
    assert verdicts["error rate"] is IMPOSSIBLE
    assert verdicts["accuracy"] is CONSISTENT
    assert verdicts["weighted_f1_harmonic"] is IMPOSSIBLE
    harmonic = report.findings[-1]
    assert harmonic.why == "it cannot be true together with the other numbers"


def test_lost_labels_do_not_excuse_a_wrong_accuracy() -> None:
    reported = {
        "precision": ["0.388889", "0.571429", "0.772727"],
        "recall": ["0.500000", "0.421053", "0.809524"],
        "accuracy": "0.740741",
    }

    report = audit_reported(reported=reported, class_counts=[19, 21, 14])

    assert report.verdict is IMPOSSIBLE


def test_a_class_without_cases_takes_no_part_in_averages() -> None:
    reported = {
        "recall": {"A": "0.90", "B": "0.50"},
        "macro_recall": "0.70",
        "balanced_accuracy": "0.70",
        "balanced_accuracy_adjusted": "0.40",
        "weighted_recall": "0.70",
    }

    report = audit_reported(reported=reported, class_counts={"A": 10, "B": 10, "C": 0})

    assert report.verdict is CONSISTENT


@pytest.mark.parametrize("sizes", [(991, 983, 977, 971), (300_000, 200, 100)])
def test_classes_too_large_to_add_up_refute_nothing(sizes: tuple[int, ...]) -> None:
    report = audit_reported(
        reported={"accuracy": "0.8", "macro_recall": "0.7654321"}, class_counts=sizes
    )

    assert report.verdict is CONSISTENT

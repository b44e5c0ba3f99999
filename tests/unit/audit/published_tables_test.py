"""Tables of the literature, pasted as printed: right ones pass, each misprint is named.

Lecture: "Machine Learning & Signals Learning", chapter 12, "Classification Performance
Metrics". Zeng: Zeng 2025, Mathematics 13(16) 2609. Krstinic: Krstinic et al. 2020, on
multi-label confusion matrices. Course: "Confusion Matrix: MCC, Kappa, and Cost-Sensitive
Evaluation".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from offdiag.audit.findings import AuditReport, AuditVerdict, Finding, Orientation
from offdiag.audit.printed import Rounding
from offdiag.sdk.evaluations.audit import audit_reported
from support import published_matrices as published
from support.optional import present

CONSISTENT, IMPOSSIBLE = AuditVerdict.CONSISTENT, AuditVerdict.IMPOSSIBLE
OTHER, TRANSPOSED = AuditVerdict.OTHER_DEFINITION, AuditVerdict.TRANSPOSED

WINE_LABELS = ("Class 1", "Class 2", "Class 3")
WINE_COUNTS = (19, 21, 14)

ZENG_TABLE_11 = {
    "Macro precision": "0.57768158",
    "Macro recall": "0.57685881",
    "Macro F1": "0.57101539",
    "Micro precision": "0.59259259",
    "Micro recall": "0.59259259",
    "Micro F1": "0.59259259",
    "Weighted precision": "0.60238630",
    "Weighted recall": "0.59259259",
    "Weighted F1": "0.59151430",
    "Overall accuracy": "0.59259259",
    "Error rate": "0.40740741",
    "Average accuracy": "0.72839506",
    "Macro F1 (harmonic)": "0.57726990",
}
ZENG_TABLE_10 = {
    "original": {
        "Precision": ["0.571429", "0.772727", "0.388889"],
        "Recall": ["0.421053", "0.809524", "0.500000"],
    },
    "permuted": {
        "Precision": ["0.388889", "0.571429", "0.772727"],
        "Recall": ["0.500000", "0.421053", "0.809524"],
    },
}
LECTURE_12_5: Mapping[str, Any] = {
    "Precision": ["87.8%", "46.2%", "40.0%"],
    "Recall": ["90.0%", "40.0%", "40.0%"],
    "F1": ["88.9%", "42.9%", "40.0%"],
    "Macro precision": "57.99%",
    "Macro recall": "56.67%",
    "Macro F1": "57.3%",
    "Micro precision": "80.0%",
    "Accuracy": "80%",
}


def finding(report: AuditReport, name: str, label: str | None = None) -> Finding:
    (found,) = (
        f
        for f in report.findings
        if f.claim.name == name
        and (label is None or f.claim.place_name(report.labels).endswith(f"'{label}'"))
    )
    return found


def contested(report: AuditReport) -> dict[str, str]:
    """Verdicts on all numbers that are not simply consistent, by name."""
    return {
        f.claim.place_name(report.labels): f.verdict.value
        for f in report.findings
        if f.verdict is not CONSISTENT
    }


class TestWine:
    @pytest.mark.parametrize(
        "known",
        [
            {"matrix": published.WINE},
            {"matrix": published.WINE, "class_counts": WINE_COUNTS},
            {"class_counts": WINE_COUNTS},
            {"labels": WINE_LABELS},
        ],
        ids=["matrix", "matrix and class counts", "class counts", "nothing"],
    )
    def test_table_11_is_consistent_whatever_is_known(self, known: dict[str, Any]) -> None:
        report = audit_reported(reported=ZENG_TABLE_11, **known)

        assert report.verdict is CONSISTENT
        assert not contested(report)

    @pytest.mark.parametrize(
        "known",
        [{"matrix": published.WINE}, {"class_counts": WINE_COUNTS}, {"labels": WINE_LABELS}],
        ids=["matrix", "class counts", "nothing"],
    )
    def test_the_definitions_of_the_paper_are_not_those_of_its_table(
        self, known: dict[str, Any]
    ) -> None:
        """Items 18 and 21 and Appendix E define three rows in ways the numbers do not follow."""
        renamed = {
            "Macro F1": "macro_f1_harmonic",
            "Weighted F1": "weighted_f1_harmonic",
            "Error rate": "average_error_rate",
        }
        reported = {renamed.get(name, name): value for name, value in ZENG_TABLE_11.items()}
        del reported["Macro F1 (harmonic)"]

        report = audit_reported(reported=reported, **known)

        assert report.verdict is OTHER
        assert contested(report) == dict.fromkeys(renamed.values(), "other_definition")
        for name, key in (
            ("macro_f1_harmonic", "macro_f1"),
            ("weighted_f1_harmonic", "weighted_f1"),
            ("average_error_rate", "error_rate"),
        ):
            assert finding(report, name).definition.key == key

    def test_item_15_as_printed_is_the_harmonic_weighted_f1(self) -> None:
        reported = {**ZENG_TABLE_11, "Micro F1": "0.59744931"}

        report = audit_reported(reported=reported, labels=WINE_LABELS)

        assert contested(report) == {"Micro F1": "other_definition"}
        assert finding(report, "Micro F1").definition.key == "weighted_f1_harmonic"

    def test_zeros_added_to_the_weighted_f1_are_noticed(self) -> None:
        report = audit_reported(reported={"Weighted F1": "0.5915143000"}, matrix=published.WINE)

        assert finding(report, "Weighted F1").rounding is Rounding.PADDED
        assert "zeros added" in finding(report, "Weighted F1").why

    def test_table_10_permuted_stands_beside_the_wrong_labels(self) -> None:
        report = audit_reported(
            reported=ZENG_TABLE_10["permuted"], matrix=published.WINE, labels=WINE_LABELS
        )

        assert report.verdict is OTHER
        assert len(contested(report)) == 6
        assert present(report.matrix).class_order == ("Class 3", "Class 1", "Class 2")
        assert report.findings[0].definition.name(report.labels) == "precision of 'Class 3'"

    def test_class_sizes_alone_show_that_table_10_permuted_lost_its_labels(self) -> None:
        report = audit_reported(
            reported=ZENG_TABLE_10["permuted"], class_counts=WINE_COUNTS, labels=WINE_LABELS
        )

        assert report.verdict is OTHER
        origins = [f.definition.code for f in report.findings]
        assert origins == [2, 0, 1, 2, 0, 1]

    @pytest.mark.parametrize(
        "known", [{"matrix": published.WINE}, {}], ids=["matrix", "class counts alone"]
    )
    def test_the_second_pseudo_code_run_as_printed_swaps_precision_and_recall(
        self, known: dict[str, Any]
    ) -> None:
        """Appendix E2 transposes the table and then takes precision from its rows."""
        reported = {
            "macro_precision": "0.57685881",
            "macro_recall": "0.57768158",
            "weighted_precision": "0.60563446",
            "weighted_f1": "0.59367088",
            "accuracy": "0.59259259",
        }

        report = audit_reported(reported=reported, class_counts=WINE_COUNTS, **known)

        assert report.verdict is TRANSPOSED
        assert finding(report, "macro_precision").verdict is TRANSPOSED
        assert finding(report, "macro_recall").verdict is TRANSPOSED
        assert finding(report, "accuracy").verdict is CONSISTENT

    def test_the_support_of_the_second_pseudo_code_is_that_of_the_predictions(self) -> None:
        report = audit_reported(
            reported={"accuracy": "0.59259259"}, matrix=published.WINE, class_counts=(14, 22, 18)
        )

        assert report.verdict is TRANSPOSED
        assert present(report.matrix).orientation is Orientation.ACTUAL_COLUMNS
        assert present(report.matrix).decided_by == "class_counts"


class TestCifar:
    REPORTED: ClassVar[Mapping[str, Any]] = {
        "Overall accuracy": "0.7080",
        "Macro precision": "0.7186",
        "Macro recall": "0.7080",
        "Weighted precision": "0.7186",
    }

    def test_equal_classes_make_macro_and_weighted_the_same(self) -> None:
        report = audit_reported(reported=self.REPORTED, class_counts=[1000] * 10)

        assert report.verdict is CONSISTENT
        assert finding(report, "Macro precision").why == (
            "macro_precision = weighted_precision if classes are equal"
        )
        assert finding(report, "Macro recall").why == (
            "macro_recall of classes of equal size = accuracy"
        )

    def test_another_weighted_precision_would_be_impossible(self) -> None:
        reported = {**self.REPORTED, "Weighted precision": "0.7190"}

        report = audit_reported(reported=reported, class_counts=[1000] * 10)

        assert report.verdict is IMPOSSIBLE
        assert set(contested(report)) == {"Macro precision", "Weighted precision"}


class TestLecture:
    def test_the_covid_test_passes_in_rounded_form(self) -> None:
        reported = {"Accuracy": "72.0%", "Precision": "100%", "Recall": "67.8%"}

        report = audit_reported(
            reported=reported, class_counts={"yes": 208, "no": 31}, positive_label="yes"
        )

        assert report.verdict is CONSISTENT
        assert list(present(report.tables)) == [((141, 67), (0, 31))]

    def test_the_long_accuracy_of_the_covid_test_was_cut_off(self) -> None:
        report = audit_reported(reported={"Accuracy": "0.7196652"}, matrix=published.COVID_TEST)

        assert finding(report, "Accuracy").rounding is Rounding.CUT_OFF
        assert finding(report, "Accuracy").why.endswith("cut off instead of rounded")

    def test_the_covid_table_by_class_passes(self) -> None:
        reported = {
            "Precision": {"1": "100%", "0": "31.6%"},
            "Recall": {"1": "67.8%", "0": "100%"},
            "F1": {"1": "80.8%", "0": "48.1%"},
        }

        report = audit_reported(reported=reported, matrix=published.COVID_TEST, labels=["1", "0"])

        assert report.verdict is CONSISTENT

    ALWAYS_NO: ClassVar[Mapping[str, Any]] = {
        "Accuracy": "99%",
        "Precision": "Undefined",
        "Recall": 0,
        "Specificity": "99%",
        "F1": 0,
    }

    def test_the_specificity_of_the_constant_answer_is_no_specificity(self) -> None:
        """Printed is 990/1000; right is 990/990. With these numbers 99 % is the NPV."""
        report = audit_reported(
            reported=self.ALWAYS_NO, class_counts={"yes": 10, "no": 990}, positive_label="yes"
        )

        assert report.verdict is OTHER
        assert contested(report) == {"Specificity of 'yes'": "other_definition"}
        assert finding(report, "Specificity").definition.key == "npv"

    def test_no_orientation_of_the_matrix_explains_that_specificity(self) -> None:
        report = audit_reported(
            reported=self.ALWAYS_NO, matrix=published.ALWAYS_NEGATIVE, labels=["yes", "no"]
        )

        assert report.verdict is IMPOSSIBLE
        assert report.reading == "'yes' is the positive class"
        assert contested(report) == {"Specificity of 'yes'": "transposed"}
        assert finding(report, "Specificity").exact == 1.0
        assert "Specificity along its columns" in report.why

    @pytest.mark.parametrize(
        "known",
        [{"matrix": published.THREE_CLASSES}, {"class_counts": (80, 15, 5)}],
        ids=["matrix", "class counts"],
    )
    def test_the_macro_f1_of_three_classes_is_another_f1(self, known: dict[str, Any]) -> None:
        """57.3 % came of averaging rounded values; exact is 57.2487 %, harmonic 57.3189 %."""
        report = audit_reported(reported=LECTURE_12_5, labels="ABC", **known)

        assert report.verdict is OTHER
        assert contested(report) == {"Macro F1": "other_definition"}
        assert finding(report, "Macro F1").definition.key == "macro_f1_harmonic"

    def test_without_class_sizes_that_macro_f1_cannot_be_refuted(self) -> None:
        """The class values as printed average to 57.27 %, give or take their rounding."""
        report = audit_reported(reported=LECTURE_12_5, labels="ABC")

        assert report.verdict is CONSISTENT


class TestCourse:
    SCREENING: ClassVar[Mapping[str, Any]] = {
        "Accuracy": "97.8%",
        "Precision": "28.6%",
        "Recall": "80%",
        "MCC": "0.47",
    }

    def test_the_figure_passes(self) -> None:
        reported = {"Precision": 0.895, "Recall": "0.850", "F1": 0.872, "Accuracy": 0.975}

        report = audit_reported(
            reported=reported, matrix=published.FIGURE, labels=["+", "-"], positive_label="+"
        )

        assert report.verdict is CONSISTENT

    def test_the_screening_example_passes_and_has_one_matrix(self) -> None:
        report = audit_reported(reported=self.SCREENING, class_counts={"+": 100, "-": 9900})

        assert report.verdict is CONSISTENT
        assert report.reading == "'+' is the positive class"
        assert list(present(report.tables)) == [((80, 20), (200, 9700))]

    def test_swapped_precision_and_recall_of_the_screening_example_are_recognised(self) -> None:
        reported = {**self.SCREENING, "Precision": "80%", "Recall": "28.6%"}

        report = audit_reported(
            reported=reported, class_counts={"+": 100, "-": 9900}, positive_label="+"
        )

        assert report.verdict is TRANSPOSED
        assert contested(report) == {
            "Precision of '+'": "transposed",
            "Recall of '+'": "transposed",
        }

    @pytest.mark.parametrize("value", ["3.0", "2.0", "63.25"])
    def test_the_formulas_for_several_classes_leave_the_range_of_mcc(self, value: str) -> None:
        """Perfect predictions of three or two classes, and the screening example."""
        report = audit_reported(reported={"MCC": value, "accuracy": "1.00"}, labels="ABC")

        assert report.verdict is IMPOSSIBLE
        assert finding(report, "MCC").why.startswith("it contradicts: mcc lies between -1 and 1")

    def test_mcc_one_for_classes_that_are_always_confused_is_impossible(self) -> None:
        cyclic = [[0, 5, 0], [0, 0, 5], [5, 0, 0]]

        report = audit_reported(reported={"MCC": "1.0"}, matrix=cyclic)

        assert report.verdict is IMPOSSIBLE
        assert finding(report, "MCC").exact == pytest.approx(-0.5)


class TestKrstinic:
    REPORTED: ClassVar[Mapping[str, Any]] = {
        "Precision": ["0.50", "1.00", "0.70", "0.90"],
        "Recall": ["1.00", "0.60", "0.80", "0.75"],
    }

    def test_the_recall_of_the_third_label_is_a_misprint(self) -> None:
        report = audit_reported(reported=self.REPORTED, matrix=published.KRSTINIC, labels="1234")

        assert report.verdict is IMPOSSIBLE
        assert contested(report) == {"Recall of '3'": "impossible"}
        assert finding(report, "Recall", "3").exact == 0.7

    def test_class_sizes_show_a_conflict_in_the_third_label(self) -> None:
        report = audit_reported(
            reported=self.REPORTED, class_counts=(8, 15, 10, 12), labels="1234"
        )

        assert report.verdict is IMPOSSIBLE
        assert set(contested(report)) == {"Precision of '3'", "Recall of '3'"}
        assert "(it or Precision is wrong)" in finding(report, "Recall", "3").why

    def test_with_the_right_recall_the_table_passes(self) -> None:
        reported = {**self.REPORTED, "Recall": ["1.00", "0.60", "0.70", "0.75"]}

        report = audit_reported(reported=reported, matrix=published.KRSTINIC, labels="1234")

        assert report.verdict is CONSISTENT

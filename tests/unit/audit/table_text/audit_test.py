"""Audits of pasted texts: the right matrix, classes and models reach the audit."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from offdiag.audit.findings import AuditVerdict
from offdiag.audit.table_text.audit import TableTextAudit, audit_table_text
from offdiag.audit.table_text.interpretation import Corrections
from offdiag.errors import InvalidInput

CONSISTENT, IMPOSSIBLE = AuditVerdict.CONSISTENT, AuditVerdict.IMPOSSIBLE
OTHER, TRANSPOSED = AuditVerdict.OTHER_DEFINITION, AuditVerdict.TRANSPOSED


def verdicts(audit: TableTextAudit) -> dict[str, AuditVerdict]:
    return {each.model: each.report.verdict for each in audit.models}


def test_one_class_is_positive_in_all_rows_of_a_table() -> None:
    # The first row is of "b", the second of "a": each could be either class alone.
    of_b, of_a = "0.9000\t0.8438\t0.8710", "0.8250\t0.7333\t0.7765"
    told = Corrections(classes="a 40, b 60")

    def audited(*rows: str) -> TableTextAudit:
        lines = (f"M{number}\t{row}" for number, row in enumerate(rows, start=1))
        return audit_table_text("\n".join(["Model\tRecall\tPrecision\tF1", *lines]), told)

    assert {audited(row).verdict for row in (of_a, of_b)} == {CONSISTENT}
    assert audited(of_b, of_b).models[1].report.reading == "'b' is the positive class"
    both = audited(of_b, of_a, of_a)
    assert verdicts(both) == {"M1": OTHER, "M2": CONSISTENT, "M3": CONSISTENT}
    assert {each.report.reading for each in both.models} == {"'a' is the positive class"}


@pytest.mark.parametrize(
    ("matrix", "verdict"),
    [
        ("8 3 8\n1 17 3\n5 2 7", CONSISTENT),
        ("8 1 5\n3 17 2\n8 3 7", TRANSPOSED),
        ("Actual a b c\na 8 1 5\nb 3 17 2\nc 8 3 7", CONSISTENT),
        ("Predicted a b c\na 8 1 5\nb 3 17 2\nc 8 3 7", TRANSPOSED),
    ],
)
def test_the_axes_of_a_matrix_are_those_it_names_or_found_out(
    matrix: str, verdict: AuditVerdict
) -> None:
    audit = audit_table_text(f"{matrix}\nMacro precision 0.57768\nMacro recall 0.57686")

    assert audit.verdict is verdict


def test_four_counts_make_the_matrix_of_their_model() -> None:
    audit = audit_table_text(
        "Model\tTP\tFN\tFP\tTN\tRecall\tPrecision\nA\t80\t20\t200\t9700\t0.80\t0.286\n"
        "B\t70\t30\t100\t9800\t0.70\t0.286"
    )

    assert verdicts(audit) == {"A": CONSISTENT, "B": IMPOSSIBLE}
    assert audit.models[1].report.findings[1].exact == pytest.approx(70 / 170)


def test_four_counts_of_each_class_are_not_those_of_one_of_them() -> None:
    head = "Class\tTP\tFP\tFN\tTN\tPrecision\tRecall\tSpecificity\tF1"
    of_four = (
        "0\t19\t18\t23\t138\t0.51\t0.45\t0.88\t0.48",
        "1\t27\t16\t20\t135\t0.63\t0.57\t0.89\t0.60",
        "2\t33\t30\t18\t117\t0.52\t0.65\t0.80\t0.58",
        "3\t37\t18\t21\t122\t0.67\t0.64\t0.87\t0.65",
    )

    assert audit_table_text("\n".join([head, *of_four])).verdict is CONSISTENT


def test_four_counts_of_both_classes_make_one_matrix() -> None:
    table = (
        "Class\tTP\tFP\tFN\tTN\tPrecision\tRecall\tSpecificity\tF1\n"
        "df\t98\t16\t9\t140\t0.860\t0.916\t0.897\t0.887\n"
        "mel\t140\t9\t16\t98\t0.940\t0.897\t0.916\t0.918"
    )
    wrong = audit_table_text(table.replace("0.940", "0.950")).models[0].report

    assert audit_table_text(table).verdict is CONSISTENT
    assert [f.claim.printed.text for f in wrong.findings if f.verdict is IMPOSSIBLE] == ["0.950"]


def test_four_counts_are_those_of_the_positive_class() -> None:
    text = "TP 80 FN 20 FP 200 TN 9700\nRecall 0.80"

    audit = audit_table_text(text, Corrections(classes="well, ill", positive="ill"))

    assert audit.verdict is CONSISTENT
    assert (
        audit.models[0].report.findings[0].claim.place_name(audit.models[0].report.labels)
        == "Recall of 'ill'"
    )


@pytest.mark.parametrize("text", ["", "no table", "8 3\n1 17", "Loss 0.3"])
def test_a_text_without_metrics_is_refused_with_a_way_out(text: str) -> None:
    with pytest.raises(InvalidInput, match="no number in the text") as caught:
        audit_table_text(text)

    assert "headers" in str(caught.value.hint)


def test_forms_of_one_number_do_not_speak_for_each_other() -> None:
    """Printed three times, a specificity of 990/1000 still needs the other numbers."""
    text = "Accuracy 99%\nPrecision = 0/0 = Undefined\nSpecificity = 990/1000 = 0.99 = 99%"

    audit = audit_table_text(text, Corrections(classes="yes 10, no 990", positive="yes"))

    findings = audit.models[0].report.findings[-3:]
    assert [f.verdict for f in findings] == [OTHER] * 3
    assert {f.definition.key for f in findings} == {"npv"}
    assert "all values come from one matrix" in findings[0].why
    # The name is said once.
    assert audit.headline == (
        "Specificity of 'yes' 990/1000, 0.99 and 99% are values of other metrics than named."
    )


REPORT = [[0.8, 0.9, 0.85], [0.75, 0.6, 0.67]]
BELOW = [0.78, 0.75, 0.76]
"""Precision, recall and F1 of two classes, and their means."""


def table(form: str, stub: str, names: Sequence[str], *rows: Sequence[float]) -> str:
    parted = {"markdown": " | ", "LaTeX": " & ", "CSV": ",", "spaces": "   "}[form]
    lines: list[tuple[str, ...]] = [(stub, "Precision", "Recall", "F1")]
    lines += [(name, *map(str, row)) for name, row in zip(names, rows, strict=True)]
    text = [parted.join(line) for line in lines]
    if form == "markdown":
        text = [f"| {line} |" for line in text]
        text.insert(1, "|---|---|---|---|")
    return "\n".join(text)


@pytest.mark.parametrize("form", ["markdown", "LaTeX", "CSV", "spaces"])
@pytest.mark.parametrize("stub", ["Class", ""])
@pytest.mark.parametrize("names", [["-1", "1"], ["0.0", "1.0"], ["F", "M"]])
def test_numbers_and_letters_in_front_of_a_table_are_its_classes(
    form: str, stub: str, names: list[str]
) -> None:
    text = table(form, stub, [*names, "macro avg"], *REPORT, BELOW)
    wrong = table(form, stub, [*names, "macro avg"], *REPORT, [0.31, 0.75, 0.76])

    audit = audit_table_text(text)

    assert audit.verdict is CONSISTENT
    assert [each.model for each in audit.models] == [""]
    assert {finding.claim.code for finding in audit.models[0].report.findings} == {0, 1, None}
    assert audit_table_text(wrong).verdict is IMPOSSIBLE


@pytest.mark.parametrize("stub", ["Fold", "Model", "Seed"])
def test_numbered_folds_and_models_have_a_verdict_each(stub: str) -> None:
    audit = audit_table_text(f"{stub},Accuracy,Error rate\n1,0.90,0.10\n2,0.80,0.20\n3,0.70,0.20")

    assert verdicts(audit) == {
        f"{stub} 1": CONSISTENT,
        f"{stub} 2": CONSISTENT,
        f"{stub} 3": IMPOSSIBLE,
    }


@pytest.mark.parametrize("names", [("F", "M"), ("n", "y"), ("SE", "SP")])
def test_a_matrix_may_have_classes_called_like_metrics(names: tuple[str, str]) -> None:
    one, other = names
    text = f"actual \\ predicted\t{one}\t{other}\n{one}\t50\t6\n{other}\t8\t90\n\nAccuracy "

    assert audit_table_text(f"{text} 0.909").verdict is CONSISTENT
    assert audit_table_text(f"{text} 0.95").verdict is IMPOSSIBLE


def test_micro_averages_may_be_of_some_classes_alone() -> None:
    report = (
        "              precision    recall  f1-score   support\n"
        "           0       0.51      0.45      0.48        42\n"
        "           1       0.63      0.57      0.60        47\n"
        "           2       0.52      0.65      0.58        51\n"
        "   micro avg       0.55      0.56      0.56       140\n"
    )

    def warned(text: str) -> bool:
        return any(
            "some of the classes" in said for said in audit_table_text(text).reading.remarks
        )

    assert warned(report)
    assert not warned(report.replace("micro avg", "macro avg"))
    assert not warned("Micro F1 0.80\nAccuracy 0.80")

"""What heads say, how it is written, and what rows and columns say together."""

from __future__ import annotations

import pytest

from offdiag.audit.table_text.headers import (
    NO_MEANING,
    Meaning,
    combined,
    metric_spans,
    read_meaning,
    recognised,
    written,
)
from offdiag.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("-", NO_MEANING),
        ("macro_f1", Meaning(what="macro_f1")),
        ("recall[B]", Meaning(what="recall", label="B")),
        ("[class B]", Meaning(label="class B")),
        ("@SVM", Meaning(model="SVM")),
        ("precision @Original", Meaning(what="precision", model="Original")),
        ("recall[B] @SVM", Meaning(what="recall", label="B", model="SVM")),
        ("macro", Meaning(average="macro")),
        ("support", Meaning(what="support")),
        ("tp @SVM", Meaning(what="tp", model="SVM")),
    ],
)
def test_a_meaning_reads_as_it_is_written(text: str, meaning: Meaning) -> None:
    assert read_meaning(text) == meaning
    assert written(meaning) == text


def test_names_in_use_are_written_as_keys() -> None:
    assert written(read_meaning("Sensitivity [ill]")) == "recall[ill]"


@pytest.mark.parametrize(
    "text", ["", "  ", "acuracy", "recall[B", "precision @", "@", "[", "mcc]"]
)
def test_what_is_no_meaning_is_refused_with_a_way_out(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_meaning(text)

    assert "recall[A]" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("row", "column", "both"),
    [
        ("[A]", "precision", "precision[A]"),
        ("macro", "f1", "macro_f1"),
        ("@SVM", "mcc", "mcc @SVM"),
        ("@SVM", "f1 @Test", "f1 @SVM, Test"),
        ("overall_accuracy", "f1", "overall_accuracy"),
        ("overall_accuracy", "[A]", "overall_accuracy"),
        ("overall_accuracy", "support", "-"),
        ("precision", "recall", "-"),
        ("[A]", "support", "support[A]"),
        ("macro", "support", "-"),
        ("macro", "specificity", "-"),
        ("-", "precision", "precision"),
    ],
)
def test_a_number_means_what_its_row_and_its_column_say(row: str, column: str, both: str) -> None:
    assert written(combined(read_meaning(row), read_meaning(column))) == both


@pytest.mark.parametrize(
    ("head", "meaning"),
    [
        ("f1-score", "f1"),
        ("Acc. (%)", "overall_accuracy"),
        ("Sens.", "recall"),
        ("Recall (TPR)", "recall"),
        ("Accuracy ↑", "overall_accuracy"),
        ("F1 (macro)", "macro_f1"),
        ("Macro F1 (MH)", "macro_f1_harmonic"),
        ("Cohen's κ", "cohen_kappa"),
        ("Test accuracy", "overall_accuracy"),
        ("Recall (ill)", "recall[ill]"),
        ("macro avg", "macro"),
        ("avg / total", "weighted"),
        ("support", "support"),
        ("Total", "total"),
        ("P", "precision"),
        ("TP", "tp"),
    ],
)
def test_names_that_tables_use_are_recognised(head: str, meaning: str) -> None:
    found = recognised(head)

    assert found is not None
    assert written(found) == meaning


@pytest.mark.parametrize(
    "head",
    [
        "",
        "SVM",
        "AUC",
        "Average precision",
        "Params (M)",
        "Class A",
        "x" * 500,
        "précis",
        "Macro precison",
    ],
)
def test_other_heads_are_left_alone(head: str) -> None:
    assert recognised(head) is None


def test_metrics_are_found_among_other_words() -> None:
    words = ["Original", "macro", "F1", "Permuted", "Precision", "for", "class", "1"]

    assert metric_spans(words) == [(1, 3), (4, 5)]


def test_prose_is_not_searched_for_metrics() -> None:
    assert metric_spans(["precision"] * 1000) == []

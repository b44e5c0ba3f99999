"""Heads of tables and the metrics they name."""

from __future__ import annotations

import pytest

from offdiag.flags.audit.pasted.meaning import written
from offdiag.flags.audit.pasted.recognition import metric_spans, recognised


@pytest.mark.parametrize(
    ("head", "meaning"),
    [
        ("f1-score", "f1"),
        ("Acc. (%)", "overall_accuracy"),
        ("Sens.", "recall"),
        ("Recall (TPR)", "recall"),
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
    assert written(found.meaning) == meaning
    assert found.misspelt is None


@pytest.mark.parametrize(
    "head", ["", "SVM", "AUC", "Average precision", "Params (M)", "Class A", "x" * 500, "précis"]
)
def test_other_heads_are_left_alone(head: str) -> None:
    assert recognised(head) is None


def test_one_misspelt_word_is_read_and_told() -> None:
    found = recognised("Weighted precison")

    assert found is not None
    assert found.meaning.what == "weighted_precision"
    assert found.misspelt == ("precison", "precision")


def test_metrics_are_found_among_other_words() -> None:
    words = ["Original", "macro", "F1", "Permuted", "Precision", "of", "class", "1"]

    assert metric_spans(words) == [(1, 3), (4, 5)]


def test_prose_is_not_searched_for_metrics() -> None:
    assert metric_spans(["precision"] * 1000) == []

"""What heads say, how it is written, and what rows and columns say together."""

from __future__ import annotations

import pytest

from offdiag.errors import InvalidInput
from offdiag.flags.audit.pasted.meaning import (
    NO_MEANING,
    Meaning,
    combined,
    read_meaning,
    written,
)


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

"""Pasted text is anybody's: whatever it holds, it is read or refused, and soon."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offdiag.audit.table_text.audit import TableTextAudit, audit_table_text
from offdiag.audit.table_text.cells import MOST_CHARACTERS
from offdiag.audit.table_text.headers import Meaning, read_meaning, written
from offdiag.audit.table_text.interpretation import Corrections
from offdiag.errors import InvalidInput

LONGEST_S = 5.0
"""Of processor time; the worst text below takes a fifth of it, a quadratic pattern minutes."""

FRAGMENTS = (
    *("precision", "recall", "f1", "macro", "accuracy", "mcc", "support", "avg", "Total", "SVM"),
    *("Predicted", "Actual", "Class", "A", "B", "0", "1", "0.5", "0.512", "93.1%", "12", "(80)"),
    *("0.50.6", "72/82", "undefined", "-", "=", "≈", "±", ":", "|", ",", "\t", "  ", "\n", "\n"),
    *("[A]", "@x", "\\frac{1}{2}", "$F_1$", "&", "\\\\", "0/0", "1e9", "٣", "\0", "<b>", "%"),
)
texts = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from(FRAGMENTS), max_size=80).map(" ".join),
    st.lists(st.sampled_from(FRAGMENTS), max_size=80).map("".join),
)


def audited_or_refused(
    text: str, told: Corrections | None = None
) -> TableTextAudit | InvalidInput:
    try:
        return audit_table_text(text, told)
    except InvalidInput as refused:
        return refused


@given(texts)
def test_every_text_is_audited_or_refused(text: str) -> None:
    audit = audited_or_refused(text)

    if isinstance(audit, InvalidInput):
        assert audit.hint
    else:
        assert {n.model for n in audit.reading.numbers} == {m.model for m in audit.models}
        for each in audit.models:
            assert len(each.lines) == len(each.report.findings)
            json.dumps(each.report.to_dict(), allow_nan=False)


@given(texts, st.dictionaries(st.sampled_from(FRAGMENTS), st.sampled_from(FRAGMENTS), max_size=3))
def test_every_correction_is_taken_or_refused(text: str, heads: dict[str, str]) -> None:
    audit = audited_or_refused(text, Corrections(heads=heads, classes="A 3, B 4"))

    assert not isinstance(audit, InvalidInput) or audit.field is not None


@given(texts)
def test_the_meanings_shown_can_be_sent_back(text: str) -> None:
    audit = audited_or_refused(text)

    if not isinstance(audit, InvalidInput):
        for head in audit.reading.heads:
            assert written(read_meaning(head.meaning)) == head.meaning


@given(
    st.builds(
        Meaning,
        what=st.sampled_from([None, "precision", "mcc", "support", "tp"]),
        label=st.sampled_from([None, "A", "class 1 (y = 0)", "a]b", "0"]),
        model=st.sampled_from([None, "SVM", "SVM, Val"]),
    )
)
def test_a_meaning_survives_being_written(meaning: Meaning) -> None:
    assert read_meaning(written(meaning)) == meaning


@pytest.mark.parametrize(
    "unit",
    [
        *(
            " ",
            "1",
            "0.",
            "0.5",
            ",",
            "1,",
            "(",
            "()",
            "a(b ",
            "=",
            "a=",
            "1=",
            "±",
            "%",
            ":",
            "|",
        ),
        *("x ", "macro ", "precision ", "precisoin ", "Class 1 ", "Predicted ", "Class 1\n", "&"),
        *("a 1\n", "1 2 3\n", "\n", "\t", "a: 1 ", "-+", '"', 'a,"', "1. A", "accuracy0.5", "\0"),
        *("\\frac{", "\\frac{1}{", "_{", "\\sqrt{", "\\text{", "\ufdfa", "1,000 ", "[1", "(n = "),
        "Predicted A B\nActual A 12345678\nB 12345678\n",
        "Predicted A B C D E F G H\nActual A 123456789012345678901234\n",
        "precision recall f1 support\nc 0.151 0.4 0.2 10\n",
    ],
)
def test_reading_takes_no_longer_than_a_request_may(unit: str) -> None:
    text = (unit * MOST_CHARACTERS)[:MOST_CHARACTERS]
    began = time.process_time()

    audited_or_refused(text)

    assert time.process_time() - began < LONGEST_S

"""Laws of conditions over generated texts and values."""

from __future__ import annotations

import json
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput
from offdiag.gate.conditions import MetricCondition, MetricValues, Subject, parse_condition
from offdiag.gate.evaluate_conditions import judge

NUMBERS = st.floats(-1, 1, allow_nan=False)


@given(label=st.text(), threshold=st.floats(allow_nan=False, allow_infinity=False))
def test_any_label_in_quotes_and_any_finite_number_are_read_back(
    label: str, threshold: float
) -> None:
    condition = parse_condition(f"low(recall[{json.dumps(label)}])<={threshold!r}")

    assert isinstance(condition, MetricCondition)
    assert (condition.class_label, condition.threshold) == (label, threshold)


@given(text=st.text(alphabet='abf1()[]"<>=.- 0', max_size=20))
def test_every_text_is_a_condition_or_refused_as_one(text: str) -> None:
    with suppress(InvalidInput):
        assert parse_condition(text).text == text.strip()


@given(value=NUMBERS, threshold=NUMBERS)
def test_a_condition_and_its_opposite_never_both_hold(value: float, threshold: float) -> None:
    subject = Subject(
        LabelSet(("a",)), MetricValues({"mcc": MetricValue(value)}, {}), asked=frozenset()
    )
    texts = (f"mcc>={threshold!r}", f"mcc<{threshold!r}")

    held, opposite = judge([parse_condition(text) for text in texts], subject)

    assert held.passed is not opposite.passed

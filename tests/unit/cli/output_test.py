"""How hostile names and undefined numbers are shown on a terminal."""

from __future__ import annotations

import pytest

from offdiag.cli.output import label, number
from offdiag.domain.sentences import visible
from offdiag.domain.values import MetricValue


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("café 多", "café 多"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u200bb", "a\\u200bb"),
        ("two\nlines", "two\\nlines"),
        ("[bold]x[/]", "[bold]x[/]"),
    ],
)
def test_what_would_act_on_the_terminal_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(("text", "shown"), [("", "''"), (" a", "' a'"), ("a", "a")])
def test_labels_that_cannot_be_seen_stand_in_quotes(text: str, shown: str) -> None:
    assert label(text) == shown


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("mcc", MetricValue(0.5926), "0.593"),
        ("mcc", MetricValue(1.0), "1.000"),
        ("support", MetricValue(1.0), "1"),
        ("support", MetricValue(0.25), "0.250"),
        ("n", MetricValue(1e15), "1000000000000000"),
        ("mcc", MetricValue(None, "constant_actual"), "undefined (all examples are of one class)"),
        (
            "dor",
            MetricValue(None, "positive_over_zero", "+inf"),
            "undefined (a positive number is divided by zero; it tends to infinity)",
        ),
        ("mcc", MetricValue(0.5, None, None, 0.25, 0.75, "wilson"), "0.500 [0.250, 0.750]"),
        ("mcc", MetricValue(-0.9996), "<-0.999"),
        ("fpr", MetricValue(0.0004), "<0.001"),
        ("f1", MetricValue(0.9996, None, None, 0.9977, 0.99995, "x"), ">0.999 [0.998, >0.999]"),
    ],
)
def test_a_number_is_shown_with_its_interval_or_with_its_reason(
    key: str, value: MetricValue, shown: str
) -> None:
    assert number(key, value) == shown

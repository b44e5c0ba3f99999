"""Numbers that a metric cannot have are pointed out, and still compared."""

from __future__ import annotations

import pytest

from offdiag.filters.parsing import parse_filter
from offdiag.filters.ranges import out_of_range


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "metrics.accuracy < 80",
            "comparing it with 80 does not depend on the run. Write 80 % as 0.8.",
        ),
        ("not (params.lr > 5 or recall[a] >= 1.5)", "recall[a] is in the range 0 to 1"),
        ("metrics.mcc in (0.5, -3)", "mcc is in the range -1 to 1, so comparing it with -3"),
        ("high(recall[a]@site=z) > 90", "high(recall[a]@site=z) is in the range 0 to 1"),
        ("gap(metrics.mcc, by=site) > 2.5", "is in the range 0 to 2"),
        ("neg_log_loss > 0.5", "log_loss is in the range 0 to inf, so comparing it with -0.5"),
    ],
)
def test_a_number_that_a_metric_cannot_have_is_named(text: str, sentence: str) -> None:
    (found,) = out_of_range(parse_filter(text))

    assert sentence in found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "metrics.accuracy <= 1 and metrics.accuracy >= 0",
        "metrics.mean_cost > 80 and tags.n = 5",
        "n_classes = 7 and attributes.n_predictions > 1000",
        "gap(metrics.mcc, by=site) > 1.5",
        "f1_macro > 0.5",
    ],
)
def test_other_numbers_are_not(text: str) -> None:
    assert out_of_range(parse_filter(text)) == ()

"""Declared prevalence."""

from __future__ import annotations

from typing import Any

import pytest

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.costs.prevalence import declared_prevalence

LABELS = LabelSet(("ham", "spam"))


@pytest.mark.parametrize("given", [[0.9, 0.1], {"spam": 0.1, "ham": 0.9}, (0.9000001, 0.1)])
def test_shares_come_in_label_order_and_add_up_to_one(given: Any) -> None:
    found = declared_prevalence(given, labels=LABELS)

    assert found == pytest.approx([0.9, 0.1], abs=1e-6)
    assert found.sum() == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ([0.9, 0.2], "the shares add up to 1.1"),
        ([0.5], r"the shape is \(1,\) for 2 classes"),
        ([1.2, -0.2], "is not between 0 and 1"),
        ([float("nan"), 1.0], "is not between 0 and 1"),
        ({"ham": 1.0}, "'spam' is not among both"),
        ({"ham": 0.5, "spam": 0.4, "eggs": 0.1}, "'eggs' is not among both"),
        ({"ham": None, "spam": 1.0}, "is not numeric"),
    ],
)
def test_what_is_no_prevalence_is_refused(given: Any, text: str) -> None:
    with pytest.raises(InvalidInput, match=text) as caught:
        declared_prevalence(given, labels=LABELS)

    assert caught.value.field == "prevalence"

"""Reading a mapping of published numbers."""

from __future__ import annotations

import pytest

from offdiag.audit.reported_values import claims_from
from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput

LABELS = LabelSet(("A", "B"))


def test_class_values_become_one_claim_for_each_class() -> None:
    claims = claims_from({"Recall": {"B": "0.5", "A": 0.25}, "MCC": "0.1"}, LABELS)

    assert [(c.name, c.key, c.code) for c in claims] == [
        ("Recall", "recall", 1),
        ("Recall", "recall", 0),
        ("MCC", "mcc", None),
    ]


def test_a_class_metric_without_its_class_is_unqualified() -> None:
    recall, mcc = claims_from({"recall": 0.5, "mcc": 0.1}, LABELS)

    assert recall.is_unqualified
    assert not mcc.is_unqualified


def test_a_list_of_class_values_needs_classes() -> None:
    with pytest.raises(InvalidInput, match="the classes are not known"):
        claims_from({"recall": [0.5, 0.2]}, None)

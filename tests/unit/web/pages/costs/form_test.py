from typing import Any

import pytest

from offdiag.domain.labels import LabelSet
from offdiag.metrics.costs.matrix import cost_matrix
from offdiag_web.pages.costs.form_page import TypedCosts, read_costs, typed_costs, typed_from

LABELS = LabelSet.declared(["nv", "mel"])
CELLS = {"w0.0": "0", "w0.1": " 1 ", "w1.0": "20", "w1.1": "0"}


def typed(**fields: str) -> TypedCosts:
    return typed_costs({**CELLS, "name": "visits", **fields})


def test_a_file_counts_instead_of_what_was_pasted() -> None:
    found = read_costs(typed_costs({**CELLS, "table": "nonsense"}, uploaded="0,3\n4,0"), LABELS)

    assert found.costs is not None
    assert found.costs.weights.tolist() == [[0, 3], [4, 0]]


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"w1.0": "much"}, "cells", "The cost of actual “mel” predicted as “nv” is “much”."),
        ({"w1.0": ""}, "cells", "The cost of actual “mel” predicted as “nv” is empty."),
        ({"w0.1": "x", "w1.0": "y"}, "cells", "is “x” (1 more is marked)."),
        ({"w0.1": "0", "w1.0": "0"}, "cells", "All costs are 0."),
        ({"table": "0\t1\n"}, "table", "It has 1 lines of 2 costs for 2 classes."),
        ({"table": "\tnv\tdf\nnv\t0\t1\ndf\t1\t0"}, "table", "is not one of the labels"),
        ({"currency": "a very long unit indeed"}, "currency", "is not a currency"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(
    fields: dict[str, Any], field: str, message: str
) -> None:
    found = read_costs(typed(**fields), LABELS)

    assert found.costs is None
    assert list(found.errors) == [field]
    assert message in found.errors[field]


def test_costs_can_be_typed_again_as_they_are() -> None:
    costs = cost_matrix([[0, 0.1], [-20, 1e-7]], labels=LABELS, currency="EUR")

    found = read_costs(typed_from(costs, name="visits"), LABELS)

    assert found.costs is not None
    assert found.costs.weights.tolist() == costs.weights.tolist()
    assert found.costs.currency == "EUR"

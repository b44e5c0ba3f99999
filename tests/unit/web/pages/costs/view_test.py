from collections.abc import Sequence
from datetime import UTC, datetime

from offdiag.domain.labels import LabelSet
from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.store.cost_matrices import CostMatrixRecord
from offdiag_web.pages.costs.view import MOST_CELLS, cost_difference

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def version(
    number: int,
    weights: Sequence[Sequence[float]],
    labels: str = "abc",
    currency: str | None = None,
) -> CostMatrixRecord:
    costs = cost_matrix(weights, labels=LabelSet.declared(list(labels)), currency=currency)
    return CostMatrixRecord(number, "default", "visits", number, costs, None, None, NOW)


FIRST: list[list[float]] = [[0, 1, 2], [3, 0, 4], [5, 6, 0]]


def test_changed_prices_are_listed_with_their_factor() -> None:
    found = cost_difference(version(1, FIRST), version(2, [[0, 1, 2], [30, 0, -4], [5, 6, 1]]))

    assert found.title == "What changed from v1 to v2"
    assert found.sentences == ("3 costs changed.",)
    assert found.cells == (
        ("b", "a", "3", "30", "× 10"),
        ("b", "c", "4", "−4", ""),
        ("c", "c", "0", "1", ""),
    )


def test_equal_prices_are_said_to_be_equal() -> None:
    found = cost_difference(version(1, FIRST), version(2, FIRST, currency="EUR"))

    assert found.sentences == ("Currency: none → EUR.", "No cost changed.")


def test_classes_in_another_order_are_matched_by_name() -> None:
    turned: list[list[float]] = [[0, 6, 5], [4, 0, 3], [2, 1, 0]]

    assert cost_difference(version(1, FIRST), version(2, turned, "cba")).cells == ()


def test_classes_that_come_and_go_are_named() -> None:
    found = cost_difference(version(1, FIRST), version(2, FIRST, "abd"))

    assert found.sentences[:2] == ("New classes: “d”.", "Classes left out: “c”.")


def test_versions_without_a_common_class_have_no_common_price() -> None:
    found = cost_difference(version(1, FIRST), version(2, FIRST, "xyz"))

    assert found.cells == ()


def test_so_many_changes_are_shown_and_the_others_counted() -> None:
    size = 20
    labels = "".join(chr(ord("a") + code) for code in range(size))
    before = [[float(i != j) for j in range(size)] for i in range(size)]
    after = [[2.0 * (i != j) for j in range(size)] for i in range(size)]

    found = cost_difference(version(1, before, labels), version(2, after, labels))

    assert len(found.cells) == MOST_CELLS
    assert found.n_hidden == size * (size - 1) - MOST_CELLS

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.services.examples.selection import ExampleQuestion, Kind
from offdiag_web.pages.run_examples.counts import expected_count
from offdiag_web.pages.run_examples.filters import neighbours

MATRIX = ConfusionMatrix(
    np.array([[9, 4, 1], [4, 0, 0], [0, 7, 20]], dtype=np.int64), LabelSet(("a", "b", "c"))
)


def test_errors_stand_by_size_and_equal_ones_in_label_order() -> None:
    cell: tuple[int, int] | None = (2, 1)
    visited: list[tuple[int, int]] = []
    while cell is not None:
        visited.append(cell)
        found = neighbours(MATRIX, *cell)
        assert found is not None
        assert (found.number, found.total) == (len(visited), 4)
        assert found.before == (visited[-2] if len(visited) > 1 else None)
        cell = found.after

    assert visited == [(2, 1), (0, 1), (1, 0), (0, 2)]


def test_correct_cells_are_a_kind_of_their_own() -> None:
    found = neighbours(MATRIX, 2, 2)

    assert found is not None
    assert (found.number, found.total, found.before, found.after) == (1, 2, None, (0, 0))


def test_an_empty_cell_has_no_neighbours() -> None:
    assert neighbours(MATRIX, 1, 2) is None
    assert neighbours(MATRIX, 1, 1) is None


@pytest.mark.parametrize(
    ("question", "count"),
    [
        (ExampleQuestion(), 16),
        (ExampleQuestion(kind=Kind.RIGHT), 29),
        (ExampleQuestion(kind=Kind.ALL), 48),
        (ExampleQuestion(kind=Kind.UNLABELLED), 3),
        (ExampleQuestion("a"), 5),
        (ExampleQuestion("a", kind=Kind.RIGHT), 9),
        (ExampleQuestion("a", kind=Kind.ALL), 14),
        (ExampleQuestion(predicted="b"), 11),
        (ExampleQuestion(predicted="b", kind=Kind.RIGHT), 0),
        (ExampleQuestion("a", "b"), 4),
        (ExampleQuestion("c", "c"), 20),
        (ExampleQuestion(predicted="b", kind=Kind.ALL), None),
        (ExampleQuestion(predicted="b", kind=Kind.UNLABELLED), None),
        (ExampleQuestion(sample="7"), None),
    ],
)
def test_the_matrix_knows_how_many_examples_there_are(
    question: ExampleQuestion, count: int | None
) -> None:
    assert expected_count(MATRIX, question, n_unlabelled=3) == count

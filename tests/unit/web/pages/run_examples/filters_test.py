import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.services.examples.selection import ExampleQuestion, Kind
from offdiag_web.pages.run_examples.counts import ExampleCounts, expected_count
from offdiag_web.pages.run_examples.filters import cell_stepper, cells_by_size
from offdiag_web.urls.run import ExamplesAddress

MATRIX = ConfusionMatrix(
    np.array([[9, 4, 1], [4, 0, 0], [0, 7, 20]], dtype=np.int64), LabelSet(("a", "b", "c"))
)


def test_errors_stand_by_size_and_equal_ones_in_label_order() -> None:
    assert cells_by_size(MATRIX, is_correct=False) == [(2, 1), (0, 1), (1, 0), (0, 2)]


def test_correct_cells_are_a_kind_of_their_own_and_empty_ones_are_left_out() -> None:
    assert cells_by_size(MATRIX, is_correct=True) == [(2, 2), (0, 0)]


@pytest.mark.parametrize(
    ("cell", "place", "before", "after"),
    [
        (("c", "b"), "error 1 of 4, by size", None, "a → b (4)"),
        (("b", "a"), "error 3 of 4, by size", "a → b (4)", "a → c (1)"),
        (("a", "c"), "error 4 of 4, by size", "b → a (4)", None),
        (("a", "a"), "correct cell 2 of 2, by size", "c → c (20)", None),
    ],
)
def test_a_cell_links_to_those_of_its_kind_next_in_size(
    cell: tuple[str, str], place: str, before: str | None, after: str | None
) -> None:
    address = ExamplesAddress("r_1", ExampleQuestion(*cell))
    found = cell_stepper(ExampleCounts(MATRIX, None), address)

    assert found is not None
    assert found.place == place
    texts = [None if link is None else link.text for link in (found.before, found.after)]
    assert texts == [before, after]


def test_an_empty_cell_has_no_neighbours() -> None:
    for actual, predicted in (("b", "c"), ("b", "b")):
        address = ExamplesAddress("r_1", ExampleQuestion(actual, predicted))
        assert cell_stepper(ExampleCounts(MATRIX, None), address) is None


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

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.flags.assessment import class_recalls
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag_web.pages.flags.recall_by_size import class_rows, recall_floor, size_chart
from support.dashboard import LESION_COUNTS, LESIONS
from support.drawings import parsed
from support.matrices import matrix_of
from support.optional import present


@pytest.fixture
def lesions() -> ConfusionMatrix:
    return ConfusionMatrix(np.array(LESION_COUNTS), LabelSet.declared(LESIONS))


def test_the_floor_of_a_class_is_taken_from_the_accuracy_on_all_others(
    lesions: ConfusionMatrix,
) -> None:
    floor = present(recall_floor(lesions, gap=0.2, class_label="df"))

    assert floor.accuracy == pytest.approx(1299 / 1486)
    assert floor.recall == pytest.approx(1299 / 1486 - 0.2)


def test_the_floor_of_a_run_is_taken_from_its_accuracy(lesions: ConfusionMatrix) -> None:
    floor = present(recall_floor(lesions, gap=0.2, class_label=None))

    assert floor.accuracy == pytest.approx(1299 / 1503)


def test_no_floor_lies_below_zero() -> None:
    assert recall_floor(matrix_of([[1, 9], [9, 1]]), gap=0.2, class_label=None) is None


def test_the_sentence_names_exactly_the_classes_whose_intervals_lie_below(
    lesions: ConfusionMatrix,
) -> None:
    floor = recall_floor(lesions, gap=0.2, class_label="df")

    chart = present(size_chart(lesions, floor, class_label="df"))

    assert floor is not None
    below = {each.name for each in class_recalls(lesions) if each.high < floor.recall}
    across = {each.name for each in class_recalls(lesions) if each.low < floor.recall <= each.high}
    assert below == {"df", "akiec", "mel"}
    assert across == {"bcc", "bkl"}
    assert chart.reading == (
        "“df”, “akiec” and “mel” are entirely below the floor. “bcc” and “bkl” have too few "
        "examples to tell on which side of it."
    )
    assert chart.floor == (
        "The floor is 0.200 below the accuracy on all examples but those of “df”, 0.874."
    )


def test_the_class_of_the_flag_comes_first(lesions: ConfusionMatrix) -> None:
    chart = present(size_chart(lesions, None, class_label="nv"))

    assert chart.lines[0][0].name == "nv"
    assert {side for _, _, side in chart.lines} == {"no floor"}


def test_classes_without_cases_are_told_of() -> None:
    chart = size_chart(matrix_of([[5, 1, 0], [0, 7, 0], [0, 0, 0]]), None, class_label=None)

    assert chart is not None
    assert chart.left_out == "1 class has no examples."
    assert [each.name for each, _, _ in chart.lines] == ["0", "1"]


def test_a_matrix_without_cases_has_no_chart() -> None:
    assert size_chart(matrix_of([[0, 0], [0, 0]]), None, class_label=None) is None


def test_of_very_many_classes_the_lowest_recalls_are_drawn() -> None:
    size = 210
    counts = [[0] * size for _ in range(size)]
    for code in range(size):
        counts[code][code] = 5
        counts[code][(code + 1) % size] = code % 3

    chart = present(size_chart(matrix_of(counts), None, class_label=None))

    assert parsed(chart.drawing).count("circle") == 200
    assert chart.left_out == "Only the 200 lowest recalls of 210 are drawn."
    assert len(chart.lines) == 50


def test_the_table_for_machines_has_every_class_in_full_precision(
    lesions: ConfusionMatrix,
) -> None:
    floor = recall_floor(lesions, gap=0.2, class_label="df")

    rows = class_rows(class_recalls(lesions), floor)

    assert [row[0] for row in rows] == list(LESIONS)
    df = rows[-1]
    assert df[1:4] == (17, 0, 0.0)
    assert df[-1] == "below"

from dataclasses import replace

import numpy as np

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag_web.components.matrix import MatrixView, matrix_view
from offdiag_web.urls.run import MatrixAddress
from support.dashboard import LESION_COUNTS, LESIONS

ADDRESS = MatrixAddress("r_1")
BY_LABEL = MatrixAddress("r_1", order="label")


def test_each_cell_holds_the_count_and_its_share_of_the_actual_class() -> None:
    view = matrix_view(_lesions(), ADDRESS)

    assert _cell(view, "mel", "nv") == ("59", "35 %")
    assert _cell(view, "nv", "mel") == ("5", "<1 %")


def test_empty_cells_have_no_share_and_no_colour() -> None:
    cell = matrix_view(_lesions(), ADDRESS).lines[6].cells[6]

    assert (cell.count, cell.share) == ("0", None)
    assert cell.css.split() == ["zero", "diagonal"]


def test_the_transposed_view_shows_the_same_cells_at_exchanged_places() -> None:
    view = matrix_view(_lesions(), ADDRESS)
    turned = matrix_view(_lesions(), replace(ADDRESS, transposed=True))

    for actual in LESIONS:
        for predicted in LESIONS:
            assert _cell(view, actual, predicted) == _cell(turned, predicted, actual)


def test_a_cell_of_either_view_leads_to_its_own_examples() -> None:
    for transposed in (False, True):
        address = replace(ADDRESS, transposed=transposed)
        view = matrix_view(_lesions(), address, cell_url=lambda *cell: f"{cell}")
        lines = {line.head.name: line for line in view.lines}
        places = {head.name: place for place, head in enumerate(view.heads)}
        down, across = ("nv", "mel") if transposed else ("mel", "nv")

        found = lines[down].cells[places[across]]

        assert found.url == f"{(LESIONS.index('mel'), LESIONS.index('nv'))}"


def test_the_margins_are_support_and_predicted_totals() -> None:
    view = matrix_view(_lesions(), BY_LABEL)

    assert [line.total for line in view.lines] == ["1,006", "168", "165", "77", "49", "21", "17"]
    assert view.totals == ("1,112", "117", "151", "66", "35", "20", "2")
    assert (view.total_head, view.total_line_head) == ("Actual n", "Predicted n")


def test_the_margins_change_places_in_the_transposed_view() -> None:
    turned = matrix_view(_lesions(), replace(BY_LABEL, transposed=True))

    assert [line.total for line in turned.lines] == ["1,112", "117", "151", "66", "35", "20", "2"]
    assert (turned.total_head, turned.total_line_head) == ("Predicted n", "Actual n")


def test_shares_can_be_of_the_predicted_class_or_of_all_cases_or_absent() -> None:
    matrix = _lesions()

    of_predicted = matrix_view(matrix, replace(ADDRESS, norm="col"))
    of_all = matrix_view(matrix, replace(ADDRESS, norm="all"))
    counts = matrix_view(matrix, replace(ADDRESS, norm="none"))

    assert _cell(of_predicted, "mel", "nv") == ("59", "5 %")
    assert _cell(of_all, "mel", "nv") == ("59", "4 %")
    assert _cell(counts, "mel", "nv") == ("59", None)


def test_large_classes_come_first_unless_the_order_means_something() -> None:
    counts = np.array([[1, 0, 0], [0, 9, 0], [0, 0, 5]])
    nominal = ConfusionMatrix(counts, LabelSet(("small", "medium", "large")))
    ordinal = ConfusionMatrix(counts, LabelSet(("small", "medium", "large"), ordinal=True))

    assert _order(matrix_view(nominal, ADDRESS)) == ["medium", "large", "small"]
    assert _order(matrix_view(ordinal, ADDRESS)) == ["small", "medium", "large"]
    assert _order(matrix_view(nominal, BY_LABEL)) == ["small", "medium", "large"]


def test_a_window_says_what_lies_outside_it() -> None:
    view = matrix_view(_lesions(), ADDRESS, [1, 0])

    assert _order(view) == ["mel", "nv"]
    assert view.elsewhere_head == "5 others"
    assert [line.elsewhere for line in view.lines] == ["13", "14"]
    assert view.elsewhere_line == ("16", "66")
    assert [line.total for line in view.lines] == ["168", "1,006"]


def test_a_window_keeps_the_colours_of_the_whole_matrix() -> None:
    whole = matrix_view(_lesions(), ADDRESS)
    window = matrix_view(_lesions(), ADDRESS, [1, 0])

    assert window.legend == whole.legend
    assert window.lines[0].cells[1].css == whole.lines[1].cells[0].css


def test_without_errors_the_legend_has_no_error_scale() -> None:
    matrix = ConfusionMatrix(np.array([[3, 0], [0, 2]]), LabelSet(("a", "b")))

    assert matrix_view(matrix, ADDRESS).legend.error_end is None


def test_heads_are_turned_only_where_they_would_not_fit() -> None:
    digits = ConfusionMatrix(np.eye(10, dtype=np.int64), LabelSet.numbered(10))
    named = LabelSet(tuple(f"class {code:02d}" for code in range(10)))
    classes = ConfusionMatrix(np.eye(10, dtype=np.int64), named)

    assert not matrix_view(_lesions(), ADDRESS).turned_heads
    assert not matrix_view(digits, ADDRESS).turned_heads
    assert matrix_view(classes, ADDRESS).turned_heads


def _lesions() -> ConfusionMatrix:
    return ConfusionMatrix(np.array(LESION_COUNTS), LabelSet(LESIONS))


def _order(view: MatrixView) -> list[str]:
    return [line.head.name for line in view.lines]


def _cell(view: MatrixView, down: str, across: str) -> tuple[str, str | None]:
    column = [head.name for head in view.heads].index(across)
    line = next(line for line in view.lines if line.head.name == down)
    cell = line.cells[column]
    return cell.count, cell.share and cell.share.replace("\u202f", " ")

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag_web.components.classes import most_frequent
from offdiag_web.components.matrix import MatrixView, matrix_view
from offdiag_web.components.runs.export import grid_rows, long_rows
from offdiag_web.urls.run import MatrixAddress, Norm

norms = st.sampled_from(["row", "col", "all", "none"])
EMPTY = {"0", "0\u202f%"}


@st.composite
def matrices(draw: st.DrawFn) -> ConfusionMatrix:
    size = draw(st.integers(1, 6))
    counts = draw(arrays(np.int64, (size, size), elements=st.integers(0, 10**9)))
    return ConfusionMatrix(counts, LabelSet.numbered(size))


@given(matrix=matrices(), norm=norms, transposed=st.booleans())
def test_a_cell_with_cases_never_looks_or_reads_empty(
    matrix: ConfusionMatrix, norm: Norm, transposed: bool
) -> None:
    view = matrix_view(matrix, MatrixAddress("r_1", norm=norm, transposed=transposed))

    for cell in (cell for line in view.lines for cell in line.cells):
        is_empty = cell.count == "0"
        assert ("zero" in cell.css) == is_empty
        assert is_empty or cell.share not in EMPTY
        assert not is_empty or cell.share is None


@given(matrix=matrices(), transposed=st.booleans())
def test_the_grid_export_is_the_view(matrix: ConfusionMatrix, transposed: bool) -> None:
    address = MatrixAddress("r_1", transposed=transposed)

    exported = [list(row) for row in grid_rows(matrix, address)]

    assert exported == [[name, *cells] for name, cells in _numbers(matrix_view(matrix, address))]


@given(matrix=matrices(), transposed=st.booleans())
def test_the_long_export_adds_up_to_the_matrix(matrix: ConfusionMatrix, transposed: bool) -> None:
    address = MatrixAddress("r_1", transposed=transposed)
    rebuilt = np.zeros_like(matrix.counts)

    for first, second, count, *_ in long_rows(matrix, address):
        actual, predicted = (second, first) if transposed else (first, second)
        rebuilt[int(str(actual)), int(str(predicted))] += int(count or 0)

    assert (rebuilt == matrix.counts).all()


@given(matrix=matrices())
def test_the_confusions_add_up_to_the_errors(matrix: ConfusionMatrix) -> None:
    shown = most_frequent(matrix, at_most=36)

    counted = sum(int(error.count.replace(",", "")) for error in shown)
    assert counted == matrix.total - int(np.trace(matrix.counts))


@given(matrix=matrices(), data=st.data())
def test_a_window_and_what_lies_elsewhere_add_up_to_the_totals(
    matrix: ConfusionMatrix, data: st.DataObject
) -> None:
    codes = data.draw(st.lists(st.sampled_from(range(matrix.n_classes)), min_size=1, unique=True))
    for address in (MatrixAddress("r_1"), MatrixAddress("r_1", transposed=True)):
        view = matrix_view(matrix, replace(address, norm="none"), codes)

        for line in view.lines:
            inside = sum(_number(cell.count) for cell in line.cells)
            assert inside + _number(line.elsewhere or "0") == _number(line.total)
        columns = zip(*(line.cells for line in view.lines), strict=True)
        below = view.elsewhere_line or ("0",) * len(codes)
        for cells, elsewhere, total in zip(columns, below, view.totals, strict=True):
            inside = sum(_number(cell.count) for cell in cells)
            assert inside + _number(elsewhere) == _number(total)


def _numbers(view: MatrixView) -> list[tuple[str, list[int]]]:
    return [(line.head.name, [_number(cell.count) for cell in line.cells]) for line in view.lines]


def _number(text: str) -> int:
    return int(text.replace(",", ""))

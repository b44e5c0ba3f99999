import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.palette import BINS
from offdiag_web.charts.matrix_picture import EMPTY
from offdiag_web.components.matrix_colours import ColourScale, colour_scale
from offdiag_web.urls.run import Norm


def test_correct_cells_are_coloured_on_a_linear_scale_to_the_whole_class() -> None:
    scale = colour_scale(_matrix([[5, 5], [0, 10]]), "row")

    assert scale.ramp_class(0.5, is_correct=True) == "correct-5"
    assert scale.ramp_class(1.0, is_correct=True) == "correct-10"


def test_errors_are_coloured_with_the_square_root_up_to_the_largest_share() -> None:
    scale = colour_scale(_matrix([[60, 40], [10, 90]]), "row")

    assert scale.ramp_class(0.4, is_correct=False) == "error-10"
    assert scale.ramp_class(0.1, is_correct=False) == "error-5"


def test_errors_of_a_good_model_stay_pale() -> None:
    scale = colour_scale(_matrix([[96, 4], [1, 99]]), "row")

    assert scale.ramp_class(0.04, is_correct=False) == "error-4"
    assert (scale.error_end or "").replace("\u202f", " ") == "25 %"


def test_a_single_error_among_very_many_does_not_look_like_none() -> None:
    scale = colour_scale(_matrix([[10**6, 1], [10**6, 0]]), "row")

    assert scale.ramp_class(1e-6, is_correct=False) == "error-1"


@pytest.mark.parametrize("norm", ["row", "col", "all", "none"])
def test_a_picture_has_the_colours_of_single_cells(norm: Norm) -> None:
    matrix = _matrix([[60, 40, 0, 1], [10, 90, 3, 0], [0, 0, 0, 0], [5, 1, 0, 300]])
    scale = colour_scale(matrix, norm)
    codes = scale.codes(matrix)
    shares = matrix.counts / np.maximum(scale.denominators, 1)

    for place in np.ndindex(codes.shape):
        name = scale.ramp_class(float(shares[place]), is_correct=place[0] == place[1])
        ramp, _, step = name.partition("-")
        first = {"zero": EMPTY, "correct": 1, "error": 1 + BINS}[ramp]
        assert codes[place] == first + int(step or 0)


@pytest.mark.parametrize("norm", ["row", "col", "all", "none"])
def test_cells_without_cases_have_no_colour(norm: Norm) -> None:
    assert colour_scale(_matrix([[1, 0], [0, 0]]), norm).ramp_class(0.0, is_correct=True) == (
        "zero"
    )


@pytest.mark.parametrize(
    ("norm", "ends"),
    [
        ("row", ("100 %", "25 %")),
        ("col", ("100 %", "100 %")),
        ("all", ("60 %", "20 %")),
        ("none", ("6", "2")),
    ],
)
def test_the_ends_are_printed_in_the_unit_of_the_view(norm: Norm, ends: tuple[str, str]) -> None:
    scale = colour_scale(_matrix([[6, 2, 0], [0, 0, 0], [0, 0, 2]]), norm)

    printed = tuple((end or "").replace("\u202f", " ") for end in _ends(scale))
    assert printed == ends


def _ends(scale: ColourScale) -> tuple[str, str | None]:
    return scale.correct_end, scale.error_end


def _matrix(counts: list[list[int]]) -> ConfusionMatrix:
    return ConfusionMatrix(np.array(counts), LabelSet.numbered(len(counts)))

"""What parallel axes of a runs list draw: places on axes, and gaps."""

import pytest

from offdiag_web.components.model_marks import model_marks
from offdiag_web.pages.runs.charts import (
    ParallelAxis,
    ParallelLine,
    _param_axis,
    parallel_chart,
)
from support.drawings import parsed, points_of
from support.optional import present

MARKS = model_marks(["net", "tree"])


def test_a_line_has_a_gap_where_a_run_has_no_value() -> None:
    axes = [ParallelAxis(title, (("0", 0.0), ("1", 1.0))) for title in "abc"]
    whole = ParallelLine("r_1", "whole", MARKS["net"], (0.0, 0.5, 1.0))
    torn = ParallelLine("r_2", "<torn>", MARKS["tree"], (0.0, None, 1.0))
    drawing = parsed(parallel_chart(axes, [whole, torn], name="two runs"))

    first, second = (part for part in drawing.root if "data-run" in part.attrib)
    assert [first.get("data-places"), second.get("data-places")] == ["0,50,100", "0,,100"]
    assert (first.get("d") or "").count("L") == 2
    assert (second.get("d") or "").count("L") == 0
    assert [each.text for each in second] == ["<torn>"]
    axis_x = [float(part.attrib["data-x"]) for part in drawing.root if "data-x" in part.attrib]
    assert [x for x, _ in points_of(first)] == axis_x


def test_numbers_lie_on_a_scale_and_words_at_even_distances() -> None:
    numeric = _param_axis("lr", [0.0, 5, None, 10])
    words = _param_axis("loss", ["focal", "ce", None, True])

    assert present(numeric)[1] == [0.0, 0.5, None, 1.0]
    assert [text for text, _ in present(words)[0].ticks] == ["True", "ce", "focal"]
    assert present(words)[1] == pytest.approx([5 / 6, 0.5, None, 1 / 6])
    assert _param_axis("id", [f"name {each}" for each in range(40)]) is None


@pytest.mark.parametrize("extreme", [float("inf"), float("nan"), -1.7e308, 10**400])
def test_numbers_that_no_scale_holds_are_words(extreme: float) -> None:
    found = present(_param_axis("clip", [1.7e300, extreme, None]))

    assert sorted(place for place in found[1] if place is not None) == [0.25, 0.75]

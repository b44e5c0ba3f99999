import pytest

from offdiag_web.charts.recall_by_size import Box, ClassPoint, Floor, placed, recall_by_size
from support.drawings import Drawing, parsed, points_of

FAILS = ClassPoint("df", 17, 0.0, 0.0, 0.184, stands_out=True)
GOOD = ClassPoint("nv", 1006, 0.981, 0.971, 0.988)


def _drawn(*points: ClassPoint, floor: Floor | None = None) -> Drawing:
    return parsed(recall_by_size(points, floor=floor, name="chart"))


def test_each_class_has_a_point_and_a_whisker_and_its_name() -> None:
    chart = _drawn(FAILS, GOOD)

    assert (chart.count("circle"), chart.count("point point-out")) == (1, 1)
    assert (chart.count("whisker"), chart.count("whisker whisker-out")) == (1, 1)
    assert sorted(chart.texts("caption")) == ["df", "nv"]


def test_a_class_of_one_example_and_one_that_is_nearly_all_found_say_so() -> None:
    chart = _drawn(ClassPoint("one", 1, 0.0, 0.0, 0.793), ClassPoint("b", 1250, 0.9992, 0.996, 1))

    said = [part.get("data-read") for part in chart.root]
    assert "one: recall 0.00 (0.00 to 0.79), 1 example" in said
    assert "b: recall >0.99 (>0.99 to 1.00), 1,250 examples" in said


def test_larger_classes_stand_further_right_and_better_ones_higher() -> None:
    chart = _drawn(FAILS, GOOD)

    dot = chart.one("circle")
    assert chart.rightmost("point point-out") < float(dot.get("cx", "nan"))
    lowest = max(y for _, y in chart.points)
    assert float(dot.get("cy", "nan")) < lowest


def test_ticks_say_their_own_values() -> None:
    texts = _drawn(FAILS, GOOD).texts("tick")

    assert texts == ["0", "0.25", "0.5", "0.75", "1", "10", "100", "1,000"]


@pytest.mark.parametrize("recall", [0.0, 0.2, 0.674, 1.0])
def test_the_floor_is_drawn_at_its_recall_and_named(recall: float) -> None:
    chart = _drawn(FAILS, GOOD, floor=Floor(recall, "floor here"))

    (place,) = {y for _, y in points_of(chart.one("floor"))}
    whole, nothing = _height_of(1.0), _height_of(0.0)
    assert place == pytest.approx(nothing + recall * (whole - nothing), abs=0.01)
    assert "floor here" in chart.texts("tick")


@pytest.mark.parametrize("recall", [0.2, 0.3, 0.674, 0.781, 0.8])
def test_no_line_of_the_grid_crosses_the_name_of_the_floor(recall: float) -> None:
    chart = _drawn(FAILS, GOOD, floor=Floor(recall, "floor here"))

    (name,) = [part for part in chart.root if part.text == "floor here"]
    ((_, base),) = points_of(name)
    lines = {points_of(part)[0][1] for part in chart.root if part.get("class") == "grid"}
    assert not [y for y in lines if base - 9 < y < base + 3]


def test_names_are_text_whatever_they_hold() -> None:
    name = '</svg><script>alert("1")</script>'

    chart = _drawn(ClassPoint(name, 5, 0.5, 0.2, 0.8))

    assert chart.texts("caption") == [name]


def _height_of(recall: float) -> float:
    chart = _drawn(ClassPoint("x", 5, recall, recall, recall))
    return float(chart.one("circle").get("cy", "nan"))


ROOM = Box(0, 0, 200, 100)


def test_a_name_stands_right_of_its_point() -> None:
    (caption,) = placed([("df", 50, 50)], within=ROOM, taken=[])

    assert (caption.anchor, caption.x > 50) == ("start", True)


def test_a_name_without_room_at_the_right_goes_to_the_left() -> None:
    (caption,) = placed([("a long name", 190, 50)], within=ROOM, taken=[])

    assert caption.anchor == "end"


def test_names_do_not_cross_and_the_first_has_its_way() -> None:
    found = placed([("one", 50, 50), ("two", 52, 50)], within=ROOM, taken=[])

    assert [caption.text for caption in found] == ["one", "two"]
    assert found[0].anchor == "start"
    assert not found[0].box.overlaps(found[1].box)


def test_a_name_that_fits_nowhere_is_left_out() -> None:
    assert placed([("name", 50, 50)], within=ROOM, taken=[ROOM]) == []

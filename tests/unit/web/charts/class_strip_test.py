from itertools import pairwise

from offdiag_web.charts.marks import LANE, STRIP_WIDTH, class_strip, strip_axis
from offdiag_web.charts.scale import Extent
from support.drawings import Drawing, parsed, points_of


def lanes(drawing: Drawing) -> list[str]:
    return [part.get("class", "") for part in drawing.root if part.tag == "g"]


def test_every_run_has_a_lane_of_its_own_in_order() -> None:
    drawing = parsed(class_strip([Extent(0.5, 0.4, 0.6)] * 3, name="recall"))

    assert lanes(drawing) == ["run-a", "run-b", "run-c"]
    heights = [
        points_of(part)[0][1] for group in drawing.root if group.tag == "g" for part in group[:1]
    ]
    assert [second - first for first, second in pairwise(heights)] == [
        LANE,
        LANE,
    ]


def test_a_value_that_is_undefined_leaves_its_lane_empty() -> None:
    drawing = parsed(class_strip([None, Extent(0.5)], name="recall"))

    assert lanes(drawing) == ["run-b"]
    assert (
        drawing.view_box[3]
        == parsed(class_strip([Extent(0.1), Extent(0.5)], name="recall")).view_box[3]
    )


def test_without_an_interval_there_is_only_the_shape() -> None:
    (group,) = [
        part for part in parsed(class_strip([Extent(0.5)], name="x")).root if part.tag == "g"
    ]

    assert [part.get("class") for part in group] == ["point"]


def test_runs_that_share_a_colour_differ_in_shape_and_dash() -> None:
    drawing = parsed(class_strip([Extent(0.5, 0.4, 0.6)] * 8, name="recall"))
    groups = [part for part in drawing.root if part.tag == "g"]

    first, fifth = groups[0], groups[4]
    assert first.get("class") == fifth.get("class")
    assert first[0].get("stroke-dasharray") != fifth[0].get("stroke-dasharray")
    assert first[1].tag == "circle"
    assert fifth[1].tag == "path"


def test_the_text_of_a_tick_stands_at_its_place() -> None:
    axis = parsed(strip_axis(name="axis"))
    rails = [
        points_of(part)[0][0]
        for part in parsed(class_strip([Extent(0.5)], name="x")).root
        if part.get("class") == "rail"
    ]

    texts = [(float(part.get("x", "nan")), part.text) for part in axis.root]
    assert [x for x, _ in texts] == rails
    assert [text for _, text in texts] == ["0", "0.25", "0.5", "0.75", "1"]
    left, right = texts[0][0], texts[-1][0]
    for x, text in texts:
        assert x == left + float(text or "nan") * (right - left)
    assert right < STRIP_WIDTH

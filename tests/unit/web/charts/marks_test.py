from itertools import pairwise

import pytest

from offdiag_web.charts.marks import (
    CHURN_HEIGHT,
    CHURN_WIDTH,
    LANE,
    MOST_MARKED,
    STRIP_WIDTH,
    BarPart,
    churn_bar,
    class_strip,
    marker,
    run_mark,
    run_style,
    share_bar,
    strip_axis,
)
from offdiag_web.charts.svg import Extent
from support.drawings import Drawing, parsed, points_of


def test_no_two_runs_look_alike_without_their_colours() -> None:
    looks = {(run_style(at).shape, run_style(at).dash) for at in range(MOST_MARKED)}

    assert len(looks) == MOST_MARKED
    assert len({run_style(at).shape for at in range(MOST_MARKED)}) == MOST_MARKED
    for at in range(MOST_MARKED):
        dash = run_style(at).dash
        assert ("stroke-dasharray" in run_mark(at, name="run")) == bool(dash)
        assert dash in run_mark(at, name="run")


def test_every_mark_stays_inside_its_picture() -> None:
    for position in range(MOST_MARKED):
        drawing = parsed(run_mark(position, name="run"))
        _, _, width, height = drawing.view_box

        assert all(0 <= x <= width and 0 <= y <= height for x, y in drawing.points)


def test_a_shape_stands_around_its_point() -> None:
    assert marker("circle", 10, 20, size=5) == '<circle class="point" cx="10" cy="20" r="4.5"/>'
    assert marker("diamond", 10, 20, size=5) == (
        '<path class="point" d="M10 15L15 20L10 25L5 20Z"/>'
    )


def test_the_filled_part_has_the_share_of_the_rail() -> None:
    bar = parsed(share_bar(0.25, name="25 %", width=80))

    assert bar.one("fill").get("width") == "20"
    assert bar.one("rail-fill").get("width") == "80"


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_what_is_no_share_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="not a share"):
        share_bar(share, name="wrong")


def bar(*counts: int) -> Drawing:
    segments = [BarPart(count, name, name) for count, name in zip(counts, "abcd", strict=False)]
    return parsed(churn_bar(segments, name="churn"))


def widths(drawing: Drawing) -> dict[str, float]:
    return {
        part.get("class", ""): float(part.get("width", "nan"))
        for part in drawing.root
        if part.tag == "rect"
    }


def test_one_example_among_millions_is_still_seen() -> None:
    found = widths(bar(5_000_000, 1, 0, 3))

    assert found["b"] == found["d"] == 3
    assert "c" not in found
    assert sum(found.values()) == pytest.approx(CHURN_WIDTH)


def test_segments_follow_one_another_without_a_gap() -> None:
    places = [
        (float(part.get("x", "0")), float(part.get("width", "nan")))
        for part in bar(10, 7, 5, 2).root
        if part.tag == "rect"
    ]

    for (x, width), (following, _) in pairwise(places):
        assert x + width == pytest.approx(following, abs=0.02)


def test_a_letter_is_drawn_only_where_there_is_room() -> None:
    drawing = bar(1_000, 1, 500, 0)

    letters = [part.text for part in drawing.root if part.tag == "text"]
    assert letters == ["a", "c"]
    assert drawing.view_box == (0, 0, CHURN_WIDTH, CHURN_HEIGHT)


def test_no_example_has_no_bar() -> None:
    with pytest.raises(ValueError, match="at least one"):
        churn_bar([BarPart(0, "a")], name="empty")


def lanes(drawing: Drawing) -> list[str]:
    return [part.get("class", "") for part in drawing.root if part.tag == "g"]


def test_every_run_has_a_lane_of_its_own_in_order() -> None:
    drawing = parsed(class_strip([Extent(0.5, 0.4, 0.6)] * 3, name="recall"))

    assert lanes(drawing) == ["run-a", "run-b", "run-c"]
    heights = [
        points_of(part)[0][1] for group in drawing.root if group.tag == "g" for part in group[:1]
    ]
    assert [second - first for first, second in pairwise(heights)] == [LANE, LANE]


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

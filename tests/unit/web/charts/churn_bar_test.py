from itertools import pairwise

import pytest

from offdiag_web.charts.marks import CHURN_HEIGHT, CHURN_WIDTH, BarPart, churn_bar
from support.drawings import Drawing, parsed


def bar(*counts: int) -> Drawing:
    segments = [BarPart(count, name, name) for count, name in zip(counts, "abcd", strict=False)]
    return parsed(churn_bar(segments, name="churn"))


def widths(drawing: Drawing) -> dict[str, float]:
    return {
        part.get("class", ""): float(part.get("width", "nan"))
        for part in drawing.root
        if part.tag == "rect"
    }


def test_lengths_are_shares_of_all_examples() -> None:
    assert widths(bar(60, 20, 20, 0)) == {
        "a": pytest.approx(0.6 * CHURN_WIDTH),
        "b": pytest.approx(0.2 * CHURN_WIDTH),
        "c": pytest.approx(0.2 * CHURN_WIDTH),
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

from offdiag_web.charts.recall_by_size import Box, placed

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

from offdiag_web.charts.plot import Frame, line, ring, step_line, ticks_across
from support.drawings import parsed

FRAME = Frame(left=10, top=20, width=100, height=50)


def test_a_line_is_straight_where_both_coordinates_change() -> None:
    path = line(FRAME, [(0.0, 0.0), (0.5, 0.0), (1.0, 1.0)], "curve")

    assert path == '<path class="curve" d="M10 70H60L110 20"/>'


def test_steps_on_one_line_are_one_command_and_turns_are_kept() -> None:
    onwards = step_line(FRAME, [(0.0, 0.0), (0.1, 0.0), (0.2, 0.0), (0.2, 0.5)], "c")
    there_and_back = step_line(FRAME, [(0.0, 0.5), (0.0, 1.0), (0.0, 0.2), (0.5, 0.2)], "c")

    assert onwards == '<path class="c" d="M10 70H30V45"/>'
    assert there_and_back == '<path class="c" d="M10 45V20V60H60"/>'


def test_a_single_point_is_no_line() -> None:
    assert step_line(FRAME, [(0.5, 0.5)], "c") == ""
    assert line(FRAME, [], "c") == ""


def test_texts_of_outer_ticks_stay_inside_the_frame() -> None:
    low, middle, high = (
        parsed(f"<svg>{tick}</svg>").root[0].get("text-anchor")
        for tick in ticks_across(FRAME, (("0", 0.0), ("0.5", 0.5), ("1", 1.0)))
    )

    assert (low, middle, high) == ("start", "middle", "end")


def test_the_text_of_a_ring_stands_on_the_side_that_has_room() -> None:
    left = parsed(f"<svg>{ring(FRAME, 0.1, 0.5, 'in use')}</svg>").root[1]
    right = parsed(f"<svg>{ring(FRAME, 0.9, 0.5, 'in use')}</svg>").root[1]

    assert (left.get("text-anchor"), right.get("text-anchor")) == ("start", "end")

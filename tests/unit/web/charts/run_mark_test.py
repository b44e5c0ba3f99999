from offdiag_web.charts.marks import MOST_MARKED, marker, run_mark, run_style
from support.drawings import parsed


def test_no_two_runs_look_alike_without_their_colours() -> None:
    looks = {(run_style(at).shape, run_style(at).dash) for at in range(MOST_MARKED)}

    assert len(looks) == MOST_MARKED
    assert len({run_style(at).shape for at in range(MOST_MARKED)}) == MOST_MARKED


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

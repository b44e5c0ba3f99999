import re

import pytest

from offdiag.palette import contrast
from offdiag_web.components.model_marks import NO_MODEL, model_key, model_marks
from support.drawings import parsed
from support.ramps import STYLESHEET


def test_models_keep_their_marks_when_others_follow() -> None:
    first = model_marks(["a", "b", "c"])
    later = model_marks(["a", "b", "c", "d", "e"])

    assert all(later[name] == first[name] for name in "abc")


def test_no_two_models_look_alike_without_their_colours() -> None:
    marks = model_marks([str(number) for number in range(200)])

    assert len({(mark.shape, mark.letter) for name, mark in marks.items() if name}) == 200
    assert [marks[str(at)].letter for at in (0, 3, 4, 8)] == ["", "", "b", "c"]


def test_runs_without_a_model_look_the_same_wherever_they_stand() -> None:
    assert model_marks([None, "a"])[None] == model_marks(["a"])[None] == NO_MODEL
    assert model_marks([None, "a"])["a"] == model_marks(["a", None])["a"]


def test_a_key_names_its_model_and_stays_inside() -> None:
    drawing = parsed(model_key(model_marks(["<b>"])["<b>"]))

    assert drawing.name == "model <b>"
    _, _, width, height = drawing.view_box
    assert all(0 <= x <= width and 0 <= y <= height for x, y in drawing.points)


@pytest.mark.parametrize(("theme", "page"), [(0, "#ffffff"), (1, "#12161c")])
def test_every_colour_of_a_model_stands_out_from_the_page(theme: int, page: str) -> None:
    tokens = STYLESHEET.with_name("tokens.css").read_text(encoding="utf-8")
    pairs = re.findall(r"--model-\S+: light-dark\((#\w+), (#\w+)\)", tokens)

    assert len(pairs) == 5
    assert all(contrast(pair[theme], page) >= 3 for pair in pairs)

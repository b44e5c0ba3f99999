"""Colours of pictures."""

from __future__ import annotations

import pytest

from offdiag.plot.palette import CORRECT, ERROR, PAGE, QUIET_INK, luminance, text_on
from offdiag_web.charts import palette as dashboard


def test_pictures_and_dashboard_have_the_same_ramps() -> None:
    assert dashboard.RAMPS["light"]["correct"] == CORRECT
    assert dashboard.RAMPS["light"]["error"] == ERROR


@pytest.mark.parametrize("ramp", [CORRECT, ERROR])
def test_more_is_darker(ramp: tuple[str, ...]) -> None:
    steps = [luminance(colour) for colour in ramp]

    assert steps == sorted(steps, reverse=True)


@pytest.mark.parametrize("colour", [*CORRECT, *ERROR, PAGE])
def test_numbers_can_be_read_on_every_colour(colour: str) -> None:
    assert dashboard.contrast(text_on(colour), colour) >= 4.5
    assert text_on(colour) == dashboard.text_on(colour)


def test_the_quiet_grey_can_be_read_on_the_page() -> None:
    assert dashboard.contrast(QUIET_INK, PAGE) >= 4.5

"""Where matplotlib is imported, and what is said where it is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from offdiag.plot.axes import CORRECT, ERROR, PAGE, QUIET_INK, luminance, text_on
from offdiag_web.charts import palette as dashboard

PROGRAM = """
import sys
sys.modules["matplotlib"] = None
import offdiag
evaluation = offdiag.evaluate_matrix([[1, 0], [0, 1]], orientation="actual_rows")
try:
    offdiag.plot.confusion_matrix(evaluation)
except ModuleNotFoundError as error:
    print(error)
"""


def output_of(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()


def test_without_matplotlib_the_extra_is_named() -> None:
    assert output_of(PROGRAM) == (
        "offdiag.plot needs matplotlib. Run: pip install 'offdiag[plot]'"
    )


def test_importing_the_pictures_does_not_import_matplotlib() -> None:
    program = "import sys, offdiag; offdiag.plot.roc; print('matplotlib' in sys.modules)"

    assert output_of(program) == "False"


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

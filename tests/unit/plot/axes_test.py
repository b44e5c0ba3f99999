"""Where matplotlib is imported, and what is said where it is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from offdiag.palette import contrast, text_on
from offdiag.plot.axes import PAGE, QUIET_INK

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
    assert output_of(PROGRAM) == ("matplotlib is not installed. Run: pip install 'offdiag[plot]'")


def test_importing_the_pictures_does_not_import_matplotlib() -> None:
    program = "import sys, offdiag; offdiag.plot.roc; print('matplotlib' in sys.modules)"

    assert output_of(program) == "False"


@pytest.mark.parametrize("colour", [QUIET_INK, text_on(PAGE)])
def test_words_can_be_read_on_the_page(colour: str) -> None:
    assert contrast(colour, PAGE) >= 4.5

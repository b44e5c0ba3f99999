"""Where matplotlib is imported, and what is said where it is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from offdiag.palette import contrast, text_on
from offdiag.plot.axes import PAGE, QUIET_INK

PROGRAM = """
import sys
import offdiag
offdiag.plot.roc
print("matplotlib" in sys.modules)
sys.modules["matplotlib"] = None
evaluation = offdiag.evaluate_matrix([[1, 0], [0, 1]], orientation="actual_rows")
try:
    offdiag.plot.confusion_matrix(evaluation)
except ModuleNotFoundError as error:
    print(error)
"""


def test_matplotlib_is_imported_by_the_first_picture_which_names_the_extra() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.splitlines() == [
        "False",
        "matplotlib is not installed. Run: pip install 'offdiag[plot]'",
    ]


@pytest.mark.parametrize("colour", [QUIET_INK, text_on(PAGE)])
def test_words_can_be_read_on_the_page(colour: str) -> None:
    assert contrast(colour, PAGE) >= 4.5

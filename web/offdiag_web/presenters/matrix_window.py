"""A window into a matrix that is too large for a table: one class and what it is confused with."""

from __future__ import annotations

import numpy as np

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.orientation import ACTUAL_AXIS
from offdiag_web.presenters.confusions import off_diagonal

WINDOW_CLASSES = 12


def busiest_class(matrix: ConfusionMatrix) -> int:
    """Code of the actual class of the most frequent error, or the largest class without any."""
    errors = off_diagonal(matrix)
    if not errors.any():
        return int(np.argmax(matrix.actual))
    return int(np.unravel_index(int(np.argmax(errors)), errors.shape)[ACTUAL_AXIS])


def window_around(matrix: ConfusionMatrix, focus: int) -> list[int]:
    """The class `focus` and those it is most often confused with in either direction.

    Where fewer classes are involved, the largest remaining ones fill the window.
    """
    errors = off_diagonal(matrix)
    missed, taken_for_it = errors[focus, :], errors[:, focus]
    confused = missed + taken_for_it
    supports: list[int] = matrix.actual.tolist()
    others = [code for code in range(matrix.n_classes) if code != focus]
    others.sort(key=lambda code: (-int(confused[code]), -supports[code], code))
    return [focus, *others[: WINDOW_CLASSES - 1]]

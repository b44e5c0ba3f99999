"""One colour scale for several matrices, so that equal colours mean equal shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag_web.presenters.matrix_colours import ColourScale, colour_scale
from offdiag_web.urls.matrix import Norm


def shared_scale(matrices: Sequence[ConfusionMatrix], norm: Norm) -> list[ColourScale]:
    """The scales of several matrices with common ends, so that their colours compare."""
    scales = [colour_scale(matrix, norm) for matrix in matrices]
    correct = max(scales, key=lambda scale: scale.largest_correct)
    error = max(scales, key=lambda scale: scale.largest_error)
    return [
        replace(
            scale,
            largest_correct=correct.largest_correct,
            largest_error=error.largest_error,
            correct_end=correct.correct_end,
            error_end=error.error_end,
        )
        for scale in scales
    ]

"""Reading what a matplotlib picture says."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray


def tick_names(ax: Axes, axis: str) -> list[str]:
    labels = ax.get_xticklabels() if axis == "x" else ax.get_yticklabels()
    return [label.get_text() for label in labels]


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def heading(ax: Axes) -> str:
    return ax.get_title(loc="left")


def legend_texts(ax: Axes) -> list[str]:
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def rendered(ax: Axes) -> NDArray[np.uint8]:
    """The pixels (height, width, 4) of the whole figure; drawing must not fail."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())  # type: ignore[attr-defined]  # Agg has it.


def lines_are_finite_and_inside(ax: Axes) -> bool:
    """Whether every point of every line with data lies within the limits of the axes."""
    (left, right), (one, other) = ax.get_xlim(), ax.get_ylim()
    low, high = min(one, other), max(one, other)
    for line in ax.get_lines():
        x, y = (np.asarray(part, dtype=np.float64) for part in line.get_data())
        # The first point of a precision-recall curve has no precision.
        used = ~np.isnan(y)
        if not (((x >= left) & (x <= right))[used] & ((y >= low) & (y <= high))[used]).all():
            return False
    return True

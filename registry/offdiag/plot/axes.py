"""The only module that imports matplotlib, with what all plots share: colours, titles, axes.

The colour scales are those of the dashboard in its light theme.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from offdiag.domain.values import reason_text
from offdiag.extras import optional
from offdiag.palette import RAMPS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CORRECT = RAMPS["light"]["correct"]
"""Steps 0 to 10 of the colour scale of correct predictions."""
ERROR = RAMPS["light"]["error"]
"""Steps 0 to 10 of the colour scale of errors."""

PAGE = "#ffffff"
INK = "#16202c"
QUIET_INK = "#66727f"
"""Grey that is still readable on the page: contrast 4.9."""
RULE = "#d5dbe2"
"""Lines and bars that show no value."""
LINE = CORRECT[-1]
REFERENCE: dict[str, Any] = {"color": QUIET_INK, "linewidth": 0.8, "linestyle": ":"}
"""Style of reference lines."""

QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


def axes_or_new(ax: Axes | None, *, width: float, height: float) -> Axes:
    """The given axes, or those of a new pyplot figure with this size in inches.

    Raises `MissingExtra` if matplotlib is not installed.
    """
    if ax is not None:
        return ax
    with optional:
        from matplotlib import pyplot as plt
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def title(ax: Axes, *lines: str) -> None:
    """Set a left-aligned title. Dollar signs in class names are not read as formulas."""
    ax.set_title("\n".join(lines), loc="left", fontsize="small", parse_math=False)


def plain_legend(ax: Axes) -> None:
    """Add a legend in which no text is read as a formula."""
    for text in ax.legend(loc="best", frameon=False, fontsize="small").get_texts():
        text.set_parse_math(False)


def unit_square(ax: Axes) -> None:
    """Scale both axes equally from 0 to 1, with room for lines along the edges."""
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xticks=QUARTERS, yticks=QUARTERS)
    ax.set_aspect("equal", adjustable="box")


def undefined_text(reason: str | None) -> str:
    """ "undefined (there is no example of this class)"."""
    return f"undefined ({reason_text(reason)})" if reason else "undefined"

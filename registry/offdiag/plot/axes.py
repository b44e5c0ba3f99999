"""The one place that imports matplotlib, and what all pictures share: colours, titles, axes.

The ramps are those of the dashboard in its light theme (a test compares them): even steps of
lightness in OKLCH, so that more ink is more also in greyscale and for colour-blind readers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CORRECT = (
    *("#f8fafd", "#d9eaf9", "#bcd9f3", "#a1c7ec", "#88b6e3", "#70a4d9"),
    *("#5992ce", "#4480c1", "#316eb2", "#1e5da3", "#0b4c92"),
)
"""Steps 0 to 10 of the ramp of correct answers."""
ERROR = (
    *("#fcfaf7", "#f6e5d2", "#f0d1b1", "#e9bc92", "#e1a676", "#d8915c"),
    *("#ce7c44", "#c3672f", "#b5521b", "#a63e08", "#942d02"),
)
"""Steps 0 to 10 of the ramp of errors."""

PAGE = "#ffffff"
INK = "#16202c"
QUIET_INK = "#66727f"
"""Grey that can still be read on the page: contrast 4.9."""
RULE = "#d5dbe2"
"""Lines and bars that carry no value of their own."""
LINE = CORRECT[-1]
REFERENCE: dict[str, Any] = {"color": QUIET_INK, "linewidth": 0.8, "linestyle": ":"}
"""Style of the lines that others are compared with."""

LONGEST_NAME = 24
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


def text_on(background: str) -> str:
    """Black or white, whichever is easier to read; both contrasts are those of WCAG 2.2."""
    # The contrasts with white and black are equal at this luminance: sqrt(1.05 * 0.05) - 0.05.
    return "#000000" if luminance(background) > 0.179 else "#ffffff"


def luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb` in 0..1, as WCAG 2.2 defines it."""
    channels = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    red, green, blue = linear
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def axes_or_new(ax: Axes | None, *, width: float, height: float) -> Axes:
    """The given axes, or those of a new pyplot figure of so many inches.

    Raises `ModuleNotFoundError` naming the extra if matplotlib is not installed.
    """
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot as plt
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "offdiag.plot needs matplotlib. Run: pip install 'offdiag[plot]'", name=error.name
        ) from None
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def shortened(name: str) -> str:
    """A class name as it is drawn: long ones cut in the middle, as both ends tell them apart."""
    if len(name) <= LONGEST_NAME:
        return name
    kept = LONGEST_NAME - 1
    return f"{name[: kept - kept // 2]}…{name[len(name) - kept // 2 :]}"


def title(ax: Axes, *lines: str) -> None:
    """A left-aligned title. Class names may hold dollar signs, which are no formulas."""
    ax.set_title("\n".join(lines), loc="left", fontsize="small", parse_math=False)


def plain_legend(ax: Axes) -> None:
    """A legend in which no text is read as a formula."""
    for text in ax.legend(loc="best", frameon=False, fontsize="small").get_texts():
        text.set_parse_math(False)


def unit_square(ax: Axes) -> None:
    """Both axes from 0 to 1 on equal scales, with room for lines along the edges."""
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xticks=QUARTERS, yticks=QUARTERS)
    ax.set_aspect("equal", adjustable="box")


def undefined_text(reason: str | None) -> str:
    """ "undefined (no actual positives)"."""
    return f"undefined ({str(reason).replace('_', ' ')})" if reason else "undefined"

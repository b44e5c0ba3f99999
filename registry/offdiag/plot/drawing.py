"""The one place that imports matplotlib, and what all pictures share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from offdiag.domain.values import MetricValue

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

LONGEST_NAME = 24
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


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
    _, new = plt.subplots(figsize=(width, height), layout="constrained")
    return new


def shortened(name: str) -> str:
    """A class name as it is drawn: long ones cut in the middle, as both ends tell them apart."""
    if len(name) <= LONGEST_NAME:
        return name
    kept = LONGEST_NAME - 1
    return f"{name[: kept - kept // 2]}…{name[len(name) - kept // 2 :]}"


def title(ax: Axes, *lines: str) -> None:
    """A left-aligned title. Class names may hold dollar signs, which are no formulas."""
    ax.set_title("\n".join(lines), loc="left", fontsize="small", parse_math=False)


def plain_legend(ax: Axes) -> Legend:
    """A legend in which no text is read as a formula."""
    legend = ax.legend(loc="best", frameon=False, fontsize="small")
    for text in legend.get_texts():
        text.set_parse_math(False)
    return legend


def unit_square(ax: Axes) -> None:
    """Both axes from 0 to 1 on equal scales, with room for lines along the edges."""
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xticks(QUARTERS)
    ax.set_yticks(QUARTERS)
    ax.set_aspect("equal", adjustable="box")


def value_text(value: MetricValue) -> str:
    """Three decimals with the interval, or the word undefined with the reason."""
    if value.value is None:
        return undefined_text(value.reason)
    if value.ci_low is None or value.ci_high is None:
        return f"{value.value:.3f}"
    return f"{value.value:.3f} ({value.ci_low:.3f} – {value.ci_high:.3f})"


def undefined_text(reason: str | None) -> str:
    """ "undefined (no actual positives)"."""
    return f"undefined ({str(reason).replace('_', ' ')})" if reason else "undefined"

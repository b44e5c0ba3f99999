"""Text and numbers as a terminal shows them.

Labels and names are user input. Control characters would move the cursor or recolour the
screen, and direction marks would swap what is read, so both are shown as escapes.
"""

from __future__ import annotations

import unicodedata

from offdiag.domain.values import MetricValue

_COUNTS = frozenset(
    {
        "n",
        "n_classes",
        "n_classes_actual",
        "n_classes_predicted",
        "support",
        "predicted",
    }
)
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def printable(text: str) -> str:
    """The text with everything invisible written as an escape, and emptiness made visible."""
    return "".join(
        character.encode("unicode_escape").decode("ascii")
        if unicodedata.category(character) in _INVISIBLE
        else character
        for character in text
    )


def label(text: str) -> str:
    """A class name; one that is empty or begins or ends with a space is quoted."""
    shown = printable(text)
    return repr(shown) if shown != shown.strip() or not shown else shown


def number(key: str, value: MetricValue, *, with_interval: bool = True) -> str:
    """Three decimals with the interval, a count as it is, or why there is no number."""
    if value.value is None:
        limit = f", tends to {value.limit}" if value.limit else ""
        return f"undefined ({value.reason}{limit})"
    if key in _COUNTS:
        return f"{value.value:.0f}"
    if not with_interval or value.ci_low is None or value.ci_high is None:
        return f"{value.value:.3f}"
    return f"{value.value:.3f} [{value.ci_low:.3f}, {value.ci_high:.3f}]"

"""Number formats of pages: counts, shares and measured values.

Rounding never turns something into nothing or nearly all into all: a share above 0 is not "0 %", a
metric below 1 is not "1.000". CSV and JSON have full precision instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.domain import number_text, texts

shortened = texts.shortened
MINUS = number_text.MINUS
_NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"


def count(number: int) -> str:
    """1503 -> "1,503"."""
    return f"{number:,}".replace("-", MINUS)


def signed(difference: int) -> str:
    """A difference of counts: "+3", "−1,204", "0"."""
    return f"+{count(difference)}" if difference > 0 else count(difference)


def plural(number: int, one: str, many: str | None = None) -> str:
    """ "1 run", "12 runs"."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def metric(value: float) -> str:
    """A metric with three decimals: "0.864", "<0.001", ">0.999", with a true minus sign.

    Ratios may grow without bound; from a million on they are written as "1.23e+09".
    """
    return number_text.number(value, decimals_from_100=3)


def interval(low: float, high: float) -> str:
    """ "0.846 – 0.881"; "−0.114 to 0.105", where a dash would be read as another minus."""
    return number_text.interval(low, high, decimals_from_100=3)


def percent(share: float, decimals: int = 0) -> str:
    """A share as `number_text.percent`, with the narrow space of pages."""
    return number_text.percent(share, decimals).replace(" ", _NARROW_SPACE)


def whole_percent(part: int, of: int) -> str:
    """Share of a count as a whole percentage, `of` > 0: "35 %", "<1 %", ">99 %"."""
    return _percent(part, of, 0)


def fine_percent(part: int, of: int) -> str:
    """Share of a count with one decimal, `of` > 0: "66.9 %", "<0.1 %", ">99.9 %"."""
    return _percent(part, of, 1)


def _percent(part: int, of: int, decimals: int) -> str:
    steps = 10 ** (2 + decimals)
    if 0 < steps * part < of:
        text = f"<{100 / steps:g}"
    elif (steps - 1) * of < steps * part < steps * of:
        text = f">{100 - 100 / steps:g}"
    else:
        text = f"{100 * part / of:.{decimals}f}"
    return f"{text}{_NARROW_SPACE}%"


def hits_of(hits: int, cases: int) -> str:
    """ "96/168", a recall as the exact fraction."""
    return f"{count(hits)}/{count(cases)}"


def labelled(n_labelled: int, n_samples: int) -> str:
    """ "all 540", or "300 of 540 (55.6 %)" if some labels are missing."""
    if n_labelled == n_samples:
        return f"all {count(n_samples)}"
    share = fine_percent(n_labelled, max(n_samples, 1))
    return f"{count(n_labelled)} of {count(n_samples)} ({share})"


def listed(words: Sequence[str], *, at_most: int = 5) -> str:
    """ "a", "a and b", "a, b and c", "a, b and 4 more"; never "and 1 more"."""
    shown = list(words if len(words) == at_most + 1 else words[:at_most])
    hidden = len(words) - len(shown)
    if hidden:
        return f"{', '.join(shown)} and {count(hidden)} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def cut_in_the_middle(text: str, *, longest: int = 26) -> str:
    """A text of at most this many characters, cut in the middle: names often differ at the end."""
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 2
    return f"{text[: longest - 1 - tail].rstrip()}\N{HORIZONTAL ELLIPSIS}{text[-tail:].lstrip()}"

"""Percentages that are printed without their sign."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from offdiag.flags.audit.definitions import described
from offdiag.flags.audit.pasted.numbers import Number
from offdiag.flags.audit.pasted.recognition import says_percent
from offdiag.flags.audit.printed import printed

_OF_TABLE = re.compile(r"\bin (?:%|percent)|\bpercentages?\b", re.IGNORECASE)
_LONGEST_HEADING = 400


def with_signs(
    numbers: Sequence[Number], above: Sequence[str], *, is_percent: bool | None
) -> list[Number]:
    """The numbers of one table with percent signs where they are meant.

    `is_percent` is what the user says of numbers without a sign, `above` are the lines over
    the table. Where nobody says it, a metric whose every number lies between 1 and 100 is a
    percentage if it cannot be larger than 1. Metrics that may be negative follow the others,
    because there a number above 1 may also be a wrong one.
    """
    if is_percent is None and any(_OF_TABLE.search(line[:_LONGEST_HEADING]) for line in above):
        is_percent = True
    if is_percent is not None:
        return [_signed(n) if is_percent else n for n in numbers]
    numbers = [_signed(n) if says_percent(n.name) else n for n in numbers]
    keys = {n.key for n in numbers}
    shares = {key for key in keys if described(key).low == 0.0 and described(key).high == 1.0}
    percent = {key for key in shares if _are_percentages([n for n in numbers if n.key == key])}
    if percent:
        bounded = keys - shares
        percent |= {
            key for key in bounded if _are_percentages([n for n in numbers if n.key == key])
        }
    return [_signed(n) if n.key in percent else n for n in numbers]


def _are_percentages(numbers: Sequence[Number]) -> bool:
    """Whether all of them that have no sign lie above 1, and there are such."""
    plain = [n for n in numbers if "%" not in n.text and "/" not in n.text]
    sizes = [abs(float(value)) for n in plain if (value := printed(n.text, field="table").value)]
    return bool(sizes) and min(sizes) > 1 and max(sizes) <= 100


def _signed(number: Number) -> Number:
    text = number.text
    if "%" in text or "/" in text or text == "undefined":
        return number
    return replace(number, text=f"{text}%")

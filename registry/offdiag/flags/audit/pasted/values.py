"""A cell with a number in it: "0.571", "57.1 %", "72/82 ≈ 87.8%", "0.93 ± 0.02"."""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST = 120
"""Longer cells hold prose."""
LONGEST_COUNT = 16
"""Digits of the largest number of cases."""

_DECIMAL = re.compile(r"[+-]?(?:\d{1,15}(?:\.\d{0,20})?|\.\d{1,20}) ?%?", re.ASCII)
_COMMA = re.compile(r"([+-]?\d{1,15}),(\d{1,20} ?%?)", re.ASCII)
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3}){1,5}", re.ASCII)
_WHOLE = re.compile(r"\d{1,24}", re.ASCII)
_RUN_TOGETHER = re.compile(r"\d{4,15},\d{3}|\d{16,24}", re.ASCII)
_LETTER = re.compile(r"[A-Za-z]")
_EQUALS = re.compile(r"[=≈~]")
_MARKS = "*†‡§¶#↑↓ \t"
_MISSING = frozenset({"", "-", "–", "—", "--", "---", "n/a", "n.a.", "na", "...", "…", "none"})
_UNDEFINED = frozenset({"undefined", "not defined", "nan", "undef", "undef."})


@dataclass(frozen=True, slots=True)
class Value:
    """What one cell says about one quantity.

    `numbers` are its printed forms in their order, with decimal points, percent signs and
    quotients as they stood; none for a cell that is left empty or says that there is nothing.
    `has_spread` tells of a deviation behind it: then it is a mean over several tests.
    """

    numbers: tuple[str, ...]
    has_spread: bool = False

    @property
    def last(self) -> str | None:
        """The form a chain of equations ends with."""
        return self.numbers[-1] if self.numbers else None

    @property
    def digits(self) -> str | None:
        """The digits of a whole number without a sign, of one or of several run together."""
        plain = (self.last or "").replace(",", "")
        return plain if _WHOLE.fullmatch(plain) else None

    @property
    def count(self) -> int | None:
        """The number of cases it is, if it is a whole number."""
        digits = self.digits
        return int(digits) if digits is not None and len(digits) <= LONGEST_COUNT else None


NOTHING = Value(())


def read_value(text: str) -> Value | None:
    """The value in a cell, `NOTHING` for a cell that was left out, None for words."""
    body = text.strip(_MARKS).rstrip(".;,").strip(_MARKS)
    if not body and text.strip():
        return None
    if body.lower() in _MISSING:
        return NOTHING
    if len(body) > LONGEST:
        return None
    body, spread, _ = body.partition("±")
    body, behind = _parted(body)
    texts = _EQUALS.split(body)
    parts = [_number(part) for part in texts]
    numbers = [number for number in (*parts, *behind) if number is not None]
    if not numbers or parts[-1] is None:
        return None
    if any(part is None and _LETTER.search(t) for part, t in zip(parts, texts, strict=True)):
        return None  # "Accuracy = 0.93" has a name in it.
    single = [number for number in behind if number is not None and "/" not in number]
    return Value(tuple(dict.fromkeys(numbers)), has_spread=bool(spread or single))


def _parted(body: str) -> tuple[str, list[str | None]]:
    """A cell without what stands in brackets behind it, and the numbers in these brackets.

    An interval is dropped, because its ends are no values of the metric.
    """
    body = body.partition("[")[0].strip() or body
    start = body.find("(", 1)
    if start < 0 or not body.endswith(")") or body[start - 1] in "/+=≈":
        return body, []
    inside = body[start + 1 : -1].strip()
    if _number(inside) is None:
        return (body[:start].strip(), []) if inside[:1].isdigit() else (body, [])
    return body[:start].strip(), [_number(inside)]


def _number(text: str) -> str | None:
    """One printed number in the form that the audit reads, None for anything else."""
    body = text.strip(_MARKS)
    if _DECIMAL.fullmatch(body):
        return body
    if body.lower() in _UNDEFINED:
        return "undefined"
    if _GROUPED.fullmatch(body) or _RUN_TOGETHER.fullmatch(body):
        return body
    comma = _COMMA.fullmatch(body)
    if comma is not None:
        return f"{comma[1]}.{comma[2]}"
    return _quotient(body)


def _quotient(body: str) -> str | None:
    """ "(141+31)/239" as "172/239"."""
    part, slash, of = body.partition("/")
    sums = (_sum(part), _sum(of))
    if not slash or None in sums or (sums[1] == 0 and sums[0] != 0):
        return None
    return f"{sums[0]}/{sums[1]}"


def _sum(text: str) -> int | None:
    """A whole number, or a bracket of such with plus signs between them."""
    body = text.strip()
    if body.startswith("(") and body.endswith(")"):
        body = body[1:-1]
    terms = [term.strip().replace(",", "") for term in body.split("+")]
    if not all(_WHOLE.fullmatch(term) and len(term) <= LONGEST_COUNT for term in terms):
        return None
    return sum(int(term) for term in terms)

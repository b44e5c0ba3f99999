"""Slices: parts of a dataset, written as conditions on columns such as `country=DE`.

A slice is written `country=DE` or, if several conditions must hold, `country=DE & device=phone`.
The order of the terms does not matter; one canonical text stands for all ways to write a slice,
and results are stored under it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from offdiag.errors import InvalidInput

_BARE = re.compile(r"[^\s\"&=](?:[^\"&=]*[^\s\"&=])?")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
# A mark of exclamation before an operator belongs to that.
_CHARACTERS = r"""(?:[^\s"&=<>(),\[\]!]|!(?=[^\s"&=<>(),\[\]]))+"""
_WORDS_OF_FILTERS = r"(?i:and|or|not|in|like)\b"
WRITTEN_NAME = (
    rf"""(?:"(?:[^"\\]|\\.)*"|(?!'){_CHARACTERS}"""
    rf"""(?:[ ]+(?!{_WORDS_OF_FILTERS}){_CHARACTERS})*)"""
)
"""A column or a value inside a condition; one with other characters or words needs quotes (")."""
_TERM = rf"{WRITTEN_NAME}\s*=\s*{WRITTEN_NAME}"
WRITTEN_SLICE = rf"{_TERM}(?:\s*&\s*{_TERM})*"
"""A slice inside a condition."""
_BLANKS = re.compile(r"\s*")
_HOW = "Write name=value, several joined by &; quote what holds & = or quotes."

UNKNOWN = ""
"""The value of samples for which no value was given; it forms no slice."""
_NUMBER = r"-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?"
_RANGE = re.compile(
    rf"under (?P<below>{_NUMBER})|(?P<low>{_NUMBER}) to under (?P<high>{_NUMBER})"
    rf"|(?P<from>{_NUMBER}) and over"
)


@dataclass(frozen=True, slots=True, order=True)
class SliceTerm:
    """The samples whose column `name` has this value."""

    name: str
    value: str

    def __str__(self) -> str:
        return f"{_written(self.name)}={_written(self.value)}"


@dataclass(frozen=True, slots=True)
class Slice:
    """The samples for which all terms hold. Terms are sorted by name, with one for each name."""

    terms: tuple[SliceTerm, ...]

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The column and the value of each term."""
        return tuple((term.name, term.value) for term in self.terms)

    def __str__(self) -> str:
        """The canonical text, which `parse_slice` accepts."""
        return " & ".join(str(term) for term in self.terms)


def slice_of(pairs: Iterable[tuple[str, str]]) -> Slice:
    """The slice in which each of these columns has the given value."""
    return Slice(tuple(sorted(SliceTerm(name, value) for name, value in pairs)))


def parse_slice(text: str) -> Slice:
    """Read a slice. Raises `InvalidInput` that points to the part that cannot be read."""
    terms: dict[str, str] = {}
    place = 0
    while True:
        name, place = _word(text, place, "a name")
        place = _mark(text, place, "=")
        value, place = _word(text, place, "a value")
        if terms.setdefault(name, value) != value:
            raise InvalidInput(
                f"{name!r} is to be {terms[name]!r} and {value!r} at once.",
                field="slice",
                hint="A sample has one value of each; ask for two slices.",
            )
        if place == len(text):
            return Slice(tuple(SliceTerm(key, terms[key]) for key in sorted(terms)))
        place = _mark(text, place, "&")


def _word(text: str, place: int, what: str) -> tuple[str, int]:
    place = _after_blanks(text, place)
    quoted = _QUOTED.match(text, place)
    if quoted is not None:
        return re.sub(r"\\(.)", r"\1", quoted[1], flags=re.DOTALL), _after_blanks(
            text, quoted.end()
        )
    bare = _BARE.match(text, place)
    if bare is None:
        raise _unreadable(text, place, what)
    return bare[0], _after_blanks(text, bare.end())


def _mark(text: str, place: int, mark: str) -> int:
    if not text.startswith(mark, place):
        raise _unreadable(text, place, f"{mark!r}")
    return place + 1


def _after_blanks(text: str, place: int) -> int:
    blanks = _BLANKS.match(text, place)
    return place if blanks is None else blanks.end()


def _unreadable(text: str, place: int, expected: str) -> InvalidInput:
    where = f"before {text[place:][:20]!r}" if place < len(text) else "at its end"
    return InvalidInput(
        f"{text!r} is not a slice: {expected} is missing {where}.",
        field="slice",
        hint=_HOW,
    )


def _written(word: str) -> str:
    if _BARE.fullmatch(word):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def column_text(name: str) -> str:
    """A column or a value as it has to be written in a condition, quoted if necessary."""
    if re.fullmatch(WRITTEN_NAME, name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def slice_text(part: Slice) -> str:
    """A slice as it has to be written after `@`."""
    return " & ".join(f"{column_text(term.name)}={column_text(term.value)}" for term in part.terms)


def range_text(low: float | None, high: float | None) -> str:
    """The column value for the range of numbers from `low` up to, but excluding, `high`."""
    if high is None:
        return "all" if low is None else f"{_number_text(low)} and over"
    if low is None:
        return f"under {_number_text(high)}"
    return f"{_number_text(low)} to under {_number_text(high)}"


def _number_text(number: float) -> str:
    """The number in twelve digits, or as many more as distinguish it from all other numbers."""
    number += 0.0  # -0 is written differently, but is the same number.
    texts = (f"{number:.{digits}g}" for digits in range(12, 17))
    return next((text for text in texts if float(text) == number), f"{number:.17g}")


def is_range(value: str) -> bool:
    """Whether a value is a range of numbers."""
    return _RANGE.fullmatch(value) is not None


def _ends(value: str) -> tuple[float, float]:
    found = _RANGE.fullmatch(value)
    if found is None:
        return (float(value), float(value))
    if found["below"] is not None:
        return (-inf, float(found["below"]))
    if found["from"] is not None:
        return (float(found["from"]), inf)
    return (float(found["low"]), float(found["high"]))


def level_order(values: Iterable[str]) -> list[str]:
    """Values in reading order: numbers and ranges by size, anything else as text."""
    texts = list(values)
    if all(is_range(each) or re.fullmatch(_NUMBER, each) for each in texts):
        return sorted(texts, key=lambda each: (_ends(each), each))
    return sorted(texts)


def require_disjoint(values: AbstractSet[str], *, field: str) -> None:
    """Raise `InvalidInput` where a number is in two of the ranges, or ranges mix with others."""
    known = values - {UNKNOWN}
    ranges = level_order(value for value in known if is_range(value))
    overlaps = any(_ends(one)[1] > _ends(other)[0] for one, other in pairwise(ranges))
    if overlaps or len(ranges) < len(known):
        raise InvalidInput(
            f"the ranges {', '.join(map(repr, ranges[:4]))} of the batches overlap.",
            field=field,
            hint="Log the run without this column, then call add_slices with all samples.",
        )

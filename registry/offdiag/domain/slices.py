"""Slices: parts of a dataset named by what is known of their samples.

A slice is written `country=DE` or, where several things must hold, `country=DE & device=phone`.
The order of the terms does not matter; one canonical text stands for all ways to write it, and
results are stored under that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from offdiag.errors import InvalidInput

_BARE = re.compile(r"[^\s\"&=](?:[^\"&=]*[^\s\"&=])?")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_BLANKS = re.compile(r"\s*")
_HOW = "Write name=value, several joined by &; quote what holds & = or quotes."


@dataclass(frozen=True, slots=True)
class SliceTerm:
    """The samples whose column `name` has this value."""

    name: str
    value: str

    def __str__(self) -> str:
        return f"{_written(self.name)}={_written(self.value)}"


@dataclass(frozen=True, slots=True)
class Slice:
    """The samples for which all terms hold, sorted by name; one term for each name."""

    terms: tuple[SliceTerm, ...]

    def __str__(self) -> str:
        """The canonical text, which `parse_slice` reads back."""
        return " & ".join(str(term) for term in self.terms)


def parse_slice(text: str) -> Slice:
    """Read a slice. Raises `InvalidInput` that points at what cannot be read."""
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
    found = f"{text[place:][:20]!r}" if place < len(text) else "the end"
    return InvalidInput(
        f"at character {place + 1} of {text!r} there is {found} instead of {expected}.",
        field="slice",
        hint=_HOW,
    )


def _written(word: str) -> str:
    if _BARE.fullmatch(word):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

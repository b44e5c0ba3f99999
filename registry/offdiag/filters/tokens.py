"""The tokens of a filter: `metrics.recall["df"] >= 0.8 and not tags.team = 'x'`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from offdiag.domain.slices import WRITTEN_NAME, WRITTEN_SLICE
from offdiag.errors import Malformed

MAX_CHARACTERS = 4_000

# No two alternatives begin alike and nothing is repeated inside a repetition, so reading takes
# time linear in the length of the text.
_WORD = re.compile(
    rf"""
    (?P<space>\s+)
    |@\s*(?P<part>{WRITTEN_SLICE})
    |,\s*by\s*=\s*(?P<by>{WRITTEN_NAME})
    |(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
    |(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
    |(?P<name>[^\W\d][\w-]*)
    |(?P<operator>!=|<>|>=|<=|==|=|>|<)
    |(?P<mark>[.,()\[\]])
    """,
    re.VERBOSE,
)


_HINTS = {
    "%": "Write 80 % as 0.8.",
    "@": 'A slice is name=value; other characters go in double quotes: @site="z".',
}
"""What to do about a character that cannot be read."""


class Kind(StrEnum):
    """The kind of a token."""

    PART = "part"
    """A slice, after `@`."""
    BY = "by"
    """A slice column, after `, by=`."""
    TEXT = "text"
    NUMBER = "number"
    NAME = "name"
    OPERATOR = "operator"
    MARK = "mark"
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """A word and its position, counted in characters from 0."""

    kind: Kind
    text: str
    position: int

    @property
    def content(self) -> str:
        """The content of a quoted text: without its quotes, doubled quotes made single."""
        quote = self.text[0]
        return self.text[1:-1].replace(quote * 2, quote)

    def is_word(self, word: str) -> bool:
        """Whether this is a keyword, in either case."""
        return self.kind is Kind.NAME and self.text.lower() == word


def tokens_of(text: str, *, field: str) -> list[Token]:
    """All words of a filter, then an END. Raises `Malformed` naming position and character."""
    if len(text) > MAX_CHARACTERS:
        raise Malformed(
            f"it has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read.",
            field=field,
            hint="Shorten it, and narrow the result down afterwards.",
        )
    found: list[Token] = []
    position = 0
    while position < len(text):
        match = _WORD.match(text, position)
        if match is None:
            raise _unreadable(text, position, field)
        if match.lastgroup != "space":
            found.append(Token(Kind(str(match.lastgroup)), match[str(match.lastgroup)], position))
        position = match.end()
    found.append(Token(Kind.END, "", len(text)))
    return found


def _unreadable(text: str, position: int, field: str) -> Malformed:
    character = text[position]
    if character in "'\"":
        return Malformed(
            f"the quote at character {position + 1} is not closed.",
            field=field,
            hint=f"Write a quote inside a text twice: {character * 2}.",
        )
    return Malformed(
        f"{text[position : position + 12]!r} at character {position + 1} cannot be read.",
        field=field,
        hint=_HINTS.get(
            character, "Quote names with characters other than letters, digits, _ and -."
        ),
    )


class Reader:
    """The words of one filter and a current position; `field` names the input in errors.

    Errors name the place of the current word, unless the caller wrote only a part of the text.
    """

    def __init__(self, tokens: Sequence[Token], field: str, *, names_places: bool = True) -> None:
        self._names_places = names_places
        self._tokens = tokens
        self._next = 0
        self._n_comparisons = 0
        self.field = field

    @property
    def token(self) -> Token:
        """The current word; past the last one, always END."""
        return self._tokens[self._next]

    def is_at_end(self) -> bool:
        """Whether all words have been read."""
        return self.token.kind is Kind.END

    def take(self) -> Token:
        """The current word; moves on to the next."""
        token = self.token
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def takes_word(self, word: str) -> bool:
        """Move on if the current word is this keyword."""
        return self._takes(self.token.is_word(word))

    def takes_mark(self, mark: str) -> bool:
        """Move on if the current word is this mark."""
        return self._takes(self.token.kind is Kind.MARK and self.token.text == mark)

    def require_mark(self, mark: str) -> None:
        """Move past the mark. Raises `Malformed` if the current word is something else."""
        if not self.takes_mark(mark):
            raise self.unexpected(f"`{mark}`")

    def count_comparison(self, most: int) -> None:
        """Count one more comparison. Raises `Malformed` beyond `most`."""
        self._n_comparisons += 1
        if self._n_comparisons > most:
            raise Malformed(
                f"it has more than {most} comparisons.",
                field=self.field,
                hint="`in (…)` compares one field with many values.",
            )

    def unexpected(self, expected: str) -> Malformed:
        """The error that something else was expected here."""
        token = self.token
        found = "it ends" if token.kind is Kind.END else f"{token.text[:40]!r} stands"
        return self.error(f"{found} where {expected} was expected")

    def error(self, what: str, *, hint: str | None = None) -> Malformed:
        """An error about the current word."""
        place = f" (character {self.token.position + 1})" if self._names_places else ""
        example = "An example: metrics.macro_f1 > 0.8 and tags.team = 'x'."
        return Malformed(f"{what}{place}.", field=self.field, hint=hint or example)

    def takes(self, kind: Kind) -> Token | None:
        """The current word if it is of this kind, moving on; else None."""
        return self.take() if self.token.kind is kind else None

    def _takes(self, is_here: bool) -> bool:
        if is_here:
            self.take()
        return is_here

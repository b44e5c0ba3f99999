"""Walking over the words of a filter, and saying what was expected where."""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.errors import Malformed
from offdiag.filters.tokens import Kind, Token


class Reader:
    """The words of one filter with a place in them; `field` names the input in errors."""

    def __init__(self, tokens: Sequence[Token], field: str) -> None:
        self._tokens = tokens
        self._next = 0
        self._n_comparisons = 0
        self.field = field

    @property
    def token(self) -> Token:
        """The word at the place; END for ever behind the last one."""
        return self._tokens[self._next]

    def is_at_end(self) -> bool:
        """Whether all words were read."""
        return self.token.kind is Kind.END

    def take(self) -> Token:
        """The word at the place, which moves on."""
        token = self.token
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def takes_word(self, word: str) -> bool:
        """Move on if the keyword is here."""
        return self._takes(self.token.is_word(word))

    def takes_mark(self, mark: str) -> bool:
        """Move on if the mark is here."""
        return self._takes(self.token.kind is Kind.MARK and self.token.text == mark)

    def require_mark(self, mark: str) -> None:
        """Move over the mark. Raises `Malformed` if something else is here."""
        if not self.takes_mark(mark):
            raise self.unexpected(f"`{mark}`")

    def count_comparison(self, most: int) -> None:
        """Count one more. Raises `Malformed` beyond `most`."""
        self._n_comparisons += 1
        if self._n_comparisons > most:
            raise Malformed(
                f"it has more than {most} comparisons.",
                field=self.field,
                hint="`in (…)` compares one field with many values.",
            )

    def unexpected(self, expected: str) -> Malformed:
        """The error that something else should stand here."""
        token = self.token
        found = "it ends" if token.kind is Kind.END else f"{token.text[:40]!r} stands"
        return self.error(f"{found} where {expected} was expected")

    def error(self, what: str, *, hint: str | None = None) -> Malformed:
        """An error about the word at the place."""
        place = f" (character {self.token.position + 1})"
        example = "An example: metrics.macro_f1 > 0.8 and tags.team = 'x'."
        return Malformed(f"{what}{place}.", field=self.field, hint=hint or example)

    def _takes(self, is_here: bool) -> bool:
        if is_here:
            self.take()
        return is_here

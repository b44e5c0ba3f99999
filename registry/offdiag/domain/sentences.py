"""Names and lists of names in sentences, safe to read whatever the names contain.

Names are untrusted input: invisible characters are escaped, and names with punctuation quoted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

LONGEST_NAME = 60
MOST_NAMES = 30
"""Names in one hint; no format has more."""
_SURNAMES = {"Matthews", "Brier", "Kolmogorov-Smirnov", "Fowlkes-Mallows", "Jaccard", "Hamming"}
_PUNCTUATION = set(",;:()“”")
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|~&])")
_STRAIGHT = re.compile(r"(?<!\w)'(.+?)'(?!\w)")
_NEGATIVE = re.compile(r"(?<=[ (])-(?=\d)")


def capitalized(text: str) -> str:
    """A text as the start of a sentence."""
    return f"{text[:1].upper()}{text[1:]}"


def as_sentence(text: str) -> str:
    """A text with a capital letter and a full stop."""
    return f"{capitalized(text)}."


def inside(title: str) -> str:
    """A title within a sentence; surnames and abbreviations keep their capitals."""
    first = title.split(maxsplit=1)[0]
    keeps = not title[1:2].islower() or "'" in first or first in _SURNAMES
    return title if keeps else f"{title[0].lower()}{title[1:]}"


def enumerated(words: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def listed(words: Sequence[str], *, at_most: int = 3) -> str:
    """ "a", "a and b", "a, b and 4 more"."""
    if len(words) > at_most:
        return f"{', '.join(words[:at_most])} and {len(words) - at_most} more"
    return enumerated(words)


def known_names(what: str, names: Iterable[str]) -> str:
    """ "Known classes: a, b, c.": the hint for a name that is none of these."""
    shown = list(map(name, names))
    more = ", \N{HORIZONTAL ELLIPSIS}" if len(shown) > MOST_NAMES else ""
    return f"Known {what}: {', '.join(shown[:MOST_NAMES])}{more}."


def visible(text: str) -> str:
    """The text with everything invisible escaped: direction marks could reorder words."""
    return "".join(
        character.encode("unicode_escape").decode("ascii")
        if unicodedata.category(character) in _INVISIBLE
        else character
        for character in text
    )


def markdown_escaped(text: str) -> str:
    """The text escaped for Markdown, so that a name cannot become a heading, a link or a tag."""
    return _MARKDOWN.sub(r"\\\1", visible(text))


def name(text: str) -> str:
    """A name for use in a sentence: nothing invisible, and shortened if it is long.

    A name with punctuation is quoted, because it would look like several.
    """
    kept = visible(text)
    if len(kept) > LONGEST_NAME:
        half = (LONGEST_NAME - 1) // 2
        kept = f"{kept[:half]}\N{HORIZONTAL ELLIPSIS}{kept[-half:]}"
    needs_quotes = kept != kept.strip() or not kept or _PUNCTUATION & set(kept)
    return f"“{kept}”" if needs_quotes else kept


def typeset(text: str) -> str:
    """A sentence of a rule or of advice with typographic quotes and minus signs: “3” and −41."""
    return _NEGATIVE.sub("\N{MINUS SIGN}", _STRAIGHT.sub(r"“\1”", text))

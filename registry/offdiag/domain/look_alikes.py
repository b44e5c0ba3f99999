"""Labels that look alike or are near misses of each other, and the notes about them.

Two texts look alike when they are equal after compatibility normalization (NFKC of Unicode
Standard Annex 15), removal of invisible characters and needless white space, and case folding,
with one kind of dash and of quote, since word processors and spreadsheets replace typed ones.
Look-alikes remain different classes: only the owner of the data knows whether "US" and "us" are
the same. Notes point them out where they are logged and shown.
"""

from __future__ import annotations

import math
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from offdiag.errors import LabelNote

_NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d{0,17})?([eE][+-]?\d{1,2})?", re.ASCII)
_MISSING_AS_TEXT = ("nan", "NaT", "<NA>")
"""How missing values are written when numpy and pandas turn a column into text."""
IGNORED = "-100"
"""The class number of samples that losses of PyTorch ignore."""
_MOST_SHOWN = 3
# Characters that show nothing though Unicode does not count them as control or format.
_FILLERS = frozenset("\u034f\u115f\u1160\u3164\uffa0")


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Two labels that may mean the same class, and how they differ."""

    one: str
    other: str
    difference: str

    def __str__(self) -> str:
        return f"{shown(self.one)} and {shown(self.other)} ({self.difference})"


def look_alikes(names: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Groups of two or more labels that look alike, each in the order given."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(_as_seen(name), []).append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def look_alikes_in_words(names: Iterable[str], what: str = "Classes") -> str | None:
    """One sentence on the names of classes (or `what`) that look alike, None if none do."""
    misses = [
        NearMiss(group[0], other, _difference(group[0], other))
        for group in look_alikes(names)
        for other in group[1:]
    ]
    return f"{what} look alike: {_listed(misses)}." if misses else None


def near_misses(names: Iterable[str], others: Iterable[str]) -> tuple[NearMiss, ...]:
    """Labels of one list that may mean the same as a label of the other.

    They look alike, or are the same number or truth value in another form: "1" and "1.0", "1" and
    "true".
    """
    known: dict[object, str] = {}
    for name in names:
        known.setdefault(_meaning(name), name)
    found = [(known.get(_meaning(other)), other) for other in others]
    return tuple(
        NearMiss(name, other, _difference(name, other))
        for name, other in found
        if name is not None and name != other
    )


def near_misses_in_words(names: Iterable[str], others: Iterable[str]) -> str | None:
    """The first few near misses as a list, None if there are none."""
    misses = near_misses(names, others)
    return _listed(misses) if misses else None


def names_alike(name: str, others: Iterable[str]) -> tuple[NearMiss, ...]:
    """The other names that differ from this one only by what is easily mistyped.

    They look alike, or differ by blanks and punctuation, as "eyes v2" and "eyes-v2"; between two
    digits these count, as in "v1.0" and "v10".
    """
    bare = _bare(name)
    return tuple(
        NearMiss(other, name, _difference_of_names(other, name))
        for other in others
        if other != name and _bare(other) == bare
    )


def _bare(name: str) -> str:
    seen = _as_seen(name)
    marks = (" " if unicodedata.category(each)[0] in "PZ" else each for each in seen)
    bare = re.sub(r"(?<!\d) | (?!\d)", "", _spaced("".join(marks)))
    return bare or seen


def _difference_of_names(one: str, other: str) -> str:
    is_seen = _as_seen(one) == _as_seen(other)
    return _difference(one, other) if is_seen else "blanks or punctuation"


def is_fraction(text: str) -> bool:
    """Whether a label is written as a number that is not whole, such as a score."""
    return _NUMBER.fullmatch(text) is not None and not float(text).is_integer()


def shown(text: str) -> str:
    """A label in quotes, with escapes if its characters alone would be misleading."""
    is_plain = text == unicodedata.normalize("NFC", text) == _visible(text) == _typed(text)
    return repr(text) if is_plain else ascii(text)


def _visible(text: str) -> str:
    return "".join(character for character in text if not _is_invisible(character))


def _is_invisible(character: str) -> bool:
    if character in _FILLERS or "\ufe00" <= character <= "\ufe0f":
        return True
    return unicodedata.category(character) in ("Cc", "Cf") and not character.isspace()


_TYPED = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"')
)
"""Typographic dashes and quotes, by the character that a keyboard types."""


def _typed(text: str) -> str:
    return text.translate(_TYPED)


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _normal(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


# Differences that labels may have and still look alike, in the order in which they are removed.
_DIFFERENCES: dict[str, Callable[[str], str]] = {
    "invisible characters": _visible,
    "dash or quote": _typed,
    "Unicode form": _normal,
    "white space": _spaced,
    "case": str.casefold,
}


@lru_cache(maxsize=1 << 15)
def _as_seen(text: str) -> str:
    """The text that all look-alikes share. Cached, as pages need the same classes repeatedly."""
    if text.isascii() and text.isprintable():
        return _spaced(text).lower()
    return _without(text)


def _without(text: str, *, but: str | None = None) -> str:
    """The text without the differences a reader does not notice, except the one named `but`."""
    for name, remove in _DIFFERENCES.items():
        if name != but:
            text = remove(text)
    return text if but == "Unicode form" else _normal(text)


def _meaning(text: str) -> object:
    """The number or truth value that a label means, else the text of its look-alikes."""
    seen = _as_seen(text)
    if seen in ("true", "false"):
        return float(seen == "true")
    return float(seen) if _NUMBER.fullmatch(seen) and math.isfinite(float(seen)) else seen


def _difference(one: str, other: str) -> str:
    if _as_seen(one) != _as_seen(other):
        return "kind"
    names = [name for name in _DIFFERENCES if _without(one, but=name) != _without(other, but=name)]
    return ", ".join(names) or "Unicode form"


def _listed(misses: Sequence[NearMiss]) -> str:
    text = "; ".join(map(str, misses[:_MOST_SHOWN]))
    more = len(misses) - _MOST_SHOWN
    return f"{text}; and {more} more" if more > 0 else text


def label_notes(names: Iterable[str], *, whole_floats: Iterable[str] = ()) -> tuple[str, ...]:
    """Sentences on classes that may be one or none, and on arguments with labels given as floats.

    `names` are the classes, `whole_floats` the names of these arguments. Ground truth with "090"
    and predictions with "90" share "100", so they are not refused but noted.
    """
    names = tuple(names)
    notes = [
        f"{field} holds floats that are whole numbers; they are read as integers, so 1.0 is the "
        "label '1'."
        for field in whole_floats
    ]
    alike = look_alikes_in_words(names)
    notes += [] if alike is None else [alike]
    numbers = [name for name in names if _NUMBER.fullmatch(_as_seen(name))]
    of_kinds = [miss for miss in near_misses(numbers, numbers) if miss.difference == "kind"]
    notes += [f"Classes may be meant as one: {_listed(of_kinds)}."] if of_kinds else []
    return (
        *notes,
        *_notes_on_missing(names),
        *_notes_on_comments(names),
        *_notes_on_lists(names),
    )


def _notes_on_missing(names: tuple[str, ...]) -> Iterator[str]:
    """Sentences on classes that libraries write for samples without a label."""
    for name in _MISSING_AS_TEXT:
        if name in names:
            yield (
                f"{name!r} is read as a class; NumPy and pandas write missing values as this text."
            )
    if IGNORED in names and all(name.isdecimal() for name in names if name != IGNORED):
        yield (
            f"{IGNORED!r} is read as a class; PyTorch ignores samples of this class. Leave them "
            "out if they have no label."
        )


def _notes_on_comments(names: tuple[str, ...]) -> Iterator[str]:
    """A sentence if a class seems to be the first cell of a line that is commented out."""
    known = frozenset(names)
    found = (name for name in names if name.startswith("#") and name[1:].strip() in known)
    if (name := next(found, None)) is not None:
        yield f"{name!r} is read as a class; lines with # at their start are not left out."


def _notes_on_lists(names: tuple[str, ...]) -> Iterator[str]:
    """A sentence if a class seems to be a set of labels."""
    known = frozenset(names)
    listing = next((name for name in names if _lists_others(name, known)), None)
    written = next((name for name in names if is_written_list(name)), None)
    if listing is not None:
        what = f"{listing!r} lists other classes"
    elif written is not None:
        what = f"{written!r} is a list written as text"
    else:
        return
    yield (
        f"Class {what}. If samples have sets of labels, give a list for each sample; "
        "--sets on the command line reads sea|sky."
    )


def _lists_others(name: str, known: frozenset[str]) -> bool:
    listed = ({part.strip() for part in name.split(mark)} for mark in "|;,/+& ")
    return any(len(parts) > 1 and parts <= known - {""} for parts in listed)


def is_written_list(text: str) -> bool:
    """Whether a text is a list, tuple or set of names or numbers as Python or JSON write it.

    That is how pandas writes lists into CSV. A name in brackets, such as [UNK], does not count.
    """
    text = text.strip()
    if text == "set()":
        return True
    if len(text) < 2 or text[0] + text[-1] not in ("[]", "{}", "()"):
        return False
    items = text[1:-1].strip()
    return not items or items[0] in "'\"" or not items.strip("0123456789, ")


def warn_of(notes: Iterable[str], category: type[Warning] = LabelNote) -> None:
    """Issue each note as a warning that points at the line that called this package."""
    for note in notes:
        warnings.warn(note, category, stacklevel=_level_of_caller())


def _level_of_caller() -> int:
    """Number of frames between `warn_of` and the first one outside this package."""
    frame = sys._getframe(1)  # noqa: SLF001 - as the module warnings does
    level = 1
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
        level += 1
    return level


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "offdiag"

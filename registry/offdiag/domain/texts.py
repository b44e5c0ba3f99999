"""Text from users: what can be stored, names in URL paths, and safe cells for spreadsheets.

A Python string may hold more than every database and file can: NUL, which PostgreSQL refuses, and
halves of surrogate pairs, which UTF-8 cannot encode. They come from damaged data, and from file
names and arguments in another encoding.

A spreadsheet runs text that begins like a formula. An apostrophe in front marks it as text; text
that already has such a mark gets a second one, so that the mark can be removed again.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import quote

from offdiag.errors import InvalidInput

_SHOWN = 40


def require_storable(text: str, *, field: str) -> None:
    """Raise `InvalidInput` naming the first character that cannot be stored."""
    if "\0" in text:
        raise InvalidInput(
            f"{text[:_SHOWN]!r} contains a NUL character.",
            field=field,
            hint="Databases cannot store it; remove it.",
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"character {error.start + 1} of {text[:_SHOWN]!r} is half of a surrogate pair.",
            field=field,
            hint="It is not Unicode text; read it in the encoding it was written in.",
        ) from None


def is_blank(text: str) -> bool:
    """Whether a text has nothing visible, so that a link with this text could not be seen."""
    return all(each.isspace() or unicodedata.category(each) == "Cf" for each in text)


DEFAULT_PROJECT = "default"
"""The project of runs that name none; it is left out of URLs too."""

_UNFIT = re.compile(r"[~/\\]")
_ESCAPED = re.compile(r"~([0-9A-F]{2})")
_TWINS = (".json", ".csv")
_READABLE = ":@,~"


def shortened(text: str, *, longest: int = 24) -> str:
    """Text of at most `longest` characters, cut in the middle: names differ at both ends."""
    if len(text) <= longest:
        return text
    kept = longest - 1
    return f"{text[: kept - kept // 2]}\N{HORIZONTAL ELLIPSIS}{text[len(text) - kept // 2 :]}"


def name_segment(name: str) -> str:
    """A name as a segment of a URL. Raises `InvalidInput` for an empty one."""
    if not name:
        raise InvalidInput(
            "it is empty.", field="name", hint="Name the dataset, report or cost matrix."
        )
    return _in_url(name)


def escaped_start(name: str) -> str:
    """A name that has another meaning in a URL, with its first character as a code."""
    return f"{escaped_mark(name[0])}{_in_url(name[1:])}"


def _in_url(name: str) -> str:
    return quote(name_in_path(name), safe=_READABLE)


def name_in_path(name: str) -> str:
    """A name as one segment of a path, before percent-encoding.

    Slashes separate segments even when they are percent-encoded, browsers resolve dots, and an
    ending such as `.json` names an export. These characters are written as `~` and their code.
    """
    written = _UNFIT.sub(lambda found: escaped_mark(found.group()), name)
    if name in {".", ".."} or name.endswith(_TWINS):
        return written.replace(".", escaped_mark("."))
    return written


def name_from_path(segment: str) -> str:
    """The name from which `name_in_path` made the segment."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), segment)


def escaped_mark(character: str) -> str:
    """A character of a name encoded so that `name_from_path` can decode it."""
    return f"~{ord(character):02X}"


MAX_REASON_LENGTH = 5_000


def require_reason(reason: object, *, field: str = "reason") -> str:
    """The reason, stripped. Raises `InvalidInput` if it is empty or too long."""
    if not isinstance(reason, str) or not reason.strip():
        raise InvalidInput(
            f"no {field} is given.",
            field=field,
            hint="Write a sentence; it is stored with the change.",
        )
    if len(reason) > MAX_REASON_LENGTH:
        raise InvalidInput(
            f"the {field} has {len(reason)} characters.",
            field=field,
            hint=f"At most {MAX_REASON_LENGTH} are stored.",
        )
    require_storable(reason, field=field)
    return reason.strip()


# The last four are full-width signs, which some spreadsheets treat like the plain ones.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def marked_as_text(text: str) -> str:
    """The text, with an apostrophe in front if a spreadsheet would run it."""
    return f"'{text}" if _looks_like_a_formula(text) else text


def without_mark(text: str) -> str:
    """The text that was passed to `marked_as_text`."""
    is_marked = text.startswith("'") and _looks_like_a_formula(text)
    return text[1:] if is_marked else text


def _looks_like_a_formula(text: str) -> bool:
    return text.lstrip("'").startswith(_FORMULA_STARTS)


Cell = str | int | float | None


def csv_cell(value: Cell) -> str | int | float:
    """A CSV cell: numbers stay numbers, undefined values are empty, text is never a formula.

    Labels and names are untrusted input, so text that a spreadsheet would run is marked as text.
    """
    if value is None:
        return ""
    return marked_as_text(value) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class CostName:
    """A cost matrix by name, in a given version or (None) in the newest one."""

    name: str
    version: int | None = None

    @classmethod
    def parse(cls, text: str) -> CostName:
        """Read `visits` or `visits@3`."""
        name, separator, number = text.rpartition("@")
        return cls(name, int(number)) if separator and number.isdecimal() else cls(text)

    def __str__(self) -> str:
        return self.name if self.version is None else f"{self.name}@{self.version}"

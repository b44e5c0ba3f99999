"""Query strings of addresses, places in lists, and groups of classes in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar
from urllib.parse import quote, urlencode

from offdiag.domain.texts import escaped_mark, name_from_path

_READABLE = ":*@,~\"'"
"""Characters that need no escape in a query and that people would like to read."""


def with_query(path: str, values: Mapping[str, str | None]) -> str:
    """`path` with the values that are there, sorted by key."""
    pairs = [(key, value) for key, value in sorted(values.items()) if value]
    if not pairs:
        return path
    return f"{path}?{urlencode(pairs, safe=_READABLE, quote_via=quote)}"


_SEPARATOR = ","


def groups_text(names: Iterable[str]) -> str | None:
    """Names as one value of a query, None where there are none."""
    return _SEPARATOR.join(map(_written, names)) or None


def read_groups(text: str | None) -> tuple[str, ...]:
    """The names that `groups_text` wrote, each once."""
    parts = (text or "").split(_SEPARATOR)
    return tuple(dict.fromkeys(name_from_path(part) for part in parts if part))


RUN_ID = re.compile(r"r_[0-9A-Za-z]{1,64}")
UNREAD_PLACE = "The place in the list could not be read; this is its beginning."
_LARGEST_START = 10_000_000
_MOST_NAMED = 3
Place = TypeVar("Place")


def one_of(text: str | None, known: Sequence[str], what: str, notices: list[str]) -> str | None:
    """A value that is one of those known; None, with a notice, for any other."""
    if not text or text in known:
        return text or None
    notices.append(f"There is no {what} “{text[:40]}”; known are {', '.join(known)}.")
    return None


_BESIDE = re.compile(r"form|utm_.*|.*clid")
"""What forms send along, and what mail programs and social networks add to links."""


def unknown_parameters(given: Iterable[str], known: Collection[str]) -> list[str]:
    """A notice of the parameters of a page that it does not read, if there are any."""
    unknown = [each for each in given if each not in known and not _BESIDE.fullmatch(each)]
    if not unknown:
        return []
    names = " or ".join(f"“{each[:40]}”" for each in unknown[:_MOST_NAMED])
    others = sorted(each for each in known if not _BESIDE.fullmatch(each))
    listed = f"; known {'is' if len(others) == 1 else 'are'} {', '.join(others)}" if others else ""
    return [f"There is no parameter {names} here{listed}."]


def read_start(values: Mapping[str, str], *, unread: str = UNREAD_PLACE) -> tuple[int, list[str]]:
    """From which line on a list is shown, counted from 0, with a notice where that is unclear."""
    given = values.get("from", "")
    if not given:
        return 0, []
    if given.isascii() and given.isdigit() and 1 <= int(given[:9]) <= _LARGEST_START:
        return int(given[:9]) - 1, []
    return 0, [unread]


def read_place(
    values: Mapping[str, str], read: Callable[[str], Place | None], notices: list[str]
) -> tuple[Place, bool] | None:
    """The place after which, or before which if True, a list goes on; None for its beginning."""
    for name in ("after", "before"):
        text = values.get(name)
        if text:
            place = read(text)
            if place is not None:
                return place, name == "before"
            notices.append(UNREAD_PLACE)
    return None


def _written(name: str) -> str:
    return "".join(escaped_mark(each) if each in "~," else each for each in name)

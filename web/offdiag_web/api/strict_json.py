"""JSON that means one thing only.

The JSON of the standard library keeps the last of two equal keys, reads `NaN`, and turns 1e400
into infinity. A number that was mistyped would be stored as another.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from offdiag.errors import Malformed

_ESCAPES_TO_CHECK = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


class _NotFinite(float):
    """Stands for a number that JSON does not have, until its place is known."""

    written: str


def read_json(body: bytes) -> Any:
    """The value in a body. Raises `Malformed` naming the key or place that cannot be meant."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed(
            f"the body is not UTF-8: byte {error.start} cannot be read.",
            field="body",
            hint="Encode JSON as UTF-8.",
        ) from None
    odd_numbers: list[_NotFinite] = []

    def odd(written: str) -> float:
        number = _NotFinite("nan")
        number.written = written
        odd_numbers.append(number)
        return number

    def number(written: str) -> float:
        value = float(written)
        return value if math.isfinite(value) else odd(written)

    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=odd, parse_float=number)
    except RecursionError:
        raise Malformed(
            "the body is nested too deeply.", field="body", hint="Send a flat document."
        ) from None
    except json.JSONDecodeError as error:
        raise Malformed(
            f"the body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.",
            field="body",
            hint="Send one complete JSON document.",
        ) from None
    except ValueError as error:
        if isinstance(error, Malformed):
            raise
        raise Malformed(
            "the body has a number of thousands of digits.",
            field="body",
            hint="Send numbers that were measured.",
        ) from None
    if odd_numbers:
        _refuse_odd_number(value)
    if "\0" in text or _ESCAPES_TO_CHECK.search(text):
        _refuse_odd_text(value)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read: dict[str, Any] = dict(pairs)
    if len(read) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]  # None is falsy
        raise Malformed(
            f"the key {twice!r} occurs twice in one object.",
            field=twice,
            hint="Say it once: readers disagree on which of the two counts.",
        )
    return read


def _refuse_odd_number(value: object) -> NoReturn:
    place, number = next(
        (place, leaf) for place, leaf in _leaves(value) if isinstance(leaf, _NotFinite)
    )
    raise Malformed(
        f"{number.written} is no finite number.",
        field=place,
        hint="Leave it out, or send null where that is allowed.",
    )


def _refuse_odd_text(value: object) -> None:
    for place, leaf in _leaves(value):
        if isinstance(leaf, str) and ("\0" in leaf or not _is_unicode(leaf)):
            raise Malformed(
                "the text has a NUL character or half of a surrogate pair.",
                field=place,
                hint="Databases cannot store it; remove it.",
            )


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _leaves(value: object, place: str = "") -> Iterator[tuple[str, object]]:
    """Texts and numbers with their places, keys of objects among them."""
    waiting: list[tuple[str, object]] = [(place, value)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, dict):
            for key, item in reversed(value.items()):
                waiting.append((f"{place}.{key}" if place else key, item))
                waiting.append((place or "body", key))
        elif isinstance(value, list):
            waiting.extend(
                (f"{place}[{index}]", item) for index, item in reversed(list(enumerate(value)))
            )
        else:
            yield place or "body", value

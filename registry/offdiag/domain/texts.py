"""Text that every database, file and page can hold.

A Python string may hold more than that: NUL, which PostgreSQL refuses, and halves of surrogate
pairs, which no UTF-8 has. They come from damaged data, and from file names and arguments in
another encoding.
"""

from __future__ import annotations

from offdiag.errors import InvalidInput

_SHOWN = 40


def require_storable(text: str, *, field: str) -> None:
    """Raise `InvalidInput` naming the character that cannot be stored."""
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
            hint="It is no Unicode text; read it in the encoding it was written in.",
        ) from None

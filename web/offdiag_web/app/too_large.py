"""What is said of a form that is larger than its page takes."""

from __future__ import annotations

from flask import request
from werkzeug.exceptions import HTTPException

from offdiag.domain.texts import shortened

_KIB = 1024
_MOST_READ = 4 * _KIB * _KIB
_MOST_FIELDS = 10_000
_LONGEST_NAME = 60
SECRETS = frozenset({"password", "current", "wanted"})
"""Fields that no page shows again."""


def about_large_form() -> tuple[str, str] | None:
    """The size and the longest field of a form, and what helps; None where its size is no reason.

    Its fields can be read afterwards where this could read them, to be copied.
    """
    size, limit = request.content_length, request.max_content_length
    if size is None or limit is None or size <= limit:
        return None
    longest = _longest_field(size)
    which = "something"
    if longest is not None:
        which = f"“{shortened(longest[0], longest=_LONGEST_NAME)}”, of {longest[1]:,} characters,"
    most = f"At most {limit // _KIB:,} KiB can be sent to this page."
    hint = f"{most} Make {which} shorter, and send it again."
    return f"This form has {-(-size // _KIB):,} KiB.", hint


def _longest_field(size: int) -> tuple[str, int] | None:
    """Name and length, None of what is too much to be read or is no plain form."""
    if request.mimetype != "application/x-www-form-urlencoded" or size > _MOST_READ:
        return None
    limit = request.max_content_length
    request.max_content_length = _MOST_READ
    try:
        # The library would make an object of each field, however many there are.
        if request.get_data().count(b"&") < _MOST_FIELDS:
            fields = [each for each in request.form.items(multi=True) if each[0] not in SECRETS]
            return max(((name, len(text)) for name, text in fields), key=lambda each: each[1])
    except (HTTPException, ValueError):
        pass
    request.max_content_length = limit
    return None

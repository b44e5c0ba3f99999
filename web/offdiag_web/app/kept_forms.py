"""Forms that were sent after their session had ended, kept by the page that asks to sign in."""

from __future__ import annotations

import json
from dataclasses import dataclass

from flask import request
from werkzeug.exceptions import HTTPException

from offdiag_web.app.dispatch import own_path

SECRETS = frozenset({"password", "current", "wanted"})
"""Fields that no page shows again."""
_LONGEST = 16_000
"""Most characters that are kept; in a form, each may take three bytes."""
_TOKEN = "csrf_token"  # noqa: S105 - the name of a field


@dataclass(frozen=True, slots=True)
class KeptForm:
    """Where a form is sent, and what is in it."""

    action: str
    fields: tuple[tuple[str, str], ...]


def kept_text() -> str:
    """The form of this request as text for `read_kept`; "" if it cannot be sent again whole."""
    try:
        fields = [*request.form.items(multi=True)]
        has_file = any(file.filename for file in request.files.values())
    except HTTPException:  # The form is too large.
        return ""
    if has_file or any(name in SECRETS for name, _ in fields):
        return ""
    action = request.full_path.rstrip("?")
    text = json.dumps([action, [each for each in fields if each[0] != _TOKEN]])
    return text if len(text) <= _LONGEST else ""


def read_kept(text: str) -> KeptForm | None:
    """The form that `kept_text` wrote; None if there is none."""
    try:
        action, fields = json.loads(text)
        read = tuple((name, value) for name, value in fields)
    except (ValueError, TypeError, RecursionError):
        return None
    texts = [action, *(text for field in read for text in field)]
    if not all(isinstance(each, str) for each in texts) or own_path(action) == "/":
        return None
    return KeptForm(action, read)

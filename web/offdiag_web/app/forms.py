"""Forms that browsers send.

Those that create something do so only once, however often they are sent. One that was sent after
its session had ended is kept by the page that asks to sign in.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from flask import request
from werkzeug.exceptions import HTTPException

from offdiag.services.idempotency import ResponseKey, StoredResult, respond_once
from offdiag_web.app.context import current_registry, signed_in_user
from offdiag_web.app.dispatch import own_path

SECRETS = frozenset({"password", "current", "wanted"})
"""Fields that no page shows again."""
_LONGEST = 16_000
"""Most characters that are kept; in a form, each may take three bytes."""
_TOKEN = "csrf_token"  # noqa: S105 - the name of a field


def new_form() -> str:
    """The value of the field `form`, which is different each time a page is opened."""
    return secrets.token_urlsafe(16)


def once(make: Callable[[], str]) -> str:
    """What `make` returned when the form of this request was first sent."""
    if "form" not in request.form:
        return make()  # The page was opened before forms had this field.
    fields = ((name, text) for name, text in request.form.items(multi=True) if name != _TOKEN)
    sent = json.dumps(sorted(fields))
    who = signed_in_user()
    owner = f"form of {who.name}" if who.is_signed_in else "form"
    key = ResponseKey(owner, hashlib.sha256(sent.encode()).hexdigest(), "")
    return respond_once(current_registry().database, key, lambda: StoredResult(200, make())).body


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

"""Forms that create something only once, however often they are sent."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable

from flask import request

from offdiag.services.idempotency import ResponseKey, StoredResult, respond_once
from offdiag_web.app.context import current_registry, signed_in_user

TOKEN = "csrf_token"  # noqa: S105 - the name of a field


def new_form() -> str:
    """The value of the field `form`, which is different each time a page is opened."""
    return secrets.token_urlsafe(16)


def once(make: Callable[[], str]) -> str:
    """What `make` returned when the form of this request was first sent."""
    if "form" not in request.form:
        return make()  # The page was opened before forms had this field.
    fields = ((name, text) for name, text in request.form.items(multi=True) if name != TOKEN)
    sent = json.dumps(sorted(fields))
    who = signed_in_user()
    owner = f"form of {who.name}" if who.is_signed_in else "form"
    key = ResponseKey(owner, hashlib.sha256(sent.encode()).hexdigest(), "")
    return respond_once(current_registry().database, key, lambda: StoredResult(200, make())).body

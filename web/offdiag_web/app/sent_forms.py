"""Forms that were sent too late, kept in the page that says so, to be sent again by a button.

Nothing is done before that button is pressed: what was sent without a valid token, or by somebody
who is not signed in, is shown again and not acted on. A page of another site must not get its
fields into a page of ours, so only what a browser says came from here is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, quote_plus, urlencode

from flask import request
from werkzeug.exceptions import HTTPException

from offdiag_web.app.dispatch import is_for_programs, own_path

SECRETS = frozenset({"password", "current", "wanted"})
"""Fields that no page shows again."""
ACTION, FIELDS = "again_to", "again"
"""The fields of the form for signing in that hold another form."""
TOKEN = "csrf_token"  # noqa: S105 - the name of a field
_MOST_CARRIED = 48 * 1024
"""Bytes that fit into the form for signing in beside its own."""


@dataclass(frozen=True, slots=True)
class SentForm:
    """Where a form was sent, and its fields without the token."""

    action: str
    fields: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str | None:
        """The fields as one, None where the form for signing in has no room for them."""
        text = urlencode(self.fields)
        return text if len(quote_plus(text)) <= _MOST_CARRIED else None


def sent_form() -> SentForm | None:
    """The form of this request; None where it cannot be sent again as it was."""
    # What says that it came from elsewhere was refused before.
    is_ours = request.headers.get("Sec-Fetch-Site") == "same-origin" or "Origin" in request.headers
    if request.method != "POST" or not is_ours or is_for_programs():
        return None
    try:
        fields = [*request.form.items(multi=True)]
        has_file = any(file.filename for file in request.files.values())
    except HTTPException:  # It is too large.
        return None
    if has_file or any(name in SECRETS for name, _ in fields):
        return None
    kept = tuple((name, text) for name, text in fields if name != TOKEN)
    return SentForm(own_path(request.full_path.rstrip("?")), kept)


def carried_form() -> SentForm | None:
    """The form that the one for signing in carries, None where there is none."""
    action = request.form.get(ACTION)
    if action is None:
        return None
    fields = parse_qsl(request.form.get(FIELDS, ""), keep_blank_values=True)
    return SentForm(own_path(action), tuple(each for each in fields if each[0] not in SECRETS))

"""Forms that were sent too late, kept in the error page so that a button can send them again.

Nothing happens before that button is pressed: a form that was sent without a valid token, or by
someone who is not signed in, is shown again but not acted on. A page of another site must not get
its fields into one of our pages, so only forms are kept that come from here according to the
browser.
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
"""The fields of the sign-in form that carry another form."""
TOKEN = "csrf_token"  # noqa: S105 - the name of a field
_MOST_CARRIED = 48 * 1024
"""Most bytes that fit into the sign-in form besides its own fields."""


@dataclass(frozen=True, slots=True)
class SentForm:
    """Where a form was sent, and its fields without the token."""

    action: str
    fields: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str | None:
        """The fields as one text; None if they do not fit into the sign-in form."""
        text = urlencode(self.fields)
        return text if len(quote_plus(text)) <= _MOST_CARRIED else None


def sent_form() -> SentForm | None:
    """The form of this request; None if it cannot be sent again unchanged."""
    # Requests that say they come from elsewhere were refused before.
    is_ours = request.headers.get("Sec-Fetch-Site") == "same-origin" or "Origin" in request.headers
    if request.method != "POST" or not is_ours or is_for_programs():
        return None
    try:
        fields = [*request.form.items(multi=True)]
        has_file = any(file.filename for file in request.files.values())
    except HTTPException:  # The form is too large.
        return None
    if has_file or any(name in SECRETS for name, _ in fields):
        return None
    kept = tuple((name, text) for name, text in fields if name != TOKEN)
    return SentForm(own_path(request.full_path.rstrip("?")), kept)


def carried_form() -> SentForm | None:
    """The form that the sign-in form carries, or None."""
    action = request.form.get(ACTION)
    if action is None:
        return None
    fields = parse_qsl(request.form.get(FIELDS, ""), keep_blank_values=True)
    return SentForm(own_path(action), tuple(each for each in fields if each[0] not in SECRETS))

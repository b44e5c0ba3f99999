"""Forms that were refused: what an error page says about one, and keeps of it.

One that was sent too late is kept in the page so that a button can send it again. Nothing happens
before that button is pressed: a form that was sent without a valid token, or by someone who is not
signed in, is shown again but not acted on. A page of another site must not get its fields into one
of our pages, so only forms are kept that come from here according to the browser.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, quote_plus, urlencode

from flask import request
from werkzeug.exceptions import HTTPException

from offdiag.domain.texts import shortened
from offdiag_web.app.context import LOOKING
from offdiag_web.app.dispatch import is_for_programs, own_path

SECRETS = frozenset({"password", "current", "wanted"})
"""Fields that no page shows again."""
ACTION, FIELDS = "again_to", "again"
"""The fields of the sign-in form that carry another form."""
TOKEN = "csrf_token"  # noqa: S105 - the name of a field
_MOST_CARRIED = 48 * 1024
"""Most bytes that fit into the sign-in form besides its own fields."""
_KIB = 1024
_MOST_READ = 4 * _KIB * _KIB
"""Most bytes of a form that is too large for which the longest field is still looked up."""
_MOST_FIELDS = 10_000
_LONGEST_NAME = 60


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


def about_large_form() -> tuple[str, str] | None:
    """The size and longest field of a form, and a hint; None if size is not the problem.

    If its fields could be read here, they can be read afterwards too, to be copied.
    """
    size, limit = request.content_length, request.max_content_length
    if size is None or limit is None or size <= limit:
        return None
    longest = _longest_field(size)
    which = "something"
    if longest is not None:
        which = f"“{shortened(longest[0], longest=_LONGEST_NAME)}”, of {longest[1]:,} characters,"
    hint = f"{limit_text(limit)} Make {which} shorter, and send it again."
    return f"This form has {-(-size // _KIB):,} KiB.", hint


def limit_text(limit: int) -> str:
    place = "address" if is_for_programs() else "page"
    return f"At most {limit // _KIB:,} KiB can be sent to this {place}."


def _longest_field(size: int) -> tuple[str, int] | None:
    """Name and length; None if there is too much to read, or it is no plain form."""
    if request.mimetype != "application/x-www-form-urlencoded" or size > _MOST_READ:
        return None
    limit = request.max_content_length
    request.max_content_length = _MOST_READ
    try:
        # The library would create an object for each field, however many there are.
        if request.get_data().count(b"&") < _MOST_FIELDS:
            hidden = SECRETS | {TOKEN}
            fields = [each for each in request.form.items(multi=True) if each[0] not in hidden]
            return max(((name, len(text)) for name, text in fields), key=lambda each: each[1])
    except (HTTPException, ValueError):
        pass
    request.max_content_length = limit
    return None


def typed_words() -> list[str]:
    """Longer texts of a form that is refused, to be copied before they are lost."""
    if request.method in LOOKING:
        return []
    try:
        fields = [*request.form.items(multi=True)]
    except HTTPException:  # The form is too large.
        return []
    return [text for name, text in fields if name not in SECRETS and len(text.split()) > 1]

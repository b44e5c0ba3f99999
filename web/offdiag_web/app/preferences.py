"""A reader's preferences: name, theme and shortcuts, kept in cookies and never in addresses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import quote, unquote

from flask import Blueprint, Flask, after_this_request, g, redirect, request
from werkzeug.wrappers import Response

from offdiag.domain.runs import require_name
from offdiag.errors import InvalidInput
from offdiag_web.app.context import public, signed_in_user
from offdiag_web.app.dispatch import own_path

THEMES = ("auto", "light", "dark")
LONGEST_USER_NAME = 100
_YEAR_S = 365 * 86_400

blueprint = Blueprint("preferences", __name__)


@dataclass(frozen=True, slots=True)
class Preferences:
    """The preferences of a reader. `theme` "auto" follows the operating system.

    `reader` is the name that the reader entered, which is recorded with decisions; empty if none.
    """

    theme: str = "auto"
    shortcuts: bool = True
    reader: str = ""

    @property
    def next_theme(self) -> str:
        return THEMES[(THEMES.index(self.theme) + 1) % len(THEMES)]


def register(app: Flask) -> None:
    """Make the preferences of a request available to every template."""

    @app.context_processor
    def preferences() -> dict[str, Preferences]:
        return {"preferences": _known()}


def _known() -> Preferences:
    if "preferences" not in g:
        g.preferences = _read()
    found: Preferences = g.preferences
    return found


def _read() -> Preferences:
    theme = request.cookies.get("theme", "auto")
    return Preferences(
        theme if theme in THEMES else "auto",
        shortcuts=request.cookies.get("shortcuts") != "off",
        # Signed-in users decide under no name but their own.
        reader=signed_in_user().name
        if signed_in_user().is_signed_in
        else unquote(request.cookies.get("reader", "")),
    )


def require_user_name() -> str:
    """The user of this request: as signed in, named in its form, or entered before.

    A name in the form is remembered. Raises `InvalidInput` if there is none.
    """
    entered = None if signed_in_user().is_signed_in else request.form.get("reader")
    # An emptied field is no name, even if one was entered before.
    reader = _known().reader if entered is None else entered and _user_name(entered)
    if not reader:
        raise InvalidInput(
            "no name was entered.",
            field="reader",
            hint="Enter your name first; it appears in the history.",
        )
    if entered:
        g.preferences = replace(_known(), reader=reader)
        after_this_request(lambda response: _with_user_name(response, reader))
    return require_name(reader, "reader")


def user_name_if_given() -> str | None:
    """The user of this request, if they entered a name."""
    return _known().reader or None


@blueprint.post("/preferences")
@public()
def save() -> Response:
    """Store the preferences and return to the page where they were chosen."""
    response = redirect(own_path(request.form.get("back", "/")), 303)
    theme = request.form.get("theme")
    if theme in THEMES:
        keep_choice(response, "theme", theme)
    shortcuts = request.form.get("shortcuts")
    if shortcuts in {"on", "off"}:
        keep_choice(response, "shortcuts", shortcuts)
    reader = request.form.get("reader")
    if reader is not None:
        _with_user_name(response, _user_name(reader))
    return response


def form_author() -> str | None:
    """The signed-in user; otherwise the name in the field `author` of a form, if any."""
    if signed_in_user().is_signed_in:
        return signed_in_user().name
    return request.form.get("author", "").strip() or None


def _with_user_name(response: Response, name: str) -> Response:
    keep_choice(response, "reader", quote(name))
    return response


def _user_name(text: str) -> str:
    """A name that fits into a cookie, which holds 4 KB of few characters."""
    name = require_name(text.strip(), "reader")
    if len(name) > LONGEST_USER_NAME:
        raise InvalidInput(
            f"the name has {len(name)} characters.",
            field="reader",
            hint=f"At most {LONGEST_USER_NAME} are kept.",
        )
    return name


def keep_choice(response: Response, name: str, value: str) -> None:
    """Set a cookie for a year."""
    response.set_cookie(
        name,
        value,
        max_age=_YEAR_S,
        samesite="Lax",
        httponly=True,
        secure=request.is_secure,
    )

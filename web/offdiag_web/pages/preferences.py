"""Theme and single-key shortcuts: the reader's own, kept in cookies, never in addresses."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from flask import Blueprint, Flask, g, redirect, request
from werkzeug.wrappers import Response

THEMES = ("auto", "light", "dark")
_YEAR_S = 365 * 86_400

blueprint = Blueprint("preferences", __name__)


@dataclass(frozen=True, slots=True)
class Preferences:
    """What the reader chose. `theme` "auto" follows the operating system."""

    theme: str = "auto"
    shortcuts: bool = True

    @property
    def next_theme(self) -> str:
        return THEMES[(THEMES.index(self.theme) + 1) % len(THEMES)]


def register(app: Flask) -> None:
    """Make the preferences of a request known to every template."""

    @app.context_processor
    def preferences() -> dict[str, Preferences]:
        if "preferences" not in g:
            g.preferences = _read()
        return {"preferences": g.preferences}


def _read() -> Preferences:
    theme = request.cookies.get("theme", "auto")
    return Preferences(
        theme if theme in THEMES else "auto",
        shortcuts=request.cookies.get("shortcuts") != "off",
    )


@blueprint.post("/preferences")
def save() -> Response:
    """Keep what was chosen and go back to where it was chosen."""
    response = redirect(_own_path(request.form.get("back", "/")), 303)
    theme = request.form.get("theme")
    if theme in THEMES:
        _keep(response, "theme", theme)
    shortcuts = request.form.get("shortcuts")
    if shortcuts in {"on", "off"}:
        _keep(response, "shortcuts", shortcuts)
    return response


def _keep(response: Response, name: str, value: str) -> None:
    response.set_cookie(
        name,
        value,
        max_age=_YEAR_S,
        samesite="Lax",
        httponly=True,
        secure=request.is_secure,
    )


def _own_path(target: str) -> str:
    """A path on this server, whatever the form says."""
    parts = urlsplit(target)
    is_own = not parts.scheme and not parts.netloc and target.startswith("/")
    return target if is_own and not target.startswith(("//", "/\\")) else "/"

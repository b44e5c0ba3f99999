"""Forms that change something: each carries a signed token, so no other site can send one.

The token is the second lock. The first one refuses whatever a browser says comes from
elsewhere, and stands in `offdiag_web.security`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from flask import Blueprint, Flask
from flask_wtf.csrf import CSRFError, CSRFProtect
from werkzeug.exceptions import Forbidden
from werkzeug.wrappers import Response

from offdiag_web.failures import http_answer


def protect(app: Flask, *, key: str, exempt: Iterable[Blueprint]) -> None:
    """Ask for a token wherever something is posted, but for what is `exempt`.

    `key` signs the tokens. The cookie is set only where a page holds a form that needs it. Its
    name tells keys apart: browsers send it to all ports of a machine, and two registries there
    would otherwise put each other's forms out of date. It comes along when a link in a message is
    followed, so that whoever is signed in stays so, and never with a form of another site.
    """
    digest = hashlib.sha256(key.encode()).hexdigest()
    app.config.update(
        SECRET_KEY=key,
        SESSION_COOKIE_NAME=f"offdiag-form-{digest[:8]}",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        WTF_CSRF_TIME_LIMIT=None,
    )
    tokens = CSRFProtect(app)
    for blueprint in exempt:
        tokens.exempt(blueprint)

    @app.errorhandler(CSRFError)
    def ask_again(_error: CSRFError) -> Response:
        return http_answer(
            Forbidden("This form is out of date. Open its page again and send it once more.")
        )

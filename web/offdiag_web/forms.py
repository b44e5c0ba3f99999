"""Forms that change something: each carries a signed token, so no other site can send one.

The token is the second lock. The first one refuses whatever a browser says comes from
elsewhere, and stands in `offdiag_web.security`.
"""

from __future__ import annotations

import secrets

from flask import Flask
from flask_wtf.csrf import CSRFError, CSRFProtect
from werkzeug.exceptions import BadRequest
from werkzeug.wrappers import Response

from offdiag_web.failures import http_answer
from offdiag_web.pages import preferences


def protect(app: Flask) -> None:
    """Ask for a token wherever something is posted, but for a reader's own preferences.

    The key that signs lives as long as the process, because nothing else is signed with it:
    after a restart a form that was left open has to be opened again. The cookie is set only
    where a page holds a form that needs it.
    """
    app.config.update(
        SECRET_KEY=secrets.token_hex(32),
        SESSION_COOKIE_NAME="offdiag-form",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Strict",
        WTF_CSRF_TIME_LIMIT=None,
    )
    CSRFProtect(app).exempt(preferences.blueprint)

    @app.errorhandler(CSRFError)
    def ask_again(_error: CSRFError) -> Response:
        return http_answer(
            BadRequest("This form is out of date. Open its page again and send it once more.")
        )

"""What many pages read from a request: the project, the form of a twin, where to go back to."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import request

from offdiag.domain.names import DEFAULT_PROJECT

TWIN = ".<any(json, csv):form>"
"""End of the address of a twin."""
SENT_BY_FORM = "form"
"""A form sends every field, also empty ones; its answer is a redirect to the canonical URL."""


def asked_project() -> str:
    """The project that a request names, else the default one."""
    return request.args.get("project") or DEFAULT_PROJECT


def own_path(target: str) -> str:
    """A path on this server, whatever the form says."""
    parts = urlsplit(target)
    is_own = not parts.scheme and not parts.netloc and target.startswith("/")
    return target if is_own and not target.startswith(("//", "/\\")) else "/"

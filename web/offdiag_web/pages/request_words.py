"""What many pages read from their address: the project, and the form of a twin."""

from __future__ import annotations

from flask import request

from offdiag_web.addresses.names import DEFAULT_PROJECT

TWIN = ".<any(json, csv):form>"
"""End of the address of a twin."""


def asked_project() -> str:
    """The project that a request names, else the default one."""
    return request.args.get("project") or DEFAULT_PROJECT

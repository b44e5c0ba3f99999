"""Certificates that clients of HTTP trust, read once for all clients of a process.

Reading them takes every new client longer than a request to a server beside it.
"""

from __future__ import annotations

import os
from functools import cache
from ssl import SSLContext
from typing import Any

from httpx._transports import default

_WHERE = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""Variables that name other certificates than those of the library."""


@cache
def remember_certificates() -> None:
    """Let clients that are told nothing about certificates share what the first one read."""
    read_anew = vars(default)["create_ssl_context"]
    known: dict[tuple[str | None, ...], SSLContext] = {}

    def remembered(**asked: Any) -> SSLContext:
        if asked != {"verify": True, "cert": None, "trust_env": True}:
            context: SSLContext = read_anew(**asked)
            return context
        where = tuple(map(os.environ.get, _WHERE))
        if where not in known:
            known[where] = read_anew(**asked)
        return known[where]

    vars(default)["create_ssl_context"] = remembered

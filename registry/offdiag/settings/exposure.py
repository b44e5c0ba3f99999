"""Whether a server can be reached by anybody but this machine, and has to ask who they are."""

from __future__ import annotations

from ipaddress import ip_address

from offdiag.settings.model import Settings


def is_loopback(host: str) -> bool:
    """Whether a server that listens there is reached from this machine alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def needs_sign_in(settings: Settings) -> bool:
    """Whether everybody has to sign in: wherever others can reach the server, or on demand."""
    return settings.access.auth == "required" or not is_loopback(settings.server.host)

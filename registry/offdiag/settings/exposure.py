"""Whether a server can be reached by anybody but this machine, and has to ask who they are."""

from __future__ import annotations

from ipaddress import ip_address

from offdiag.settings.model import ServerSettings, Settings


def is_loopback(host: str) -> bool:
    """Whether a server that listens there is reached from this machine alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def public_address(settings: ServerSettings) -> str:
    """Where people reach the server, without a slash at the end."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return settings.public_url.rstrip("/") or f"http://{host}:{settings.port}"


def needs_sign_in(settings: Settings) -> bool:
    """Whether everybody has to sign in: wherever others can reach the server, or on demand."""
    return settings.access.auth == "required" or not is_loopback(settings.server.host)

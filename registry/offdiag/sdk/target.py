"""Where runs are logged to, by which user, and from which commit.

User and commit are recorded if they can be determined, and never required.
"""

from __future__ import annotations

import getpass
import subprocess
from functools import lru_cache
from typing import TYPE_CHECKING

from offdiag.extras import optional
from offdiag.sdk.registry import Registry
from offdiag.settings import Settings, load_settings

if TYPE_CHECKING:
    from offdiag.sdk.remote.sync import Destination

_SERVERS = ("http://", "https://")
_GIT_TIMEOUT_S = 2.0


def target(url: str | None) -> Registry:
    """The registry at a URL, else the configured one.

    An embedded database is created or upgraded on first use; a server is contacted with the first
    request. If logging is disabled, it is a registry that stores nothing.
    """
    settings = load_settings()
    if settings.client.mode == "disabled":
        from offdiag.sdk.disabled import DisabledRegistry

        return DisabledRegistry(settings.project)
    return registry_at(url or settings.database.url, settings)


def destination_at(url: str, settings: Settings) -> Destination:
    """Where the runs of a spool are sent to."""
    if url.startswith(_SERVERS):
        from offdiag.sdk.remote.connection import Connection
        from offdiag.sdk.remote.sync import ServerDestination

        connection = Connection.of(url, settings)
        return ServerDestination(connection, settings.client.retry_for_s)
    with optional:
        from offdiag.sdk.embedded.destination import DatabaseDestination
        from offdiag.sdk.embedded.registry import EmbeddedRegistry

    return DatabaseDestination(EmbeddedRegistry.opened(url, settings))


def registry_at(url: str, settings: Settings) -> Registry:
    """The registry at a URL. Only the modules of its kind are imported."""
    if url.startswith(_SERVERS) or settings.client.mode == "offline":
        from offdiag.sdk.remote.registry import RemoteRegistry

        return RemoteRegistry.at(url, settings)
    with optional:
        from offdiag.sdk.embedded.registry import EmbeddedRegistry

    return EmbeddedRegistry.opened(url, settings)


def current_author() -> str | None:
    """Name of the user of this process; None if the system does not provide it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return None


@lru_cache(maxsize=1)
def current_commit() -> str | None:
    """Commit checked out in the working directory; None outside a repository."""
    command = ["git", "rev-parse", "--verify", "HEAD"]
    try:
        done = subprocess.run(  # noqa: S603  # A fixed command without user input.
            command, capture_output=True, text=True, timeout=_GIT_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None

"""Who ran this, and from which commit: recorded when it can be known, never required."""

from __future__ import annotations

import getpass
import subprocess
from functools import lru_cache

_GIT_TIMEOUT_S = 2.0


def author() -> str | None:
    """Name of the user this process belongs to, None where the system does not tell."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return None


@lru_cache(maxsize=1)
def commit() -> str | None:
    """Commit checked out in the working directory, None outside a repository."""
    command = ["git", "rev-parse", "--verify", "HEAD"]
    try:
        done = subprocess.run(  # noqa: S603  # A fixed command without user input.
            command, capture_output=True, text=True, timeout=_GIT_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None

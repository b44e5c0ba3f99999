"""Passwords: how they are kept, compared, and refused when anybody could guess them."""

from __future__ import annotations

from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from offdiag.errors import InvalidInput

SHORTEST = 10
LONGEST = 1_000
"""In characters. Longer ones only cost time to hash."""
FEWEST_CHARACTERS = 5

# Argon2id with 19 MiB and two passes, so that eight sign-ins at once fit into a small server.
_HASHER = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)


def hashed(password: str) -> str:
    """What is stored of a password: salt, method and parameters are part of it."""
    return _HASHER.hash(password)


def is_password(password: str, stored: str | None) -> bool:
    """Whether it is the one that was hashed; with nothing stored it takes as long to say no."""
    try:
        _HASHER.verify(stored or _nobodys(), password)
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None


def is_outdated(stored: str) -> bool:
    """Whether it was hashed with other parameters than are in use now."""
    return _HASHER.check_needs_rehash(stored)


def checked(password: str, *, user: str, field: str = "password") -> str:
    """The password, if it is worth anything. Raises `InvalidInput` that does not repeat it."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise InvalidInput(
            f"it has {len(password)} characters.",
            field=field,
            hint=f"Take {SHORTEST} to {LONGEST:,}; a few words in a row are easy to remember.",
        )
    if len(set(password)) < FEWEST_CHARACTERS or password.casefold() == user.casefold():
        raise InvalidInput(
            "anybody could guess it.",
            field=field,
            hint="Take a few words that have nothing to do with each other.",
        )
    return password


@cache
def _nobodys() -> str:
    return _HASHER.hash("the password of nobody")

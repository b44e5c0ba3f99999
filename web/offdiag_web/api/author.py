"""Who asks: the author of a change, and the owner of a key."""

from __future__ import annotations

from offdiag.domain.runs import require_name
from offdiag_web.app.context import reader


def author(stated: str | None = None) -> str | None:
    """The name a change is kept under: who signed in, else whom the request names.

    Nobody can sign with the name of somebody else where people sign in.
    """
    who = reader()
    if who.is_signed_in:
        return who.name
    return None if stated is None else require_name(stated, "author")


def key_owner() -> str:
    """Whose `Idempotency-Key` it is; everybody is the same where nobody signs in."""
    who = reader()
    return who.name if who.is_signed_in else ""

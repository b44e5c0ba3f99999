"""Tokens as lines of a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from offdiag.store.sessions import TokenRecord
from offdiag_web.presenters.access.roles import where
from offdiag_web.presenters.times import Moment, moment


@dataclass(frozen=True, slots=True)
class TokenLine:
    """One token. `state` says why it opens nothing, empty where it is good."""

    id: int
    name: str
    prefix: str
    owner: str
    role: str
    project: str
    made: Moment
    expires: str
    used: Moment | None
    state: str


def token_lines(tokens: Sequence[TokenRecord], *, now: datetime) -> tuple[TokenLine, ...]:
    """Tokens, the newest first."""
    return tuple(
        TokenLine(
            id=token.id,
            name=token.name,
            prefix=token.prefix,
            owner=token.owner,
            role=token.scope.role,
            project=where(token.scope.project),
            made=moment(token.created_at, now=now),
            expires=f"{token.expires_at:%Y-%m-%d %H:%M} UTC" if token.expires_at else "never",
            used=None if token.used_at is None else moment(token.used_at, now=now),
            state=_state(token, now),
        )
        for token in tokens
    )


def _state(token: TokenRecord, now: datetime) -> str:
    if token.revoked_at is not None:
        return "revoked"
    if token.owner_disabled:
        return "owner locked out"
    return "" if token.is_valid(now) else "expired"

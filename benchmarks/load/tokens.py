"""Tokens for everybody who asks."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

from offdiag.domain.access import Grant, Role
from offdiag.services.access.sessions import create_token
from offdiag.services.access.users import add_user
from offdiag.store.database import Database

_DAY = timedelta(days=1)


def tokens_for(database: Database, number: int, *, lifetime: timedelta = _DAY) -> list[str]:
    """A token for each, so that limits count for each alone."""
    owner = f"load-{uuid4().hex[:8]}"
    add_user(database, name=owner, password=None, grants=[Grant(Role.ADMIN, None)])
    return [
        create_token(
            database,
            owner=owner,
            name=f"client {place}",
            scope=Grant(Role.LOGGER, None),
            lifetime=lifetime,
        ).secret
        for place in range(number)
    ]

"""One read of the store in a transaction of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from offdiag.store.database import Database, Session

Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")


def read(
    database: Database,
    query: Callable[Concatenate[Session, Arguments], Found],
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Found:
    """What a function of the store finds."""
    with database.read() as session:
        return query(session, *args, **kwargs)

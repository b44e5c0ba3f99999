"""One pool of connections, entered in three ways."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Engine, Pool

# PostgreSQL refuses NaN in a document, and SQLite would hand it back to people who cannot
# read it. Refusing it here makes both the same.
to_json = partial(json.dumps, allow_nan=False, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Engines:
    """Views of one engine that differ in how a transaction begins.

    `reading` sees one snapshot and cannot write; `writing` may write from its first statement
    on; `migrating` may in addition rebuild tables that others refer to.
    """

    reading: Engine
    writing: Engine
    migrating: Engine

    def close(self) -> None:
        self.writing.dispose()

    def abandon(self) -> None:
        """Forget all connections without touching them, because another process owns them.

        The pool is kept from being freed: freeing a connection would close it.
        """
        _abandoned.append(self.writing.pool)
        self.writing.dispose(close=False)


_abandoned: list[Pool] = []

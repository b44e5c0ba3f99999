"""PostgreSQL through a pooler that lends its connections for one transaction at a time.

What outlives a transaction is lost between two of them, or worse, found by somebody else: limits
that were set when the connection began, prepared statements, and LISTEN. So limits are set in each
transaction, nothing is prepared, and nobody listens.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import URL, Connection, Engine, event

from offdiag.errors import InvalidInput

_PARAMETER = "pooling"
_BY_TRANSACTION = "transaction"


def is_pooled(url: URL) -> bool:
    """Whether a URL says that a pooler lends connections by transaction.

    Raises `InvalidInput` for any other word, and for what such a pooler cannot pass on.
    """
    found = url.query.get(_PARAMETER)
    if found is None:
        return False
    if found != _BY_TRANSACTION:
        raise InvalidInput(
            f"{_PARAMETER}={found} is not known.",
            field="database.url",
            hint=f"Write ?{_PARAMETER}={_BY_TRANSACTION}, or leave it out: a pooler that keeps a "
            "connection for a session needs no mention.",
        )
    if "options" in url.query:
        raise InvalidInput(
            "a pooler that lends connections by transaction does not pass options on.",
            field="database.url",
            hint="Leave them out, or set them for the role: ALTER ROLE … SET …",
        )
    return True


def without_mention(url: URL) -> URL:
    """The URL as the driver understands it."""
    return url.difference_update_query([_PARAMETER])


def limit_each_transaction(engine: Engine, limits: Mapping[str, str]) -> None:
    """Set limits at the beginning of each transaction, for as long as it lasts."""
    settings = ", ".join(
        f"set_config('{name}', '{value}', true)" for name, value in limits.items()
    )

    def limit(connection: Connection) -> None:
        connection.exec_driver_sql(f"SELECT {settings}")

    event.listen(engine, "begin", limit)

"""Connections that were closed while they rested are replaced, and busy ones are not asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from offdiag.errors import DatabaseUnavailable
from offdiag.store import postgres
from offdiag.store.database import Database


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The connections that were tried."""
    found: list[Any] = []
    ping: Callable[..., bool] = PGDialect_psycopg.do_ping

    def noted(dialect: PGDialect_psycopg, connection: Any) -> bool:
        found.append(connection)
        return ping(dialect, connection)

    monkeypatch.setattr(PGDialect_psycopg, "do_ping", noted)
    return found


def number_of_server_process(database: Database) -> int:
    with database.read() as session:
        return int(session.scalar(text("SELECT pg_backend_pid()")) or 0)


def end_all_others(database: Database) -> None:
    """As a server does that is stopped: whoever else is connected to the database is cut off."""
    other = Database(database.url)
    with other.write() as session:
        session.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
    other.close()


def test_a_connection_that_was_closed_while_it_rested_is_replaced_unnoticed(
    postgres_database: Database, monkeypatch: pytest.MonkeyPatch, asked: list[Any]
) -> None:
    monkeypatch.setattr(postgres, "TRUSTED_S", 0.0)
    before = number_of_server_process(postgres_database)
    end_all_others(postgres_database)

    after = number_of_server_process(postgres_database)

    assert after not in {0, before}
    assert asked


def test_a_connection_that_was_used_a_moment_ago_is_not_asked(
    postgres_database: Database, monkeypatch: pytest.MonkeyPatch, asked: list[Any]
) -> None:
    monkeypatch.setattr(postgres, "TRUSTED_S", 3_600.0)

    first, second = (number_of_server_process(postgres_database) for _ in range(2))

    assert first == second
    assert asked == []


def test_where_it_was_cut_in_that_moment_one_transaction_fails_and_the_next_does_not(
    postgres_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "TRUSTED_S", 3_600.0)
    number_of_server_process(postgres_database)
    end_all_others(postgres_database)

    with pytest.raises(DatabaseUnavailable):
        number_of_server_process(postgres_database)
    assert number_of_server_process(postgres_database)

"""Whether requests can be answered, for whoever sends them here."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from offdiag.store.database import Database
from support.pages import PageClient, client_for
from support.registries import dashboard


@pytest.mark.both_databases
def test_a_registry_that_can_be_read_is_ready(client: PageClient) -> None:
    answer = client.get("/readyz")
    assert (answer.status_code, answer.get_json()) == (200, {"status": "ready"})


def test_says_that_the_schema_is_another_one(database: Database) -> None:
    client = client_for(dashboard(database))
    with database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '0001_registry'"))
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "5"
    assert "another schema" in answer.get_json()["reason"]


def test_says_that_the_database_is_gone_and_not_where_it_was(sqlite_database: Database) -> None:
    client = client_for(dashboard(sqlite_database))
    path = sqlite_database.path
    assert path is not None
    sqlite_database.close()
    path.write_bytes(b"no database at all" * 100)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.get_json()["reason"] == "The database does not respond."
    assert str(path) not in answer.text

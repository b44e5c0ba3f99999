"""A database that tests use one after the other has another name for each of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.kinds import Postgres


@pytest.mark.postgres
def test_a_client_of_an_earlier_test_cannot_take_a_database_for_its_own(
    postgres_databases: Postgres, tmp_path: Path
) -> None:
    found = []
    for _ in range(3):
        with postgres_databases.new(tmp_path) as database:
            found.append(database.url)

    assert len(set(found)) == 3

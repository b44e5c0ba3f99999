"""On which databases tests of services run: on both, but those marked `same_on_both` on SQLite.

Such a test is about what is computed of rows that other tests, here or of the store, read and
write with the same statements on PostgreSQL too.
"""

from __future__ import annotations

import pytest

from support.kinds import Kind


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test on both databases, or on the one that says as much."""
    if "databases" in metafunc.fixturenames:
        kinds = [pytest.param("files", id="sqlite")]
        if not metafunc.definition.get_closest_marker("same_on_both"):
            on_postgres = pytest.param(
                "postgres_databases", id="postgresql", marks=pytest.mark.postgres
            )
            kinds.append(on_postgres)
        metafunc.parametrize("databases", kinds, indirect=True, scope="session")


@pytest.fixture(scope="session")
def databases(request: pytest.FixtureRequest) -> Kind:
    """Migrated databases of the kind that `pytest_generate_tests` says."""
    kind: Kind = request.getfixturevalue(request.param)
    return kind

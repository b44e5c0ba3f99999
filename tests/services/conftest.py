"""On which databases tests of services run: on SQLite, but those marked `both_databases` on both.

Most are about what is computed of rows. The marked ones, with the tests of the store, ask
PostgreSQL each statement of the store at least once, and everything that locks or waits.
"""

from __future__ import annotations

import pytest

from support.kinds import Kind
from support.quick_schemas import remember_schemas


@pytest.fixture(autouse=True)
def _quick_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    remember_schemas(monkeypatch)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test on SQLite, or on both databases."""
    if "databases" in metafunc.fixturenames:
        kinds = [pytest.param("files", id="sqlite")]
        if metafunc.definition.get_closest_marker("both_databases"):
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

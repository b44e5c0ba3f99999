"""A client of the dashboard over a database of its own, and registries that tests share.

Pages run on SQLite. Those marked `both_databases` run on PostgreSQL as well, for what depends on
the database, and those marked `on_postgresql` there alone: `every_route_test.py` asks each route
once, which tests of its own do on SQLite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from offdiag.store.database import Database
from support.compared import ComparedRegistry, fill_compared
from support.dashboard import LesionRegistry, fill, log_lesions
from support.kinds import Kind
from support.once_for_all import Given, filled_for_all
from support.pages import PageClient, client_for
from support.quick_apps import remember_addresses
from support.registries import LENT, reader_of
from support.reported import ReportedRegistry, fill_reports
from support.revised import RevisedRegistry, fill_revised
from support.scored_runs import ScoredRegistry, fill_scored

remember_addresses()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run every test on SQLite, but those that are marked on both, or on PostgreSQL alone."""
    if "databases" in metafunc.fixturenames:
        sqlite = pytest.param("files", id="sqlite")
        postgres = pytest.param("postgres_databases", id="postgresql", marks=pytest.mark.postgres)
        marked = {mark.name for mark in metafunc.definition.iter_markers()}
        kinds = [postgres] if "on_postgresql" in marked else [sqlite]
        if "both_databases" in marked:
            kinds.append(postgres)
        metafunc.parametrize("databases", kinds, indirect=True, scope="session")


@pytest.fixture(scope="session")
def databases(request: pytest.FixtureRequest) -> Kind:
    """Migrated databases of the kind that `pytest_generate_tests` says."""
    kind: Kind = request.getfixturevalue(request.param)
    return kind


@pytest.fixture
def app(database: Database) -> Iterator[Flask]:
    """The dashboard over an empty registry; errors of handlers reach the test."""
    with LENT.over(database) as app:
        yield app


@pytest.fixture
def client(app: Flask) -> PageClient:
    return client_for(app)


def _filled(fill_with: Callable[[Database], Given], kind: Callable[..., Given]) -> Any:
    """A fixture: a registry that is filled once, shared by tests that only read."""

    @pytest.fixture(scope="session")
    def filled(databases: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Given]:
        with databases.new(tmp_path_factory.mktemp("filled")) as database:
            yield filled_for_all(tmp_path_factory, database, fill_with, kind)

    return filled


registry = _filled(fill, LesionRegistry)
revised = _filled(fill_revised, RevisedRegistry)
compared = _filled(fill_compared, ComparedRegistry)
scored = _filled(fill_scored, ScoredRegistry)
reported = _filled(fill_reports, ReportedRegistry)


@pytest.fixture(scope="session")
def reader(registry: LesionRegistry) -> PageClient:
    """A client of the dashboard over that registry."""
    return reader_of(registry)


@pytest.fixture(scope="session")
def revised_reader(revised: RevisedRegistry) -> PageClient:
    """A client of the dashboard over that registry."""
    return reader_of(revised)


@pytest.fixture(scope="session")
def report_reader(reported: ReportedRegistry) -> PageClient:
    """A client of the dashboard over that registry."""
    return reader_of(reported)


@pytest.fixture
def ana(client: PageClient) -> PageClient:
    """A reader who said who she is."""
    client.post("/preferences", data={"reader": "ana"})
    return client


@pytest.fixture(scope="session")
def lesions_to_copy(
    databases: Kind, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """A registry with one run whose smallest class is never found, to be copied."""
    with databases.new(tmp_path_factory.mktemp("lesions")) as database:
        log_lesions(database, model="effnet-b3")
        yield database


@pytest.fixture
def lesions_database(
    lesions_to_copy: Database, databases: Kind, tmp_path: Path
) -> Iterator[Database]:
    """A copy of that registry, to be changed."""
    with databases.copy(lesions_to_copy, tmp_path) as database:
        yield database


@pytest.fixture
def lesions(lesions_database: Database) -> Iterator[PageClient]:
    """A client of a registry that may be changed."""
    with LENT.over(lesions_database) as app:
        yield client_for(app)


@pytest.fixture(scope="session")
def comparer(compared: ComparedRegistry) -> PageClient:
    """A client of the dashboard over that registry."""
    return reader_of(compared, pair=compared.pair)


@pytest.fixture(scope="session")
def scored_reader(scored: ScoredRegistry) -> PageClient:
    """A client of the dashboard over that registry."""
    return reader_of(scored)

"""A client of the dashboard over a database of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from offdiag.store.database import Database
from support.compared import ComparedRegistry, fill_compared
from support.dashboard import LesionRegistry, fill, log_lesions
from support.registries import dashboard, shared_registry
from support.reported import ReportedRegistry, fill_reports
from support.revised import RevisedRegistry, fill_revised
from support.scored_runs import ScoredRegistry, fill_scored


@pytest.fixture
def app(sqlite_database: Database) -> Flask:
    """The dashboard over an empty registry; errors of handlers reach the test."""
    return dashboard(sqlite_database)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture(scope="session")
def registry(
    migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LesionRegistry]:
    """Runs of all kinds, shared by tests that only read."""
    with shared_registry(migrated_file, tmp_path_factory, "dashboard") as database:
        yield fill(database)


@pytest.fixture(scope="session")
def reader(registry: LesionRegistry) -> FlaskClient:
    """A client of the dashboard over that registry."""
    return dashboard(registry.database).test_client()


@pytest.fixture(scope="session")
def revised(
    migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RevisedRegistry]:
    """Corrected ground truth and what it did, shared by tests that only read."""
    with shared_registry(migrated_file, tmp_path_factory, "revised") as database:
        yield fill_revised(database)


@pytest.fixture(scope="session")
def revised_reader(revised: RevisedRegistry) -> FlaskClient:
    """A client of the dashboard over that registry."""
    return dashboard(revised.database).test_client()


@pytest.fixture(scope="session")
def reported(
    migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ReportedRegistry]:
    """Reports in every state, shared by tests that only read."""
    with shared_registry(migrated_file, tmp_path_factory, "reported") as database:
        yield fill_reports(database)


@pytest.fixture(scope="session")
def report_reader(reported: ReportedRegistry) -> FlaskClient:
    """A client of the dashboard over that registry."""
    return dashboard(reported.database).test_client()


@pytest.fixture(scope="session")
def lesions_file(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A registry with one run whose smallest class is never found, to be copied."""
    path = Path(shutil.copy(migrated_file, tmp_path_factory.mktemp("lesions") / "registry.db"))
    database = Database(f"sqlite:///{path}", synchronous="normal")
    log_lesions(database, model="effnet-b3")
    # The last connection to be closed moves everything into the file itself.
    database.close()
    return path


@pytest.fixture
def lesions_database(lesions_file: Path, tmp_path: Path) -> Iterator[Database]:
    """A copy of that registry, to be changed."""
    path = shutil.copy(lesions_file, tmp_path / "lesions.db")
    database = Database(f"sqlite:///{path}", synchronous="normal")
    yield database
    database.close()


@pytest.fixture(scope="session")
def compared(
    migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ComparedRegistry]:
    """Runs to compare, shared by tests that only read."""
    with shared_registry(migrated_file, tmp_path_factory, "compared") as database:
        yield fill_compared(database)


@pytest.fixture(scope="session")
def comparer(compared: ComparedRegistry) -> FlaskClient:
    """A client of the dashboard over that registry."""
    return dashboard(compared.database).test_client()


@pytest.fixture(scope="session")
def scored(
    migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ScoredRegistry]:
    """Runs with scores of all kinds, shared by tests that only read."""
    with shared_registry(migrated_file, tmp_path_factory, "scored") as database:
        yield fill_scored(database)


@pytest.fixture(scope="session")
def scored_reader(scored: ScoredRegistry) -> FlaskClient:
    """A client of the dashboard over that registry."""
    return dashboard(scored.database).test_client()

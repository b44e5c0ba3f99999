"""Which database URLs are understood, and what is said about the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from offdiag.errors import InvalidInput
from offdiag.store.address import is_opened_read_only, parse_url, postgres_place, sqlite_path


@pytest.mark.parametrize(
    ("url", "driver"),
    [
        ("sqlite:////data/registry.db", "sqlite"),
        ("sqlite+pysqlite:////data/registry.db", "sqlite+pysqlite"),
        ("postgresql://host/registry", "postgresql+psycopg"),
        ("postgresql+psycopg://host/registry", "postgresql+psycopg"),
    ],
)
def test_a_usable_url_gets_its_driver(url: str, driver: str) -> None:
    assert parse_url(url).drivername == driver


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite+pysqlite:///:memory:",
        "sqlite:///file::memory:?uri=true",
        "sqlite:///file:shared?mode=memory&cache=shared&uri=true",
    ],
)
def test_a_database_in_memory_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="in-memory") as refusal:
        parse_url(url)

    assert refusal.value.field == "database.url"
    assert "name a file" in str(refusal.value.hint)


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("mysql://host/registry", "mysql"),
        ("postgres://host/registry", "postgres"),
        ("postgresql+psycopg2://host/registry", "psycopg2"),
        ("sqlite+aiosqlite:///registry.db", "aiosqlite"),
        ("duckdb:///registry.db", "duckdb"),
    ],
)
def test_another_kind_of_database_is_refused_by_name(url: str, named: str) -> None:
    with pytest.raises(InvalidInput, match=f"{named} is not supported") as refusal:
        parse_url(url)

    assert "postgresql://" in str(refusal.value.hint)


@pytest.mark.parametrize(
    "url", ["", "registry.db", "/data/registry.db", "://", "postgresql://u:secret@host:port/x"]
)
def test_what_is_no_url_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(InvalidInput, match="not a database URL") as refusal:
        parse_url(url)

    assert "secret" not in str(refusal.value)
    assert "http://host:8642 for a server" in str(refusal.value.hint)


@pytest.mark.parametrize("url", ["sqlite://host/registry.db", "sqlite://user@/registry.db"])
def test_a_host_for_a_file_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="not a host"):
        parse_url(url)


def test_a_parameter_that_would_be_ignored_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'mode' would be ignored") as refusal:
        parse_url("sqlite:////data/registry.db?mode=ro")

    assert "uri=true" in str(refusal.value.hint)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:////data/registry.db", "/data/registry.db"),
        ("sqlite:////data/with space/100%25.db", "/data/with space/100%.db"),
        ("sqlite:///file:/data/registry.db?uri=true", "/data/registry.db"),
        ("sqlite:///file:///data/registry.db?uri=true", "/data/registry.db"),
        ("sqlite:///file:/data/with%20space.db?mode=ro&uri=true", "/data/with space.db"),
    ],
)
def test_the_file_of_a_url_is_known(url: str, path: str) -> None:
    assert sqlite_path(parse_url(url)) == Path(path)


def test_a_relative_file_lies_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert sqlite_path(parse_url("sqlite:///runs/registry.db")) == tmp_path / "runs/registry.db"


@pytest.mark.parametrize(
    ("query", "read_only"),
    [("?mode=ro&uri=true", True), ("?immutable=1&uri=true", True), ("?mode=rw&uri=true", False)],
)
def test_a_file_is_opened_read_only_when_the_url_says_so(query: str, read_only: bool) -> None:
    assert is_opened_read_only(parse_url(f"sqlite:///file:/data/registry.db{query}")) is read_only


def test_a_server_is_named_without_password_and_settings() -> None:
    url = parse_url("postgresql://ada:secret@db.example:5433/registry?options=-csearch_path=x")

    assert postgres_place(url) == "postgresql://ada@db.example:5433/registry"


def test_a_file_in_a_deleted_folder_is_refused_and_others_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()

    with pytest.raises(InvalidInput, match=r"'a\.db' is in the current folder, which was deleted"):
        sqlite_path(parse_url("sqlite:///a.db"))
    assert sqlite_path(parse_url("sqlite:////data/a.db")) == Path("/data/a.db")

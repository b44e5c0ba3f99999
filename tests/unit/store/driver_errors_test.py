"""Which errors of drivers become which sentence, and which are not touched."""

from __future__ import annotations

import sqlite3

import psycopg
import pytest
from sqlalchemy.exc import (
    DBAPIError,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from offdiag.errors import DatabaseUnavailable, StorageFull
from offdiag.store.driver_errors import translated


def sqlite_error(code: int) -> DBAPIError:
    original = sqlite3.OperationalError("what the driver says")
    original.sqlite_errorcode = code
    return OperationalError("SELECT 1", {}, original)


def postgres_error(sqlstate: str) -> DBAPIError:
    return InternalError("SELECT 1", {}, psycopg.errors.lookup(sqlstate)("what the server says"))


def raise_within(error: Exception, *, writing_is_allowed: bool = True) -> None:
    with translated("registry.db", writing_is_allowed=writing_is_allowed):
        raise error


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (sqlite3.SQLITE_BUSY, "holds a lock"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "holds a lock"),
        (sqlite3.SQLITE_LOCKED, "holds a lock"),
        (sqlite3.SQLITE_READONLY, "cannot be written"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "its folder cannot be written"),
        (sqlite3.SQLITE_IOERR_FSYNC, "failed on the disk"),
        (sqlite3.SQLITE_IOERR_WRITE, "took no more data"),
        (sqlite3.SQLITE_CORRUPT, "damaged or cut short"),
        (sqlite3.SQLITE_FULL, "the disk is full"),
        (sqlite3.SQLITE_CANTOPEN, "cannot be opened"),
        (sqlite3.SQLITE_NOTADB, "not an SQLite database"),
    ],
)
def test_a_result_code_of_sqlite_becomes_a_sentence(code: int, sentence: str) -> None:
    with pytest.raises(DatabaseUnavailable, match=f"^registry.db: .*{sentence}") as failure:
        raise_within(sqlite_error(code))

    assert failure.value.hint
    assert isinstance(failure.value.__cause__, OperationalError)


def test_text_that_is_none_is_a_damaged_file() -> None:
    original = sqlite3.OperationalError("Could not decode to UTF-8 column 'key' with text 'a'")

    with pytest.raises(DatabaseUnavailable, match="damaged or cut short"):
        raise_within(OperationalError("SELECT 1", {}, original))


@pytest.mark.parametrize(
    ("sqlstate", "sentence"),
    [
        ("08006", "cannot be reached"),
        ("28P01", "refuses this user or password"),
        ("3D000", "has no such database"),
        ("53100", "the disk is full"),
        ("53300", "no connections or memory"),
        ("58030", "failed on the disk"),
        ("25006", "cannot be written"),
        ("25P03", "waited too long for the rest"),
        ("25P04", "waited too long for the rest"),
        ("40001", "another transaction"),
        ("40P01", "another transaction"),
        ("42501", "lacks a privilege"),
        ("55P03", "holds a lock"),
        ("57014", "longer than the time limit"),
        ("57P01", "shutting down"),
        ("57P03", "shutting down"),
        ("57P05", "cannot be reached"),
        ("XX001", "damaged"),
    ],
)
def test_a_state_of_postgresql_becomes_a_sentence(sqlstate: str, sentence: str) -> None:
    with pytest.raises(DatabaseUnavailable, match=f"^registry.db: .*{sentence}") as failure:
        raise_within(postgres_error(sqlstate))

    assert failure.value.hint


@pytest.mark.parametrize("full", [sqlite_error(sqlite3.SQLITE_FULL), postgres_error("53100")])
def test_a_full_disk_has_a_kind_of_its_own(full: DBAPIError) -> None:
    with pytest.raises(StorageFull):
        raise_within(full)


@pytest.mark.parametrize("kind", [psycopg.OperationalError, psycopg.errors.ConnectionTimeout])
def test_a_connection_that_failed_without_a_state_is_unreachable(
    kind: type[psycopg.OperationalError],
) -> None:
    original = kind("connection refused")

    with pytest.raises(DatabaseUnavailable, match="cannot be reached"):
        raise_within(OperationalError("SELECT 1", {}, original))


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("FATAL:  sorry, too many clients already", "no connections or memory"),
        ('FATAL:  too many connections for role "offdiag"', "no connections or memory"),
        ("FATAL:  remaining connection slots are reserved for", "no connections or memory"),
        ("FATAL:  no more connections allowed (max_client_conn)", "no connections or memory"),
        ("FATAL:  the database system is starting up", "shutting down or starting"),
        ("FATAL:  the database system is in recovery mode", "shutting down or starting"),
        (
            "FATAL:  the database system is not yet accepting connections",
            "shutting down or starting",
        ),
    ],
)
def test_a_server_that_takes_no_connection_now_is_not_looked_for(said: str, sentence: str) -> None:
    original = psycopg.OperationalError(f'connection to server on socket "/tmp/s" failed: {said}')

    with pytest.raises(DatabaseUnavailable, match=sentence):
        raise_within(OperationalError("SELECT 1", {}, original))


def test_a_server_that_only_reads_has_no_file_to_make_writable() -> None:
    with pytest.raises(DatabaseUnavailable) as failure:
        raise_within(postgres_error("25006"))

    assert "primary" in str(failure.value.hint)
    assert "file" not in str(failure.value.hint)


def test_an_exhausted_pool_becomes_a_sentence() -> None:
    with pytest.raises(DatabaseUnavailable, match="all connections are in use"):
        raise_within(PoolTimeoutError("QueuePool limit"))


@pytest.mark.parametrize(
    "error",
    [
        IntegrityError("INSERT", {}, sqlite3.IntegrityError("UNIQUE constraint failed")),
        sqlite_error(sqlite3.SQLITE_ERROR),
        ProgrammingError("SELEKT", {}, psycopg.errors.SyntaxError("syntax error")),
        ProgrammingError("SELECT", {}, psycopg.errors.UndefinedTable("no such table")),
        InterfaceError("SELECT", {}, psycopg.InterfaceError("the cursor is closed")),
        NotSupportedError("SELECT", {}, sqlite3.NotSupportedError("not supported")),
        ValueError("a defect of the caller"),
        KeyError("a defect of the caller"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_answers_and_defects_pass_through(error: Exception) -> None:
    with pytest.raises(type(error)) as passed:
        raise_within(error)

    assert passed.value is error


@pytest.mark.parametrize("error", [sqlite_error(sqlite3.SQLITE_READONLY), postgres_error("25006")])
def test_an_attempt_to_write_while_reading_is_a_defect_of_the_caller(error: DBAPIError) -> None:
    with pytest.raises(DBAPIError) as passed:
        raise_within(error, writing_is_allowed=False)

    assert passed.value is error


def test_text_of_a_table_that_is_none_is_a_damaged_file() -> None:
    said = b"malformed database schema (run) - near \xff: syntax error"

    with pytest.raises(DatabaseUnavailable, match="damaged or cut short"):
        raise_within(UnicodeDecodeError("utf-8", said, 39, 40, "invalid start byte"))
    with pytest.raises(UnicodeDecodeError):
        raise_within(UnicodeDecodeError("utf-8", b"a\xff", 1, 2, "invalid start byte"))

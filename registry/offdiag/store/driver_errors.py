"""Translating driver errors to sentences for the user.

Only errors with causes outside the program are translated: locks, disks, permissions, networks.
Violated constraints are answers and pass through; wrong SQL is a defect and passes through too.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from traceback import walk_tb
from typing import NamedTuple

from sqlalchemy.exc import DBAPIError, NoSuchTableError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from offdiag.errors import DamagedData, DatabaseUnavailable, OffdiagError, StorageFull


class Failure(NamedTuple):
    sentence: str
    hint: str
    kind: type[DatabaseUnavailable] = DatabaseUnavailable


_BUSY = Failure(
    "another process holds a lock on it beyond the time limit.",
    "Try again; if it persists, find and end the program that keeps a transaction open.",
)
_NOT_WRITABLE = Failure(
    "it cannot be written.",
    "Give this user write permission on the file and its folder, or name another place.",
)
_FOLDER_NOT_WRITABLE = Failure(
    "its folder cannot be written, and reading it needs a file there.",
    "Give this user write permission on the folder; a file that no program has open can be read "
    "with sqlite:///file:…?immutable=1&uri=true.",
)
_READ_ONLY = Failure(
    "it cannot be written.",
    "The server allows reading only: give the address of the primary, or end what makes it so.",
)
_NOT_ALLOWED = Failure(
    "this user lacks a privilege in it.",
    "Connect as the role that owns the tables, or let it GRANT the privilege.",
)
_FULL = Failure(
    "the disk is full.",
    "Make room and try again; nothing was half written, and what is stored can be read.",
    StorageFull,
)
_NOT_TAKEN = Failure(
    "the disk took no more data.",
    "Make room, or raise the quota or the file size limit of this user; else look at the disk.",
    StorageFull,
)
_BROKEN_DISK = Failure(
    "reading or writing failed on the disk.", "Check the disk and the system log."
)
_DAMAGED = Failure("its data are damaged.", "Restore a backup to a new database.")
_DAMAGED_FILE = Failure(
    "the file is damaged or cut short.",
    "Move it away with its -wal and -shm, and restore a backup: offdiag db restore FILE",
)
_NOT_OPENED = Failure(
    "it cannot be opened.", "Check that its folder exists and that it is a readable file."
)
_NOT_A_DATABASE = Failure(
    "the file is not an SQLite database.", "Name another file, or restore this one."
)
_UNREACHABLE = Failure(
    "the server cannot be reached.", "Check that it is up, and the host, name and password."
)
_NO_HOST = Failure("the host name is unknown.", "Check the host in the URL.")
_REFUSED = Failure(
    "the server refuses this user or password.",
    "Check the user in the URL, and the password in it, in PGPASSWORD or in ~/.pgpass.",
)
_NO_DATABASE = Failure(
    "the server has no such database.",
    "Create it: createdb --owner USER NAME, or correct the name in the URL.",
)
_POOLED = Failure(
    "a pooler refuses the settings of this connection.",
    "If it lends connections by transaction, say so in the URL: ?pooling=transaction",
)
_SHUT_DOWN = Failure("the server is shutting down or starting.", "Try again in a moment.")
_OVERLOADED = Failure(
    "the server has no connections or memory left.", "Try again, or raise its limits."
)
_TOO_SLOW = Failure("a statement took longer than the time limit.", "Try again, or ask for less.")
_TOO_LATE = Failure(
    "the server waited too long for the rest of a transaction.",
    "Try again; if it persists, the network to the server is slow, or this program stalled.",
)
_CONTENDED = Failure("another transaction changed the same rows.", "Try again.")
_POOL_EXHAUSTED = Failure("all connections are in use.", "Try again in a few seconds.")

# SQLite distinguishes a full disk from everything else that prevents writing, and counts quotas
# and limits on file sizes as the latter.
_BY_EXTENDED_CODE = {
    sqlite3.SQLITE_IOERR_WRITE: _NOT_TAKEN,
    sqlite3.SQLITE_READONLY_DIRECTORY: _FOLDER_NOT_WRITABLE,
}

# The low byte of an SQLite result code is its kind: https://sqlite.org/rescode.html
_BY_RESULT_CODE = {
    sqlite3.SQLITE_PERM: _NOT_WRITABLE,
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_READONLY: _NOT_WRITABLE,
    sqlite3.SQLITE_IOERR: _BROKEN_DISK,
    sqlite3.SQLITE_CORRUPT: _DAMAGED_FILE,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_CANTOPEN: _NOT_OPENED,
    sqlite3.SQLITE_NOTADB: _NOT_A_DATABASE,
}

# https://www.postgresql.org/docs/current/errcodes-appendix.html; a class is two characters.
_BY_SQLSTATE = {
    "08": _UNREACHABLE,
    "28": _REFUSED,
    "3D000": _NO_DATABASE,
    "53": _OVERLOADED,
    "53100": _FULL,
    "58": _BROKEN_DISK,
    "25006": _READ_ONLY,
    "25P03": _TOO_LATE,
    "25P04": _TOO_LATE,
    "40001": _CONTENDED,
    "40P01": _CONTENDED,
    "42501": _NOT_ALLOWED,
    "55P03": _BUSY,
    "57014": _TOO_SLOW,
    "57P01": _SHUT_DOWN,
    "57P02": _SHUT_DOWN,
    "57P03": _SHUT_DOWN,
    "57P05": _UNREACHABLE,
    "XX001": _DAMAGED,
    "XX002": _DAMAGED,
}


_ROLLED_BACK = frozenset({"40001", "40P01"})
"""The server ended the transaction, and the same one may succeed immediately."""
_CUT_OFF = frozenset({"57P01", "57P02"})
"""The server ended the connection; SQLSTATE class 08 means the same."""


class Passing(Enum):
    """What became of a transaction that may be retried immediately."""

    NOTHING_DONE = "nothing done"
    UNKNOWN = "unknown"
    """The connection was lost during the commit, which may have succeeded."""


def passing(error: DatabaseUnavailable) -> Passing | None:
    """What became of a transaction whose cause of failure has passed; None if it will last."""
    cause = error.__cause__
    if not isinstance(cause, DBAPIError):
        return None
    sqlstate = getattr(cause.orig, "sqlstate", None) or ""
    if sqlstate in _ROLLED_BACK:
        return Passing.NOTHING_DONE
    if not (cause.connection_invalidated or sqlstate in _CUT_OFF or sqlstate[:2] == "08"):
        return None
    # A commit is not a statement; a connection that was never opened is not invalidated.
    return Passing.UNKNOWN if cause.statement is None else Passing.NOTHING_DONE


def is_away(error: DatabaseUnavailable) -> bool:
    """Whether a server cannot be reached for now, rather than refuses what the settings say."""
    cause = error.__cause__
    return isinstance(cause, DBAPIError) and _failure_of(cause) in _AWAY


_AWAY = (_UNREACHABLE, _NO_HOST, _SHUT_DOWN, _OVERLOADED)
"""A container that is down has no host name either."""


def may_open_again(error: DBAPIError) -> bool:
    """Whether a connection that could not be opened may be there at the next attempt."""
    return _failure_of(error) in (_UNREACHABLE, _SHUT_DOWN)


@contextmanager
def translated(place: str, *, writing_is_allowed: bool = True) -> Iterator[None]:
    """Raise `DatabaseUnavailable`, naming the place, for causes outside the program.

    A full disk raises its subclass `StorageFull`. If writing is not allowed, a refused write is a
    defect of the caller and passes through.
    """
    try:
        yield
    except PoolTimeoutError as error:
        raise _unavailable(place, _POOL_EXHAUSTED) from error
    except UnicodeDecodeError as error:
        if not error.object.startswith(_NO_SCHEMA):
            raise
        raise _unavailable(place, _DAMAGED_FILE) from error
    except DBAPIError as error:
        failure = _failure_of(error)
        if failure is None or (failure in (_NOT_WRITABLE, _READ_ONLY) and not writing_is_allowed):
            raise
        raise _unavailable(place, failure) from error


@contextmanager
def missing_parts_named(place: str) -> Iterator[None]:
    """Raise `DatabaseUnavailable` for a missing table, column or index of the right revision."""
    try:
        yield
    except NoSuchTableError as error:
        raise _damaged_schema(place, f"no such table: {error}") from error
    except DBAPIError as error:
        said = str(error.orig).partition("\n")[0]
        if not (_MISSING.search(said) or getattr(error.orig, "sqlstate", None) in _MISSING_STATES):
            raise
        raise _damaged_schema(place, said) from error


@contextmanager
def unreadable_values_named(place: str) -> Iterator[None]:
    """Raise `DamagedData` for what the store raises about values that it cannot have written.

    JSON that is cut off, a word that is not in its list and a blob of another length all raise
    errors of Python. From other parts of offdiag these are defects, and pass through.
    """
    try:
        yield
    except DBAPIError as error:
        said = _UNREADABLE.search(str(error.orig))
        if said is None:
            raise
        raise _unreadable(place, said[0]) from error
    except (ValueError, TypeError, LookupError, AssertionError) as error:
        if isinstance(error, OffdiagError) or not _comes_from_the_store(error):
            raise
        raise _unreadable(place, f"{type(error).__name__}: {error}") from error


_UNREADABLE = re.compile("malformed JSON|timestamp too (large|small)")
"""What SQLite says about a document that a statement looks into, psycopg about a stored time."""


def _unreadable(place: str, said: str) -> DamagedData:
    return DamagedData(
        f"{place}: stored data is damaged: a value cannot be read ({said}).",
        hint="`offdiag verify` names all damage, and `offdiag db restore FILE` restores a backup; "
        "if there is no damage, this is a defect of offdiag: please report it.",
    )


def _comes_from_the_store(error: Exception) -> bool:
    """Whether it was raised by a function of the store, or by what such a function called."""
    modules = {str(frame.f_globals.get("__name__")) for frame, _ in walk_tb(error.__traceback__)}
    return any(name.startswith(f"{__package__}.") for name in modules - _PASSED)


_PASSED = frozenset({__name__, f"{__package__}.database", f"{__package__}.audit_log"})
"""Modules of the store that every error passes on its way out of a transaction."""


_MISSING = re.compile(
    r"^no such (table|column): |has no column named|^ON CONFLICT clause does not match"
    r"|^foreign key mismatch"
)
"""What SQLite says about parts of a schema, for which it has no code of their own."""
_MISSING_STATES = frozenset({"42P01", "42703", "42P10"})
"""Undefined table or column, and no unique index to conflict with."""


def _damaged_schema(place: str, said: str) -> DatabaseUnavailable:
    return DatabaseUnavailable(f"{place}: its schema is damaged: {said}.", hint=_DAMAGED.hint)


def _failure_of(error: DBAPIError) -> Failure | None:
    original = error.orig
    if isinstance(original, sqlite3.Error):
        code = getattr(original, "sqlite_errorcode", None)
        if code is None:
            return _DAMAGED_FILE if _NO_TEXT in str(original) else None
        return _BY_EXTENDED_CODE.get(code) or _BY_RESULT_CODE.get(code & 0xFF)
    sqlstate = getattr(original, "sqlstate", None)
    if sqlstate is None:
        if error.connection_invalidated or _is_operational(error):
            return _of_connecting(str(original))
        return _POOLED if _REFUSED_SETTING in str(original) else None
    return _BY_SQLSTATE.get(sqlstate) or _BY_SQLSTATE.get(sqlstate[:2])


_NO_TEXT = "Could not decode to UTF-8"
"""What the driver says about a column of text, without a code, if its bytes were changed."""
_NO_SCHEMA = b"malformed database schema"
"""The same for the text of a table: then the driver cannot decode what SQLite says about it."""
_REFUSED_SETTING = "unsupported startup parameter"
"""What PgBouncer answers, without an error code."""
_BY_WORDS = (
    (re.compile(_REFUSED_SETTING), _POOLED),
    (re.compile("resolve host|translate host name|Name or service not known"), _NO_HOST),
    (re.compile('authentication failed|no password supplied|role ".*" does not exist'), _REFUSED),
    (re.compile('database ".*" does not exist'), _NO_DATABASE),
    (
        re.compile("too many (clients|connections)|slots are reserved|no more connections"),
        _OVERLOADED,
    ),
    (re.compile("database system is (starting|shutting|in recovery|not )"), _SHUT_DOWN),
)
"""What the driver says about a connection that could not be opened, for which it has no code."""


def _of_connecting(message: str) -> Failure:
    for words, failure in _BY_WORDS:
        if words.search(message):
            return failure
    # The server had no chance to say what went wrong, or says it in another language.
    return _UNREACHABLE


def _is_operational(error: DBAPIError) -> bool:
    # By name, because the driver may not be installed; a connection timeout is a subclass.
    return any(kind.__name__ == "OperationalError" for kind in type(error.orig).__mro__)


def _unavailable(place: str, failure: Failure) -> DatabaseUnavailable:
    return failure.kind(f"{place}: {failure.sentence}", hint=failure.hint)

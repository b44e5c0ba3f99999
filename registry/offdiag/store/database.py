"""Access to the database in reading or writing transactions, and its clock."""

from __future__ import annotations

import copy
import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, Double, Engine, event, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import ORMExecuteState, with_loader_criteria
from sqlalchemy.orm import Session as Session  # noqa: PLC0414 - for services
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from offdiag.domain.access import Actor
from offdiag.errors import SchemaMismatch
from offdiag.settings import load_settings
from offdiag.store import audit_log, project_access
from offdiag.store.address import (
    is_opened_read_only,
    makes_new_file,
    parse_url,
    postgres_place,
    sqlite_path,
)
from offdiag.store.driver_errors import (
    missing_parts_named,
    translated,
    unreadable_values_named,
)
from offdiag.store.engines import opened
from offdiag.store.models import FlagRow
from offdiag.store.postgres import is_pooled, postgres_engines
from offdiag.store.sqlite import Commits, Synchronous, sqlite_engines

_OF_ALL_SAMPLES = with_loader_criteria(FlagRow, FlagRow.slice == "", include_aliases=True)


def hide_flags_of_slices(session: Session) -> None:
    """Let a session see only flags about all samples, none about slices."""

    @event.listens_for(session, "do_orm_execute")
    def narrow(state: ORMExecuteState) -> None:
        if state.is_select:
            state.statement = state.statement.options(_OF_ALL_SAMPLES)


def utc_now() -> datetime:
    """The time of this process, as a time zone aware datetime in UTC."""
    return datetime.now(UTC)


class database_now(FunctionElement[float]):  # noqa: N801 - it reads as the SQL function it is
    """SQL: seconds since 1970 by the clock of the database, which advances within a transaction.

    Leases are compared by several hosts whose clocks disagree, so they are granted and checked by
    the one clock that all of them share. Resolution is a millisecond on SQLite and a microsecond
    on PostgreSQL.
    """

    inherit_cache = True
    type = Double()
    name = "database_now"


@compiles(database_now, "sqlite")
def _on_sqlite(element: database_now, compiler: SQLCompiler, **kw: Any) -> str:  # noqa: ARG001
    # 2440587.5 is the Julian day on which 1970 began.
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(database_now, "postgresql")
def _on_postgresql(element: database_now, compiler: SQLCompiler, **kw: Any) -> str:  # noqa: ARG001
    # Not now(), which stands still from the first statement of a transaction.
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)"


def database_time(session: Session) -> datetime:
    """The time by the clock of the database, as a time zone aware datetime in UTC."""
    return datetime.fromtimestamp(session.scalars(select(database_now())).one(), UTC)


def require_revision(connection: Connection, wanted: str, *, place: str) -> None:
    """Raise `SchemaMismatch` unless the registry has the revision it had when it was opened.

    It takes one small statement, which every writing transaction can afford.
    """
    found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    if found != wanted:
        raise SchemaMismatch(
            f"{place} was brought to schema {found} while this program, which needs {wanted}, "
            "was running.",
            hint="Restart it with the version of offdiag that the others use now.",
        )


@contextmanager
def driver_savepoint(session: Session) -> Iterator[Any]:
    """The psycopg connection of a session, inside a savepoint of its transaction.

    An error in the block rolls back to the savepoint and is raised; the session's transaction
    remains usable. On SQLite the connection is that of the standard library.
    """
    with session.begin_nested():
        yield session.connection().connection.driver_connection


Dialect = Literal["sqlite", "postgresql"]


class Database:
    """A database that is opened on first use and shared by all threads of the process.

    `synchronous` and `busy_timeout_s` are for SQLite: whether a commit survives a power failure
    ("full") or only a crash of the program ("normal"), and how many seconds a writer waits for the
    one before it. `path` is the SQLite file, None on PostgreSQL; `is_new` says that opening the
    registry created it, `can_listen` whether notifications arrive, which they do not through a
    pooler that lends connections per transaction.

    Raises `InvalidInput` for a URL that names no usable database. Both kinds of transaction raise
    `DatabaseUnavailable` if the file, the disk, the network or the server is at fault, and
    `DamagedData` for stored values that cannot be read, and let `sqlalchemy.exc.IntegrityError`
    pass.
    """

    def __init__(
        self,
        url: str,
        *,
        synchronous: Synchronous = "full",
        clock: Callable[[], datetime] = utc_now,
        busy_timeout_s: float = 30.0,
    ) -> None:
        parsed = parse_url(url)
        self.url = url
        self.clock = clock
        self.dialect: Dialect
        self.path: Path | None
        self.is_new = False
        if parsed.get_backend_name() == "sqlite":
            self.dialect = "sqlite"
            self.path = sqlite_path(parsed)
            self.is_read_only = is_opened_read_only(parsed)
            self.can_listen = False
            self.place = str(self.path)
            self._engines = sqlite_engines(
                parsed,
                self.path if makes_new_file(parsed) else None,
                synchronous=synchronous,
                busy_timeout_s=busy_timeout_s,
            )
        else:
            self.dialect = "postgresql"
            self.path = None
            self.is_read_only = False
            self.place = postgres_place(parsed)
            self._engines = postgres_engines(parsed)
            self.can_listen = not is_pooled(parsed)
        self._projects: frozenset[str] | None = None
        self._actor: Actor | None = None
        self._revision: str | None = None
        # Shared by all views of this database.
        self._unchecked: list[Callable[[Connection], None]] = []
        _opened.add(self)
        # A database that is never closed, or that a cache drops, leaves no file open behind.
        weakref.finalize(self, self._engines.close)

    def __repr__(self) -> str:
        return f"Database({self.place!r})"

    def seen_by(self, projects: frozenset[str] | None, actor: Actor | None) -> Database:
        """The same database as one user sees and changes it; closing either closes both.

        Only what belongs to `projects` is visible, or everything if that is None. Every
        transaction that changes something is logged as made by `actor`; if that is None, by the
        account that called the command, and otherwise not at all.
        """
        seen = copy.copy(self)
        seen._projects = projects  # noqa: SLF001 - it is one of us
        seen._actor = actor  # noqa: SLF001 - the same
        return seen

    def check_first(self, require: Callable[[Connection], None]) -> None:
        """Call `require` in every transaction before anything else, until it raises nothing."""
        self._unchecked.append(require)

    @property
    def is_checked(self) -> bool:
        """Whether nothing is left that was to be checked first."""
        return not self._unchecked

    def hold_to(self, revision: str) -> None:
        """From now on refuse to work with any schema revision but this one.

        The administrator of a team database may upgrade it while programs keep running. A
        transaction then raises `SchemaMismatch` before it writes anything, or when a read fails
        because something no longer exists.
        """
        self._revision = revision

    @property
    def projects(self) -> frozenset[str] | None:
        """The projects that are visible, None for all."""
        return self._projects

    @property
    def actor(self) -> Actor | None:
        """The user to whom changes are attributed."""
        return self._actor or audit_log.ANSWERABLE.get()

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Open one snapshot of the database; every attempt to write fails."""
        # Around the session too, because ending the snapshot may find that the server is gone.
        with (
            unreadable_values_named(self.place),
            missing_parts_named(self.place),
            self._another_schema_explained(),
            translated(self.place, writing_is_allowed=False),
            _session(self._engines.reading) as session,
        ):
            with translated(self.place):
                connection = opened(session.connection)
            # A session whose rollback fails would hold its connection until garbage collection.
            with closing(connection):
                self._check(connection)
                self._confine(session, for_reading=True)
                yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """Open a transaction that is committed at the end, or rolled back by any exception.

        On SQLite it holds the only write lock from the start, so keep it short.
        """
        with (
            unreadable_values_named(self.place),
            missing_parts_named(self.place),
            translated(self.place),
            _session(self._engines.writing) as session,
            session.begin(),
        ):
            connection = opened(session.connection)
            self._check(connection)
            if self._revision is not None:
                require_revision(connection, self._revision, place=self.place)
            self._confine(session, for_reading=False)
            with self._recorded(session):
                yield session

    @contextmanager
    def migrate(self) -> Iterator[Connection]:
        """Like `write`, for schema changes: foreign keys are checked at the end."""
        with (
            missing_parts_named(self.place),
            translated(self.place),
            opened(self._engines.migrating.connect) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def listen(self) -> Iterator[Connection]:
        """Open a connection without transactions, to wait for notifications (PostgreSQL)."""
        with translated(self.place), opened(self._engines.writing.connect) as connection:
            try:
                yield connection.execution_options(isolation_level="AUTOCOMMIT")
            finally:
                # It must not return to the pool, where it would keep listening.
                connection.invalidate()

    @contextmanager
    def watching(self) -> Iterator[Callable[[], bool]]:
        """Yield a function that returns whether there may have been a commit since its last call.

        It always returns False on PostgreSQL, where a commit notifies the listeners.
        """
        if self.dialect != "sqlite":
            yield lambda: False
            return
        with closing(Commits(self._engines.reading)) as commits:
            yield commits.any_since_last_call

    def close(self) -> None:
        """Close all connections, those in use once they are returned; later use opens new ones."""
        self._engines.close()

    @contextmanager
    def _another_schema_explained(self) -> Iterator[None]:
        """Raise `SchemaMismatch` for an error that another schema explains.

        Looking up the revision before each page would cost more than it is worth.
        """
        try:
            yield
        except DBAPIError:
            if self._revision is not None:
                with translated(self.place), opened(self._engines.reading.connect) as connection:
                    require_revision(connection, self._revision, place=self.place)
            raise

    def _check(self, connection: Connection) -> None:
        for require in tuple(self._unchecked):
            require(connection)
        self._unchecked.clear()

    def _confine(self, session: Session, *, for_reading: bool) -> None:
        if self._projects is not None:
            project_access.confine(session, self._projects, for_reading=for_reading)
        if for_reading and load_settings().slices.suppress_below:
            hide_flags_of_slices(session)

    def _recorded(self, session: Session) -> AbstractContextManager[None]:
        actor = self.actor
        if actor is None:
            return nullcontext()
        return audit_log.recorded(session, actor, self.clock())

    def _forget_connections(self) -> None:
        self._engines.abandon()


def _session(engine: Engine) -> Session:
    return Session(engine, expire_on_commit=False, autoflush=False)


_opened: weakref.WeakSet[Database] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    # Training jobs fork, for example to load data. A connection shared by two processes corrupts
    # the file or the protocol, so the child starts with none.
    for database in list(_opened):
        database._forget_connections()  # noqa: SLF001 - this is the other half of the class


os.register_at_fork(after_in_child=_after_fork_in_child)

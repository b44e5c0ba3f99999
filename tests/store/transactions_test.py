"""Reading and writing transactions, the same on both databases."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import event, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from offdiag.errors import DatabaseUnavailable
from offdiag.store.database import Database
from offdiag.store.models import ProjectRow, WorkRow
from support.processes import started
from support.rows import add_project, add_work


def project_names(database: Database) -> list[str]:
    with database.read() as session:
        return list(session.scalars(select(ProjectRow.name).order_by(ProjectRow.name)))


def test_what_was_written_is_there_after_the_end(database: Database) -> None:
    with database.write() as session:
        add_project(session, name="kept")

    assert project_names(database) == ["kept"]


@pytest.mark.parametrize("interruption", [ValueError, KeyboardInterrupt])
def test_an_exception_undoes_everything_and_is_passed_on(
    database: Database, interruption: type[BaseException]
) -> None:
    def write_and_stop() -> None:
        with database.write() as session:
            add_project(session)
            raise interruption("stop here")

    with pytest.raises(interruption, match="stop here"):
        write_and_stop()

    assert project_names(database) == []


def test_an_interrupt_within_a_query_frees_the_database_while_its_traceback_is_kept(
    database: Database,
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def write_and_stop() -> None:
        with database.write() as session:
            add_project(session)
            event.listen(session.connection(), "after_cursor_execute", interrupt)
            session.scalars(select(ProjectRow.name))

    # As notebooks keep the last exception, `kept` keeps the cursor of the query.
    with pytest.raises(KeyboardInterrupt) as kept:
        write_and_stop()

    with database.write() as session:
        add_project(session, name="next")
    assert project_names(database) == ["next"]
    assert kept.traceback


def test_a_broken_constraint_passes_through_and_undoes_everything(database: Database) -> None:
    with database.write() as session:
        add_project(session, name="first")

    def write_a_new_and_a_doubled_name() -> None:
        with database.write() as session:
            add_project(session, name="second")
            add_project(session, name="first")

    with pytest.raises(IntegrityError):
        write_a_new_and_a_doubled_name()

    assert project_names(database) == ["first"]


def test_a_savepoint_undoes_only_its_own_part(database: Database) -> None:
    with database.write() as session:
        add_project(session, name="outer")
        with pytest.raises(IntegrityError), session.begin_nested():
            add_project(session, name="outer")
        add_project(session, name="after")

    assert project_names(database) == ["after", "outer"]


def test_nothing_can_be_written_while_reading(database: Database) -> None:
    with database.write() as session:
        add_project(session)

    for statement in (
        "DELETE FROM project",
        "UPDATE project SET name = 'changed'",
        "INSERT INTO project (name, created_at) VALUES ('new', '2026-01-02 03:04:05')",
        "DROP TABLE work",
    ):
        with pytest.raises(DBAPIError), database.read() as session:
            session.execute(text(statement))

    assert project_names(database) == ["default"]


def test_a_connection_that_was_used_for_reading_can_write_again(database: Database) -> None:
    for number in range(3):
        before = project_names(database)
        with database.write() as session:
            add_project(session, name=f"p{number}")
        assert len(project_names(database)) == len(before) + 1


def test_a_reader_sees_one_snapshot_however_many_statements_it_makes(database: Database) -> None:
    with database.read() as reader:
        assert reader.scalar(text("SELECT count(*) FROM project")) == 0

        with database.write() as session:
            add_project(session)

        assert reader.scalar(text("SELECT count(*) FROM project")) == 0
    assert project_names(database) == ["default"]


def test_rows_can_be_used_after_the_end(database: Database) -> None:
    with database.write() as session:
        row = add_project(session)

    assert row.name == "default"


def test_writing_takes_the_lock_at_the_start(sqlite_database: Database) -> None:
    impatient = Database(sqlite_database.url, busy_timeout_s=0.01)

    with (
        sqlite_database.write(),
        pytest.raises(DatabaseUnavailable, match="holds a lock"),
        impatient.write(),
    ):
        pytest.fail("a second writer must not begin before the first one ends")

    with impatient.write() as session:
        add_project(session)
    impatient.close()


def test_readers_are_not_held_up_by_a_writer(sqlite_database: Database) -> None:
    impatient = Database(sqlite_database.url, busy_timeout_s=0.01)

    with sqlite_database.write() as session:
        add_project(session)
        assert project_names(impatient) == []

    assert project_names(impatient) == ["default"]
    impatient.close()


def test_many_threads_write_without_a_lock_error_or_a_lost_update(
    sqlite_database: Database,
) -> None:
    n_threads, n_updates = 8, 25
    with sqlite_database.write() as session:
        add_work(session)
    together = threading.Barrier(n_threads)

    def count_up() -> None:
        together.wait()
        for _ in range(n_updates):
            with sqlite_database.write() as session:
                row = session.scalars(select(WorkRow)).one()
                row.attempts += 1

    with ThreadPoolExecutor(n_threads) as pool:
        for future in [pool.submit(count_up) for _ in range(n_threads)]:
            future.result()

    with sqlite_database.read() as session:
        assert session.scalar(select(WorkRow.attempts)) == n_threads * n_updates


def test_no_thread_waits_for_a_connection_to_a_file(sqlite_database: Database) -> None:
    n_threads = 40
    all_are_reading = threading.Barrier(n_threads, timeout=30)

    def read_together() -> object:
        with sqlite_database.read() as session:
            all_are_reading.wait()
            return session.scalar(text("SELECT count(*) FROM project"))

    with ThreadPoolExecutor(n_threads) as pool:
        futures = [pool.submit(read_together) for _ in range(n_threads)]
        assert [future.result() for future in futures] == [0] * n_threads


@pytest.mark.processes
def test_several_processes_write_without_a_lock_error_or_a_lost_update(
    database: Database,
) -> None:
    with database.write() as session:
        add_work(session)

    with (
        started("support.count_up", database.url, "40") as one,
        started("support.count_up", database.url, "40") as other,
    ):
        for process in (one, other):
            process.wait_for_line()
        for process in (one, other):
            process.send_line()
        assert [process.result() for process in (one, other)] == [40, 40]

    with database.read() as session:
        assert session.scalar(select(WorkRow.attempts)) == 80


@pytest.mark.processes
def test_a_forked_child_opens_connections_of_its_own(database: Database) -> None:
    with started("support.fork_and_write", database.url) as process:
        result = process.result()

    assert result == {"child": 0, "parent_kept_its_connection": True, "written": 40}
    if database.dialect == "sqlite":
        with database.read() as session:
            assert session.scalar(text("PRAGMA integrity_check")) == "ok"


def test_a_closed_database_opens_again_when_it_is_used(database: Database) -> None:
    assert project_names(database) == []

    database.close()

    assert project_names(database) == []


def test_a_connection_in_use_is_closed_once_it_comes_back_to_a_closed_database(
    database: Database,
) -> None:
    closed: list[object] = []
    event.listen(
        database._engines.writing, "close", lambda connection, _: closed.append(connection)
    )

    with database.read() as session:
        in_use = session.connection().connection.dbapi_connection
        database.close()
        assert closed == []
        assert session.scalar(text("SELECT count(*) FROM project")) == 0

    assert closed == [in_use]
    assert project_names(database) == []
    assert project_names(database) == []
    assert closed == [in_use]


def test_foreign_keys_are_enforced(database: Database) -> None:
    with database.write() as session:
        project = add_project(session)

    with pytest.raises(IntegrityError), database.write() as session:
        session.execute(
            text(
                "INSERT INTO dataset (project_id, name, task, label_set_id, labels_inferred, "
                "created_at) VALUES (:project, 'x', 'binary', 999, true, '2026-01-02 03:04:05')"
            ),
            {"project": project.id},
        )


def test_a_full_disk_undoes_the_transaction_and_leaves_reading(sqlite_database: Database) -> None:
    def write_more_than_fits() -> None:
        with sqlite_database.write() as session:
            add_project(session)
            pages = session.scalar(text("PRAGMA page_count"))
            session.execute(text(f"PRAGMA max_page_count = {pages}"))
            add_work(session, error="x" * 10_000_000)

    with pytest.raises(DatabaseUnavailable, match="the disk is full"):
        write_more_than_fits()

    assert project_names(sqlite_database) == []


def test_a_lost_server_connection_is_reported_and_replaced(postgres_database: Database) -> None:
    def lose_the_connection_while_writing() -> None:
        with postgres_database.write() as session:
            add_project(session)
            own = session.scalar(text("SELECT pg_backend_pid()"))
            with postgres_database.write() as other:
                other.execute(text("SELECT pg_terminate_backend(:own)"), {"own": own})
            add_project(session, name="too late")

    with pytest.raises(DatabaseUnavailable, match=r"the server (is shutting|cannot be)"):
        lose_the_connection_while_writing()

    assert project_names(postgres_database) == []


def test_a_server_connection_that_is_lost_at_the_end_of_reading_is_reported(
    postgres_database: Database,
) -> None:
    def lose_the_connection_after_reading() -> None:
        with postgres_database.read() as session:
            own = session.scalar(text("SELECT pg_backend_pid()"))
            with postgres_database.write() as other:
                other.execute(text("SELECT pg_terminate_backend(:own)"), {"own": own})

    with pytest.raises(DatabaseUnavailable, match=r"the server (is shutting|cannot be)"):
        lose_the_connection_after_reading()

    assert project_names(postgres_database) == []


def test_a_snapshot_that_cannot_be_ended_does_not_keep_its_connection(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = database._engines.reading
    failure = engine.dialect.loaded_dbapi.DatabaseError("the rollback failed")
    returned: list[object] = []

    def refuse(_connection: object) -> None:
        raise failure

    assert project_names(database) == []
    event.listen(engine, "checkin", lambda connection, _: returned.append(connection))
    with monkeypatch.context() as patched:
        patched.setattr(engine.dialect, "do_rollback", refuse)
        with pytest.raises(DBAPIError) as caught:
            project_names(database)

    # As long as the error is held, nothing around it is garbage, which would come back, too.
    assert len(returned) == 1
    assert caught.value.orig is failure
    assert project_names(database) == []


@pytest.mark.parametrize(
    ("setting", "statement", "message"),
    [
        ("statement_timeout", "SELECT pg_sleep(30)", "longer than the time limit"),
        ("lock_timeout", "LOCK TABLE project IN ACCESS EXCLUSIVE MODE", "holds a lock"),
    ],
)
def test_waiting_in_the_server_ends_with_a_sentence(
    postgres_database: Database, setting: str, statement: str, message: str
) -> None:
    def wait() -> None:
        with postgres_database.write() as session:
            session.execute(text(f"SET LOCAL {setting} = '20ms'"))
            session.execute(text(statement))

    with postgres_database.write() as holder:
        add_project(holder)
        with pytest.raises(DatabaseUnavailable, match=message):
            wait()

"""A registry moves from one database to another, and every row is compared on the way."""

from __future__ import annotations

from pathlib import Path
from tempfile import gettempdir

import pytest
from sqlalchemy import update

from offdiag.cli.commands import run as offdiag
from offdiag.domain.runs import RunFacts
from offdiag.errors import Conflict, SchemaMismatch
from offdiag.services.retention.backups import copy_registry
from offdiag.services.verification.verify import verify
from offdiag.store.archive import backup
from offdiag.store.archive.backup import load_archive
from offdiag.store.database import Database
from offdiag.store.models import RunRow
from offdiag.store.run_page import read_run
from support.archives import Registry, held
from support.logging_runs import evaluate, log


def test_a_file_becomes_a_server_and_goes_on(
    filled_sqlite: Registry, postgres_database: Database
) -> None:
    copied = copy_registry(filled_sqlite.database, postgres_database, force=False)

    assert held(postgres_database) == held(filled_sqlite.database)
    assert copied.rows_by_table["run"] == len(held(postgres_database)["run"])
    assert verify(postgres_database).is_clean
    run = log(postgres_database, dataset="new")
    assert evaluate(postgres_database, run.id).matrix.total == 6
    assert not list(Path(gettempdir()).glob("offdiag-copy-*"))


def test_a_row_that_comes_back_different_undoes_the_copy(
    filled_sqlite: Registry, other: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    log(other)
    before = held(other)

    def load_badly(connection: object, *rest: object) -> None:
        load_archive(connection, *rest)  # type: ignore[arg-type]
        connection.execute(update(RunRow).values(name="another"))  # type: ignore[attr-defined]

    monkeypatch.setattr(backup, "load_archive", load_badly)

    with pytest.raises(Conflict, match="is not empty"):
        copy_registry(filled_sqlite.database, other, force=False)
    with pytest.raises(Conflict, match="does not return the rows it was given, in run"):
        copy_registry(filled_sqlite.database, other, force=True)

    assert held(other) == before


NUMBERS = (1e300, -1e20, 1e16, 1.2345678901234567e18, 2**70, 1e15, 0.1, 5e-324, -0.0, 3)


def test_numbers_that_a_server_writes_otherwise_are_copied(
    sqlite_database: Database, postgres_database: Database
) -> None:
    params = {f"x{at}": number for at, number in enumerate(NUMBERS)}
    run = log(sqlite_database, facts=RunFacts(name="huge", params=params))

    copy_registry(sqlite_database, postgres_database, force=False)

    with postgres_database.read() as session:
        copied = read_run(session, run.id).run.params
    assert [float(number) for number in copied.values()] == list(map(float, NUMBERS))
    assert copied["x4"] == 2**70


@pytest.mark.parametrize(
    "other_number", [10**300 + 1, 1.0000000000000002e300], ids=["int", "float"]
)
def test_another_number_is_found_out(
    sqlite_database: Database,
    postgres_database: Database,
    monkeypatch: pytest.MonkeyPatch,
    other_number: float,
) -> None:
    log(sqlite_database, facts=RunFacts(name="huge", params={"penalty": 1e300}))

    def load_badly(connection: object, *rest: object) -> None:
        load_archive(connection, *rest)  # type: ignore[arg-type]
        changed = update(RunRow).values(params={"penalty": other_number})
        connection.execute(changed)  # type: ignore[attr-defined]

    monkeypatch.setattr(backup, "load_archive", load_badly)

    with pytest.raises(Conflict, match=r"in run\.") as caught:
        copy_registry(sqlite_database, postgres_database, force=False)

    assert "Nothing was copied." in (caught.value.hint or "")


def test_a_registry_is_not_copied_onto_itself(sqlite_database: Database) -> None:
    with pytest.raises(Conflict, match="is both ends"):
        copy_registry(sqlite_database, Database(sqlite_database.url), force=True)


def test_there_must_be_something_to_copy(tmp_path: Path, sqlite_database: Database) -> None:
    empty = Database(f"sqlite:///{tmp_path / 'empty.db'}")

    with pytest.raises(SchemaMismatch, match="holds nothing"):
        copy_registry(empty, sqlite_database, force=True)

    assert not (tmp_path / "empty.db").exists()


def test_the_command_says_what_the_target_holds(
    sqlite_database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log(sqlite_database)
    target = f"sqlite:///{tmp_path / 'copied.db'}"

    code = offdiag(["db", "copy", sqlite_database.url, target])

    assert code == 0
    assert "every row was compared." in capsys.readouterr().out
    with_target = Database(target)
    assert held(with_target) == held(sqlite_database)
    with_target.close()

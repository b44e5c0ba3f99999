"""The setting `jobs.engine` names who is told about new work."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import dedent

import pytest

from offdiag.errors import InvalidInput
from offdiag.services.evaluation.recompute import recompute_all
from offdiag.services.jobs.notifiers import LOCAL_BELL, bell_of
from offdiag.services.jobs.procrastinate import PROCRASTINATE_BELL
from offdiag.services.jobs.reconcile import sweep
from offdiag.store.database import Database
from offdiag.store.models import RunRow, WorkRow
from offdiag.store.session import Session
from support.contents import count_rows
from support.logging_runs import POLICY, log, work_off

ENGINE = "OFFDIAG_JOBS__ENGINE"


class Rung:
    """A bell that remembers what it was rung for."""

    def __init__(self) -> None:
        self.work_ids: list[int] = []

    def ring(self, _session: Session, work_ids: Sequence[int]) -> None:
        self.work_ids += work_ids


RUNG = Rung()


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> Rung:
    RUNG.work_ids.clear()
    monkeypatch.setitem(sys.modules, "a_shop", sys.modules[__name__])
    monkeypatch.setenv(ENGINE, "a_shop:RUNG")
    bell_of.cache_clear()
    return RUNG


def test_the_local_bell_is_the_default() -> None:
    assert bell_of("local") is LOCAL_BELL


def test_procrastinate_is_an_entry_point_of_offdiag_itself() -> None:
    assert bell_of("procrastinate") is PROCRASTINATE_BELL


def test_a_bell_is_rung_with_the_work_of_a_logged_run(database: Database, rung: Rung) -> None:
    log(database)

    with database.read() as session:
        (waiting,) = session.query(WorkRow.id).all()
    assert rung.work_ids == [waiting.id]


def test_work_that_waits_already_is_not_rung_for_again_until_the_sweep(
    database: Database, rung: Rung
) -> None:
    log(database)
    rung.work_ids.clear()

    recompute_all(database)
    assert not rung.work_ids
    swept = sweep(database, POLICY)

    assert swept.waiting == len(rung.work_ids) == 1


def test_many_runs_are_rung_for_at_once(database: Database, rung: Rung) -> None:
    for _ in range(3):
        log(database)
    work_off(database)
    rung.work_ids.clear()

    recompute_all(database)

    assert len(rung.work_ids) == len(set(rung.work_ids)) == 3


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        ("celery", "there is no engine 'celery'. Installed are: local, procrastinate."),
        ("no_such_package:BELL", "cannot be loaded: No module named 'no_such_package'."),
        ("sys:no_such_bell", "cannot be loaded: module 'sys' has no attribute"),
        ("sys:path", "'sys:path' is list, which cannot be rung."),
    ],
)
def test_an_engine_that_cannot_be_used_is_named(engine: str, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        bell_of(engine)

    assert said in str(caught.value)
    assert caught.value.field == "jobs.engine"


def test_a_run_is_not_half_logged_when_the_engine_cannot_be_used(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENGINE, "celery")

    with pytest.raises(InvalidInput, match="there is no engine"):
        log(database)

    assert count_rows(database, WorkRow) == 0
    assert count_rows(database, RunRow) == 0


def test_procrastinate_is_refused_on_sqlite(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENGINE, "procrastinate")

    with pytest.raises(InvalidInput, match="keeps its queue in PostgreSQL") as caught:
        log(sqlite_database)

    assert caught.value.hint == 'Use "local" here.'


@pytest.fixture
def distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed distribution that brings the engine `carillon`."""
    info = tmp_path / "carillon-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: carillon\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[offdiag.bells]\ncarillon = carillon:BELL\n")
    (tmp_path / "carillon.py").write_text(
        dedent("""
            class Carillon:
                def __init__(self):
                    self.heard = []

                def ring(self, session, work_ids):
                    self.heard += work_ids

            BELL = Carillon()
        """)
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(ENGINE, "carillon")
    bell_of.cache_clear()
    yield
    sys.modules.pop("carillon", None)
    bell_of.cache_clear()


@pytest.mark.usefixtures("distribution")
def test_a_distribution_brings_a_bell_of_its_own(database: Database) -> None:
    log(database)

    bell = bell_of("carillon")
    assert len(getattr(bell, "heard")) == 1  # noqa: B009 - the type is known to nobody here

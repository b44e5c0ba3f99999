"""The setting `jobs.engine` names who is told about new work."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import dedent

import pytest

from offdiag.errors import InvalidInput
from offdiag.services.evaluation.recompute import recompute_all
from offdiag.services.jobs.reconcile import reconcile
from offdiag.services.jobs.submit import notifier_named
from offdiag.store.database import Database, Session
from offdiag.store.models import RunRow, WorkRow
from support.contents import count_rows
from support.logging_runs import POLICY, log, work_off

ENGINE = "OFFDIAG_JOBS__ENGINE"


class RecordingNotifier:
    """A notifier that records the jobs it was called for."""

    def __init__(self) -> None:
        self.work_ids: list[int] = []

    def notify(self, _session: Session, work_ids: Sequence[int]) -> None:
        self.work_ids += work_ids


NOTIFIER = RecordingNotifier()


@pytest.fixture
def notified(monkeypatch: pytest.MonkeyPatch) -> RecordingNotifier:
    NOTIFIER.work_ids.clear()
    monkeypatch.setitem(sys.modules, "a_shop", sys.modules[__name__])
    monkeypatch.setenv(ENGINE, "a_shop:NOTIFIER")
    notifier_named.cache_clear()
    return NOTIFIER


def test_a_notifier_gets_the_work_of_a_logged_run(
    database: Database, notified: RecordingNotifier
) -> None:
    log(database)

    with database.read() as session:
        (waiting,) = session.query(WorkRow.id).all()
    assert notified.work_ids == [waiting.id]


def test_waiting_work_is_not_notified_again_until_reconciliation(
    database: Database, notified: RecordingNotifier
) -> None:
    log(database)
    notified.work_ids.clear()

    recompute_all(database)
    assert not notified.work_ids
    reconciled = reconcile(database, POLICY)

    assert reconciled.waiting == len(notified.work_ids) == 1


def test_many_runs_are_notified_at_once(database: Database, notified: RecordingNotifier) -> None:
    for _ in range(3):
        log(database)
    work_off(database)
    notified.work_ids.clear()

    recompute_all(database)

    assert len(notified.work_ids) == len(set(notified.work_ids)) == 3


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        ("celery", "there is no engine 'celery'. Installed are: local, procrastinate."),
        ("no_such_package:NOTIFIER", "cannot be loaded: No module named 'no_such_package'."),
        ("sys:no_such_notifier", "cannot be loaded: module 'sys' has no attribute"),
        ("sys:path", "'sys:path' is list, which is not a notifier."),
    ],
)
def test_an_engine_that_cannot_be_used_is_named(engine: str, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        notifier_named(engine)

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


@pytest.fixture(params=[("offdiag.notifiers", "notify"), ("offdiag.bells", "ring")])
def distribution(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """An installed distribution with the engine `carillon`, by the new and the former names."""
    group, method = request.param
    info = tmp_path / "carillon-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: carillon\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\ncarillon = carillon:NOTIFIER\n")
    (tmp_path / "carillon.py").write_text(
        dedent(f"""
            class Carillon:
                def __init__(self):
                    self.heard = []

                def {method}(self, session, work_ids):
                    self.heard += work_ids

            NOTIFIER = Carillon()
        """)
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(ENGINE, "carillon")
    notifier_named.cache_clear()
    yield
    sys.modules.pop("carillon", None)
    notifier_named.cache_clear()


@pytest.mark.usefixtures("distribution")
def test_a_distribution_may_provide_a_notifier(database: Database) -> None:
    log(database)

    notifier = notifier_named("carillon")
    assert len(getattr(notifier, "heard")) == 1  # noqa: B009 - the type is known to nobody here

"""Whatever happens in whatever order, what was acknowledged is there, and scored as it should be.

A model of a registry, which is a dictionary, is compared with a real one. OFFDIAG_LONG lets
hypothesis try for minutes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import select, text, update

from offdiag.domain.runs import RunFacts, RunState
from offdiag.errors import Conflict
from offdiag.services.jobs.attempts import RetryPolicy
from offdiag.services.jobs.kinds import TASKS, Writer
from offdiag.services.jobs.leases import LeaseKeeper
from offdiag.services.jobs.page import retry_all
from offdiag.services.jobs.reconcile import reconcile
from offdiag.services.jobs.run_job import run_next_job
from offdiag.services.retention.deletion import delete_run, restore_run
from offdiag.services.verification.verify import LedgerEntry, verify
from offdiag.store import health, job_lease, jobs
from offdiag.store.database import Database
from offdiag.store.evaluations import current_evaluation
from offdiag.store.jobs import Lease
from offdiag.store.models import Base, EvaluationRow, RunRow, WorkRow
from offdiag.store.runs import RunRecord, get_run
from support.logging_runs import correct_labels, log

CLASSES = ("a", "b", "c")
SAMPLES = tuple("tuvwxyz")
ACTUAL = tuple("aabbcca")
POLICY = RetryPolicy(max_attempts=2, first_delay_s=0.0)
IS_LONG = "OFFDIAG_LONG" in os.environ
EXAMPLES, STEPS = (300, 40) if IS_LONG else (4, 20)

answers_of_a_run = st.lists(
    st.sampled_from(CLASSES), min_size=len(SAMPLES), max_size=len(SAMPLES)
).map(tuple)
any_number = st.integers(0, 1_000)


class LateError(Exception):
    """The lease was lost, so nothing may be written."""


class BoomError(Exception):
    """A computation that fails."""


@dataclass(frozen=True)
class Known:
    """A run as the model has it."""

    run_id: str
    digest: str
    answers: tuple[str, ...]
    deleted: bool = False


@dataclass(frozen=True)
class Begun:
    """What a worker that is neither done nor dead has in its hands."""

    lease: Lease
    writer: Writer


class Registry(RuleBasedStateMachine):
    """Clients, workers and people, one step each at a time."""

    fresh: ClassVar[Iterator[Database]]

    @initialize()
    def begin(self) -> None:
        self.database = next(self.fresh)
        self.truth = dict(zip(SAMPLES, ACTUAL, strict=True))
        self.runs: dict[str, Known] = {}
        self.begun: list[Begun] = []
        self.keeper = LeaseKeeper(self.database, lease_s=3_600)

    @rule(answers=answers_of_a_run)
    def log(self, answers: tuple[str, ...]) -> None:
        key = f"key-{len(self.runs)}"
        run = self._log(key, answers)
        self.runs[key] = Known(run.id, run.content_digest or "", answers)

    @precondition(lambda self: self.runs)
    @rule(number=any_number)
    def log_again(self, number: int) -> None:
        key, known = self._some_run(number)
        if not known.deleted:
            assert self._log(key, known.answers).id == known.run_id

    @precondition(lambda self: self.runs)
    @rule(number=any_number)
    def log_something_else_under_the_same_key(self, number: int) -> None:
        key, known = self._some_run(number)
        other = ("c" if known.answers[0] == "a" else "a", *known.answers[1:])
        with pytest.raises(Conflict):
            self._log(key, other)

    @precondition(lambda self: self.runs)
    @rule(sample=st.sampled_from(SAMPLES), label=st.sampled_from(CLASSES))
    def edit(self, sample: str, label: str) -> None:
        if self.truth[sample] == label:
            with pytest.raises(Conflict):
                self._revise(sample, label)
        else:
            self._revise(sample, label)
            self.truth[sample] = label

    @precondition(lambda self: self.runs)
    @rule(number=any_number)
    def delete(self, number: int) -> None:
        key, known = self._some_run(number)
        delete_run(self.database, known.run_id, by=None)
        self.runs[key] = replace(known, deleted=True)

    @precondition(lambda self: self.runs)
    @rule(number=any_number)
    def restore(self, number: int) -> None:
        key, known = self._some_run(number)
        restore_run(self.database, known.run_id)
        self.runs[key] = replace(known, deleted=False)

    @rule(number=any_number)
    def claim(self, number: int) -> None:
        with self.database.write() as session:
            due = job_lease.due_ids(session, max_attempts=POLICY.max_attempts, limit=100)
            if not due:
                return
            lease = job_lease.claim(
                session,
                due[number % len(due)],
                token=f"token-{number}-{len(self.begun)}",
                lease_s=3_600,
                max_attempts=POLICY.max_attempts,
            )
        assert lease is not None
        self.begun.append(Begun(lease, TASKS["evaluate"].compute(self.database, lease.args)))

    @precondition(lambda self: self.begun)
    @rule(number=any_number)
    def finish(self, number: int) -> None:
        begun = self.begun.pop(number % len(self.begun))
        with suppress(LateError), self.database.write() as session:
            begun.writer(session)
            if not jobs.finish(session, begun.lease):
                raise LateError

    @rule()
    def fail(self) -> None:
        def boom(*_: object) -> Writer:
            raise BoomError

        tasks = {"evaluate": replace(TASKS["evaluate"], compute=boom)}
        run_next_job(self.database, self.keeper, POLICY, tasks)

    @precondition(lambda self: self.begun)
    @rule(number=any_number, is_dead=st.booleans())
    def crash(self, number: int, *, is_dead: bool) -> None:
        """A worker is killed, or so slow that it comes back after its lease ran out."""
        begun = self.begun[number % len(self.begun)]
        with self.database.write() as session:
            session.execute(
                update(WorkRow).where(WorkRow.lease == begun.lease.token).values(lease_until=0.0)
            )
        if is_dead:
            self.begun.remove(begun)

    @rule()
    def run_due_schedules(self) -> None:
        reconcile(self.database, POLICY)

    @rule()
    def lose_all_work(self) -> None:
        with self.database.write() as session:
            session.execute(text("DELETE FROM work"))

    @invariant()
    def nothing_is_half_there(self) -> None:
        with self.database.read() as session:
            assert not list(health.incomplete_runs(session))
            stored = dict(session.execute(select(RunRow.id, RunRow.content_digest)).all())
            standing = session.scalars(
                select(EvaluationRow.run_id).where(EvaluationRow.is_current)
            ).all()
        assert stored == {known.run_id: known.digest for known in self.runs.values()}
        assert len(standing) == len(set(standing))

    def teardown(self) -> None:
        if not hasattr(self, "database"):
            return
        retry_all(self.database)
        for _ in range(3):
            with self.database.write() as session:
                session.execute(
                    update(WorkRow).where(WorkRow.state == "doing").values(lease_until=0.0)
                )
                session.execute(update(WorkRow).values(due=0.0))
            reconcile(self.database, POLICY)
            retry_all(self.database)
            while run_next_job(self.database, self.keeper, RetryPolicy()) is not None:
                pass
        shown = [known for known in self.runs.values() if not known.deleted]
        for known in shown:
            self._assert_scored(known)
        ledger = [
            LedgerEntry(key, known.digest) for key, known in self.runs.items() if not known.deleted
        ]
        checked = verify(self.database, ledger=ledger)
        assert checked.is_clean, checked.findings
        assert checked.n_runs == len(shown)
        self.database.close()

    def _assert_scored(self, known: Known) -> None:
        pairs = list(zip(self.truth.values(), known.answers, strict=True))
        expected = [
            [pairs.count((actual, predicted)) for predicted in CLASSES] for actual in CLASSES
        ]
        with self.database.read() as session:
            assert get_run(session, known.run_id).state is RunState.EVALUATED
            found = current_evaluation(session, known.run_id)
        assert found is not None
        assert found.matrix.counts.tolist() == expected

    def _some_run(self, number: int) -> tuple[str, Known]:
        return list(self.runs.items())[number % len(self.runs)]

    def _log(self, key: str, answers: tuple[str, ...]) -> RunRecord:
        return log(
            self.database,
            y_true=list(ACTUAL),
            y_pred=list(answers),
            labels=list(CLASSES),
            sample_ids=list(SAMPLES),
            facts=RunFacts(name="run", client_key=key),
        )

    def _revise(self, sample: str, label: str) -> None:
        correct_labels(self.database, {sample: label}, author="ana")


def run_machine(databases: Iterator[Database], n_examples: int) -> None:
    class OverThese(Registry):
        fresh = databases

    run_state_machine_as_test(
        OverThese,
        settings=settings(
            max_examples=n_examples,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=not IS_LONG,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_on_sqlite_in_any_order(migrated_file: Path, tmp_path: Path) -> None:
    def copies() -> Iterator[Database]:
        for number in count():
            path = shutil.copy(migrated_file, tmp_path / f"{number}.db")
            yield Database(f"sqlite:///{path}", synchronous="normal")

    run_machine(copies(), EXAMPLES)


def test_on_postgresql_in_any_order(postgres_database: Database) -> None:
    names = ", ".join(table.name for table in Base.metadata.sorted_tables)

    def emptied() -> Iterator[Database]:
        while True:
            database = Database(postgres_database.url)
            with database.write() as session:
                session.execute(text(f"TRUNCATE {names} RESTART IDENTITY CASCADE"))
            yield database

    # Fewer, as each statement goes to a server: what differs from the above are the statements.
    run_machine(emptied(), EXAMPLES // 2)

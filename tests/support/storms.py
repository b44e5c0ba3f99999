"""Workers, and all processes at once, killed while runs are logged; and what came of it."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random

from sqlalchemy import select, update

from offdiag.domain.runs import RunState
from offdiag.services.verification.verify import read_ledger, verify
from offdiag.store import jobs, runs
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, RunRow, WorkRow
from support.contents import count_rows
from support.ledgers import Client, log_until_killed
from support.logging_runs import log
from support.quick_starts import forked
from support.worker_processes import wait_for_results, wait_until, workers

N_WORKERS = 3
LEASE_S = 5.0
"""Workers end themselves after two thirds of it, which a slow machine must not bring about."""


@dataclass(frozen=True)
class Aftermath:
    """What there is after a storm. `wrong` is what `offdiag verify` says of it, ledger in hand.

    `seconds` are those from the end of the storm until everything was evaluated.
    """

    acknowledged: int
    kills: int
    runs: int
    evaluations: int
    wrong: tuple[str, ...]
    seconds: float

    @property
    def lost(self) -> int:
        return max(0, self.acknowledged - self.runs)

    @property
    def doubled_or_missing(self) -> int:
        return abs(self.runs - self.evaluations)


def killing_workers(
    database: Database, folder: Path, random: Random, *, n_runs: int, n_kills: int
) -> Aftermath:
    """Log so many runs beside three workers, of which one is killed at random moments."""
    moments = sorted(random.randrange(n_runs - 10) for _ in range(n_kills))
    client = Client(database, folder / "ledger", random)
    with workers(
        database.url, folder / "log", number=N_WORKERS, lease_s=LEASE_S, supervised=True
    ) as crew:
        for number in range(n_runs // 3):
            client.log(number)
        for moment in moments:
            while client.n_acknowledged < n_runs and count_rows(database, EvaluationRow) < moment:
                client.log(client.n_acknowledged)
            wait_for_results(database, crew, moment)
            time.sleep(random.random() * 0.1)
            crew.kill_one(random)
            crew.start()
        while client.n_acknowledged < n_runs:
            client.log(client.n_acknowledged)
        over = time.monotonic()
        wait_until(lambda: count_rows(database, WorkRow) == 0, crew)
        seconds = time.monotonic() - over
    return aftermath(database, client.ledger, kills=n_kills, seconds=seconds)


def killing_everything(
    database: Database, folder: Path, random: Random, *, rounds: int
) -> Aftermath:
    """Kill all clients and workers in one moment, start workers again, and wait for them.

    `seconds` are the longest of the rounds, from the start of the new workers on.
    """
    ledger = folder / "ledger"
    longest = 0.0
    for number in range(rounds):
        before = count_rows(database, EvaluationRow)
        clients = []
        with (
            workers(
                database.url, folder / "log", number=N_WORKERS, lease_s=LEASE_S, supervised=True
            ) as crew,
            ExitStack() as stack,
        ):
            for name in "ab":
                client = forked(log_until_killed, database.url, str(ledger), f"{number}-{name}")
                stack.callback(client.end)
                clients.append(client)
            wait_for_results(database, crew, before + random.randrange(3, 12))
            time.sleep(random.random() * 0.2)
            for process in (*clients, *crew.living):
                process.kill()
        began = time.monotonic()
        with workers(
            database.url, folder / "log", number=N_WORKERS, lease_s=LEASE_S, supervised=True
        ) as crew:
            wait_until(lambda: count_rows(database, WorkRow) == 0, crew)
        longest = max(longest, time.monotonic() - began)
    return aftermath(database, ledger, kills=rounds * (N_WORKERS + 2), seconds=longest)


@dataclass(frozen=True)
class Poisoned:
    """How often work was started that kills its worker, and what became of it and the others."""

    starts: int
    state: RunState
    error: str | None
    healthy_s: float


def poisoned(
    database: Database, folder: Path, random: Random, *, n_healthy: int, lease_s: float
) -> Poisoned:
    """Ask for a run that kills whoever evaluates it, then for healthy ones, and wait for all.

    The leases of the dead are not waited for.
    """
    poison = log(database, dataset="poison")
    client = Client(database, folder / "ledger", random)
    for number in range(n_healthy):
        client.log(number)
    with workers(
        database.url,
        folder / "log",
        number=N_WORKERS,
        lease_s=lease_s,
        poison=poison.id,
        supervised=True,
    ) as crew:
        began = time.monotonic()
        wait_for_results(database, crew, n_healthy)
        healthy_s = time.monotonic() - began
        for n_dead in range(1, 6):
            wait_until(lambda: crew.said().count("poisoned") >= n_dead, crew)  # noqa: B023
            _let_leases_run_out(database)
        wait_until(lambda: _state(database, poison.id) is RunState.FAILED, crew)
    with database.read() as session:
        (dead,) = session.scalars(select(WorkRow))
        assert dead.state == "dead"
    state = _state(database, poison.id)
    return Poisoned(crew.said().count("poisoned"), state, dead.error, healthy_s)


def _let_leases_run_out(database: Database) -> None:
    with database.write() as session:
        session.execute(update(WorkRow).where(WorkRow.state == "doing").values(lease_until=0.0))


def _state(database: Database, run_id: str) -> RunState:
    with database.read() as session:
        return runs.get_run(session, run_id).state


@dataclass(frozen=True)
class Crowded:
    """What a crowded machine did to work: leases that were lost over it, and what came of it."""

    losses: int
    given_up: int
    after: Aftermath


def crowding(
    database: Database,
    folder: Path,
    random: Random,
    *,
    n_runs: int,
    lease_s: float,
    n_busy: int,
    n_stalls: int,
) -> Crowded:
    """Log so many runs beside three workers that get too little time to keep their short leases.

    So many processes compete with them for the processors, and now and then one worker stands
    still for longer than its lease.
    """
    client = Client(database, folder / "ledger", random)
    busy = [forked(_be_busy) for _ in range(n_busy)]
    try:
        with workers(
            database.url, folder / "log", number=N_WORKERS, lease_s=lease_s, supervised=True
        ) as crew:
            for number in range(n_stalls):
                while client.n_acknowledged < n_runs * (number + 1) // n_stalls:
                    client.log(client.n_acknowledged)
                crew.stall_one(random, 1.3 * lease_s)
                crew.look_after()
            over = time.monotonic()
            wait_until(lambda: _left(database) == 0, crew, timeout_s=240 + n_runs)
            seconds = time.monotonic() - over
            said = crew.said()
    finally:
        for process in busy:
            process.end()
    return Crowded(
        losses=said.count("event=lease_lost") + said.count("outcome=lost"),
        given_up=count_rows(database, WorkRow),
        after=aftermath(database, client.ledger, seconds=seconds),
    )


def _be_busy() -> None:
    while True:
        sum(range(1_000))


def _left(database: Database) -> int:
    """Work that somebody will still do."""
    with database.read() as session:
        states = jobs.count_by_state(session)
    return states["todo"] + states["doing"]


def aftermath(
    database: Database,
    ledger: Path,
    *,
    kills: int = 0,
    seconds: float = 0.0,
    evaluated: bool = True,
) -> Aftermath:
    """What there is, whether or not everything was `evaluated` yet."""
    entries = read_ledger(ledger)
    found = verify(database, ledger=entries)
    return Aftermath(
        acknowledged=len(entries),
        kills=kills,
        runs=count_rows(database, RunRow),
        evaluations=count_rows(database, EvaluationRow if evaluated else RunRow),
        wrong=tuple(f"{finding.subject}: {finding.sentence}" for finding in found.findings),
        seconds=seconds,
    )

"""Long versions of the short tests in tests/faults: many seeds, many kills, both databases.

python benchmarks/storm.py [--seeds 20] [--runs 500] [--minutes 5]

Ends with results/storm.json, and with the table of it in docs/contributing/reliability.md.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from random import Random
from statistics import quantiles
from tempfile import TemporaryDirectory

from harness import Report

from offdiag.services.verification.checks import FindingKind
from offdiag.services.verification.verify import verify
from offdiag.store.database import Database
from offdiag.store.schema import open_database, upgrade

TESTS = Path(__file__).parents[1] / "tests"
# Forked processes search for modules where this one does, and get the path by variable too.
sys.path.insert(0, str(TESTS))
os.environ["PYTHONPATH"] = str(TESTS)

KILLS_PER_RUN = 1 / 15
ROUNDS_OF_A_SEED = 2
LEASE_S = 3.0
BUSY_FOR_EACH_CORE = 6
N_STALLS = 6
N_COMMITS = 100
N_PIECES = 500
N_TAKEOVERS = 10
N_FIRES = 600
SPEED = 600.0
KILL_EVERY_S = 2.0
N_WRITERS = 16
N_HEALTHY = 100
LOCKED_S = 20.0

MakeDatabase = Callable[[Path], Database]


def main() -> None:
    wanted = _arguments()
    report = Report("storm", libraries=("sqlalchemy", "psycopg", "apscheduler"))
    with ExitStack() as stack:
        makers = {"SQLite": _file, "PostgreSQL": stack.enter_context(_server())}
        for kind, make in makers.items():
            _kills(report, kind, make, seeds=wanted.seeds, n_runs=wanted.runs)
            _everything(report, kind, make, seeds=wanted.seeds)
            _crowded(report, kind, make, seeds=wanted.seeds, n_runs=wanted.runs)
            _poison(report, kind, make)
            _starts(report, kind, make)
            _fires(report, kind, make)
            # Hours may have passed by then.
            report.save()
    _crowd(report, minutes=wanted.minutes)
    report.save()
    from storm_table import write_table

    write_table()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="storms on each database")
    parser.add_argument("--runs", type=int, default=500, help="acknowledged runs of each storm")
    parser.add_argument("--minutes", type=float, default=5.0, help="of many writers on SQLite")
    return parser.parse_args()


def _kills(report: Report, kind: str, make: MakeDatabase, *, seeds: int, n_runs: int) -> None:
    from support.storms import killing_workers

    found = []
    for seed in range(seeds):
        with _fresh(make) as (database, folder):
            found.append(
                killing_workers(
                    database,
                    folder,
                    Random(seed),
                    n_runs=n_runs,
                    n_kills=round(n_runs * KILLS_PER_RUN),
                )
            )
        print(f"{kind}, seed {seed}: {found[-1]}", flush=True)
    name = f"workers killed while runs are logged, {kind}"
    report.fact(f"{name}: storms", len(found))
    report.fact(f"{name}: kills", sum(each.kills for each in found))
    report.fact(f"{name}: acknowledged runs", sum(each.acknowledged for each in found))
    _none(report, f"{name}: runs lost", sum(each.lost for each in found))
    _none(report, f"{name}: doubled or missing", sum(each.doubled_or_missing for each in found))
    _none(report, f"{name}: findings of verify", sum(len(each.wrong) for each in found))


def _everything(report: Report, kind: str, make: MakeDatabase, *, seeds: int) -> None:
    from support.storms import LEASE_S as LEASE_OF_STORMS
    from support.storms import killing_everything

    found = []
    for seed in range(seeds):
        with _fresh(make) as (database, folder):
            found.append(
                killing_everything(database, folder, Random(seed), rounds=ROUNDS_OF_A_SEED)
            )
        print(f"{kind}, seed {seed}: {found[-1]}", flush=True)
    name = f"all processes killed at once, {kind}"
    report.fact(f"{name}: times", len(found) * ROUNDS_OF_A_SEED)
    report.fact(f"{name}: acknowledged runs", sum(each.acknowledged for each in found))
    _none(report, f"{name}: runs lost", sum(each.lost for each in found))
    _none(report, f"{name}: doubled or missing", sum(each.doubled_or_missing for each in found))
    _none(report, f"{name}: findings of verify", sum(len(each.wrong) for each in found))
    report.goal(
        f"{name}: seconds until all is evaluated",
        measured=max(each.seconds for each in found),
        wanted=LEASE_OF_STORMS + 5,
        at_least=False,
    )


def _crowded(report: Report, kind: str, make: MakeDatabase, *, seeds: int, n_runs: int) -> None:
    from support.storms import crowding

    n_busy = BUSY_FOR_EACH_CORE * (os.cpu_count() or 1)
    found = []
    for seed in range(seeds):
        with _fresh(make) as (database, folder):
            found.append(
                crowding(
                    database,
                    folder,
                    Random(seed),
                    n_runs=n_runs,
                    lease_s=LEASE_S,
                    n_busy=n_busy,
                    n_stalls=N_STALLS,
                )
            )
        print(f"{kind}, seed {seed}: {found[-1]}", flush=True)
    name = f"lease {LEASE_S:g} s, {n_busy} busy processes beside 3 workers, {kind}"
    report.fact(f"{name}: storms", len(found))
    report.fact(f"{name}: acknowledged runs", sum(each.after.acknowledged for each in found))
    report.fact(f"{name}: leases lost", sum(each.losses for each in found))
    _none(report, f"{name}: runs failed", sum(each.given_up for each in found))
    _none(report, f"{name}: runs lost", sum(each.after.lost for each in found))
    _none(
        report,
        f"{name}: doubled or missing",
        sum(each.after.doubled_or_missing for each in found),
    )
    _none(report, f"{name}: findings of verify", sum(len(each.after.wrong) for each in found))


def _poison(report: Report, kind: str, make: MakeDatabase) -> None:
    from support.storms import poisoned

    with _fresh(make) as (database, folder):
        found = poisoned(database, folder, Random(0), n_healthy=N_HEALTHY, lease_s=LEASE_S)
        # The run has no result and no longer any job: that must be found, exactly once.
        findings = verify(database).findings
        n_stuck = sum(each.kind is FindingKind.STUCK for each in findings)
    name = f"a run that kills its worker, {kind}"
    report.goal(f"{name}: stuck work that verify finds", measured=n_stuck, wanted=1)
    _none(report, f"{name}: other findings of verify", len(findings) - 1)
    report.goal(f"{name}: starts, at least", measured=found.starts, wanted=5)
    report.goal(f"{name}: starts, at most", measured=found.starts, wanted=5, at_least=False)
    report.goal(
        f"{name}: seconds until {N_HEALTHY} healthy ones are evaluated",
        measured=found.healthy_s,
        wanted=30,
        at_least=False,
    )


def _starts(report: Report, kind: str, make: MakeDatabase) -> None:
    from support.starts import delay_after_kill, delays_after_commits, rate_of_one_worker

    with _fresh(make) as (database, folder):
        delays = delays_after_commits(database, folder / "notes", number=N_COMMITS)
    report.goal(
        f"from commit to start, idle worker, {kind}: p95, ms",
        measured=1000 * quantiles(delays, n=20)[-1],
        wanted=250 if kind == "SQLite" else 100,
        at_least=False,
    )
    with _fresh(make) as (database, folder):
        rate = rate_of_one_worker(database, folder / "notes", number=N_PIECES)
    report.goal(f"empty pieces of work a second, one worker, {kind}", measured=rate, wanted=200)
    longest = 0.0
    for _ in range(N_TAKEOVERS):
        with _fresh(make) as (database, folder):
            delay = delay_after_kill(database, folder / "notes", lease_s=LEASE_S)
        longest = max(longest, delay)
    report.goal(
        f"from kill to next start, lease {LEASE_S:g} s, {N_TAKEOVERS} times, {kind}: longest, s",
        measured=longest,
        wanted=LEASE_S + 2,
        at_least=False,
    )


def _fires(report: Report, kind: str, make: MakeDatabase) -> None:
    from support.hasty_schedulers import fires_under_kills

    with _fresh(make) as (database, _):
        found = fires_under_kills(
            database, Random(0), n_fires=N_FIRES, speed=SPEED, kill_every_s=KILL_EVERY_S
        )
        n_wrong = len(verify(database).findings)
    name = f"four schedulers, one killed every {KILL_EVERY_S:g} s, {kind}"
    report.fact(f"{name}: kills", found.kills)
    report.goal(f"{name}: planned times", measured=found.planned, wanted=N_FIRES)
    _none(report, f"{name}: times without an edition", abs(found.planned - found.stood_for))
    _none(report, f"{name}: times with two editions", found.doubled)
    _none(report, f"{name}: findings of verify", n_wrong)


def _crowd(report: Report, *, minutes: float) -> None:
    from support.crowds import crowd
    from support.storms import aftermath

    with _fresh(_file) as (database, folder):
        found = crowd(
            database,
            folder / "ledger",
            n_writers=N_WRITERS,
            seconds=60 * minutes,
            locked_s=min(LOCKED_S, 20 * minutes),
        )
        after = aftermath(database, folder / "ledger", evaluated=False)
    name = f"{N_WRITERS} processes log into one file for {minutes:g} minutes"
    report.fact(f"{name}: acknowledged runs", found.acknowledged)
    report.fact(f"{name}: seconds that the file was locked meanwhile", min(LOCKED_S, 20 * minutes))
    _none(report, f"{name}: refused", found.refused)
    _none(report, f"{name}: runs lost", after.lost)
    _none(report, f"{name}: findings of verify", len(after.wrong))
    report.goal(
        f"{name}: longest wait beside the locked seconds, s",
        measured=max(0.0, found.slowest_s - min(LOCKED_S, 20 * minutes)),
        wanted=10,
        at_least=False,
    )
    report.goal(
        f"{name}: longest write-ahead log, MiB",
        measured=found.longest_log_bytes / 2**20,
        wanted=256,
        at_least=False,
    )


def _none(report: Report, name: str, measured: float) -> None:
    report.goal(name, measured=measured, wanted=0, at_least=False)


@contextmanager
def _fresh(make: MakeDatabase) -> Iterator[tuple[Database, Path]]:
    with (
        TemporaryDirectory(prefix="offdiag-storm-") as name,
        closing(make(Path(name))) as database,
    ):
        yield database, Path(name)


def _file(folder: Path) -> Database:
    return open_database(f"sqlite:///{folder / 'registry.db'}", synchronous="normal")


@contextmanager
def _server() -> Iterator[MakeDatabase]:
    from support.postgres import lasting_server

    with lasting_server() as server:
        numbers = iter(range(1_000_000))

        def make(_folder: Path) -> Database:
            database = Database(server.create(f"storm_{next(numbers)}"))
            upgrade(database)
            return database

        yield make


if __name__ == "__main__":
    main()

"""Seed a registry, measure its pages, let clients loose on it: `python -m load`.

    python -m load [--quick] [--base sqlite] [--folder DIR]

On each database a registry of 10,000 and one of 100,000 runs is seeded and their pages are
measured; then 32 training clients and 20 readers use the larger one for three minutes, and what
was acknowledged is compared with what is there. At last 200 readers ask it for five minutes for
far more than it can answer. Needs 8 GB of disk. `--quick` does all of it
with 2,000 runs in two or three minutes, and writes nothing down.
"""

from __future__ import annotations

import argparse
import logging
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import structlog
from harness import Report

from load.document import write_document
from load.overload import Overload, overload
from load.overload_goals import hold_overload
from load.page_goals import hold_pages
from load.pages import Pages, measure_pages
from load.plan import FULL, QUICK, TENTH, TINY, Plan
from load.processes import postgres_url
from load.sample import recomputed
from load.seed import seed
from load.storm import Storm, let_loose
from load.storm_goals import hold_storm
from offdiag.store.database import Database
from offdiag.store.schema import upgrade

BASES = ("sqlite", "postgresql")


@dataclass(frozen=True, slots=True)
class Run:
    """How much of everything: two sizes of a registry, turns of pages, a storm, a crowd."""

    small: Plan
    large: Plan
    turns: int
    checked: int
    storm: Storm
    overload: Overload


WHOLE = Run(
    TENTH,
    FULL,
    turns=40,
    checked=200,
    storm=Storm(
        clients=32,
        readers=20,
        workers=2,
        seconds=180,
        client_pause_s=8,
        reader_pause_s=4,
        evaluated_within_s=600,
    ),
    overload=Overload(readers=200, pause_s=1.0, seconds=300, warm_s=60),
)
SHORT = Run(
    TINY,
    QUICK,
    turns=5,
    checked=20,
    storm=replace(WHOLE.storm, clients=8, readers=5, seconds=15, client_pause_s=4),
    overload=replace(WHOLE.overload, readers=60, seconds=15, warm_s=5),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small one, to see that it works")
    parser.add_argument("--base", choices=BASES, action="append", help="default: both")
    parser.add_argument("--seconds", type=float, help="of the storm; default 180")
    parser.add_argument("--folder", type=Path, help="where an SQLite file is kept and used again")
    options = parser.parse_args()
    # The pages are asked for in this process, and each would write a line.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    run = SHORT if options.quick else WHOLE
    if options.seconds is not None:
        run = replace(run, storm=replace(run.storm, seconds=options.seconds))
    reports = []
    for base in options.base or BASES:
        report = measure(base, run, options.folder)
        reports.append(report)
        if not options.quick:
            # The next base takes a quarter of an hour, and may fail.
            report.save()
            write_document()
    missed = [f"{r.name}: {goal.name}" for r in reports for goal in r.goals if not goal.is_met]
    print(f"\nmissed: {'; '.join(missed) or 'nothing'}")
    sys.exit(bool(missed))


def measure(base: str, run: Run, kept: Path | None = None) -> Report:
    """Everything on one kind of database."""
    report = Report(
        f"load-{base}", libraries=("flask", "gunicorn", "psycopg", "sqlalchemy", "waitress")
    )
    with tempfile.TemporaryDirectory(prefix="load-") as folder:
        with _registry(base, run.small, Path(folder), None) as database:
            small, _ = _seeded(database, run.small, run.turns)
        with _registry(base, run.large, Path(folder), kept) as database:
            large, seconds = _seeded(database, run.large, run.turns)
            report.fact("runs in the registry", run.large.n_runs)
            report.fact("datasets in the registry", len(run.large.datasets))
            report.fact("predictions in the registry", run.large.n_predictions)
            if seconds is not None:
                report.fact("seeded in, s", round(seconds))
            hold_pages(report, base, small, large)
            wrong = recomputed(database, run.checked)
            report.goal(
                f"of {run.checked} seeded runs computed again, wrong",
                measured=wrong,
                wanted=0,
                at_least=False,
            )
            with _copied(database, Path(folder), kept) as used:
                hold_storm(report, run.storm, let_loose(run.storm, used, Path(folder) / "storm"))
                crowded = overload(run.overload, used, Path(folder) / "overload")
                hold_overload(report, run.overload, crowded)
    return report


def _seeded(database: Database, plan: Plan, turns: int) -> tuple[Pages, float | None]:
    """Pages of a registry, and the seconds that seeding took, None if it was there."""
    path = database.path
    is_there = path is not None and path.exists()
    seconds = None
    if is_there:
        upgrade(database)
    else:
        seconds = seed(database, plan, print)
    return measure_pages(database, turns=turns), seconds


@contextmanager
def _registry(base: str, plan: Plan, folder: Path, kept: Path | None) -> Iterator[Database]:
    """A database of its own for a plan."""
    if base == "postgresql":
        with postgres_url("load") as url, closing(Database(url)) as database:
            yield database
    else:
        file = (kept or folder) / f"load-{plan.n_runs}.db"
        with closing(Database(f"sqlite:///{file}")) as database:
            yield database


@contextmanager
def _copied(database: Database, folder: Path, kept: Path | None) -> Iterator[Database]:
    """A copy for clients, where the file is kept: it stays as it was seeded."""
    if kept is None or database.path is None:
        yield database
        return
    database.close()
    file = folder / "used.db"
    shutil.copyfile(database.path, file)
    with closing(Database(f"sqlite:///{file}")) as used:
        yield used
    file.unlink()


if __name__ == "__main__":
    main()

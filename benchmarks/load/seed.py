"""Fill a registry: `python -m load.seed URL [--plan full]`.

Any registry will do that is empty: `sqlite:///file` or `postgresql://…`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import perf_counter

from sqlalchemy import text

from load.copies import copy_runs, read_originals
from load.originals import log_originals
from load.plan import PLANS, Plan
from load.tables import copying, count_on_from, without_index_of_values
from offdiag.store.database import Database
from offdiag.store.schema import upgrade

Say = Callable[[str], None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--plan", choices=sorted(PLANS), default="full")
    options = parser.parse_args()
    database = Database(options.url, synchronous="normal")
    try:
        seed(database, PLANS[options.plan], print)
    finally:
        database.close()


def seed(database: Database, plan: Plan, say: Say) -> float:
    """Fill an empty registry as the plan says; returns the seconds that took."""
    started = perf_counter()
    upgrade(database)
    logged = []
    for dataset in plan.datasets:
        logged.append(log_originals(database, dataset, plan.n_originals))
        if dataset.place % 20 == 19:
            say(f"{dataset.place + 1} datasets logged and evaluated, {_since(started)}")
    now = database.clock()
    with without_index_of_values(database):
        for each in logged:
            found = read_originals(database, each)
            with copying(database) as connection:
                copy_runs(connection, each, found, now=now)
                count_on_from(connection)
            if each.dataset.place % 20 == 19:
                say(f"{each.dataset.place + 1} datasets filled, {_since(started)}")
    _settle(database)
    say(f"{plan.n_runs} runs, {plan.n_predictions} predictions, {_since(started)}")
    return perf_counter() - started


def _settle(database: Database) -> None:
    """What PostgreSQL does by itself within minutes, and should not do while we measure."""
    if database.dialect == "postgresql":
        with database.listen() as connection:
            connection.execute(text("SET statement_timeout = 0"))
            connection.execute(text("VACUUM ANALYZE"))


def _since(started: float) -> str:
    return f"{perf_counter() - started:.0f} s"


if __name__ == "__main__":
    main()

"""Let a small load go on for long while something breaks now and then: `python -m soak`.

    python -m soak [--hours 24] [--every-minutes 5] [--base both] [--seed 1] [--quick]

By default five minutes on each database with a fault every 20 seconds. Ends with a record in
results/soak.json, and with the tables of all records in docs/contributing/reliability.md.
`--quick` does all of it in two or three minutes, and writes nothing down.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import structlog
from harness import Report

from soak.course import go_through
from soak.databases import BASES, place
from soak.document import write_tables
from soak.goals import hold_soak
from soak.plan import Soak
from soak.records import keep

_HOURS = 5 / 60
_EVERY_MINUTES = 1 / 3
_QUICK = Soak(seconds=40.0, fault_every_s=5.0, seed=1, capacity_s=5.0)


def main() -> None:
    options = _arguments()
    # Whatever this process does to registries would write a line.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    plan = Soak(
        seconds=3600 * options.hours, fault_every_s=60 * options.every_minutes, seed=options.seed
    )
    if options.quick:
        plan = replace(_QUICK, seed=options.seed)
    bases = tuple(BASES) if options.base == "both" else (options.base,)
    reports = []
    for base in bases:
        reports.append(measure(base, plan))
        if not options.quick:
            # The next base takes as long, and may fail.
            keep(reports[-1], base)
            write_tables()
    missed = [goal.name for report in reports for goal in report.goals if not goal.is_met]
    print(f"\nmissed: {'; '.join(missed) or 'nothing'}")
    sys.exit(bool(missed))


def measure(base: str, plan: Soak) -> Report:
    """One soak on one kind of database."""
    report = Report(
        f"soak-{base}",
        libraries=("apscheduler", "flask", "gunicorn", "psycopg", "sqlalchemy", "waitress"),
    )
    with (
        tempfile.TemporaryDirectory(prefix="soak-") as folder,
        place(base, Path(folder)) as somewhere,
    ):
        after = go_through(plan, somewhere, Path(folder), print)
    for sentence in (*after.watch.troubles, *after.watch.ends, *after.findings):
        print(sentence)
    hold_soak(report, plan, after)
    return report


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=_HOURS, help="of load on each database")
    parser.add_argument(
        "--every-minutes", type=float, default=_EVERY_MINUTES, help="one fault in each such span"
    )
    parser.add_argument("--base", choices=(*BASES, "both"), default="both")
    parser.add_argument("--seed", type=int, default=1, help="of the faults and of what is logged")
    parser.add_argument("--quick", action="store_true", help="a short one, to see that it works")
    return parser.parse_args()


if __name__ == "__main__":
    main()

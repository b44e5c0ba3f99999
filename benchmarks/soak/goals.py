"""What a soak is held to: nothing lost, everything evaluated, and nothing that grows."""

from __future__ import annotations

from collections.abc import Sequence

from harness import Report

from soak.course import Aftermath
from soak.growth import Grown, growth_of
from soak.plan import Soak
from soak.trend import trend

MOST_FILES, MOST_THREADS, MOST_CONNECTIONS = 3, 2, 3
"""How many more there may be in the last quarter than in the first: requests come and go."""
MOST_FILES_BEYOND, MOST_THREADS_BEYOND = 6, 4
"""How many more a process may have than another one: pools fill as they happen to be needed."""
MOST_MEMORY = 1.1
"""Memory in the last quarter over that in the first: as flat as a server in overload must be."""

LEAST_SHARE = 0.1
"""Of the capacity; a soak in which clients mostly wait would show nothing."""


def hold_soak(report: Report, plan: Soak, after: Aftermath) -> None:
    """Say what was done, and compare what is there with what must be."""
    grown = growth_of(after.watch.lives, plan)
    _tell_load(report, plan, after)
    _tell_faults(report, after)
    _tell_growth(report, grown)
    _hold_books(report, after)
    _hold_processes(report, after, grown)
    _hold_connections(report, plan, after)


def _tell_load(report: Report, plan: Soak, after: Aftermath) -> None:
    rates, capacity = after.watch.rates, after.capacity
    report.fact("minutes of load", round(plan.seconds / 60, 2))
    report.fact("capacity, runs a second", round(capacity.runs_per_s, 2))
    report.fact("capacity, pages a second beside them", round(capacity.pages_per_s, 2))
    report.fact("runs logged a second", round(rates.runs_per_s, 2))
    report.fact("pages read a second", round(rates.pages_per_s, 2))
    report.fact("acknowledged runs", after.books.acknowledged)
    report.fact("runs that clients kept while a server was away, and sent later", after.n_kept)
    report.fact("predictions", after.books.predictions)
    report.fact("from the end of a run to its result, p50, s", after.books.waited_p50_s)
    report.fact("from the end of a run to its result, p95, s", after.books.waited_p95_s)
    report.fact("answers, 0 where a connection was cut", str(after.answered))
    report.goal(
        "runs logged, of the capacity",
        measured=rates.runs_per_s / capacity.runs_per_s,
        wanted=LEAST_SHARE,
    )


def _tell_faults(report: Report, after: Aftermath) -> None:
    for kind, number in sorted(after.watch.faults.items()):
        report.fact(f"times that there was: {kind}", number)
    report.fact("servers and workers started again", after.watch.n_programs_restarted)
    report.fact("clients started again", after.watch.n_clients_restarted)


def _tell_growth(report: Report, grown: Sequence[Grown]) -> None:
    for each in grown:
        spared = f"{each.role} that no fault hit"
        report.fact(f"{spared}: processes", each.n_lasting)
        report.fact(f"{spared}: open files, first and last quarter", str(each.files))
        report.fact(f"{spared}: threads, first and last quarter", str(each.threads))
        report.fact(f"{spared}: memory, MiB, first and last quarter", str(each.memory_mib))
        report.fact(f"{each.role} that faults hit: processes old enough", each.n_restarted)


def _hold_books(report: Report, after: Aftermath) -> None:
    books = after.books
    _at_most(report, "acknowledged runs lost", books.lost)
    _at_most(report, "runs stored twice", books.doubled)
    _at_most(report, "runs without a result", books.unevaluated)
    _at_most(report, "runs evaluated more than once", books.evaluated_again)
    _at_most(report, "findings of verify", len(after.findings))
    _at_most(report, "answers that are errors", after.answered.errors)


def _hold_processes(report: Report, after: Aftermath, grown: Sequence[Grown]) -> None:
    _at_most(
        report, "faults that were not got over, and clients that failed", len(after.watch.troubles)
    )
    _at_most(report, "servers and workers that ended by themselves", len(after.watch.ends))
    for each in grown:
        spared, hit = f"{each.role} that no fault hit", f"{each.role} that faults hit"
        _at_most(report, f"{spared}: processes that did not live through", each.n_gone)
        _at_most(report, f"{spared}: open files, growth", each.files.growth, MOST_FILES)
        _at_most(report, f"{spared}: threads, growth", each.threads.growth, MOST_THREADS)
        _at_most(report, f"{spared}: memory, growth", each.memory_mib.ratio, MOST_MEMORY)
        if each.n_restarted:
            _at_most(
                report, f"{hit}: open files beyond those", each.files_beyond, MOST_FILES_BEYOND
            )
            _at_most(
                report, f"{hit}: threads beyond those", each.threads_beyond, MOST_THREADS_BEYOND
            )


def _hold_connections(report: Report, plan: Soak, after: Aftermath) -> None:
    watch = after.watch
    found = trend(watch.connections_at_s, watch.connections, warm_until_s=plan.warm_s)
    if found is None:
        raise RuntimeError("connections were looked at too seldom")
    report.fact("connections to the database, first and last quarter", str(found))
    _at_most(report, "connections to the database, growth", found.growth, MOST_CONNECTIONS)


def _at_most(report: Report, name: str, measured: float, wanted: float = 0) -> None:
    report.goal(name, measured=measured, wanted=wanted, at_least=False)

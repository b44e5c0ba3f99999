"""The soak: which faults come, what counts as growth, what is red, and what is written down."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from harness import Report

from load.ledger_balance import Books
from load.observations import NO_RESPONSE, Observation
from soak import faults
from soak.capacity import Rates
from soak.course import Aftermath, go_through
from soak.databases import place
from soak.document import soak_tables
from soak.goals import hold_soak
from soak.growth import growth_of
from soak.plan import PlannedFault, Soak, planned_faults
from soak.programs import Program
from soak.records import keep, read_records
from soak.responses import Answered, Answers, answered
from soak.samples import Life, Sample, sampled
from soak.trend import Trend, trend
from soak.watch import Watch

PLAN = Soak(seconds=200.0, fault_every_s=20.0, seed=1)
KINDS = ("a", "b", "c")
CALM = Sample(files=20, threads=10, memory_mib=150.0, handles=4)
N_LOOKS = 100
SLEEPER = "import time\nwhile True: time.sleep(60)"


def planned(seed: int) -> list[PlannedFault]:
    return planned_faults(KINDS, seconds=180, every_s=20, random=Random(seed))


def life(
    role: str = "web server",
    *,
    is_exposed: bool = False,
    from_s: float = 0.0,
    until_s: float = 200.0,
    look: Callable[[float], Sample] = lambda _at_s: CALM,
) -> Life:
    at_s = [2.0 * n for n in range(N_LOOKS) if from_s <= 2.0 * n <= until_s]
    return Life(role, 1, is_exposed, at_s, [look(at) for at in at_s])


def aftermath(**changes: Any) -> Aftermath:
    """What there is after a soak in which nothing went wrong."""
    at_s = [2.0 * n for n in range(N_LOOKS)]
    watch = Watch(
        lives=[life(), life("worker"), life(is_exposed=True, from_s=60, until_s=120)],
        connections_at_s=at_s,
        connections=[20] * N_LOOKS,
        rates=Rates(1.0, 8.0),
    )
    books = Books(9, 9, 900, 0, 0, 0, 0, 0.1, 0.2)
    return replace(
        Aftermath(Rates(5.0, 40.0), watch, Answered({200: 9}, 0), books, 0, ()), **changes
    )


def missed(after: Aftermath) -> list[str]:
    report = Report("soak-test")
    hold_soak(report, PLAN, after)
    return [goal.name for goal in report.goals if not goal.is_met]


def test_each_span_has_one_fault_and_a_seed_has_its_own() -> None:
    found = planned(1)

    assert [int(fault.at_s / 20) for fault in found] == list(range(9))
    assert found == planned(1)
    assert found != planned(2)


def test_every_kind_comes_once_before_any_comes_again() -> None:
    kinds = [fault.kind for fault in planned(3)]

    assert all(sorted(kinds[at : at + 3]) == list(KINDS) for at in (0, 3, 6))


def test_faults_of_a_database_are_thrown_at_that_kind_alone() -> None:
    on_sqlite, on_postgres = faults.kinds_for("sqlite"), faults.kinds_for("postgresql")

    assert set(on_sqlite) & set(on_postgres) == set(faults.EVERYWHERE)
    assert set(on_sqlite) | set(on_postgres) == set(faults.ALL)
    assert "all connections terminated" in set(on_postgres) - set(on_sqlite)


@pytest.mark.parametrize(
    ("value", "growth"),
    [
        (lambda _at_s: 20, 0),
        (lambda at_s: 20 + at_s / 10, 12),
        # What is come to hold in the warm-up is not growth, nor what is gone in a moment.
        (lambda at_s: min(at_s, 40), 0),
        (lambda at_s: 90 if at_s % 20 == 0 else 20, 0),
        (lambda at_s: 20 - at_s / 10, -12),
    ],
)
def test_growth_is_that_from_the_first_quarter_to_the_last(
    value: Callable[[float], float], growth: float
) -> None:
    at_s = [float(at) for at in range(201)]

    found = trend(at_s, [value(at) for at in at_s], warm_until_s=40)

    assert found is not None
    assert found.growth == pytest.approx(growth)


def test_of_few_looks_nothing_is_said() -> None:
    assert trend([], [], warm_until_s=0) is None
    assert trend([0, 1, 2, 3, 4], [1, 1, 1, 1, 1], warm_until_s=0) is None
    assert trend([0, 1, 2, 3, 4], [1, 1, 1, 1, 1], warm_until_s=5) is None


def test_growth_is_that_of_the_process_which_has_grown_most() -> None:
    def leak(at_s: float) -> Sample:
        return replace(CALM, files=20 + int(at_s / 10))

    (found,) = growth_of([life(), life(look=leak), life("child of the web server")], PLAN)

    assert (found.role, found.n_lasting, found.n_gone) == ("web server", 3, 0)
    assert found.files == Trend(24, 37)
    assert found.threads.growth == 0


def holding(files: int) -> Callable[[float], Sample]:
    return lambda _at_s: replace(CALM, files=files)


def test_a_process_that_was_started_again_is_compared_once_it_is_old_enough() -> None:
    def filled(at_s: float) -> Sample:
        return replace(CALM, files=3 if at_s < 100 else 25)

    hit = life(is_exposed=True, from_s=60, until_s=120, look=filled)
    young = life(is_exposed=True, from_s=150, until_s=160, look=holding(99))
    (found,) = growth_of([life(), hit, young], PLAN)

    assert (found.n_restarted, found.files_beyond, found.threads_beyond) == (1, 5, 0)


def test_a_process_is_compared_with_its_like() -> None:
    child = "child of the web server"
    spared, hit = life(child, look=holding(5)), life(child, is_exposed=True, look=holding(15))
    (found,) = growth_of([life(), spared, hit], PLAN)

    assert found.files_beyond == 10


def test_a_process_that_should_have_lived_through_is_missed() -> None:
    (found,) = growth_of([life(), life("child of the web server", until_s=100)], PLAN)

    assert (found.n_lasting, found.n_gone) == (1, 1)
    with pytest.raises(RuntimeError, match="no web server lived through"):
        growth_of([life(until_s=100), life(is_exposed=True)], PLAN)


def test_a_soak_in_which_nothing_went_wrong_misses_nothing() -> None:
    assert missed(aftermath()) == []


BOOKS = aftermath().books


@pytest.mark.parametrize(
    ("after", "goal"),
    [
        (aftermath(books=replace(BOOKS, lost=1)), "acknowledged runs lost"),
        (aftermath(books=replace(BOOKS, doubled=1)), "runs stored twice"),
        (aftermath(books=replace(BOOKS, unevaluated=1)), "runs without a result"),
        (aftermath(books=replace(BOOKS, evaluated_again=1)), "runs evaluated more than once"),
        (aftermath(findings=("run x: half there",)), "findings of verify"),
        (aftermath(answered=Answered({500: 1}, 1)), "answers that are errors"),
        (aftermath(capacity=Rates(50.0, 40.0)), "runs logged, of the capacity"),
    ],
)
def test_whatever_goes_wrong_is_red(after: Aftermath, goal: str) -> None:
    assert missed(after) == [goal]


@pytest.mark.parametrize(
    ("change", "goal"),
    [
        ({"files": 60}, "worker that no fault hit: open files, growth"),
        ({"threads": 60}, "worker that no fault hit: threads, growth"),
        ({"memory_mib": 200.0}, "worker that no fault hit: memory, growth"),
    ],
)
def test_whatever_grows_is_red(change: dict[str, Any], goal: str) -> None:
    def look(at_s: float) -> Sample:
        return CALM if at_s < 100 else replace(CALM, **change)

    after = aftermath()
    after.watch.lives = [life(), life("worker", look=look)]

    assert missed(after) == [goal]


def test_connections_troubles_and_ends_are_red() -> None:
    after = aftermath()
    after.watch.connections = [20] * 50 + [30] * 50
    after.watch.troubles = ["a web server told to stop: not ready within 60 s"]
    after.watch.ends = ["worker: exit code 1"]

    assert missed(after) == [
        "faults that were not got over, and clients that failed",
        "servers and workers that ended by themselves",
        "connections to the database, growth",
    ]


def test_answers_of_all_clients_are_added_up(tmp_path: Path) -> None:
    one, reader = Answers(tmp_path, "client-0"), Answers(tmp_path, "reader-1")
    for status in (200, 200, NO_RESPONSE, 500):
        one.count(Observation("open a run", status, 0.1))
    reader.count(Observation("read runs", 200, 0.1))
    reader.count(Observation("read runs", 503, 0.1, says_when=True))
    reader.count(Observation("read runs", 503, 0.1, says_when=False))

    found = answered(tmp_path)

    assert found == Answered({0: 1, 200: 3, 500: 1, 503: 2}, 2)
    assert str(found) == "1 x 0, 3 x 200, 1 x 500, 2 x 503"
    assert answered(tmp_path, "reader-*").statuses == {200: 1, 503: 2}


def test_a_record_replaces_that_of_its_own_database_alone(tmp_path: Path) -> None:
    path = tmp_path / "soak.json"
    first, second, third = (Report("soak") for _ in range(3))
    for number, report in enumerate((first, second, third)):
        report.fact("number", number)

    keep(first, "sqlite", path)
    keep(second, "postgresql", path)
    keep(third, "sqlite", path)

    found = {base: record["facts"]["number"] for base, record in read_records(path).items()}
    assert found == {"sqlite": 2, "postgresql": 1}


def test_a_table_shows_what_was_missed(tmp_path: Path) -> None:
    report = Report("soak")
    report.fact("minutes of load", 5)
    report.goal("acknowledged runs lost", measured=1, wanted=0, at_least=False)
    keep(report, "postgresql", tmp_path / "soak.json")

    shown = soak_tables(read_records(tmp_path / "soak.json")).splitlines()

    assert shown[0] == "### On PostgreSQL"
    assert "| minutes of load | 5 |" in shown
    assert "| acknowledged runs lost | 0 | 1 | **missed** |" in shown
    assert "### On SQLite" not in shown


@pytest.mark.processes
def test_a_short_soak_leaves_a_registry_in_which_nothing_is_wrong(
    quick_programs: None, tmp_path: Path
) -> None:
    plan = replace(
        PLAN,
        seconds=6.0,
        fault_every_s=3.0,
        capacity_s=0.5,
        clients=2,
        readers=1,
        look_every_s=0.2,
    )
    with place("sqlite", tmp_path) as here:
        after = go_through(plan, here, tmp_path, lambda _line: None)

    books, watch = after.books, after.watch
    wrong = (books.lost, books.doubled, books.unevaluated, books.evaluated_again)
    assert books.acknowledged >= plan.clients
    assert wrong == (0, 0, 0, 0)
    assert (after.findings, after.answered.errors) == ([], 0)
    assert (watch.troubles, watch.ends) == ([], [])
    assert watch.faults.total() == 2
    assert {each.role for each in growth_of(watch.lives, plan)} == {"web server", "worker"}
    assert min(watch.connections) > 0


@pytest.fixture
def program(tmp_path: Path) -> Program:
    command = [sys.executable, "-c", SLEEPER]
    return Program("worker", command, {}, tmp_path / "log", is_exposed=True)


@pytest.mark.processes
def test_a_program_is_started_again_and_an_end_that_nobody_brought_about_is_noted(
    program: Program,
) -> None:
    try:
        program.hit(signal.SIGKILL).wait(20)
        program.look_after()
        assert (program.n_starts, program.ends) == (2, [])

        # As if it had ended by itself.
        program._process.kill()
        program._process.wait(20)
        program.look_after()
        assert (program.n_starts, program.ends) == (3, [-signal.SIGKILL])
    finally:
        program.end()


@pytest.mark.processes
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells it this way")
def test_what_a_process_holds_is_seen(program: Program, tmp_path: Path) -> None:
    try:
        log = str((tmp_path / "log").resolve())
        give_up_at = time.monotonic() + 20
        while (found := sampled(program.pid, log)) is None or found.memory_mib < 5:
            assert time.monotonic() < give_up_at
        assert (found.threads, found.handles) == (1, 2)
        assert found.files >= 3
    finally:
        program.end()
    assert sampled(program.pid, log) is None

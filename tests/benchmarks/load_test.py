"""The load run with little of everything: what is seeded is real, and the books are balanced."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import func, select

from load import document, observations
from load.ledger_balance import Books
from load.observations import Observation
from load.overload import Overload, overload
from load.pages import RENDERING, measure_pages
from load.plan import FULL, TINY
from load.seed import seed
from load.storm import Storm, let_loose
from offdiag.services.verification.verify import verify
from offdiag.store.database import Database
from offdiag.store.models import RunRow

SOME = Storm(
    clients=2,
    readers=1,
    workers=1,
    seconds=2.0,
    client_pause_s=0.5,
    reader_pause_s=0.2,
    evaluated_within_s=60.0,
)


def test_the_plan_is_as_large_as_it_says() -> None:
    assert len(FULL.datasets) == 100
    assert FULL.n_runs == 100_000
    assert 50_000_000 <= FULL.n_predictions < 50_100_000


@pytest.mark.postgres
def test_a_registry_can_be_seeded_on_postgresql(postgres_database: Database) -> None:
    seed(postgres_database, TINY, lambda _line: None)

    assert_as_planned(postgres_database)


def assert_as_planned(database: Database) -> None:
    """What was seeded is what the product could have written."""
    found = verify(database)
    with database.read() as session:
        n_runs, n_contents, n_predictions = session.execute(
            select(
                func.count(),
                func.count(RunRow.content_digest.distinct()),
                func.sum(RunRow.n_predictions),
            ).select_from(RunRow)
        ).one()
    assert found.is_clean, found.findings[:3]
    assert found.n_recomputed == n_runs == n_contents == TINY.n_runs
    assert n_predictions == TINY.n_predictions


@pytest.mark.processes
def test_clients_and_readers_leave_books_that_balance_and_a_crowd_is_kept_in_order(
    quick_programs: None, tmp_path: Path
) -> None:
    database = Database(f"sqlite:///{tmp_path / 'registry.db'}")
    seed(database, TINY, lambda _line: None)
    assert_as_planned(database)
    pages = measure_pages(database, turns=2)

    after = let_loose(SOME, database, tmp_path / "storm")
    database.close()

    books, seen = after.books, observations.summarised(after.seen)
    assert books.acknowledged >= SOME.clients
    assert books.stored == books.acknowledged
    assert (*_wrongs(books), after.wrong) == (0, 0, 0, 0, 0)
    assert not [each for each in seen if each.unexpected]
    assert {"log a run", "open a run", "put a chunk", "finish a run"} <= {e.kind for e in seen}
    assert any(each.kind.startswith("read ") for each in seen)
    assert RENDERING in pages
    # The first visit to a list computes the best set of its dataset; six are the goal of others.
    assert max(times.n_statements for times in pages.values()) <= 14

    crowd = Overload(readers=12, pause_s=0.02, seconds=1.2, warm_s=0.0)
    crowded = overload(crowd, database, tmp_path / "overload")
    database.close()

    assert {each.status for each in crowded.seen} <= {200, 429, 503}
    assert all(each.is_expected for each in crowded.seen)
    assert {each.status for each in crowded.alive} == {200}
    assert 0.5 < crowded.growth < 2


def _wrongs(books: Books) -> tuple[int, ...]:
    return (
        books.lost,
        books.doubled,
        books.unevaluated,
        books.evaluated_again,
    )


@pytest.mark.parametrize(
    ("status", "says_when", "is_expected"),
    [
        (304, False, True),
        (429, True, True),
        (503, True, True),
        (503, False, False),
        (500, True, False),
        (404, False, False),
        (observations.NO_RESPONSE, False, False),
    ],
)
def test_an_answer_is_an_error_unless_it_is_done_or_says_when_to_come_back(
    status: int, says_when: bool, is_expected: bool
) -> None:
    assert Observation("read", status, 0.1, says_when).is_expected is is_expected


def test_the_page_has_the_tables_of_the_results_that_are_there() -> None:
    page = document.DOCUMENT.read_text(encoding="utf-8")

    assert (
        page.split(document.BEGIN)[1].split(document.END)[0].strip() == document.tables().strip()
    )

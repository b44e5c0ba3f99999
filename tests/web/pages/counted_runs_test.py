"""The pages of a run that was counted elsewhere say what it has and what it cannot show."""

from __future__ import annotations

from offdiag.domain.runs import RunFacts
from offdiag.services.ingest.batch import GivenCounts
from offdiag.services.ingest.log_counts import log_counts
from offdiag.store.database import Database
from support.logging_runs import work_off
from support.pages import Page, PageClient


def test_every_page_says_by_what_it_was_counted_and_what_it_lacks(
    client: PageClient, database: Database
) -> None:
    run = log_counts(
        database,
        facts=RunFacts(name="warehouse"),
        dataset="payments",
        given=GivenCounts(
            ["ok", "ok", "fraud"],
            ["ok", "fraud", "fraud"],
            [9_000_000, 7, 1_000],
            "duckdb",
            {"country": ["DE", "FR", "FR"]},
        ),
    )
    work_off(database)

    def page(name: str) -> Page:
        return client.page(f"/runs/{run.id}{name}")

    matrix = page("")
    assert "This matrix" not in matrix.one("main").text
    assert not matrix.one("table", "matrix").inside("a")
    assert "as the counts of a frame" in page("/examples").one("main").text
    assert "Only the counts of this run were logged" in page("/curves").one("main").text
    metadata = page("/meta").one("main").text
    assert "rows = actual; counted by duckdb" in metadata
    assert "9,001,007, counted by duckdb and not kept" in metadata
    assert "its own engine counted the matrix" in metadata
    assert "Nothing to verify" in metadata

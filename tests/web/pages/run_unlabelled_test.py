"""A run none of whose examples has a label."""

from offdiag.domain.runs import RunFacts
from offdiag.store.database import Database
from support.logging_runs import log, work_off
from support.pages import PageClient


def test_a_run_without_labels_says_so_and_counts_predictions(
    client: PageClient, database: Database
) -> None:
    run = log(
        database,
        y_true=None,
        y_pred=["fraud", "fine", "fine", "fine"],
        labels=["fine", "fraud"],
        sample_ids=["a", "b", "c", "d"],
        dataset="payments",
        facts=RunFacts(name="shadow"),
    )
    work_off(database)

    page = client.page(f"/runs/{run.id}")

    assert "0 of 4 labelled" in [head.text for head in page.all("h2")]
    assert page.one("code").text.startswith("offdiag truth revise payments ")
    assert [row[:2] for row in page.table("data")] == [["fine", "3"], ["fraud", "1"]]
    assert not page.all("p", "statement")
    assert not page.all("table", "matrix")
    listed = client.page("/runs?q=dataset:payments").one("td", "state")
    assert listed.text == "0 of 4 labelled"

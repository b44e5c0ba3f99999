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


def test_no_tab_says_what_only_labels_would_tell(client: PageClient, database: Database) -> None:
    run = log(
        database,
        y_true=None,
        y_pred=["fraud", "fine"],
        labels=["fine", "fraud"],
        sample_ids=["a", "b"],
        dataset="payments",
    )
    work_off(database)

    for tab in ("classes", "advice"):
        page = client.page(f"/runs/{run.id}/{tab}")
        assert page.one("div", "empty").inside("h2")[0].text == "0 of 2 labelled"
        assert "never predicted" not in page.one("main").text
        assert "no second class" not in page.one("main").text
        assert "Examples 0 wrong" not in page.one("main").text
    costs = client.page("/whatif?dataset=payments").one("main").text
    assert "Dataset “payments”: none of these runs has examples with a label" in costs

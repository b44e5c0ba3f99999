import csv
import io

import pytest

from offdiag.metrics.suite import SUITE_VERSION
from offdiag.store.database import Database
from support.dashboard import fail_evaluation
from support.logging_runs import log, work_off
from support.pages import PageClient
from support.revised import IDS, TRUTH, RevisedRegistry, log_pets, revise


def test_every_evaluation_is_a_line_with_what_differed_in_its_own_unit(
    revised_reader: PageClient,
) -> None:
    page = revised_reader.page("/runs/{seer}/history")

    newest, first = page.table("data")
    assert newest[1:4] == ["label version 1 → 2", "v2", "all 60"]
    assert "current" in newest[0]
    assert first[1:4] == ["first evaluation", "v1", "all 60"]
    assert "current" not in first[0]
    bold = [strong.text for strong in page.one("tbody").inside("strong")]
    assert bold == ["+15.6 pp", "+0.213", "+16.9 pp", "+16.7 pp"]
    for tab in ("", "/history"):
        assert not revised_reader.page(f"/runs/{{seer}}{tab}").all("div", "callout-warning")


def test_late_labels_are_told_as_newly_scored(revised_reader: PageClient) -> None:
    page = revised_reader.page("/runs/{partly}/history")
    matrix = revised_reader.page("/runs/{partly}")

    newest, first = page.table("data")[:2]
    assert newest[1] == "label version 2 → 3; labelled samples 45 → 50"
    assert (newest[3], first[3]) == ("50 of 60 (83.3 %)", "45 of 60 (75.0 %)")
    assert matrix.one("p", "run-facts").text.startswith("50 of 60 labelled, ")
    assert "late v3" in matrix.one("p", "crumbs").text


def test_results_of_an_older_truth_are_announced_on_every_page_of_the_run(
    revised_reader: PageClient,
) -> None:
    for tab in ("", "/classes", "/history", "/meta"):
        page = revised_reader.page(f"/runs/{{waiting}}{tab}")

        assert page.one("div", "callout-warning").text.startswith(
            "▲ Evaluated with label version 1; v2 is current. Re-evaluation was queued"
        ), tab


def test_results_of_an_older_suite_are_announced(
    client: PageClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = log_pets(database, TRUTH, name="run")
    work_off(database)
    monkeypatch.setattr("offdiag.store.outdated.SUITE_VERSION", SUITE_VERSION + 1)

    page = client.page(f"/runs/{run_id}")

    assert page.one("div", "callout-warning").text == (
        f"▲ Computed with metric suite {SUITE_VERSION}; {SUITE_VERSION + 1} is current. "
        "This run is not queued for re-evaluation yet."
    )


def test_a_failed_second_evaluation_is_told_with_its_job(
    client: PageClient, database: Database
) -> None:
    run_id = log_pets(database, TRUTH, name="run")
    work_off(database)
    revise(database, {IDS[0]: "dog"})
    fail_evaluation(database, run_id, error="boom")

    page = client.page(f"/runs/{run_id}/history")

    assert page.one("div", "callout-warning").text == (
        "▲ Evaluated with label version 1, before re-evaluation failed. "
        "Re-evaluation failed as job 2 after 5 attempts."
    )
    assert len(page.table("data")) == 1


def test_the_twins_hold_the_values_of_the_page(
    revised_reader: PageClient, revised: RevisedRegistry
) -> None:
    path = f"/runs/{revised.seer}/history"
    record = revised_reader.json(f"{path}.json")
    text = revised_reader.get(f"{path}.csv").text
    lines = list(csv.DictReader(io.StringIO(text, newline="")))

    assert [each["truth_version"] for each in record["evaluations"]] == [2, 1]
    assert record["evaluations"][0]["is_current"] is True
    mcc = next(line for line in lines if line["metric"] == "mcc")
    assert float(mcc["value"]) == record["evaluations"][0]["metrics"]["mcc"]["value"]
    assert mcc["reason"] == ""


def test_an_undefined_value_has_its_reason_in_the_twins(
    client: PageClient, database: Database
) -> None:
    run = log(database, y_true=["a", "a"], y_pred=["a", "a"], labels=["a", "b"])
    work_off(database)

    lines = client.records(f"/runs/{run.id}/history.csv")

    mcc = next(line for line in lines if line["metric"] == "mcc")
    assert (mcc["value"], mcc["reason"]) == ("", "constant_margin")

import csv
import io

import pytest

from offdiag.services.truth import impact
from offdiag.store.database import Database
from offdiag_web.pages.datasets import impact_page
from support.dashboard import fail_evaluation
from support.logging_runs import work_off
from support.pages import PageClient
from support.revised import IDS, TRUTH, RevisedRegistry, log_pets, revise

IMPACT = "/datasets/pets/truth/2/impact"


def test_the_page_names_what_moved_and_a_line_tells_both_values_and_ranks(
    revised_reader: PageClient, revised: RevisedRegistry
) -> None:
    page = revised_reader.page(IMPACT)
    record = revised_reader.json(f"{IMPACT}.json")
    run = revised_reader.json("/runs/{seer}.json")

    assert page.one("p", "callout").text == (
        "With 10 labels corrected, 3 of 3 runs changed significantly: “believer”, “seer” and "
        "“steady”; by balanced accuracy “seer” rises from rank 2 to 1 and “believer” falls from "
        "rank 1 to 2."
    )
    row = next(row for row in page.table("data") if row[0] == "seer")
    assert row[1:] == [
        *("0.783", "0.685 – 0.860", "", "0.939", "+15.6 pp"),
        *("◆significant", "2 → 1, up 1"),
    ]
    link = next(a for a in page.all("a") if a.text == "seer")
    assert link["href"] == f"/runs/{revised.seer}"
    (seer,) = (each for each in record["runs"] if each["id"] == revised.seer)
    assert seer["metrics"]["mcc"]["after"] == run["metrics"]["mcc"]
    assert seer["metrics"]["balanced_accuracy"]["is_beyond_interval"] is True
    assert (seer["truth_before"], seer["truth_after"]) == (1, 2)


def test_another_metric_has_an_address_and_its_own_ranking(revised_reader: PageClient) -> None:
    page = revised_reader.page(f"{IMPACT}?metric=mcc")
    odd = revised_reader.page(f"{IMPACT}?metric=lift")

    assert "by MCC" in page.one("p", "callout").text
    current = [a.text for a in page.all("a") if a.attributes.get("aria-current") == "true"]
    assert current == ["MCC"]
    canonical = page.all("link", rel="canonical")
    assert canonical[0]["href"] == f"{IMPACT}?metric=mcc"
    assert "not ranked by “lift”" in odd.one("main").text


def test_a_small_correction_stays_within_the_intervals(
    client: PageClient, database: Database
) -> None:
    for name, predicted in (("good", TRUTH), ("bad", ["cat"] * len(IDS))):
        log_pets(database, predicted, name=name)
    work_off(database)
    revise(database, {IDS[0]: "dog"})
    work_off(database)

    page = client.page("/datasets/pets/truth/2/impact?metric=overall_accuracy")

    rows = {row[0]: row for row in page.table("data")}
    assert rows["bad"][6:] == ["not significant", "2, as before"]
    assert page.one("p", "callout").text == (
        "With 1 label corrected, no metric of 2 runs changed significantly; the ranking by "
        "accuracy is unchanged."
    )


def test_runs_that_wait_for_their_scores_are_named_and_looked_for_again(
    revised_reader: PageClient,
) -> None:
    path = "/datasets/behind/truth/2/impact"
    page = revised_reader.page(path)

    assert page.one("p", "callout").text == (
        "With 1 label corrected, nothing has changed yet: 1 run is queued for evaluation."
    )
    assert page.one("div", "results")["hx-get"] == path
    assert "waiting" in [a.text for a in page.one("div", "callout").inside("a")]


def test_runs_that_could_not_be_scored_again_are_told_apart(
    client: PageClient, database: Database
) -> None:
    run_id = log_pets(database, TRUTH, name="sad")
    work_off(database)
    revise(database, {IDS[0]: "dog"})
    fail_evaluation(database, run_id, error="boom")

    page = client.page("/datasets/pets/truth/2/impact")

    assert (
        "Evaluation failed with label version 2: sad." in page.one("div", "callout-warning").text
    )
    assert "hx-get" not in page.one("div", "results").attributes


def test_late_labels_tell_how_much_was_scored(revised_reader: PageClient) -> None:
    page = revised_reader.page("/datasets/late/truth/3/impact")

    assert page.table("data")[0][8] == "45 → 50 of 60 (83.3 %)"
    assert page.one("p", "callout").text.startswith("With 5 labels added, ")


def test_corrections_in_quick_succession_are_compared_across_the_gap(
    client: PageClient, database: Database
) -> None:
    log_pets(database, TRUTH, name="run")
    work_off(database)
    revise(database, {IDS[0]: "dog"})
    revise(database, {IDS[1]: "dog"})
    work_off(database)

    for number in (2, 3):
        page = client.page(f"/datasets/pets/truth/{number}/impact")

        assert page.table("data")[0][0] == "runscored with v1 and v3 only"


def test_a_csv_of_the_newest_runs_only_says_so_in_its_name(
    revised_reader: PageClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = revised_reader.get(f"{IMPACT}.csv")
    for module in (impact, impact_page):
        monkeypatch.setattr(module, "MOST_RUNS", 1)
    cut = revised_reader.get(f"{IMPACT}.csv")

    assert "impact-of-truth-v2.csv" in whole.headers["Content-Disposition"]
    assert "impact-of-truth-v2-newest-1-runs.csv" in cut.headers["Content-Disposition"]


def test_a_first_version_has_nothing_before_it_and_others_are_not_found(
    revised_reader: PageClient,
) -> None:
    page = revised_reader.page("/datasets/pets/truth/1/impact")

    assert "is the first of its samples" in page.one("p", "callout").text
    assert not page.all("table", "data")
    for number in (0, 9):
        assert revised_reader.get(f"/datasets/pets/truth/{number}/impact").status_code == 404


def test_the_csv_has_a_line_for_every_run_and_metric(revised_reader: PageClient) -> None:
    response = revised_reader.get(f"{IMPACT}.csv")
    lines = list(csv.DictReader(io.StringIO(response.text, newline="")))

    assert len(lines) == 3 * 4
    seer = next(
        line for line in lines if (line["name"], line["metric"]) == ("seer", "balanced_accuracy")
    )
    assert float(seer["difference"]) == pytest.approx(float(seer["after"]) - float(seer["before"]))
    assert (seer["rank_before"], seer["rank_after"]) == ("2", "1")
    assert (seer["reason_before"], seer["reason_after"]) == ("", "")

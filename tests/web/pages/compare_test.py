"""Runs beside each other, and the examples they answer differently."""

from __future__ import annotations

import csv
import io
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from offdiag.comparison.churn import PairedOutcome
from offdiag.domain.runs import RunFacts
from offdiag.services.champions.promotions import approve
from offdiag.services.comparisons.compare import compare_runs
from offdiag.services.ingest.batch import GivenPairedCounts, PairedTable
from offdiag.services.ingest.log_paired_counts import log_paired_counts
from offdiag.store.database import Database
from support.compared import N_ALIKE, ComparedRegistry
from support.dashboard import HOSTILE_NAMES, log_counts
from support.logging_runs import correct_labels, log, upload_matrix, work_off
from support.optional import present
from support.pages import Element, Page, PageClient
from support.two_models import (
    CLASSES,
    COUNTRIES,
    FOCAL,
    PLAIN,
    TRUTH,
    N,
    log_model,
    sample_names,
)

PAIR_TABLE, CHURN_ROWS = 0, 4


def section_of(page: Page, title: str) -> Element:
    """The card whose heading begins with a text."""
    heads = [head for head in page.all("h2") if head.text.startswith(title)]
    assert heads, [head.text for head in page.all("h2")]
    section = heads[0].parent
    while section is not None and section.tag not in {"section", "details"}:
        section = section.parent
    return present(section)


def body_of(section: Element) -> list[list[str]]:
    rows = section.inside("tbody")[0].inside("tr")
    return [[cell.text for cell in row.children if cell.tag in {"th", "td"}] for row in rows]


# -- runs without predictions --------------------------------------------------------------


def test_runs_that_were_counted_together_are_said_to_be_paired(
    comparer: PageClient, compared: ComparedRegistry
) -> None:
    predicted = {"one": PLAIN, "other": FOCAL, "third": TRUTH}
    runs = log_paired_counts(
        compared.database,
        runs=[RunFacts(name=name) for name in predicted],
        dataset="counted together",
        given=GivenPairedCounts(
            [PairedTable(TRUTH, predicted, [1] * N, {"country": COUNTRIES})], "duckdb"
        ),
    )
    work_off(compared.database)
    for several in (runs[:2], runs):
        asked = "runs=" + ",".join(run.id for run in several)
        page = comparer.page(f"/compare?{asked}")
        text = page.one("main").text
        assert f"same {N:,} examples, paired" in text
        assert "not paired" not in text
        part = comparer.page(f"/compare?{asked}&slice=country={COUNTRIES[0]}")
        assert f"slice country={COUNTRIES[0]}" in part.one("main").text
        assert f"country={COUNTRIES[0]}" in text


# -- two runs ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pair(comparer: PageClient) -> Page:
    """The page of two runs."""
    return comparer.page("/compare?{pair}")


def test_two_runs_are_compared_by_slice_in_a_sentence_and_a_table(
    comparer: PageClient, pair: Page, compared: ComparedRegistry
) -> None:
    found = present(compare_runs(compared.database, [compared.plain, compared.focal]).by_slice)

    card = section_of(pair, "By slice")

    assert found.verdict in card.text
    names = {link.text for link in card.inside("a") if "slice=" in link["href"]}
    assert names == {part.name for part in (*found.slices, *found.classes)}
    document = comparer.json("/compare.json?{pair}")["slices"]
    assert document["verdict"] == found.verdict
    assert [each["n"] for each in document["slices"]] == [
        part.counts.total for part in found.slices
    ]
    country = document["slices"][0]["slice"].partition("=")[2]
    on_one = comparer.page(f"/compare?{{pair}}&slice=country={country}")
    assert not [head for head in on_one.all("h2") if head.text == "By slice"]


def test_two_runs_are_compared_with_a_verdict_first(
    pair: Page, compared: ComparedRegistry
) -> None:
    verdict = pair.one("div", "verdict").text
    expected = present(compare_runs(compared.database, [compared.plain, compared.focal]).verdict)
    assert verdict.removeprefix("▲").startswith(expected.headline)
    assert all(detail in verdict for detail in expected.details)
    assert pair.one("h1").text == "Compare 2 runs"
    assert pair.one("p", "subtitle").text == f"same {N} examples, paired · derm · labels v1"
    assert [
        badge.text
        for badge in pair.one("ul", "run-legend").inside("span")
        if "badge" in badge.classes
    ] == ["A", "B"]


def test_every_metric_stands_with_both_values_and_the_interval_of_the_difference(
    comparer: PageClient, pair: Page
) -> None:
    record = comparer.json("/compare.json?{pair}")

    metrics = section_of(pair, "Metrics")
    assert "95 % CItogether" in [head.text for head in metrics.inside("th")]
    rows = {row[0]: row[1:] for row in body_of(metrics)}
    assert set(rows) >= {
        "Accuracy",
        "Balanced accuracy",
        "MCC",
        "Macro F1",
        "Log loss",
        "Brier score (sum)",
    }
    mcc = record["result"]["metrics"]["mcc"]
    assert rows["MCC"][:2] == [f"{mcc['a']['value']:.3f}", f"{mcc['b']['value']:.3f}"]
    gap = mcc["difference"]
    assert rows["MCC"][2] == f"{gap['value']:+.3f}".replace("-", "−")
    together = mcc["simultaneous_interval"]
    assert rows["MCC"][3].split("together ") == [
        f"{ends['ci_low']:+.3f} to {ends['ci_high']:+.3f}".replace("-", "−")
        for ends in (gap, together)
    ]
    outcomes = {
        "worse": "worse",
        "better": "better",
        "not separable": "≈no significant difference",
    }
    assert rows["MCC"][5].startswith(outcomes[mcc["outcome"]])


def test_the_churn_leads_to_its_examples(comparer: PageClient, pair: Page) -> None:
    section = section_of(pair, "Which examples")

    links = [a["href"] for a in section.inside("a")]
    which = [parse_qs(urlsplit(link).query)["which"][0] for link in links]
    counts = [int(a.text.split()[0]) for a in section.inside("a")]
    assert which == [outcome.value for outcome in PairedOutcome]
    assert sum(counts) == N
    for link, count in zip(links, counts, strict=True):
        assert comparer.page(link).one("h1").text.startswith(f"{count} example")


def test_classes_stand_by_support_with_links_to_what_changed(
    comparer: PageClient, pair: Page
) -> None:
    section = section_of(pair, "Recall of each class")

    rows = body_of(section)
    assert [row[0] for row in rows] == ["nv", "mel", "df"]
    assert [int(row[1]) for row in rows] == [120, 40, 20]
    fixed = sum(
        actual == "df" and before != actual and after == actual
        for actual, before, after in zip(TRUTH, PLAIN, FOCAL, strict=True)
    )
    assert rows[2][3] == f"{fixed} examples of df only B gets right"
    link = next(a for a in section.inside("a") if "class=df&" in a["href"])
    assert "of “df”: only" in comparer.page(link["href"]).one("h1").text


def test_every_row_of_the_difference_matrix_adds_up_and_tells_worse_from_better(
    pair: Page,
) -> None:
    table = pair.one("table", "matrix-difference")

    for row in table.inside("tbody")[0].inside("tr"):
        counts = [
            int(small.text.replace("−", "-").replace("+", "")) for small in row.inside("small")
        ]
        assert sum(counts) == 0
    certain = [cell for cell in table.inside("td") if "certain" in cell.classes]
    assert {("worse" in each.classes, "worse, significant" in each.text) for each in certain} == {
        (True, True),
        (False, False),
    }


@pytest.mark.parametrize(("choice", "run"), [("a", "plain"), ("b", "focal")])
def test_one_of_both_matrices_can_be_shown_on_the_shared_scale(
    comparer: PageClient, compared: ComparedRegistry, choice: str, run: str
) -> None:
    page = comparer.page(f"/compare?{{pair}}&matrix={choice}")

    own = comparer.json(f"/runs/{getattr(compared, run)}/matrix.json")
    shown = [
        [int("".join(cell.parts[:1]).replace(",", "")) for cell in row.inside("td")[:3]]
        for row in page.one("table", "matrix").inside("tbody")[0].inside("tr")
    ]
    assert shown == own["matrix"]
    other = comparer.page(f"/compare?{{pair}}&matrix={'ab'.replace(choice, '')}")
    assert page.one("div", "legend").text == other.one("div", "legend").text


def test_swapping_turns_the_verdict_round_and_back(
    comparer: PageClient, compared: ComparedRegistry
) -> None:
    page = comparer.page("/compare?{pair}&value=f1")
    swap = next(a for a in page.all("a", "button") if a.text.startswith("Swap"))

    swapped = comparer.page(swap["href"])
    back = next(a for a in swapped.all("a", "button") if a.text.startswith("Swap"))

    assert "B is better than A" in page.one("div", "verdict").text
    assert "B is worse than A" in swapped.one("div", "verdict").text
    assert back["href"] == f"/compare?{compared.pair}&value=f1"


def test_metadata_shows_what_differs_and_nothing_else(pair: Page) -> None:
    section = section_of(pair, "Other differences")

    rows = {row[0]: row[1:] for row in body_of(section)}
    assert rows["parameter loss"] == ["ce", "focal"]
    assert "parameter lr" not in rows
    assert section.tag == "details"
    assert "open" not in section.attributes


def test_a_slice_is_offered_and_compared_alone(comparer: PageClient, pair: Page) -> None:
    offered = pair.all("select")[0]
    page = comparer.page("/compare?{pair}&slice=country%3DSI")

    assert [option.text for option in offered.inside("option")] == [
        "all examples",
        "country=DE",
        "country=SI",
    ]
    chosen = COUNTRIES.count("SI")
    assert f"same {chosen} examples, paired · slice country=SI" in page.one("p", "subtitle").text


def test_a_slice_that_cannot_be_meant_is_said_and_all_examples_are_shown(
    comparer: PageClient,
) -> None:
    page = comparer.page("/compare?{pair}&slice=planet%3DX")

    notices = [notice.text for notice in page.all("p", "callout")]
    assert any("no slice column “planet”" in text for text in notices)
    assert page.one("p", "subtitle").text.startswith(f"same {N} examples")
    assert comparer.get("/compare.json?{pair}&slice=planet%3DX").status_code == 400


def test_a_matrix_is_compared_unpaired_and_that_is_said(comparer: PageClient) -> None:
    page = comparer.page("/compare?runs={plain},{matrix}")

    assert "B not paired" in page.one("p", "subtitle").text
    assert "The runs are not paired" in page.one("div", "verdict").text
    assert not [head for head in page.all("h2") if head.text.startswith("Which examples")]
    assert page.one("span", "chip").text == "matrix only"
    assert not page.all("select")


def test_runs_on_other_labels_are_shown_without_difference_and_place(
    comparer: PageClient, compared: ComparedRegistry
) -> None:
    database, names = compared.database, sample_names()
    runs = [
        log_model(database, predicted, name=name, sample_ids=names, dataset="corrected")
        for name, predicted in (("plain", PLAIN), ("focal", FOCAL))
    ]
    perfect = [[120, 0, 0], [0, 40, 0], [0, 0, 20]]
    matrix = upload_matrix(database, perfect, CLASSES, dataset="corrected")
    correct_labels(database, {names[0]: "mel"}, dataset="corrected")
    work_off(database)
    two, three = (
        f"runs={','.join(run.id for run in each)}" for each in ((runs[0], matrix), (*runs, matrix))
    )

    page = comparer.page(f"/compare?{two}")
    lines = body_of(section_of(page, "Metrics"))

    assert "so no difference between them is tested" in page.one("div", "verdict").text
    assert re.findall("labels v.", page.one("ul", "run-legend").text) == ["labels v2", "labels v1"]
    assert {len(cells) for cells in lines} == {3}
    assert lines[0][2] == "1.000"
    assert [head.text for head in page.all("h2") if "Recall" in head.text] == [
        "Recall of each class"
    ]
    assert not page.all("span", "scale-ends")
    assert "undefined" not in page.one("main").text
    assert not [head for head in page.all("h2") if head.text.startswith("Difference matrix")]
    markdown = comparer.get(f"/compare.md?{two}").text
    assert "| Metric | A | B |\n" in markdown
    assert "undefined" not in markdown
    assert "undefined" not in comparer.get(f"/compare/card.svg?{two}").text

    page = comparer.page(f"/compare?{three}")
    rows = body_of(section_of(page, "Metrics"))

    assert "so C is not compared with the others" in page.one("div", "verdict").text
    assert rows[-1][0].startswith("C")
    assert rows[-1][1].split() == ["1.000", "not", "tested"]
    assert "all 2 runs" in section_of(page, "Metrics").text
    record = comparer.get(f"/compare.json?{three}").get_json()["result"]
    assert (record["on_other_labels"], record["not_paired"]) == (["C"], ["C"])


def test_of_many_classes_all_are_listed_the_worst_first(comparer: PageClient) -> None:
    page = comparer.page("/compare?runs={large},{larger}")

    first, further = (
        [[cell.text for cell in row.children] for row in table.inside("tbody")[0].inside("tr")]
        for table in section_of(page, "Recall of each class").inside("table")
    )
    rows = [*first, *further]
    assert (len(first), len(further)) == (12, 28)
    verdicts = [row[-1].split("no")[0].strip("≈* ") for row in rows]
    assert verdicts == sorted(verdicts, key=["worse", "", "better"].index)
    table = page.one("table", "matrix-difference")
    assert len(table.inside("tbody")[0].inside("tr")) == 12
    changes = [abs(int(row[1].replace("−", "-"))) for row in body_of(section_of(page, "Largest"))]
    assert changes == sorted(changes, reverse=True)
    table_text = comparer.get("/compare.csv?runs={large},{larger}").text
    exported = csv.DictReader(io.StringIO(table_text))
    assert sum(row["metric"] == "recall" for row in exported) == 40


# -- several runs --------------------------------------------------------------------------


def test_of_three_runs_the_best_and_its_equals_are_marked_with_strips_and_pictures(
    comparer: PageClient, compared: ComparedRegistry
) -> None:
    page = comparer.page("/compare?runs={plain},{focal},{almost}")

    balanced = [row[2] for row in body_of(section_of(page, "Metrics"))]
    assert balanced[0].endswith("◆ highest")
    assert "≈ no significant difference" in balanced[1]
    assert "significantly worse" in balanced[2]
    assert page.one("div", "verdict").text.startswith("By balanced accuracy")

    section = section_of(page, "Recall of each class")
    strips = [
        svg
        for svg in section.inside("svg")
        if svg.attributes.get("aria-label", "").startswith("Recall from")
    ]
    assert len(strips) == 3
    rows = body_of(section)
    assert [row[0] for row in rows] == ["nv", "mel", "df"]
    for strip, row in zip(strips, rows, strict=True):
        for letter, value in zip("ABC", row[2:5], strict=True):
            number = value.removesuffix("significantly worse")
            assert f"{letter} {number}" in strip["aria-label"]
    assert "0.733significantly worse" in rows[0][3]

    section = section_of(page, "Confusion matrices")
    assert [a["href"] for a in section.inside("a")] == [
        f"/runs/{run}" for run in (compared.focal, compared.almost, compared.plain)
    ]
    assert len(section.inside("svg")) == 3

    links = {a.text: a["href"] for a in page.one("ul", "run-legend").inside("a")}
    assert links["remove A"] == f"/compare?runs={compared.focal},{compared.almost}"
    assert links["compare with A only: C"] == f"/compare?runs={compared.plain},{compared.almost}"


def test_above_eight_runs_there_is_one_table_to_choose_from(
    comparer: PageClient, compared: ComparedRegistry
) -> None:
    ids = [compared.plain, *compared.alike]
    page = comparer.page(f"/compare?runs={','.join(ids)}")

    assert len(body_of(section_of(page, "Metrics"))) == N_ALIKE + 1
    assert "strip" not in {name for svg in page.all("svg") for name in svg.classes}
    boxes = [box["value"] for box in page.all("input") if box["type"] == "checkbox"]
    assert sorted(boxes) == sorted(ids)
    chosen = comparer.get("/compare", query_string=[("runs", each) for each in ids[:3]])
    assert chosen.headers["Location"] == f"/compare?runs={','.join(ids[:3])}"


# -- what is not compared ------------------------------------------------------------------


def test_other_examples_are_refused_with_the_way_to_the_shared_ones(comparer: PageClient) -> None:
    page = comparer.page("/compare?runs={part},{other_part}")
    link = next(a for a in page.all("a", "button") if a.text == "Compare on the shared examples")
    shared = comparer.page(link["href"])

    assert "Not paired: 150 and 160 examples, 130 shared." in page.one("div", "callout").text
    assert not page.all("div", "verdict")
    assert link["href"].endswith("&shared=1")
    assert (
        "130 examples, paired: the shared ones of 150 and 160" in shared.one("p", "subtitle").text
    )
    assert "same prediction for all 130 examples" in shared.one("div", "verdict").text


def test_what_cannot_be_compared_is_said_in_words(
    comparer: PageClient, compared: ComparedRegistry
) -> None:
    query = compared.runs("plain", "elsewhere")
    why = "These runs are on different datasets"
    record = comparer.json(f"/compare.json?{query}")

    assert why in comparer.page(f"/compare?{query}").one("div", "callout").text
    assert why in comparer.get(f"/compare.md?{query}").text
    assert record["refusal"]["why"].startswith(why)
    assert record["result"] is None


def test_an_unknown_run_is_not_found(comparer: PageClient, compared: ComparedRegistry) -> None:
    for form in ("", ".json", ".csv", ".md"):
        path = f"/compare{form}?runs={compared.plain},r_nosuchrun"
        assert comparer.get(path).status_code == 404, form


@pytest.mark.parametrize("query", ["", "?runs=", "?runs=r_", "?runs=nonsense"])
def test_without_two_runs_there_is_a_place_to_choose_them(
    comparer: PageClient, query: str
) -> None:
    page = comparer.page(f"/compare{query}")

    links = [a.text for a in page.one("table", "choices-table").inside("a")]
    assert any(text.endswith(" on derm") for text in links)


def test_the_newest_run_is_compared_with_the_best_and_the_champion(
    client: PageClient, database: Database
) -> None:
    runs = [
        log_counts(database, counts, ("a", "b"), name=name, dataset="d", evaluated=False)
        for name, counts in (
            ("good", [[40, 1], [2, 50]]),
            ("middling", [[38, 3], [5, 47]]),
            ("newest", [[30, 11], [20, 32]]),
        )
    ]
    work_off(database)
    approve(database, runs[1], reason="it was first", author="ana")

    links = {
        a.text: a["href"]
        for a in client.page("/compare").one("table", "choices-table").inside("a")
    }

    good, middling, newest = runs
    assert client.get(links["best value of d"]).location == f"/compare?runs={good},{newest}"
    assert client.get(links["champion of d"]).location == f"/compare?runs={middling},{newest}"
    approve(database, newest, reason="it is newest", author="ana")
    said = client.page(links["champion of d"]).one("main").text
    assert "The newest run of d is the champion run." in said


def test_the_curves_of_two_runs_lie_over_each_other(
    comparer: PageClient, compared: ComparedRegistry
) -> None:
    page = comparer.page(f"/compare?{compared.pair}&curves=df")

    section = section_of(page, "Curves of df")
    for title in ("ROC", "Precision over recall", "Calibration"):
        (svg,) = [svg for svg in section.inside("svg") if svg["aria-label"].startswith(title)]
        lines = [path for path in svg.inside("path") if "run-line" in path.classes]
        assert [line.classes & {"run-a", "run-b"} for line in lines] == [{"run-a"}, {"run-b"}]
        assert ["stroke-dasharray" in line.attributes for line in lines] == [False, True]
        assert [t.text for t in svg.inside("text") if "run-letter" in t.classes] == ["A", "B"]


def test_one_run_takes_its_selection_along(
    comparer: PageClient, compared: ComparedRegistry
) -> None:
    page = comparer.page("/compare?runs={plain}")

    assert page.one("div", "empty").inside("h2")[0].text == ("Choose a run to compare with")
    rivals, datasets = page.all("table", "choices-table")
    links = [a["href"] for a in datasets.inside("a") if a["href"].startswith("/runs")]
    assert links
    assert all(f"sel={compared.plain}" in link for link in links)

    # Runs of the same dataset are offered at once, and no others.
    offered = [a["href"] for a in rivals.inside("a")]
    assert len(offered) == 10
    assert all(link.startswith(f"/compare?runs={compared.plain},") for link in offered)
    assert not any(compared.elsewhere in link for link in offered)
    assert comparer.get(offered[0]).status_code == 200


def test_one_run_that_is_unknown_is_offered_no_others(comparer: PageClient) -> None:
    page = comparer.page("/compare?runs=r_000000000000")

    assert len(page.all("table", "choices-table")) == 1


def test_an_empty_registry_says_so(client: PageClient) -> None:
    assert "This registry has no runs yet" in client.page("/compare").one("main").text


def test_the_list_of_runs_shows_what_is_ticked_and_sends_it_along(
    comparer: PageClient, compared: ComparedRegistry
) -> None:
    pair = comparer.page("/compare?runs={focal},{plain}")
    add = next(a for a in pair.all("a", "button") if a.text == "Add run")["href"]
    listed = comparer.page(f"{add}&cols=mcc")
    narrowed = comparer.page(add.replace("dataset:derm", "dataset:derm%20model:none"))

    boxes = {box["value"]: "checked" in box.attributes for box in listed.all("input", name="runs")}
    assert add == f"/runs?q=dataset:derm&sel={compared.focal},{compared.plain}"
    assert [run for run, is_ticked in boxes.items() if is_ticked] == sorted(
        (compared.focal, compared.plain), key=list(boxes).index
    )
    assert "2 selected" in listed.one("div", "selection").text
    assert not narrowed.all("div", "selection")


def test_ticked_runs_on_another_page_of_the_list_are_compared_too(
    comparer: PageClient, compared: ComparedRegistry
) -> None:
    page = comparer.page("/runs?q=dataset:derm%20plain&sel={focal}")

    sent = [
        (field["name"], field["value"])
        for field in page.all("input")
        if field.attributes.get("name") in {"runs", "sel"} and field["type"] == "hidden"
    ]
    assert ("runs", compared.focal) in sent
    answer = comparer.get("/compare", query_string=[("runs", compared.plain), *sent[-2:]])
    assert answer.headers["Location"] == f"/compare?runs={compared.focal},{compared.plain}"


# -- addresses and exports -------------------------------------------------------------------


def test_what_cannot_be_meant_is_answered_with_a_notice(comparer: PageClient) -> None:
    page = comparer.page("/compare?{pair},nonsense&value=accuracy&matrix=z&shared=yes&curves=flu")

    notices = " ".join(notice.text for notice in page.all("p", "callout"))
    for text in ("“nonsense”", "“accuracy”", "“z”", "“yes”", "“flu”"):
        assert text in notices
    assert page.all("div", "verdict")


def test_parameters_that_do_not_exist_are_named(comparer: PageClient) -> None:
    page = comparer.page("/compare?a=r_1&b=r_2&utm_source=mail")
    assert page.one("p", "callout").text == (
        "There is no parameter “a” or “b” here. "
        "Known parameters: curves, dataset, matrix, newest, "
        "project, runs, sel, shared, slice, value."
    )

    for path in ("/compare", "/compare/examples"):
        page = comparer.page(f"{path}?{{pair}}&slize=country%3DSI")
        notices = " ".join(notice.text for notice in page.all("p", "callout"))
        assert "There is no parameter “slize” here. Known parameters:" in notices
        tracked = comparer.page(f"{path}?{{pair}}&utm_source=mail&fbclid=x").one("main").text
        assert "There is no parameter" not in tracked


def test_the_csv_holds_every_number_of_the_json(comparer: PageClient) -> None:
    record = comparer.json("/compare.json?{pair}")["result"]
    text = comparer.get("/compare.csv?{pair}").text

    for row in csv.DictReader(io.StringIO(text)):
        found = record["metrics"] if not row["class"] else record["per_class"]
        entry = found[row["metric"]] if not row["class"] else found[row["metric"]][row["class"]]
        assert float(row["difference"]) == entry["difference"]["value"]
        assert row["outcome"] == entry["outcome"]
        low = entry["difference"].get("ci_low")
        assert row["ci_low"] == ("" if low is None else repr(low))


def test_the_csv_of_several_runs_has_a_line_for_each(
    comparer: PageClient, compared: ComparedRegistry
) -> None:
    query = compared.runs("plain", "focal", "almost")
    text = comparer.get(f"/compare.csv?{query}").text

    rows = list(csv.DictReader(io.StringIO(text)))
    accuracy = [row for row in rows if row["metric"] == "overall_accuracy"]
    assert [row["letter"] for row in accuracy] == ["A", "B", "C"]
    assert [row["standing"] for row in accuracy].count("best") == 1
    assert sum(row["metric"] == "f1" for row in rows) == 9
    result = comparer.json(f"/compare.json?{query}")["result"]
    for row in rows:
        if row["standing"]:
            found = (
                result["recall_standings"][row["class"]]
                if row["class"]
                else result["metrics"][row["metric"]]
            )[row["letter"]]
            assert row["standing"] == found["standing"]
            assert row["compared_with"] == (found["compared_with"] or "")
            assert row["behind"] == (
                "" if found["behind"] is None else repr(found["behind"]["value"])
            )


def test_the_csv_of_several_runs_has_the_intervals_of_their_evaluations(
    comparer: PageClient, compared: ComparedRegistry
) -> None:
    query = compared.runs("plain", "focal", "almost")

    def of_whole_runs(text: str) -> list[dict[str, str]]:
        return [row for row in csv.DictReader(io.StringIO(text)) if not row["class"]]

    whole = of_whole_runs(comparer.get(f"/compare.csv?{query}").text)
    for row in whole:
        found = comparer.json(f"/runs/{row['run']}.json")["metrics"][row["metric"]]
        assert found["ci_low"] is not None
        assert (row["ci_low"], row["ci_high"]) == (repr(found["ci_low"]), repr(found["ci_high"]))
        assert row["value"] == repr(found["value"])
    in_slice = of_whole_runs(comparer.get(f"/compare.csv?{query}&slice=country%3DSI").text)
    assert len(in_slice) == len(whole)
    assert {(row["ci_low"], row["ci_high"]) for row in in_slice} == {("", "")}


def test_markdown_holds_verdict_table_and_address(
    comparer: PageClient, compared: ComparedRegistry
) -> None:
    response = comparer.get("/compare.md?{pair}")

    text = response.text
    assert response.mimetype == "text/markdown"
    assert "**B is better than A on" in text
    assert "| Accuracy | 0." in text
    assert f"<http://localhost/compare?{compared.pair}>" in text


# -- examples ------------------------------------------------------------------------------


def test_examples_show_both_answers_and_their_scores(comparer: PageClient) -> None:
    page = comparer.page("/compare/examples?{pair}&which=only_b")

    fixed = [
        place
        for place in range(N)
        if PLAIN[place] != TRUTH[place] and FOCAL[place] == TRUTH[place]
    ]
    rows = page.table("data")
    assert [row[0] for row in rows] == [sample_names()[place] for place in fixed][:50]
    for row, place in zip(rows, fixed, strict=False):
        assert row[1] == TRUTH[place]
        assert row[2] == f"✕wrong: {PLAIN[place]}"
        assert row[4] == f"✓right: {FOCAL[place]}"
        assert float(row[3].lstrip("<>")) <= 1


def test_examples_lead_back_and_to_the_other_fates(
    comparer: PageClient, compared: ComparedRegistry
) -> None:
    path = f"/compare/examples?{compared.pair}&slice=country%3DDE&which=only_a"
    page = comparer.page(path)

    back = page.one("p", "crumbs").inside("a")[0]["href"]
    paired_outcomes = [a["href"] for a in page.one("ul", "seg").inside("a")]
    assert back == f"/compare?{compared.pair}&slice=country%3DDE"
    assert all("slice=country%3DDE" in link for link in paired_outcomes)
    assert [a.attributes.get("aria-current") for a in page.one("ul", "seg").inside("a")] == [
        None,
        "true",
        None,
        None,
    ]


def test_examples_of_a_class_that_does_not_exist_are_those_of_all(comparer: PageClient) -> None:
    page = comparer.page("/compare/examples?{pair}&class=wart&which=nothing&from=x")

    notices = " ".join(notice.text for notice in page.all("p", "callout"))
    assert "“wart”" in notices
    assert "“nothing”" in notices
    assert "position in the list is invalid" in notices


def test_a_matrix_has_no_examples(comparer: PageClient) -> None:
    page = comparer.page("/compare/examples?runs={plain},{matrix}")

    assert "no examples to show" in page.one("div", "callout").text


# -- hostile names, traps, budgets ---------------------------------------------------------


def test_a_class_of_any_name_can_be_asked_for(comparer: PageClient) -> None:
    page = comparer.page("/compare?runs={hostile},{more_hostile}")

    links = [
        a["href"]
        for a in section_of(page, "Recall of each class").inside("a")
        if "/compare/examples" in a["href"]
    ]
    asked = set()
    for link in links:
        found = comparer.get(link.replace("/examples?", "/examples.json?")).get_json()
        assert found["total"] > 0
        asked.add(found["class_label"])
    assert asked <= set(HOSTILE_NAMES)
    assert len(asked) > 3


def test_markdown_says_that_one_wrong_example_is_left(
    comparer: PageClient, compared: ComparedRegistry
) -> None:
    right, wrong = (
        upload_matrix(
            compared.database,
            [[1250 - errors, errors], [0, 1250]],
            ("a", "b"),
            name=f"{errors} wrong",
            dataset="nearly right",
        )
        for errors in (0, 1)
    )
    work_off(compared.database)

    text = comparer.get(f"/compare.md?runs={right.id},{wrong.id}").text

    assert "| Accuracy | 1.000 | >0.999 |" in text


def test_markdown_escapes_what_names_hold(
    comparer: PageClient, compared: ComparedRegistry
) -> None:
    query = compared.runs("hostile", "more_hostile")

    text = comparer.get(f"/compare.md?{query}").text

    assert re.findall(r"(?<!\\)<.*?>", text) == [f"<http://localhost/compare?{query}>"]


def test_a_class_no_case_tells_apart_keeps_the_width_of_its_interval(comparer: PageClient) -> None:
    record = comparer.json("/compare.json?runs={focal},{almost}")

    recall = record["result"]["per_class"]["recall"]["mel"]["difference"]
    f1 = record["result"]["per_class"]["f1"]["mel"]["difference"]
    assert recall["value"] == 0
    assert recall["ci_low"] < 0 < recall["ci_high"]
    assert f1["ci_low"] is None


def test_a_difference_that_is_undefined_says_why(client: PageClient, database: Database) -> None:
    actual = ["a", "b"] * 20
    runs = [
        log(database, y_true=actual, y_pred=predicted, dataset="d").id
        for predicted in (actual, ["a"] * 40)
    ]
    work_off(database)

    page = client.page(f"/compare?runs={','.join(runs)}")
    (mcc,) = [row for row in page.table("data") if row[0] == "MCC"]

    assert mcc[2:4] == ["undefined, note 1", "undefined, note 1"]


def test_one_page_names_one_number_of_classes_that_are_compared_together(
    client: PageClient, database: Database
) -> None:
    """Recall of "c" is 0 in all runs, so no test of it is among those that are corrected for."""
    actual = ["a", "b"] * 60 + ["c"] * 20
    ids = []
    for step in (9, 4, 2):
        predicted = ["a" if a == "c" or i % step == 0 else a for i, a in enumerate(actual)]
        ids.append(log(database, y_true=actual, y_pred=predicted).id)
    work_off(database)

    text = client.page(f"/compare?runs={','.join(ids)}").one("main").text

    found = set(re.findall(r"(\d+) class(?:es)? compared together", text))
    assert len(found) == 1


def test_slices_of_sets_are_compared_by_subset_accuracy_and_labels(
    client: PageClient, database: Database
) -> None:
    actual = [["a"], ["b"], ["a", "b"], []] * 40
    sites = ["x", "y"] * 80
    ids = [
        log(
            database,
            y_true=actual,
            y_pred=[["a"] if i % step == 0 else each for i, each in enumerate(actual)],
            labels=["a", "b"],
            slices={"site": sites},
        ).id
        for step in (9, 4)
    ]
    work_off(database)

    text = client.page(f"/compare?runs={','.join(ids)}").one("main").text

    assert "Subset accuracy, and the recall of labels with 12 or more examples." in text
    assert "and over all labels of slices" in text

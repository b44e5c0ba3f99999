"""The what-if page: its question is its address, and its numbers are those of the core."""

import csv
import io
import re
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from offdiag.domain.runs import RunFacts
from offdiag.domain.texts import CostName
from offdiag.services.champions.promotions import approve
from offdiag.services.cost_matrices import add_costs, set_default_costs
from offdiag.store import cost_matrices
from offdiag.store.database import Database
from support.compared import ComparedRegistry
from support.dashboard import LESION_COUNTS, LESIONS, LesionRegistry, log_counts
from support.filled_once import filled_once
from support.forms import forms_of, send
from support.logging_runs import log, log_ill, work_off
from support.pages import Element, Page, PageClient
from support.scored_runs import ScoredRegistry
from support.sites import log_sites


def with_few_errors(counts: tuple[tuple[int, ...], ...]) -> list[list[int]]:
    """The same samples with at most two errors of a kind; the others are right."""
    found = [[min(count, 2) for count in line] for line in counts]
    for code, line in enumerate(counts):
        found[code][code] = 0
        found[code][code] = sum(line) - sum(found[code])
    return found


FOCAL = with_few_errors(LESION_COUNTS)


@pytest.fixture
@filled_once
def runs(database: Database) -> str:
    """Two runs on the lesions, as an address names them."""
    found = [
        log_counts(database, counts, LESIONS, name=name, dataset="derm-7", evaluated=False)
        for name, counts in (("plain", LESION_COUNTS), ("focal", FOCAL))
    ]
    work_off(database)
    return ",".join(found)


def add_triage(database: Database) -> None:
    weights = {a: {p: float(a != p) for p in LESIONS} for a in LESIONS}
    weights["mel"]["nv"] = 20.0
    add_costs(
        database,
        project="default",
        dataset="derm-7",
        name="derm triage",
        weights=weights,
        currency="EUR",
    )


def test_an_address_without_costs_leads_to_one_that_names_the_default(
    client: PageClient, runs: str, database: Database
) -> None:
    assert client.get(f"/whatif?runs={runs}").location == f"/whatif?cost=@0-1&runs={runs}"
    add_triage(database)
    set_default_costs(
        database, project="default", dataset="derm-7", wanted=CostName("derm triage")
    )

    location = client.get(f"/whatif?runs={runs}").location

    assert location == f"/whatif?cost=derm%20triage@1&runs={runs}"


def test_every_cell_has_a_field_that_says_what_it_is_and_the_chart_where_the_choice_flips(
    client: PageClient, runs: str
) -> None:
    page = client.page(f"/whatif?runs={runs}&cost=@0-1")

    by_id = {
        element["id"]: element.text for element in page.elements if "id" in element.attributes
    }
    fields = _fields(page)
    assert len(fields) == 49
    named = fields["w1.0"]["aria-labelledby"].split()
    assert " ".join(by_id[part] for part in named) == "cost, actual mel, predicted nv"
    assert fields["w1.0"]["inputmode"] == "decimal"
    chart = next(svg for svg in page.all("svg") if "flip-chart" in svg.classes)
    assert chart["aria-label"].startswith("Cost of each run over the cheapest.")
    assert "B is cheapest at every multiple" in chart["aria-label"]


def test_edited_cells_are_marked_by_text_and_border(client: PageClient, runs: str) -> None:
    page = client.page(f"/whatif?runs={runs}&cost=@0-1&set=mel>nv:20,df>*:x2")

    edited = page.all("td", "edited")
    assert len(edited) == 7
    assert edited[0].text == "* was 1"
    assert _fields(page)["w1.0"]["value"] == "20"
    assert "7 cells changed" in page.one("main").text
    assert "multiplied: df>* × 2" in page.one("main").text


def test_a_form_leads_to_the_shortest_address_of_what_it_asks(
    client: PageClient, runs: str
) -> None:
    page = client.page(f"/whatif?runs={runs}&cost=@0-1&set=mel>nv:20")
    sent = _sent(page, "scenario") | {"w2.0": "3", "w1.0": "1"}

    location = client.get("/whatif", query_string=sent).location

    query = dict(parse_qsl(urlsplit(location).query))
    assert query["set"] == "bkl>nv:3"
    assert (query["runs"], query["cost"]) == (runs, "@0-1")
    assert "form" not in query


def test_the_number_beside_the_slider_asks_for_its_cost(client: PageClient, runs: str) -> None:
    page = client.page(f"/whatif?runs={runs}&cost=@0-1&vary=mel>nv")

    location = client.get("/whatif", query_string=_sent(page, "scenario") | {"at": "20"}).location

    query = dict(parse_qsl(urlsplit(location).query))
    assert (query["set"], query["vary"]) == ("mel>nv:20", "mel>nv")
    shown = client.page(location)
    assert "881.6" in {cell.text for cell in shown.all("td")}
    assert [f["value"] for f in shown.all("input") if f.attributes.get("id") == "at"] == ["20"]


def test_what_cannot_be_meant_is_said_and_the_page_still_answers(
    client: PageClient, runs: str
) -> None:
    for query, notice in [
        ("set=mel>flu:3", "there is no class flu"),
        ("set=mel>nv:much", "'much' is not a cost"),
        ("share=nv:2", "a share is between 0 and 1"),
        ("merge=nv", "a group is written as class|class"),
        ("vary=nv>nv", "names no cost that can be moved"),
        ("positive=flu", "There is no class “flu” here."),
    ]:
        page = client.page(f"/whatif?runs={runs}&cost=@0-1&{query}")

        assert notice in page.all("p", "callout")[0].text, (query, notice)


def test_the_twins_say_what_the_page_says(client: PageClient, runs: str) -> None:
    query = f"runs={runs}&cost=@0-1&set=mel>nv:20"
    record = client.json(f"/whatif.json?{query}")
    header, *lines = csv.reader(io.StringIO(client.get(f"/whatif.csv?{query}").text))
    page = client.page(f"/whatif?{query}")

    table = [dict(zip(header, line, strict=True)) for line in lines]
    shown = {
        row["data-letter"]: row["data-total"]
        for row in page.all("tr")
        if "data-letter" in row.attributes
    }
    for line, run in zip(table, record["runs"], strict=True):
        assert float(line["total_cost"]) == run["total_cost"]["value"]
        assert float(shown[line["letter"]]) == run["total_cost"]["value"]
        assert int(line["rank"]) == run["rank"]
    assert record["choice"]["vary"] == "mel>nv"
    assert record["weights"]["mel"]["nv"] == 20
    assert record["best_constant"]["label"] == "mel"
    assert list(shown) == ["B", "A"]
    assert "always mel" in page.one("tr", "constant").text


def test_saving_makes_a_new_version_and_asks_the_same_question_under_it(
    client: PageClient, runs: str, database: Database
) -> None:
    add_triage(database)
    path = f"/whatif?runs={runs}&cost=derm triage@1&set=mel>nv:40&share=df:0.1"
    form = next(f for f in forms_of(client, path) if f["id"] == "save")

    response = send(client, form, {"name": "derm triage", "note": "twice", "author": "ana"})

    assert response.location == f"/whatif?cost=derm%20triage@2&runs={runs}&share=df:0.1"
    with database.read() as session:
        saved = cost_matrices.find_costs(session, project="default", name="derm triage")
    assert saved is not None
    assert (saved.version, saved.note, saved.author) == (2, "twice", "ana")
    assert saved.costs.weights[1, 0] == 40
    assert saved.costs.currency == "EUR"

    typed = {"name": "triage@2", "note": "for clinics", "author": "ana"}
    refused = send(client, form, typed)
    assert refused.status_code == 400
    page = Page(refused.text)
    assert "“triage@2” contains" in page.all("div", "callout-warning")[0].text
    fields = {each.attributes.get("name"): each.attributes for each in page.all("input")}
    assert {name: fields[name]["value"] for name in typed} == typed
    assert [name for name, each in fields.items() if "aria-invalid" in each] == ["name"]
    assert "1 cell changed" in page.one("main").text


def test_changed_costs_are_no_version_of_another_name_before_that_is_said(
    client: PageClient, runs: str, database: Database
) -> None:
    add_triage(database)
    path = f"/whatif?runs={runs}&cost=@0-1&set=mel>nv:40"
    form = next(f for f in forms_of(client, path) if f["id"] == "save")

    refused = send(client, form, {"name": "derm triage"})

    assert refused.status_code == 409
    page = Page(refused.text)
    assert "Save again to make this its version 2" in page.one("main").text
    confirmed = page.all("input", name="version_of")[0]
    again = {"name": "derm triage", "version_of": confirmed["value"]}
    assert "cost=derm%20triage@2" in (send(client, form, again).location or "")


def test_runs_can_be_added_and_removed(client: PageClient, runs: str, database: Database) -> None:
    third = log_counts(database, FOCAL, LESIONS, name="third", dataset="derm-7")
    page = client.page(f"/whatif?runs={runs}&cost=@0-1")

    choices = page.all("select", name="add")[0]
    assert third in [option["value"] for option in choices.inside("option")]
    added = client.get("/whatif", query_string=_sent(page, None) | {"add": third})
    assert added.location == f"/whatif?cost=@0-1&runs={runs},{third}"
    removed = next(a for a in page.all("a") if a.text == "remove focal")
    first, _ = runs.split(",")
    assert removed["href"] == f"/whatif?cost=@0-1&runs={first}"


def test_a_dataset_leads_to_its_newest_runs(client: PageClient, runs: str) -> None:
    location = client.get("/whatif?dataset=derm-7").location

    first, second = runs.split(",")
    assert location == f"/whatif?cost=@0-1&runs={second},{first}"


def test_a_dataset_of_many_runs_leads_to_its_champion_and_its_best_runs_too(
    client: PageClient, database: Database
) -> None:
    """One model was logged more often since than the page compares runs."""
    champion, best, *newest = [
        log_counts(database, counts, LESIONS, name=name, dataset="derm-7", evaluated=False)
        for name, counts in (
            ("champion", LESION_COUNTS),
            ("best", FOCAL),
            *((f"try {n}", LESION_COUNTS) for n in range(8)),
        )
    ]
    work_off(database)
    approve(database, champion, reason="in use", author="ana")

    location = client.get("/whatif?dataset=derm-7").location

    assert location is not None
    asked = location.partition("runs=")[2].split(",")
    assert asked == [*newest[:1:-1], champion, best]


def test_many_classes_start_with_fewer_runs(client: PageClient, database: Database) -> None:
    band = [[5 if i == j else int(j == i + 1) for j in range(31)] for i in range(31)]
    for n in range(5):
        log_counts(database, band, [f"c{i}" for i in range(31)], name=str(n), dataset="many")

    location = client.get("/whatif?dataset=many").location

    assert len(location.partition("runs=")[2].split(",")) == 4


def test_without_runs_datasets_are_offered(
    client: PageClient, runs: str, database: Database
) -> None:
    log_counts(database, FOCAL, LESIONS, dataset="waiting", evaluated=False)

    page = client.page("/whatif")

    assert [item.text for item in page.one("ul", "choices").inside("li")] == [
        "derm-7 2 evaluated runs, 7 classes"
    ]
    assert "has no evaluated runs here" in client.page("/whatif?dataset=waiting").one("main").text


def test_a_registry_whose_runs_wait_leads_to_the_jobs(
    database: Database, client: PageClient
) -> None:
    log_counts(database, FOCAL, LESIONS, dataset="waiting", evaluated=False)

    page = client.page("/whatif")

    assert "No runs yet" not in page.one("main").text
    assert page.one("div", "empty").inside("a")[0]["href"] == "/jobs"


def test_an_empty_registry_says_how_to_begin(client: PageClient) -> None:
    assert "No runs yet" in client.page("/whatif").one("main").text


def test_unknown_runs_are_not_found(client: PageClient) -> None:
    assert client.get("/whatif?runs=r_none&cost=@0-1").status_code == 404
    assert client.get("/whatif.json?cost=@0-1").status_code == 404


def test_two_classes_are_seen_from_either_side(
    reader: PageClient, registry: LesionRegistry
) -> None:
    address = f"/whatif?runs={registry.binary}&cost=@0-1"

    sides = [
        reader.page(f"{address}&positive={label}").all("table", "data")[0].inside("td")
        for label in ("malignant", "benign")
    ]

    assert [[cell.text for cell in cells[:2]] for cells in sides] == [
        ["5/63", "4/108"],
        ["4/108", "5/63"],
    ]


def test_many_classes_are_changed_by_rows_and_columns(
    reader: PageClient, registry: LesionRegistry
) -> None:
    address = f"/whatif?runs={registry.many_classes}&cost=@0-1"
    page = reader.page(address)
    assert not _fields(page)
    assert "class 00 → class 01" in page.one("main").text

    sent = _sent(page, "scenario") | {"ta": "class 0*", "tp": "class 01", "tx": "3"}
    location = reader.get("/whatif", query_string=sent).location

    assert dict(parse_qsl(urlsplit(location).query))["set"] == "class 0*>class 01:x3"


def _fields(page: Page) -> dict[str, Element]:
    return {
        field["name"]: field
        for field in page.all("input")
        if field.attributes.get("name", "").startswith("w")
    }


def _sent(page: Page, form_id: str | None) -> dict[str, str]:
    """What a browser sends with a form that asks: that of an id, or the one that adds runs."""
    forms = page.all("form", id=form_id) if form_id else page.all("form", "filter")
    return forms[0].fields()


def test_three_figures_say_what_another_threshold_costs(
    client: PageClient, database: Database
) -> None:
    scores = [0.9, 0.8, 0.45, 0.3, 0.2, 0.15, 0.1, 0.05, 0.02, 0.01] * 3
    ill = [0.9, 0.8, 0.3]
    actual = ["ill" if score in ill else "well" for score in scores]
    run = log_ill(database, y_true=actual, p=scores)
    work_off(database)

    page = client.page(f"/whatif?runs={run.id}&cost=@0-1&set=ill>well:4")

    figures = [item.text for item in page.one("ul", "figures").inside("li")]
    # Of 30 patients 3 are missed at 4 each; from 0.3 on none is, for 3 false alarms at 1.
    assert figures[0] == "Now400.095 % CI 118.5 – 967.33 ill missed, 0 false alarms"
    said = "Best on these examples: from 0.3100.095 % CI 37.6 – 447.90 ill missed, 3 false alarms"
    assert figures[1] == said
    assert re.fullmatch(
        r"Honest: cross-validated[\d.]+\d ill missed, \d+ false alarms?", figures[2]
    )
    # The run costs the same in the ranking, with the same digits.
    ranked = next(row for row in page.all("tr") if "data-letter" in row.attributes)
    assert "400.0" in [cell.text for cell in ranked.inside("td")]
    assert "cost per 1,000" in page.one("section", "threshold-card").text
    (chart,) = [svg for svg in page.all("svg") if "threshold-plot" in svg.classes]
    assert "lowest cost 100.0 from 0.3" in chart["aria-label"]

    assert "now: 400.0" in chart.text

    # Where a false alarm is the expensive error, thresholds are still on the score of "ill".
    page = client.page(f"/whatif?runs={run.id}&cost=@0-1&set=well>ill:4&vary=well>ill")

    assert "Threshold for ill" in page.one("main").text
    best = page.one("ul", "figures").inside("li")[1]
    said = "Best on these examples: from 0.8100.095 % CI 37.6 – 428.13 ill missed, 0 false alarms"
    assert best.text == said


@pytest.mark.parametrize(
    ("alarms", "cost", "said"),
    [
        (50, 4, "A “careful” is lowest up to 50×, B “alarmed” above"),
        # Beyond 150× B costs less.
        (150, 4, "From 1× to 100×: A “careful” is lowest at every ratio"),
        # The table below the sentence is about 300×.
        (50, 300, "From 1× to 100×: A “careful” is lowest up to 50×, B “alarmed” above"),
    ],
)
def test_a_verdict_says_from_where_to_where_if_the_page_shows_more(
    client: PageClient, database: Database, alarms: int, cost: int, said: str
) -> None:
    actual = ["ill"] * 10 + ["well"] * 400
    predicted = {
        "careful": ["ill"] * 9 + ["well"] * 401,
        "alarmed": ["ill"] * (10 + alarms) + ["well"] * (400 - alarms),
    }
    found = [
        log(database, y_true=actual, y_pred=each, dataset="clinic", facts=RunFacts(name=name))
        for name, each in predicted.items()
    ]
    work_off(database)

    runs = ",".join(run.id for run in found)
    page = client.page(f"/whatif?runs={runs}&cost=@0-1&set=ill>well:{cost}&vary=ill>well")

    assert _by_id(page, "verdict").startswith(said)


def _by_id(page: Page, id_: str) -> str:
    return next(each.text for each in page.all("p") if each.attributes.get("id") == id_)


def test_the_best_threshold_has_the_interval_of_the_page_of_decisions(
    client: PageClient, database: Database
) -> None:
    # Where the positive class is the first one, what is drawn class by class has another order.
    scores = [0.9, 0.8, 0.45, 0.3, 0.2, 0.15, 0.1, 0.05, 0.02, 0.01] * 30
    actual = ["ill" if score in (0.9, 0.8, 0.3) else "well" for score in scores]
    run = log_ill(database, y_true=actual, p=scores, labels=["ill", "well"])
    work_off(database)

    page = client.page(f"/whatif?runs={run.id}&cost=@0-1&set=ill>well:40")
    decisions = client.json(f"/whatif/decisions.json?run={run.id}&cost=@0-1&set=ill>well:40")

    best = page.one("ul", "figures").inside("li")[1].text
    cost = decisions["thresholds"]["cheapest"]["mean_cost"]
    ends = [f"{1000 * cost[end]:.0f}" for end in ("ci_low", "ci_high")]
    assert " – ".join(ends) in best, (best, ends)


def test_a_threshold_is_written_with_the_digits_of_the_ranking(
    client: PageClient, database: Database
) -> None:
    scores = [0.9, 0.8, 0.45, 0.3, 0.2, 0.15, 0.1, 0.05, 0.02, 0.01] * 3
    actual = ["ill" if score in (0.9, 0.8) else "well" for score in scores]
    runs = [log_ill(database, y_true=actual, p=scores, cut=cut) for cut in (0.4, 0.95)]
    work_off(database)

    address = f"/whatif?runs={runs[0].id},{runs[1].id}&cost=@0-1&set=ill>well:20"
    page = client.page(address)

    # The other run misses 6 of 30 at 20 each: 4,000.
    ranked = [row for row in page.all("tr") if "data-letter" in row.attributes]
    assert "100" in [cell.text for cell in ranked[0].inside("td")]
    assert page.one("ul", "figures").inside("strong")[0].text == "100"


def test_costs_of_a_threshold_are_told_with_all_their_digits(
    client: PageClient, database: Database
) -> None:
    scores = [0.9, 0.8, 0.45, 0.3, 0.2, 0.15, 0.1, 0.05, 0.02, 0.01] * 3
    actual = ["ill" if score in (0.9, 0.8, 0.3) else "well" for score in scores]
    run = log_ill(database, y_true=actual, p=scores)
    work_off(database)

    page = client.page(f"/whatif?runs={run.id}&cost=@0-1&set=ill>well:1234567")

    assert "costs 1234567, a false alarm 1. The best threshold" in page.one("main").text


def test_a_threshold_that_costs_more_than_the_predictions_is_not_called_best(
    database: Database, client: PageClient
) -> None:
    # All are right by their largest score; no threshold on that of "a" tells these apart.
    right = {"a": [0.4, 0.3, 0.3], "b": [0.45, 0.55, 0.0], "c": [0.0, 0.0, 1.0]}
    actual = [label for label in right for _ in range(10)]
    run = log(
        database,
        y_true=actual,
        y_pred=actual,
        y_score=[right[label] for label in actual],
        labels=list(right),
        dataset="clinic",
    )
    work_off(database)

    page = client.page(f"/whatif?runs={run.id}&cost=@0-1&vary=a>b")

    now, best = [item.text for item in page.one("ul", "figures").inside("li")][:2]
    assert now.startswith("Now0")
    assert best.startswith("Best threshold, costs more than now: ")


def test_every_kind_of_scores_has_a_page(
    scored_reader: PageClient, scored: ScoredRegistry
) -> None:
    for run in (scored.several, scored.event, scored.margins, scored.many, scored.hostile):
        scored_reader.page(f"/whatif?runs={run}&cost=@0-1").one("ul", "figures")


def test_datasets_of_label_sets_are_not_offered(client: PageClient, database: Database) -> None:
    log(
        database,
        y_true=[["a"], ["a", "b"], ["b"]],
        y_pred=[["a"], ["a"], ["b"]],
        dataset="tags",
    )
    work_off(database)

    assert "tags" not in client.page("/whatif").one("main").text
    tabs = client.page("/datasets/tags").one("nav", "dataset-tabs").inside("a")
    assert {"Decision", "Data"} <= {tab.text for tab in tabs}
    assert "Costs" not in [tab.text for tab in tabs]


def test_costs_of_one_slice_are_those_of_its_examples_alone(
    client: PageClient, database: Database
) -> None:
    pair = ",".join(log_sites(database, name=name).id for name in ("first", "second"))
    work_off(database)
    query = {"runs": pair, "cost": "@0-1", "slice": "site=z"}

    page = client.page(f"/whatif?{urlencode(query)}")
    found = client.json(f"/whatif.json?{urlencode(query)}")
    whole = client.json(f"/whatif.json?{urlencode({**query, 'slice': ''})}")

    chosen = {each.text for each in page.all("option") if "selected" in each.attributes}
    assert "site=z" in chosen
    assert (whole["slice"], found["slice"]) == (None, "site=z")
    # By site 5, 6, 13 and 1 errors.
    assert [run["total_cost"]["value"] for run in whole["runs"]] == [25.0, 25.0]
    assert [run["total_cost"]["value"] for run in found["runs"]] == [13.0, 13.0]


def test_an_unknown_slice_is_told_on_the_page_of_all_examples(
    client: PageClient, database: Database
) -> None:
    run = log_sites(database).id
    work_off(database)
    for part, why in (("site=q", "no sample has site"), ("odd", "slice")):
        query = urlencode({"runs": run, "slice": part})

        page = client.page(f"/whatif?{query}&cost=@0-1")

        notice = page.all("p", "callout")[0].text
        assert notice.startswith("The slice is not applied: ")
        assert why in notice
        assert notice.endswith("All examples are shown.")
        assert "172" in page.one("main").text  # 25 errors per 145 examples.
        assert client.get(f"/whatif?{query}", follow_redirects=True).status_code == 200
        assert client.get(f"/whatif.json?{query}&cost=@0-1").status_code == 400


def test_all_runs_beyond_the_most_are_left_out_in_one_notice(
    comparer: PageClient, compared: ComparedRegistry
) -> None:
    runs = [*compared.alike, compared.plain][-10:]

    page = comparer.page(f"/whatif?runs={','.join(runs)}&cost=@0-1")

    said = [each.text for each in page.all("p", "callout") if "left out" in each.text]
    assert said == [f"At most 8 runs are compared at once; left out: {', '.join(runs[8:])}."]

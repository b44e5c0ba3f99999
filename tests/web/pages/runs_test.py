import re
from unittest.mock import patch
from urllib.parse import urlencode

import pytest

from offdiag.domain.runs import RunFacts
from offdiag.services.champions.leaders import leaders_of
from offdiag.services.champions.promotions import approve
from offdiag.store import run_count, run_list
from offdiag.store.database import Database
from offdiag.store.dataset_page import dataset_list
from offdiag.store.datasets import get_dataset
from offdiag_web.urls.filter_line import quoted
from support.dashboard import LesionRegistry, log_counts
from support.logging_runs import log, work_off
from support.pages import Element, Page, PageClient
from support.set_runs import PREDICTED_SETS, TRUE_SETS, log_sets
from support.sites import FOUND, log_sites


@pytest.fixture(scope="module")
def lesions(reader: PageClient) -> Page:
    """The list of the runs of one dataset."""
    return reader.page("/runs?q=dataset:derm-7")


def test_an_empty_registry_shows_how_to_log_and_how_to_get_demo_data(
    client: PageClient, database: Database
) -> None:
    page = client.page("/runs")

    snippet, command = (code.text for code in page.all("code"))
    assert "offdiag.log_run(" in snippet
    assert database.url in snippet
    assert command == "offdiag demo"


def test_the_list_of_one_dataset_names_it_with_its_size(lesions: Page) -> None:
    assert lesions.one("h1").text == "derm-7"
    assert lesions.all("p", "subtitle")[0].text == (
        "1,503 examples · 7 classes · largest nv 66.9 %"
    )
    assert lesions.one("title").text == "Runs where dataset:derm-7 · derm-7 · offdiag"


def test_runs_of_several_datasets_stand_in_groups_of_their_own(
    reader: PageClient, registry: LesionRegistry
) -> None:
    page = reader.page("/runs")

    heads = [row.inside("a")[0].text for row in page.all("tr", "group-head")]
    assert heads == sorted(heads)
    group = next(body for body in page.all("tbody") if "derm-7" in body.text)
    assert "labels v1 · 8 runs" in group.text
    assert "Balanced accuracy" in group.text
    assert len(group.inside("input")) == 3
    more = next(link for link in group.inside("a") if link.text.startswith("5 more on derm-7"))
    assert more["href"] == "/runs?q=dataset:derm-7"
    best = reader.json("/runs.json?q=dataset:derm-7&sort=-bal")["runs"][:3]
    assert [run["name"] for run in best] == [
        link.text for link in group.inside("a") if "data-row" in link.attributes
    ]


def test_a_long_name_of_a_dataset_leaves_room_for_its_facts(
    client: PageClient, database: Database
) -> None:
    for name in ("short", "photographs of skin lesions, all sites"):
        log(database, dataset=name)

    page = client.page("/runs")

    heads = [row.inside("a")[0] for row in page.all("tr", "group-head")]
    assert [head.text for head in heads] == ["photographs o…s, all sites", "short"]
    assert heads[0]["title"] == "photographs of skin lesions, all sites"


@pytest.mark.parametrize(
    ("term", "said"),
    [
        ("dataset:derm-77", "There is no dataset 'derm-77'. Did you mean 'derm-7'?"),
        ("project:nowhere", "Project 'nowhere' has no datasets."),
        ("model:effnet-b4", "No run is of model 'effnet-b4'. Did you mean 'effnet-b3'?"),
        ("dataset:derm-7 tag:none", None),
        ("dataset:zz*", None),
    ],
)
def test_an_empty_list_says_that_nothing_has_the_wanted_name(
    reader: PageClient, term: str, said: str | None
) -> None:
    page = reader.page("/runs?" + urlencode({"q": term}))

    assert page.one("div", "empty").inside("h2")[0].text == "No run matches"
    assert [notice.text for notice in page.all("p", "callout")] == ([said] if said else [])


def test_a_line_shows_the_numbers_of_the_run(lesions: Page) -> None:
    row = _row(lesions, "plain CE")

    assert row[1:4] == ["0.630", "0.864", "df 0/17"]


def test_the_list_of_a_dataset_begins_with_the_best_run(reader: PageClient, lesions: Page) -> None:
    listed = reader.json("/runs.json?q=dataset:derm-7&sort=-bal")["runs"]

    assert _names(lesions) == [run["name"] for run in listed]
    assert "8 runs, sorted by balanced accuracy" in lesions.one("main").text


def test_a_list_begins_with_the_best_run_by_metrics_that_filters_call_otherwise(
    client: PageClient, database: Database
) -> None:
    """A filter calls macro F1 `f1`, which is not a name of an order."""
    for name, predicted in (("perfect", TRUE_SETS), ("poor", PREDICTED_SETS)):
        log_sets(database, y_pred=predicted, facts=RunFacts(name=name))
    work_off(database)

    page = client.page("/runs?q=dataset:photos")

    assert _names(page) == ["perfect", "poor"]
    (head,) = (link for link in page.all("a") if link.text.startswith("Macro F1"))
    turned = client.page(head["href"])
    assert _names(turned) == ["poor", "perfect"]
    assert "sorted by macro F1" in turned.one("main").text


def test_the_best_set_is_marked_and_its_end_drawn_where_the_list_is_sorted_by_it(
    client: PageClient, database: Database
) -> None:
    good, similar, poor = ((40, 2), (2, 40)), ((39, 3), (2, 40)), ((30, 12), (12, 30))
    runs = (("good", good), ("as good", good), ("similar", similar), ("poor", poor))
    for name, counts in runs:
        log_counts(database, counts, ("a", "b"), name=name)
    with database.read() as session:
        dataset = get_dataset(session, dataset_list(session)[0].id)
    found = leaders_of(database, dataset)
    approve(database, found.runs[-1].run.id, reason="the only one", author=None)

    page = client.page("/runs")
    by_age = client.page("/runs?sort=-logged")

    marks = {row[1]: row[2] for row in page.table("data") if len(row) > 2}
    assert {each.run.name for each in found.best_set} == {"good", "as good", "similar"}
    assert marks == {
        "good": "★best value",
        "as good": "★best value",
        "similar": "●in set",
        "poorchampion": "",
    }
    border = "above: no significant difference from the best (95 %, corrected for 4 runs)"
    assert [row.text for row in page.all("tr", "border")] == [border]
    assert not by_age.all("tr", "border")
    assert "★best value" in {row[2] for row in by_age.table("data")}
    assert "dashed = poor, the champion" in page.one("main").text
    chosen = "★ best value, chosen among 4 runs and so expected to be worse on new examples"
    legend = page.one("p", "list-legend")
    assert legend.text.startswith(f"{chosen} (estimate) · ● in the best set")
    (estimate,) = (link for link in legend.inside("a") if link.text == "estimate")
    assert "is expected to reach about" in client.page(estimate["href"]).one("main").text


def test_the_better_of_two_runs_is_not_said_to_be_chosen_among_many(
    client: PageClient, database: Database
) -> None:
    for name, counts in (("good", ((40, 2), (2, 40))), ("poor", ((30, 12), (12, 30)))):
        log_counts(database, counts, ("a", "b"), name=name)

    legend = client.page("/runs").one("p", "list-legend").text

    assert legend.startswith("★ best value · ●")


def test_the_best_set_of_each_dataset_is_marked_where_they_are_listed_together(
    client: PageClient, database: Database
) -> None:
    good, similar, poor = ((40, 2), (2, 40)), ((39, 3), (2, 40)), ((12, 30), (30, 12))
    close = (("a good one with a long name", good), ("as good", good), ("almost good", similar))
    for dataset, others in (("close", close), ("clear", (("good", good), ("poor", poor)))):
        for name, counts in others:
            log_counts(database, counts, ("a", "b"), name=name, dataset=dataset)

    page = client.page("/runs?q=good")

    heads = [row.text for row in page.all("tr", "group-head")]
    assert ["1 run leads" in heads[0], "3 runs share the lead" in heads[1]] == [True, True]
    marks = [cell.text for cell in page.all("td", "best") if cell.text]
    assert sorted(marks) == ["●in set", "★best value", "★best value", "★best value"]
    assert "a good one with a long name" in page.one("main").text


def test_chosen_columns_are_kept_for_the_next_visit(
    client: PageClient, database: Database
) -> None:
    log_counts(database, ((8, 2), (1, 4)), ("a", "b"), params={"lr": 0.1})
    log_counts(database, ((8, 2), (1, 4)), ("a", "b"), params={"lr": 0.2}, name="other")

    usual = _heads(client.page("/runs"))
    client.get("/runs?form=1&col=run&col=mcc&col=param.lr&col=logged")
    kept = _heads(client.page("/runs"))
    client.get("/runs?form=1&col=run&col=mcc&reset=1")

    assert usual[:5] == ["Run", "Balanced accuracy", "Accuracy", "Worst class", "Problems"]
    assert "lr" in usual
    assert kept == ["Run", "MCC", "lr", "Logged"]
    assert _heads(client.page("/runs")) == usual


def test_the_ends_of_each_scale_are_printed(reader: PageClient, lesions: Page) -> None:
    fit = _ends(lesions)
    full = _ends(reader.page("/runs?q=dataset:derm-7&scale=full"))

    assert fit != full
    assert full == [["0", "1"], ["0", "1"], ["0", "1"]]
    assert all(float(low.replace("−", "-")) < float(high) for low, high in fit)


def test_marks_say_in_words_what_they_show(reader: PageClient) -> None:
    page = reader.page("/runs?q=dataset:derm-7 plain")

    names = [mark["aria-label"] for mark in page.all("svg")]
    assert "Accuracy: 95 % interval 0.846 – 0.881, majority baseline 0.669" in names


def test_an_undefined_number_is_the_word_with_its_reason(reader: PageClient) -> None:
    page = reader.page('/runs?q=dataset:derm-7 "majority dummy"&cols=mcc')

    assert _row(page, "majority dummy")[1] == "undefined, note 1"
    assert "1 one class was predicted for all examples" in page.one("main").text


def test_runs_without_metrics_show_where_they_stand(lesions: Page) -> None:
    assert _row(lesions, "still open")[1] == "◷open 2 predictions logged so far"
    assert re.search(r"metrics queued .* ago job \d+", _row(lesions, "just logged")[1])
    assert "ValueError: wrong shape" in _row(lesions, "sad")[1]


def test_a_doubtful_orientation_is_visible_in_the_list(reader: PageClient) -> None:
    page = reader.page("/runs?q=uploaded")

    chips = {chip.text: chip.attributes.get("title") for chip in page.all("span", "chip-warning")}
    assert chips["▲transposed?"] == "This matrix looks transposed."
    assert "▲other labels" in chips


@pytest.mark.parametrize(
    ("query", "column", "order"),
    [
        ("", "Balanced accuracy", "descending"),
        ("&sort=worst", "Worst class", "ascending"),
    ],
)
def test_the_sorted_column_says_so_and_its_link_turns_it_round(
    reader: PageClient, query: str, column: str, order: str
) -> None:
    page = reader.page(f"/runs?q=dataset:derm-7{query}")

    heads = {
        head.inside("a")[0].text: head for head in page.all("th") if "aria-sort" in head.attributes
    }
    sorting = {name: head["aria-sort"] for name, head in heads.items()}
    assert sorting.pop(column) == order
    assert set(sorting.values()) == {"none"}
    turned = reader.page(heads[column].inside("a")[0]["href"])
    assert {"ascending", "descending"} - {order} == {
        head["aria-sort"]
        for head in turned.all("th")
        if head.attributes.get("aria-sort", "none") != "none"
    }


def test_a_term_that_is_not_understood_is_struck_through_with_the_reason(
    reader: PageClient,
) -> None:
    page = reader.page("/runs?q=foo:bar dataset:derm-7")

    chip = page.one("li", "chip-ignored")
    assert chip.inside("del")[0].text == "foo:bar"
    assert "there is no filter “foo”" in chip.text
    assert len(page.table("data")) == 8


def test_when_nothing_matches_each_term_says_what_it_hides(reader: PageClient) -> None:
    page = reader.page("/runs?q=dataset:derm-7 name-of-nothing")

    chips = [chip.text for chip in page.one("ul", "chips").inside("li")]
    assert "without it: 0" in chips[0]
    assert "without it: 8" in chips[1]
    assert page.link("show all runs") == "/runs"


@pytest.mark.parametrize("query", ["dataset:derm-7 acc<80", "overall_accuracy:<80"])
def test_a_number_that_a_metric_cannot_have_is_a_notice(reader: PageClient, query: str) -> None:
    page = reader.page(f"/runs?{urlencode({'q': query})}")

    (notice,) = (each.text for each in page.all("p", "callout"))
    assert notice == (
        "overall_accuracy is in the range 0 to 1, so comparing it with 80 does not depend on the "
        "run. Write 80 % as 0.8."
    )
    assert page.all("tbody")[0].inside("tr")


def test_a_value_that_cannot_be_meant_is_a_notice_and_not_an_error(reader: PageClient) -> None:
    response = reader.get("/runs?sort=-password")

    assert response.status_code == 200
    assert "cannot be sorted by" in response.text


def test_a_parameter_that_does_not_exist_is_named(reader: PageClient) -> None:
    page = reader.page("/runs?filter=metrics.mcc > 2&view=both&utm_source=mail")

    assert page.all("p", "callout")[0].text == (
        "There is no parameter “filter” here. "
        "Known parameters: after, base, before, col, cols, diff, "
        "group, q, scale, sel, sort, view."
    )


def test_the_filter_form_ends_at_the_canonical_address(reader: PageClient) -> None:
    response = reader.get("/runs?form=1&q=++dataset:derm-7+&sort=-acc&scale=fit&x=1")

    assert response.status_code == 302
    assert response.headers["Location"] == "/runs?q=dataset:derm-7&sort=-acc"


def test_the_form_keeps_order_and_scale(reader: PageClient) -> None:
    page = reader.page("/runs?sort=-acc&scale=full")

    fields = page.one("form", "filter").fields(type="hidden")
    assert fields == {"form": "1", "sort": "-acc", "scale": "full"}


def test_long_lists_come_in_pages_that_can_be_walked_both_ways(
    client: PageClient, database: Database
) -> None:
    for number in range(7):
        log(database, y_true=["a"], y_pred=["a"], facts=RunFacts(name=f"run {number}"))

    with patch.object(run_list, "RUNS_PER_PAGE", 4):
        first = client.page("/runs?q=dataset:holdout")
        second = client.page(first.link("Next"))
        back = client.page(second.link("Previous"))
        listed = client.json("/runs.json")
        following = client.get(listed["next"]).get_json()

    assert _pager(first) == ["1–4 of 7 runs", "Next"]
    assert _pager(second) == ["5–7 of 7 runs", "First", "Previous"]
    assert _names(first) + _names(second) == [f"run {n}" for n in reversed(range(7))]
    assert _names(back) == _names(first)
    assert [len(listed["runs"]), len(following["runs"])] == [4, 3]
    assert following["position"] == 5
    assert following["next"] is None


def test_the_csv_of_a_long_list_has_the_runs_of_all_its_pages(
    client: PageClient, database: Database
) -> None:
    for number in range(7):
        log(database, y_true=["a"], y_pred=["a"], facts=RunFacts(name=f"run {number}"))

    with (
        patch.object(run_list, "RUNS_PER_PAGE", 4),
        patch.object(run_list, "RUNS_READ_AT_ONCE", 2, create=True),
    ):
        second = client.page(client.page("/runs?q=dataset:holdout&sort=name").link("Next"))
        lines = client.records(second.link("CSV"))
        following = client.json("/runs.json?sort=name")["next"]
        rest = client.records(following.replace("/runs.json", "/runs.csv"))

    assert [line["name"] for line in lines] == [f"run {number}" for number in range(7)]
    assert [line["name"] for line in rest] == ["run 4", "run 5", "run 6"]


def test_a_name_with_an_asterisk_is_found_alone(client: PageClient, database: Database) -> None:
    for model in ("m*x", "mix"):
        log(database, facts=RunFacts(name=f"run {model}", model=model))

    def models(term: str) -> list[str]:
        found = client.json(f"/runs.json?{urlencode({'q': term})}")["runs"]
        return sorted(run["model"] for run in found)

    assert models(f"model:{quoted('m*x')}") == ["m*x"]
    assert models(quoted("run m*x")) == ["m*x"]
    assert models("model:m*x") == models('"run m*x"') == ["m*x", "mix"]


def test_the_csv_has_the_chosen_metrics(reader: PageClient) -> None:
    lines = reader.records("/runs.csv?q=dataset:derm-7&cols=cohen_kappa")

    assert any(line["cohen_kappa"] for line in lines)


def test_a_list_of_more_runs_than_are_counted_says_so(reader: PageClient) -> None:
    with patch.object(run_count, "MOST_COUNTED", 3), patch.object(run_list, "RUNS_PER_PAGE", 2):
        page = reader.page("/runs?q=dataset:derm-7 state:evaluated")
        listed = reader.json("/runs.json?q=state:evaluated")
        of_dataset = reader.json("/runs.json?q=dataset:derm-7")

    assert _pager(page) == ["1–2 of more than 3 runs", "Next"]
    assert (listed["total"], listed["more_than"]) == (None, 3)
    assert (of_dataset["total"], of_dataset["more_than"]) == (8, None)


def test_every_link_of_the_list_leads_somewhere(
    reader: PageClient, registry: LesionRegistry
) -> None:
    targets = {
        link["href"]
        for path in ("/runs?q=dataset:derm-7", f"/runs/{registry.plain}")
        for link in reader.page(path).all("a")
    }

    assert all(target.startswith(("/", "#")) for target in targets)
    # What differs in values alone is read by the same code.
    alike = {re.sub(r"(/runs/r_\w+|=[^&]*)", "=", target): target for target in sorted(targets)}
    for target in alike.values():
        assert target.startswith("#") or reader.get(target).status_code in {200, 302}, target


def _names(page: Page) -> list[str]:
    return [link.text for link in page.one("tbody").inside("a") if "data-row" in link.attributes]


def _row(page: Page, name: str) -> list[str]:
    """Cells of a run, from its name on."""
    # The box to tick comes before, and where a best set can be, its mark behind the name.
    at = 3 if page.all("th", "best") else 2
    return next(
        [row[1], *row[at:]]
        for row in page.table("data")
        if len(row) > 1 and row[1].startswith(name)
    )


def _heads(page: Page) -> list[str]:
    heads = [head for head in page.one("thead").inside("th") if "data-col" in head.attributes]
    return [head.children[0].text for head in heads]


def _ends(page: Page) -> list[list[str]]:
    ends = page.one("thead").inside("span")
    return [
        [part.text for part in end.inside("span") if "vh" not in part.classes]
        for end in ends
        if "scale-ends" in end.classes
    ]


def _pager(page: Page) -> list[str]:
    return [part.text for part in page.one("nav", "pager").children]


def test_chosen_columns_stand_in_the_list_and_in_its_address(reader: PageClient) -> None:
    chosen = reader.get(
        "/runs?form=1&q=dataset:derm-7&col=macro_f1&col=cohen_kappa&sort=-macro_f1"
    ).headers["Location"]
    page = reader.page(chosen)

    assert chosen == "/runs?cols=f1,cohen_kappa&q=dataset:derm-7&sort=-macro_f1"
    assert _heads(page)[1:4] == ["Macro F1", "Cohen's kappa", "Worst class"]
    listed = reader.get(chosen.replace("/runs", "/runs.json", 1)).get_json()["runs"]
    at = 3 if page.all("th", "best") else 2
    cells = [row[at] for row in page.table("data") if len(row) > at]
    reader.get("/runs?form=1&reset=1")
    shown = [cell for cell in cells if re.fullmatch(r"[\d.]+", cell)]
    values = [run["metrics"]["macro_f1"]["value"] for run in listed if run["metrics"]]
    assert shown == [f"{value:.3f}" for value in values]
    assert values == sorted(values, reverse=True)


def test_a_column_that_no_metric_has_is_said_and_left_out(reader: PageClient) -> None:
    page = reader.page("/runs?q=dataset:derm-7&cols=acc,happiness")

    assert "There is no metric “happiness”" in page.all("p", "callout")[0].text
    assert _heads(page)[1:3] == ["Accuracy", "Worst class"]


def test_lower_is_better_where_it_is(reader: PageClient) -> None:
    page = reader.page("/runs?q=dataset:derm-7&cols=error_rate")

    (link,) = [a for a in page.all("a") if "sort=" in a["href"] and "rror" in a.text]
    assert "sort=error_rate" in link["href"]


def test_the_others_are_held_against_the_run_that_is_ticked(
    reader: PageClient, registry: LesionRegistry
) -> None:
    answer = reader.get("/runs/as-baseline?q=dataset:derm-7&runs={plain}")
    page = reader.page(answer.headers["Location"])

    assert answer.headers["Location"] == f"/runs?base={registry.plain}&q=dataset:derm-7"
    notes = [note.text for note in page.all("p", "note")]
    assert any("dashed = plain CE, chosen as baseline" in note for note in notes)
    marks = [mark["aria-label"] for mark in page.all("svg", "mark")]
    assert "Accuracy: 95 % interval 0.846 – 0.881, baseline 0.864" in marks


def test_columns_that_only_sets_of_labels_can_fill_are_not_offered(lesions: Page) -> None:
    boxes = lesions.all("input")
    offered = {box["value"] for box in boxes if box.attributes.get("name") == "col"}

    assert {"overall_accuracy", "macro_f1", "log_loss"} <= offered
    assert not offered & {"subset_accuracy", "hamming_loss", "example_jaccard"}


def test_columns_in_which_the_runs_do_not_differ_are_left_out_on_demand(
    client: PageClient, database: Database
) -> None:
    # Errors that change places: as many of them, so the same accuracy, but other classes.
    log_counts(database, ((8, 2), (1, 4)), ("a", "b"), name="first")
    log_counts(database, ((9, 1), (2, 3)), ("a", "b"), name="second")

    every = client.page("/runs?cols=acc,bal")
    differing = client.page("/runs?cols=acc,bal&diff=1")

    assert {"Accuracy", "Balanced accuracy"} <= set(_heads(every))
    assert "Balanced accuracy" in _heads(differing)
    assert "Accuracy" not in _heads(differing)
    assert "with the same value in all runs shown: Accuracy." in differing.one("main").text


def test_pictures_of_the_runs_stand_above_the_list(reader: PageClient, lesions: Page) -> None:
    listed = reader.json("/runs.json?q=dataset:derm-7")["runs"]
    evaluated = [run for run in listed if run["metrics"]]
    trend = reader.page("/runs?q=dataset:derm-7&view=trend")
    parallel = reader.page("/runs?q=dataset:derm-7&view=parallel")

    assert len(trend.one("svg", "model-trend").inside("title")) == len(evaluated)
    assert not trend.all("table", "runs")
    lines = [part for part in parallel.all("path") if "data-run" in part.attributes]
    assert {line["data-run"] for line in lines} == {run["id"] for run in evaluated}
    assert parallel.all("table", "runs")
    loads_d3 = [
        any("parallel.js" in script.attributes.get("src", "") for script in page.all("script"))
        for page in (lesions, trend, parallel)
    ]
    assert loads_d3 == [False, False, True]


def test_a_ticked_run_can_be_approved(reader: PageClient, registry: LesionRegistry) -> None:
    answer = reader.get("/runs/as-champion?q=dataset:derm-7&runs={plain}")

    assert answer.headers["Location"] == f"/datasets/derm-7/approve?run={registry.plain}"
    assert reader.get("/runs/as-champion?q=nothing").headers["Location"] == "/runs?q=nothing"


def test_a_long_number_is_rounded_and_not_cut(client: PageClient, database: Database) -> None:
    for name, lr in (("a", 1 / 30), ("b", 1.25e-12 / 3)):
        log_counts(
            database, ((8, 2), (1, 4)), ("a", "b"), name=name, dataset="answers", params={"lr": lr}
        )
    client.get("/runs?form=1&col=run&col=param.lr")

    rows = client.page("/runs?q=dataset:answers&sort=name").table("runs")

    assert [row[-1] for row in rows] == ["0.0333", "4.17e-13"]


def test_parameters_that_are_numbers_end_in_line(client: PageClient, database: Database) -> None:
    for name, depth, loss in (("a", 3, "ce"), ("b", 12, 1), ("c", None, "focal")):
        params = {"loss": loss} | ({} if depth is None else {"depth": depth})
        log_counts(
            database, ((8, 2), (1, 4)), ("a", "b"), name=name, dataset="answers", params=params
        )

    page = client.page("/runs?q=dataset:answers&sort=name")

    cells = [
        (cell.text, "number" in cell.classes)
        for cell in page.one("table", "runs").inside("td")
        if "param" in cell.classes
    ]
    assert {text for text, is_number in cells if is_number} == {"3", "12", ""}
    assert {text for text, is_number in cells if not is_number} == {"ce", "1", "focal"}
    heads = [head for head in page.all("th") if "param" in head.classes]
    assert [head.text for head in heads if "number" in head.classes] == ["depth"]


def test_runs_of_several_datasets_name_their_models(
    client: PageClient, database: Database
) -> None:
    for name, dataset, model in (
        *(("week 1", "a", "net"), ("week 1", "b", "tree")),
        *(("tree, deep", "b", "tree"), ("plain", "b", None)),
    ):
        counts = ((8, 2), (1, 4))
        log_counts(database, counts, ("a", "b"), name=name, dataset=dataset, model=model)

    named = [head.text for head in client.page("/runs").all("th", "run", scope="row")]

    assert sorted(named) == ["plain", "tree, deep", "week 1 net", "week 1 tree"]


def test_runs_are_put_together_by_model_parameter_or_tag(
    client: PageClient, database: Database
) -> None:
    for name, model, lr in (("a", "net", 1), ("b", "tree", 1), ("c", "net", 2)):
        counts = [[40 + ord(name), 3], [2, 30]]
        log_counts(
            database,
            counts,
            ("y", "n"),
            name=name,
            dataset="answers",
            model=model,
            params={"lr": lr},
        )

    def groups(by: str) -> list[str]:
        page = client.page(f"/runs?q=dataset:answers&sort=name&group={by}")
        assert page.one("select", "field").inside("option")
        return [
            row.text if "group-head" in row.classes else _first_link(row)
            for row in page.one("table", "runs").inside("tbody")[0].inside("tr")
        ]

    assert groups("model") == ["net · 2 runs", "a", "c", "tree · 1 run", "b"]
    assert groups("param.lr") == ["lr 1 · 2 runs", "a", "b", "lr 2 · 1 run", "c"]
    assert groups("tag.x") == ["without x · 3 runs", "a", "b", "c"]
    page = client.page("/runs?q=dataset:answers&sort=param.lr&group=param.lr")
    assert "sorted by lr" in page.one("main").text
    refused = client.page("/runs?q=dataset:answers&group=colour")
    assert "cannot be grouped by “colour”" in refused.one("main").text


def _first_link(row: Element) -> str:
    return row.inside("a")[0].text


def test_a_slice_in_the_filter_is_a_column_and_what_the_metrics_are_about(
    client: PageClient, database: Database
) -> None:
    log_sites(database, name="worse")
    log_sites(database, {**FOUND, "z": (18, 2, 1, 19)}, name="better")
    log_counts(database, ((8, 2), (1, 4)), ("ill", "well"), dataset="else", name="other")
    work_off(database)
    query = urlencode({"q": "slice:site=z recall(ill)<0.5 dataset:holdout"})

    page = client.page(f"/runs?{query}")
    document = client.json(f"/runs.json?{query}")
    (row,) = client.records(f"/runs.csv?{query}")

    heads = _heads(page)
    assert [head for head in heads if head.startswith("Recall of ill, site=z")]
    (line,) = (row for row in page.all("tr") if "worse" in row.text)
    assert "0.400" in {cell.text for cell in line.inside("td")}
    (run,) = document["runs"]
    value = run["metrics"]["recall[ill]@site=z"]
    assert (run["name"], value["value"], value["ci_method"]) == ("worse", 0.4, "wilson")
    assert row["recall[ill]@site=z"] == "0.4"
    chosen = _heads(client.page("/runs?q=dataset:holdout&cols=recall%255Bill%255D%2540site%253Dx"))
    assert any(head.startswith("Recall of ill, site=x") for head in chosen)
    without = client.page(f"/runs?{urlencode({'q': 'slice:site=z recall(ill)<0.5'})}")
    assert "worse" in without.one("main").text
    assert "better" not in without.one("main").text


def test_a_slice_of_three_columns_is_refused(client: PageClient, database: Database) -> None:
    log_sites(database)
    work_off(database)

    answer = client.get(f"/runs?{urlencode({'q': 'recall[ill]@a=1&b=2&c=3<0.5'})}")

    assert answer.status_code == 400
    assert "3 columns" in answer.text


def test_the_files_of_all_datasets_have_the_metrics_of_each(
    client: PageClient, database: Database
) -> None:
    log_sets(database, y_pred=PREDICTED_SETS, facts=RunFacts(name="sets"))
    log_counts(database, ((8, 2), (1, 9)), ("a", "b"), name="classes")
    work_off(database)

    line = next(run for run in client.json("/runs.json")["runs"] if run["name"] == "sets")
    head, *_ = client.get("/runs.csv").text.splitlines()

    assert line["metrics"]["subset_accuracy"]["value"] is not None
    assert {"overall_accuracy", "subset_accuracy"} <= set(head.split(","))

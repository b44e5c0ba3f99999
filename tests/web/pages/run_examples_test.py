import pytest

from offdiag.services.examples import page as examples_page
from support.dashboard import LesionRegistry
from support.pages import Page, PageClient
from support.scored_runs import ScoredRegistry


def test_a_cell_of_the_matrix_leads_to_the_examples_it_counts(scored_reader: PageClient) -> None:
    matrix = scored_reader.page("/runs/{several}?norm=none&order=label")

    for link in matrix.one("table", "matrix").inside("a"):
        page = scored_reader.page(link["href"])
        n_examples = int(link.text)
        assert _heading(page).startswith(f"{n_examples} example")
        assert len(page.table("data")) == min(n_examples, 50)


def test_empty_cells_lead_nowhere(reader: PageClient) -> None:
    table = reader.page("/runs/{plain}?norm=none").one("table", "matrix")

    for cell in table.inside("td"):
        if "data-cell" in cell.attributes:
            assert len(cell.inside("a")) == (cell.text != "0")


def test_a_dense_matrix_leads_to_the_same_examples_by_number(
    scored_reader: PageClient, scored: ScoredRegistry
) -> None:
    page = scored_reader.page("/runs/{many}?order=label")
    link = page.one("table", "matrix").inside("a")[0]

    response = scored_reader.get(link["href"])

    assert response.status_code == 302
    assert response.headers["Location"].startswith(f"/runs/{scored.many}/examples?pred=species%20")
    assert scored_reader.get("/runs/{many}/cells/0-24").status_code == 404


def test_a_matrix_that_was_uploaded_has_no_links_and_its_page_says_why(reader: PageClient) -> None:
    matrix = reader.page("/runs/{columns}")
    page = reader.page("/runs/{columns}/examples?true=mel&pred=nv")

    assert not matrix.one("table", "matrix").inside("a")
    assert "No predictions are stored." in page.one("div", "results").text
    assert "offdiag.log_run(" in page.one("div", "results").text
    assert not page.all("form", "filter")
    assert reader.get("/runs/{columns}/examples.csv").status_code == 409


def test_an_open_run_says_when_its_examples_can_be_seen(reader: PageClient) -> None:
    page = reader.page("/runs/{still_open}/examples")

    assert "are shown once it is finished" in page.one("main").text


@pytest.mark.parametrize("which", ["waiting", "failed"])
def test_examples_are_shown_before_there_are_results(
    reader: PageClient, registry: LesionRegistry, which: str
) -> None:
    page = reader.page(f"/runs/{getattr(registry, which)}/examples")

    assert len(page.table("data")) == 50
    assert page.one("div", "results").inside("div")[0]["role"] == "status"


def test_without_a_filter_all_errors_are_shown_those_the_model_was_sure_of_first(
    scored_reader: PageClient,
) -> None:
    page = scored_reader.page("/runs/{several}/examples")

    lines = page.table("data")
    sure = [float(line[3]) for line in lines]
    assert sure == sorted(sure, reverse=True)
    assert all(line[1] != line[2] for line in lines)
    heads = {head.text: head for head in page.one("thead").inside("th")}
    assert heads["Score"]["aria-sort"] == "descending"
    assert list(heads) == [
        *("Example", "Actual", "Predicted", "Score", "Margin", "Largest scores", "country")
    ]
    kinds = page.all("ul", "seg")[0].inside("a")
    for link in kinds:
        count = int(link.text.rsplit(" ", 1)[1])
        assert f"{count} " in _heading(scored_reader.page(link["href"]))
    assert [link.text for link in kinds][2:] == ["no label yet 40", "all 400"]


def test_the_title_and_the_tab_count_what_is_shown(scored_reader: PageClient) -> None:
    matrix = scored_reader.page("/runs/{several}")
    link = matrix.all("table", "data")[3].inside("a")[0]

    page = scored_reader.page(link["href"])

    actual, predicted = page.table("data")[0][1:3]
    assert page.one("title").text.startswith(
        f"streamed · {link.text} examples, actual “{actual}”, predicted “{predicted}” · scored v2"
    )
    tabs = [a.text for a in page.one("nav", "tabs").inside("a")]
    record = scored_reader.json("/runs/{several}/examples.json")
    assert tabs[:3] == ["Matrix", "Classes", "Slices"]
    assert tabs[3:5] == ["Curves", f"Examples {record['n_matching']} wrong"]
    assert tabs[-2:] == ["History", "Metadata"]


def test_pages_go_forth_and_back(scored_reader: PageClient) -> None:
    first = scored_reader.page("/runs/{several}/examples?show=all&sort=margin")
    second = scored_reader.page(first.link("Next"))
    again = scored_reader.page(second.link("Previous"))

    assert first.one("nav", "pager").inside("span")[0].text == "1–50 of 400 examples"
    assert second.one("nav", "pager").inside("span")[0].text == "51–100 of 400 examples"
    assert again.table("data") == first.table("data")
    assert float(second.table("data")[0][5]) >= float(first.table("data")[-1][5])
    assert scored_reader.page(second.link("First")).table("data") == first.table("data")


def test_what_matches_nothing_says_which_term_to_remove(scored_reader: PageClient) -> None:
    page = scored_reader.page("/runs/{several}/examples?true=cat&id=nothing")

    assert page.one("h3").text == "No example matches"
    terms = {chip.text: chip for chip in page.one("ul", "chips").inside("li")}
    without_sample = next(chip for text, chip in terms.items() if text.startswith("sample"))
    found = scored_reader.page(without_sample.inside("a")[0]["href"])
    assert f"({len(found.table('data'))} without it)" in without_sample.text


def test_a_class_that_there_is_none_of_is_a_notice_and_refused_in_exports(
    scored_reader: PageClient,
) -> None:
    page = scored_reader.page("/runs/{several}/examples?true=cow&pred=yak")
    exported = scored_reader.get("/runs/{several}/examples.json?true=cow")

    text = page.one("main").text
    assert "No example can be actual “cow”" in text
    assert "No example can be predicted “yak”" in text
    assert "There is no parameter" not in text
    misnamed = scored_reader.page("/runs/{several}/examples?predicted=dog").one("main").text
    known = "Known parameters: after, before, content"
    assert f"There is no parameter “predicted” here. {known}" in misnamed
    assert page.table("data")
    assert exported.status_code == 400
    assert exported.get_json()["error"]["field"] == "actual"


def test_the_form_leads_to_the_canonical_address(
    scored_reader: PageClient, scored: ScoredRegistry
) -> None:
    response = scored_reader.get("/runs/{several}/examples?form=1&true=cat&pred=&id=&sort=margin")

    assert response.status_code == 302
    assert response.headers["Location"] == f"/runs/{scored.several}/examples?sort=margin&true=cat"


def test_one_logged_score_is_named_by_its_class(scored_reader: PageClient) -> None:
    page = scored_reader.page("/runs/{event}/examples?true=fraud&pred=fine")

    heads = [head.text for head in page.one("thead").inside("th")]
    assert heads == ["Position", "Actual", "Predicted", "Score", "Logged score, “fraud”"]
    first = page.table("data")[0]
    logged = float(first[4].lstrip("<"))
    assert float(first[3].lstrip(">")) == pytest.approx(1 - logged, abs=2e-3)
    assert "positions count from 0" in page.one("main").text
    # The chosen order stands above the table.
    assert "Highest score" in page.one("main").text
    assert "Largest score first." not in page.one("main").text


def test_all_examples_say_how_each_compares_and_unlabelled_ones_have_no_actual_class(
    scored_reader: PageClient,
) -> None:
    page = scored_reader.page("/runs/{several}/examples?show=all&sort=logged")
    unlabelled = scored_reader.page("/runs/{several}/examples?show=unlabelled").table("data")

    for line in page.table("data"):
        actual, predicted, result = line[1:4]
        wanted = "right" if actual == predicted else "wrong"
        assert result == ("no label" if actual == "no label" else wanted)
    assert [line[1] for line in unlabelled] == ["no label"] * 40


def test_the_exports_hold_what_the_page_shows_and_the_rest(scored_reader: PageClient) -> None:
    query = "true=fox&show=all"
    page = scored_reader.page(f"/runs/{{several}}/examples?{query}&sort=logged")
    record = scored_reader.json(f"/runs/{{several}}/examples.json?{query}")
    lines = scored_reader.records(f"/runs/{{several}}/examples.csv?{query}")

    shown = [line[0] for line in page.table("data")]
    samples = [each["sample"] for each in record["examples"]]
    assert samples[: len(shown)] == shown
    assert [line["sample"] for line in lines] == samples
    assert record["n_matching"] == record["n_exported"] == len(samples)
    assert record["filter"]["actual"] == "fox"
    first, line = record["examples"][0], lines[0]
    assert float(line["confidence"]) == first["confidence"]
    assert line["slice country"] == first["slices"]["country"]
    assert [line["top_1"], float(line["score_1"])] == list(first["top"][0].values())


def test_an_export_that_is_cut_says_so_on_the_page_in_the_json_and_in_the_name_of_the_csv(
    scored_reader: PageClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examples_page, "MOST_EXPORTED", 12)
    monkeypatch.setattr("offdiag_web.pages.run_examples.view.MOST_EXPORTED", 12)

    page = scored_reader.page("/runs/{several}/examples?show=all")
    record = scored_reader.json("/runs/{several}/examples.json?show=all")

    file = scored_reader.get("/runs/{several}/examples.csv?show=all")

    assert "-examples-first-12.csv" in file.headers["Content-Disposition"]
    assert len(file.text.splitlines()) == 1 + 12
    assert "have the first 12 of 400" in page.one("main").text
    assert (record["n_matching"], record["n_exported"]) == (400, 12)
    assert len(record["examples"]) == 12


def test_an_export_without_examples_is_an_empty_table(scored_reader: PageClient) -> None:
    record = scored_reader.json("/runs/{several}/examples.json?id=nothing")
    text = scored_reader.get("/runs/{several}/examples.csv?id=nothing").get_data(True)

    assert record["examples"] == []
    assert text.startswith("index,sample,actual,predicted,confidence")
    assert text.count("\r\n") == 1


def _heading(page: Page) -> str:
    found = page.one("h2", id="examples-title")
    return found.text

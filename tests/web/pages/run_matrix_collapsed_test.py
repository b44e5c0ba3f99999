"""The matrix of a run with groups of classes collapsed: page, files and examples agree."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

import pytest

from offdiag.services.datasets import set_hierarchy
from offdiag.services.evaluation.compute import collapse_matrix
from offdiag.store.database import Database
from support.dashboard import HOSTILE_NAMES, counted_statements, log_counts
from support.grouped import THING_COUNTS, THINGS, TREE, GroupedRegistry, fill_grouped
from support.kinds import Kind
from support.pages import Element, Page, PageClient, client_for
from support.registries import dashboard, reader_of

COLLAPSED = [[81, 3, 1], [3, 81, 0], [0, 0, 9]]
"""Animals, vehicles and the rest."""


@pytest.fixture(scope="module")
def grouped(
    databases: Kind, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GroupedRegistry]:
    """Classes in groups, shared by tests that only read."""
    with databases.new(tmp_path_factory.mktemp("grouped")) as database:
        yield fill_grouped(database)


@pytest.fixture(scope="module")
def grouped_reader(grouped: GroupedRegistry) -> PageClient:
    """A client of the dashboard over that registry."""
    return reader_of(grouped)


def counts_in(page: Page) -> list[list[int]]:
    """The cells of the matrix, shown without shares."""
    body = page.one("table", "matrix").inside("tbody")[0]
    rows = [
        [c for c in row.inside("td") if "data-cell" in c.attributes] for row in body.inside("tr")
    ]
    return [[int(cell.text) for cell in row] for row in rows]


def row_names(page: Page) -> list[str]:
    heads = page.one("table", "matrix").inside("tbody")[0].inside("th")
    return [name_of(head) for head in heads if head["scope"] == "row"]


def name_of(head: Element) -> str:
    return head.text.split(",")[0].strip("▸▾ ")


def link_to(page: Page, start: str) -> str:
    """The address of the first link whose text begins like this."""
    return str(next(a for a in page.all("a") if a.text.startswith(start))["href"])


def pictures(page: Page) -> list[Element]:
    """Maps on the page."""
    return page.all("input", type="image")


def canonical(page: Page) -> str:
    """The address that the page says it has."""
    found = page.all("link", rel="canonical")
    return found[0]["href"]


def test_classes_stand_group_by_group_under_the_names_of_their_groups(
    grouped_reader: PageClient,
) -> None:
    page = grouped_reader.page("/runs/{first}?norm=none")

    table = page.one("table", "matrix")
    assert row_names(page) == ["dog", "cat", "car", "plane", "other"]
    over = {
        name_of(head): head["colspan"]
        for head in table.inside("thead")[0].inside("th")
        if "band" in head.classes
    }
    beside = {
        name_of(head): head["rowspan"]
        for head in table.inside("tbody")[0].inside("th")
        if "band" in head.classes
    }
    assert over == beside == {"animal": "2", "vehicle": "2", "road": "1", "air": "1"}


def test_groups_collapse_and_expand_one_by_one_by_their_links(
    grouped_reader: PageClient, grouped: GroupedRegistry
) -> None:
    start = f"/runs/{grouped.first}?norm=none"

    inner = grouped_reader.page(link_to(grouped_reader.page(start), "▾ air"))
    both = grouped_reader.page(link_to(inner, "▾ animal"))
    all_groups = grouped_reader.page(link_to(both, "▾ vehicle"))
    again = link_to(grouped_reader.page(link_to(all_groups, "▸ vehicle")), "▸ animal")

    assert row_names(inner) == ["dog", "cat", "car", "air", "other"]
    assert row_names(both) == ["animal", "car", "air", "other"]
    assert row_names(all_groups) == ["animal", "vehicle", "other"]
    assert counts_in(all_groups) == COLLAPSED
    assert canonical(all_groups) == f"/runs/{grouped.first}?collapse=*&norm=none"
    assert again == start


def test_numbers_are_those_of_the_collapsed_matrix(grouped_reader: PageClient) -> None:
    page = grouped_reader.page("/runs/{first}?collapse=*")
    record = grouped_reader.json("/runs/{first}.json?collapse=vehicle,animal")

    assert (
        "collapsed to 3 classes: animal (2 classes), vehicle (2 classes)" in page.one("main").text
    )
    accuracy = record["metrics"]["overall_accuracy"]
    assert accuracy["value"] == pytest.approx(171 / 178)
    assert f"{accuracy['value']:.3f}" in [row[1] for row in page.table("data")]
    assert record["confusion_matrix"]["groups"] == {
        "animal": ["dog", "cat"],
        "vehicle": ["car", "plane"],
    }
    assert record["hierarchy"] == TREE
    assert record["costs"] is None


@pytest.mark.parametrize("turned", ["", "&t=1"])
def test_every_file_follows_the_view_and_says_so(grouped_reader: PageClient, turned: str) -> None:
    page = grouped_reader.page(f"/runs/{{first}}?collapse=*&norm=none{turned}")
    expected = [list(line) for line in zip(*COLLAPSED, strict=True)] if turned else COLLAPSED
    names = ["animal", "vehicle", "other"]

    grid = grouped_reader.rows(link_to(page, "CSV as a grid"))
    record = grouped_reader.json(f"/runs/{{first}}/matrix.json?collapse=*{turned}")
    markdown = grouped_reader.get(link_to(page, "Markdown")).text
    latex = grouped_reader.get(link_to(page, "LaTeX")).text
    drawing = grouped_reader.get(link_to(page, "SVG")).text
    picture = grouped_reader.get(link_to(page, "PNG"))

    assert counts_in(page) == expected
    assert [row[0] for row in grid[1:]] == names
    assert [[int(cell) for cell in row[1:]] for row in grid[1:]] == expected
    assert (record["labels"], record["matrix"]) == (names, expected)
    assert list(record["groups"]) == ["animal", "vehicle"]
    for text in (markdown, latex, "".join(ET.fromstring(drawing).itertext())):
        assert "ollapsed to 3 classes" in text
        assert str(COLLAPSED[1][1]) in text
    assert picture.mimetype == "image/png"
    named = grouped_reader.get(link_to(page, "LaTeX")).headers["Content-Disposition"]
    assert f"{'-transposed' if turned else ''}-collapsed.tex" in named


def test_a_cell_of_groups_leads_to_the_examples_it_counts(grouped_reader: PageClient) -> None:
    page = grouped_reader.page("/runs/{first}?collapse=*&norm=none")
    cells = page.one("table", "matrix").inside("tbody")[0].inside("tr")[0].inside("td")

    urls = [a["href"] for cell in cells for a in cell.inside("a")]

    for url, count in zip(urls, COLLAPSED[0], strict=True):
        listed = grouped_reader.page(url)
        assert f"{count} example" in listed.one("main").text
        record = grouped_reader.get(url.replace("/examples?", "/examples.json?")).get_json()
        assert {each["actual"] for each in record["examples"]} <= {"cat", "dog"}
        assert len(record["examples"]) == count
    assert (
        "of the 85 examples of “animal” were predicted as “vehicle”"
        in grouped_reader.page(urls[1]).one("main").text
    )


def test_true_positives_lead_to_themselves(grouped_reader: PageClient) -> None:
    page = grouped_reader.page("/runs/{first}")
    found = page.all("a", title="Correct examples")

    for link in found[:3]:
        url = link["href"].replace("/examples?", "/examples.json?")
        record = grouped_reader.get(url).get_json()
        assert all(each["actual"] == each["predicted"] for each in record["examples"])
        assert len(record["examples"]) in (int(link.text), 100)
    assert found


def test_what_a_group_misses_lies_outside_it_and_other_links_keep_the_groups(
    grouped_reader: PageClient,
) -> None:
    page = grouped_reader.page("/runs/{first}?collapse=animal")
    missed = page.all("a", title="Missed examples")[0]

    url = str(missed["href"])
    record = grouped_reader.get(url.replace("/examples?", "/examples.json?")).get_json()

    assert missed.text == "0.953"
    assert url.endswith("?true=animal")
    assert len(record["examples"]) == 4
    assert not {each["predicted"] for each in record["examples"]} & {"cat", "dog"}
    links = {a.text: str(a["href"]) for a in page.all("a")}
    for text in ("% predicted", "Support", "Matrix, CSV", "Matrix, JSON", "SVG", "PNG"):
        assert "collapse=animal" in links[text], text


def test_cells_inside_each_other_are_refused_in_words(grouped_reader: PageClient) -> None:
    page = grouped_reader.page("/runs/{first}/examples?true=vehicle&pred=road")

    assert "is part of the other" in page.one("main").text


def test_many_classes_in_few_groups_are_a_table(grouped_reader: PageClient) -> None:
    whole = grouped_reader.page("/runs/{wide}")
    seen = grouped_reader.page("/runs/{wide}?collapse=*")

    assert pictures(whole)
    groups = next(a for a in whole.all("a") if a.text == "Collapse")
    assert canonical(grouped_reader.page(groups["href"])) == canonical(seen)
    assert not pictures(seen)
    assert row_names(seen) == [f"group {g}" for g in range(9)]
    assert [segment.text for segment in whole.all("a") if segment.text == "Group"]


def test_the_map_stands_group_by_group(grouped_reader: PageClient) -> None:
    by_group, by_label = (
        grouped_reader.get(f"/runs/{{wide}}/matrix.png{query}") for query in ("", "?order=label")
    )
    # A click into the second place: class 09, which follows class 00 in its group.
    clicked = grouped_reader.get("/runs/{wide}/matrix/at?at.x=1&at.y=18")

    assert by_group.data != by_label.data
    assert by_group.headers["ETag"] != by_label.headers["ETag"]
    assert "focus=class%2009" in clicked.headers["Location"]


def test_dense_tables_of_groups_name_cells_by_number(grouped_reader: PageClient) -> None:
    names = ",".join(f"group {g}" for g in range(4))
    page = grouped_reader.page(f"/runs/{{wide}}?collapse={names}")
    cells = page.one("table", "matrix").inside("td")
    url = next(cell for cell in cells if "data-cell" in cell.attributes).inside("a")[0].attributes

    answer = grouped_reader.get(url["href"])

    assert url["href"].endswith("/cells/g0-g0")
    assert answer.headers["Location"].endswith("/examples?pred=group%200&true=group%200")
    for wrong in ("g99-0", "0-99"):
        assert grouped_reader.get(f"/runs/{{wide}}/cells/{wrong}").status_code == 404
    assert grouped_reader.get("/runs/{wide}/cells/x-1").status_code == 404


def test_unknown_groups_are_said_and_ignored(
    grouped_reader: PageClient, grouped: GroupedRegistry
) -> None:
    page = grouped_reader.page("/runs/{first}?collapse=plant,animal&norm=none")
    plain = grouped_reader.page("/runs/{plain}?collapse=animal")

    assert "There is no group of classes “plant”." in page.one("main").text
    assert canonical(page).endswith("?collapse=animal&norm=none")
    assert "The classes of this dataset have no groups." in plain.one("main").text
    assert canonical(plain) == f"/runs/{grouped.plain}"


def test_a_collapsed_page_takes_no_more_statements(grouped_reader: PageClient) -> None:
    with counted_statements() as whole:
        grouped_reader.get("/runs/{first}")
    with counted_statements() as seen:
        grouped_reader.get("/runs/{first}?collapse=*")

    assert len(seen) == len(whole) <= 7


def test_a_view_that_was_shown_is_not_computed_again(
    grouped: GroupedRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_for(dashboard(grouped.database))
    asked: list[Any] = []

    def counting(*matrix: Any, **given: Any) -> Any:
        asked.append(given["groups"])
        return collapse_matrix(*matrix, **given)

    monkeypatch.setattr("offdiag_web.pages.run_matrix.displayed.collapse_matrix", counting)
    for query in ("*", "animal,vehicle", "animal"):
        client.get(f"/runs/{grouped.first}?collapse={query}")

    assert asked == [["animal", "vehicle"], ["animal"]]


def test_the_dataset_shows_its_groups(
    grouped_reader: PageClient, grouped: GroupedRegistry
) -> None:
    page = grouped_reader.page("/datasets/things/data")
    record = grouped_reader.json("/datasets/things.json")

    assert record["hierarchy"] == TREE
    lines = [item.text for item in page.one("ul", "spaced").inside("li")]
    assert lines == ["animal: dog, cat", "vehicle", "vehicle › road: car", "vehicle › air: plane"]
    assert grouped_reader.json("/datasets/plain.json")["hierarchy"] is None


def test_hostile_names_of_groups_are_only_text(database: Database) -> None:
    run_id = log_counts(database, THING_COUNTS, THINGS, dataset="things")
    names = [*HOSTILE_NAMES[:4], "a,b~c"]
    given = {name: [label] for name, label in zip(names, THINGS, strict=True)}
    set_hierarchy(database, project="default", dataset="things", given=given)
    client = client_for(dashboard(database))

    page = client.page(f"/runs/{run_id}?norm=none")
    seen = client.page(link_to(page, "▾ a,b~c"))

    assert [name.split("▾")[-1] for name in row_names(seen)][-1] == "a"
    assert "~2C" in canonical(seen)
    for name in HOSTILE_NAMES[:2]:
        assert name not in client.get(f"/runs/{run_id}?collapse=*").text
    rows = client.rows(f"/runs/{run_id}/matrix.csv?collapse=*")
    assert "'=1+1" in {row[0] for row in rows}

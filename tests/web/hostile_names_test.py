"""Names of classes, runs, datasets, models, tags and parameters are anybody's input."""

import csv
import io

import pytest

from offdiag.domain.texts import name_segment
from support.compared import ComparedRegistry
from support.dashboard import HOSTILE_MARKUP, HOSTILE_NAMES, LesionRegistry
from support.pages import Page, PageClient
from support.scored_runs import ScoredRegistry

PAGES = (
    *("", "?t=1&norm=col", "?norm=all&order=label", "/classes", "/classes?show=counts", "/meta"),
    *("/examples", "/examples?show=all&id=alert", "/curves"),
)
TAGS = frozenset(
    {
        *("html", "head", "meta", "title", "link", "script", "body", "header", "nav", "main"),
        *(
            "footer",
            "section",
            "div",
            "h1",
            "h2",
            "h3",
            "p",
            "pre",
            "code",
            "ul",
            "ol",
            "li",
            "dl",
        ),
        *("dt", "dd", "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "form"),
        *("label", "input", "select", "option", "button", "dialog", "a", "span", "strong"),
        *("small", "sup", "br", "del", "kbd", "time", "img", "svg", "path", "rect", "circle"),
        *("details", "summary", "g", "text", "article", "textarea", "fieldset", "legend"),
        *("picture", "source", "output", "abbr"),
    }
)


@pytest.mark.parametrize("page", PAGES)
def test_hostile_names_are_text_on_every_page_of_a_run(
    reader: PageClient, registry: LesionRegistry, page: str
) -> None:
    _assert_harmless(reader, f"/runs/{registry.hostile}{page}")


@pytest.mark.parametrize("page", ["", "/slices", "/slices?show=recall", "/examples?show=all"])
def test_hostile_names_of_slices_and_samples_are_text_on_the_pages_of_a_run(
    scored_reader: PageClient, scored: ScoredRegistry, page: str
) -> None:
    _assert_harmless(scored_reader, f"/runs/{scored.hostile}{page}")


@pytest.mark.parametrize("page", ["", "/suspects", "/content", "/data"])
def test_hostile_names_of_slices_and_samples_are_text_on_the_pages_of_a_dataset(
    scored_reader: PageClient, page: str
) -> None:
    _assert_harmless(scored_reader, f"/datasets/{name_segment(HOSTILE_NAMES[0])}{page}")


@pytest.mark.parametrize(
    "given", ["state=all", "class=%3Cscript%3E&dataset=%22%3E&model=javascript:"]
)
def test_hostile_names_are_text_in_the_inbox_of_flags(
    reader: PageClient, registry: LesionRegistry, given: str
) -> None:
    _assert_harmless(reader, f"/problems?show=all&run={registry.hostile}&{given}")


def test_hostile_names_are_text_on_the_page_of_a_flag(
    reader: PageClient, registry: LesionRegistry
) -> None:
    found = reader.get(f"/flags.json?run={registry.hostile}&state=all").get_json()["flags"]
    numbers = {flag["class_label"]: flag["id"] for flag in found if flag["class_label"]}

    assert numbers.keys() == set(HOSTILE_NAMES)
    for number in numbers.values():
        _assert_harmless(reader, f"/flags/{number}")


@pytest.mark.parametrize("path", ["/", "/datasets", "/runs", "/runs?q=alert", "/_gallery"])
def test_hostile_names_are_text_in_lists(reader: PageClient, path: str) -> None:
    _assert_harmless(reader, path)


@pytest.mark.parametrize(
    "page",
    ["", "&matrix=a", "&value=f1&slice=planet%3D<b>", "/examples&which=both_right", "three"],
)
def test_hostile_names_are_text_where_runs_are_compared(
    comparer: PageClient, compared: ComparedRegistry, page: str
) -> None:
    pair = compared.runs("hostile", "more_hostile")
    if page == "three":
        _assert_harmless(comparer, f"/compare?{pair},{compared.most_hostile}")
    elif page.startswith("/examples"):
        _assert_harmless(comparer, f"/compare/examples?{pair}{page.removeprefix('/examples')}")
    else:
        _assert_harmless(comparer, f"/compare?{pair}{page}")


@pytest.mark.parametrize("name", HOSTILE_MARKUP)
def test_hostile_text_in_the_address_of_a_comparison_is_text_on_the_page(
    comparer: PageClient, compared: ComparedRegistry, name: str
) -> None:
    for path in ("/compare", "/compare/examples"):
        for key in ("value", "matrix", "shared", "slice", "which", "class", "from"):
            values = {"runs": f"{compared.plain},{compared.focal}", key: name}
            response = comparer.get(path, query_string=values)

            assert response.status_code == (400 if (path, key) == EXAMPLES_OF_A_SLICE else 200)
            _assert_only_known_tags(Page(response.text))


EXAMPLES_OF_A_SLICE = ("/compare/examples", "slice")
"""A list of other examples than those that were asked for would mislead."""


@pytest.mark.parametrize("path", ["/compare.csv?", "/compare/examples.csv?which=both_right&"])
def test_no_cell_of_a_compared_csv_begins_like_a_formula(
    comparer: PageClient, compared: ComparedRegistry, path: str
) -> None:
    text = comparer.get(f"{path}{compared.runs('hostile', 'more_hostile')}").text

    for cell in (cell for line in csv.reader(io.StringIO(text)) for cell in line):
        assert not cell.startswith(("=", "+", "@")), cell
        if cell.startswith("-"):
            float(cell)


@pytest.mark.parametrize("name", HOSTILE_MARKUP)
def test_hostile_text_in_an_address_is_text_on_the_page(
    reader: PageClient, registry: LesionRegistry, name: str
) -> None:
    others = ("sort", "scale", "after", "norm", "order", "focus", "show", "from")
    for path in ("/runs", f"/runs/{registry.many_classes}", f"/runs/{registry.plain}/classes"):
        for keys in (("q",), others):
            page = reader.page(path, query_string=dict.fromkeys(keys, name))

            _assert_only_known_tags(page)


def test_template_syntax_in_a_name_is_not_evaluated(
    reader: PageClient, registry: LesionRegistry
) -> None:
    page = reader.page(f"/runs/{registry.hostile}")

    heads = [head.text for head in page.one("table", "matrix").inside("th")]
    assert "{{7*7}}" in heads
    assert "49" not in heads


def test_every_name_can_be_read_in_full(reader: PageClient, registry: LesionRegistry) -> None:
    page = reader.page(f"/runs/{registry.hostile}/classes")

    cells = page.one("tbody").inside("th")
    full = {cell.inside("span")[0].attributes.get("title", cell.text) for cell in cells}
    assert full == set(HOSTILE_NAMES)


def test_json_carries_the_names_as_they_are(reader: PageClient, registry: LesionRegistry) -> None:
    record = reader.get(f"/runs/{registry.hostile}.json").get_json()

    assert sorted(record["confusion_matrix"]["labels"]) == sorted(HOSTILE_NAMES)
    assert record["name"] == HOSTILE_NAMES[0]
    assert record["dataset"] == HOSTILE_NAMES[1]


@pytest.mark.parametrize(
    "path", ["/matrix.csv", "/matrix.csv?layout=grid&t=1", "/classes.csv", ".csv"]
)
def test_no_cell_of_a_csv_begins_like_a_formula(
    reader: PageClient, registry: LesionRegistry, path: str
) -> None:
    text = reader.get(f"/runs/{registry.hostile}{path}").text

    for cell in (cell for line in csv.reader(io.StringIO(text)) for cell in line):
        assert not cell.startswith(("=", "+", "@")), cell
        if cell.startswith("-"):
            float(cell)


def test_the_csv_of_the_list_is_safe_too(reader: PageClient) -> None:
    text = reader.get("/runs.csv").text

    cells = [cell for line in csv.reader(io.StringIO(text)) for cell in line]
    assert f"'{HOSTILE_NAMES[3]}" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))]


def test_names_of_downloads_are_made_by_us(reader: PageClient, registry: LesionRegistry) -> None:
    for path, name in (
        (".csv", f"{registry.hostile}.csv"),
        ("/matrix.csv?t=1", f"{registry.hostile}-matrix-transposed.csv"),
        ("/classes.csv", f"{registry.hostile}-classes.csv"),
    ):
        response = reader.get(f"/runs/{registry.hostile}{path}")

        assert response.headers["Content-Disposition"] == f'attachment; filename="{name}"'


def test_the_hostile_dataset_can_be_opened_from_the_home_page(reader: PageClient) -> None:
    page = reader.page("/")
    link = next(link for link in page.all("a") if link.text.endswith(f" on {HOSTILE_NAMES[1]}"))

    listed = reader.get(link.attributes["href"].replace("/runs", "/runs.json", 1)).get_json()

    assert [run["dataset"] for run in listed["runs"]] == [HOSTILE_NAMES[1]]


def _assert_harmless(client: PageClient, path: str) -> None:
    _assert_only_known_tags(client.page(path))


def _assert_only_known_tags(page: Page) -> None:
    """Escaped text makes no elements, so only those of the templates may be there."""
    assert {element.tag for element in page.elements} <= TAGS
    for element in page.elements:
        assert not [name for name in element.attributes if name.startswith("on")]
        assert not element.attributes.get("href", "").startswith("javascript")
        if element.tag == "script":
            assert element.attributes["src"].startswith("/assets/")
            assert element.text == ""
        if element.tag == "img":
            assert element.attributes["src"].startswith(("/assets/", "/runs/"))

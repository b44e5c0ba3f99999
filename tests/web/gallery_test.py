"""The gallery shows every component and every chart in each of their states."""

from __future__ import annotations

import pytest

from support.gallery.addresses import PAGES
from support.gallery.charts import charts
from support.gallery.matrices import maps
from support.pages import Page, PageClient


def page_of(client: PageClient, name: str) -> Page:
    return client.page(PAGES[name])


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_small_and_leads_to_the_others(client: PageClient, name: str) -> None:
    response = client.get(PAGES[name])

    page = Page(response.text)
    assert response.status_code == 200
    assert len(response.data) <= 150_000
    assert len(page.elements) <= 3_000
    assert {PAGES[each] for each in PAGES} <= {a["href"] for a in page.all("a")}


def test_the_gallery_shows_every_macro(client: PageClient) -> None:
    pages = [page_of(client, name) for name in PAGES]

    for tag, css_class in (
        *(("svg", "mark"), ("svg", "mark-out"), ("svg", "share-bar"), ("div", "tile")),
        *(("span", "chip-error"), ("div", "callout-warning"), ("ul", "seg"), ("nav", "tabs")),
        *(("nav", "pager"), ("table", "matrix-dense"), ("table", "matrix-roomy")),
        *(("table", "matrix-plain"), ("div", "legend"), ("span", "undefined")),
        *(("a", "group-link"), ("th", "band"), ("th", "band-down")),
    ):
        assert any(page.all(tag, css_class) for page in pages), (tag, css_class)


def test_the_gallery_shows_every_chart_in_each_of_its_states(client: PageClient) -> None:
    page = page_of(client, "charts")

    sections = {section.inside("h2")[0].text: section for section in page.all("section", "card")}
    for chart in charts():
        drawn = sections[chart.name].inside("svg")
        assert len(drawn) == len(chart.states), chart.name
        assert all(picture["role"] == "img" for picture in drawn), chart.name


def test_the_gallery_shows_few_classes_and_many(client: PageClient) -> None:
    page = page_of(client, "matrices")

    sizes = {len(table.inside("tbody")[0].inside("tr")) for table in page.all("table", "matrix")}
    assert sizes >= {1, 3, 7, 10, 12, 30}
    pictures = page.all("input", type="image")
    assert [picture["alt"] for picture in pictures] == [each.name for each in maps()]


def test_every_module_of_charts_is_in_the_gallery(client: PageClient) -> None:
    drawn = {
        css for name in PAGES for svg in page_of(client, name).all("svg") for css in svg.classes
    }

    assert drawn >= {
        *("mark", "share-bar", "strip", "chart", "flip-chart", "churn-bar"),
        *("plot", "rate-map", "trend", "mark"),
    }

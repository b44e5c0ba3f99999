from flask.testing import FlaskClient

from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import create_app
from offdiag_web.gallery.charts import charts, maps
from support.pages import Page


def test_the_gallery_shows_every_macro(client: FlaskClient) -> None:
    response = client.get("/_gallery")

    page = Page(response.get_data(as_text=True))
    assert response.status_code == 200
    for tag, css_class in (
        *(("svg", "mark"), ("svg", "mark-out"), ("svg", "share-bar"), ("div", "tile")),
        *(("span", "chip-error"), ("div", "callout-warning"), ("ul", "seg"), ("nav", "tabs")),
        *(("nav", "pager"), ("table", "matrix-dense"), ("table", "matrix-roomy")),
        *(("table", "matrix-plain"), ("div", "legend"), ("span", "undefined")),
    ):
        assert page.all(tag, css_class), (tag, css_class)


def test_the_gallery_shows_every_chart_in_each_of_its_states(client: FlaskClient) -> None:
    page = Page(client.get("/_gallery").get_data(as_text=True))

    sections = {section.inside("h2")[0].text: section for section in page.all("section", "card")}
    for chart in charts():
        drawn = sections[chart.name].inside("svg")
        assert len(drawn) == len(chart.states), chart.name
        assert all(picture.attributes["role"] == "img" for picture in drawn), chart.name
    pictures = sections["Map of a matrix"].inside("input")
    assert [picture.attributes["alt"] for picture in pictures] == [each.name for each in maps()]


def test_every_module_of_charts_is_in_the_gallery(client: FlaskClient) -> None:
    drawn = {
        css
        for picture in Page(client.get("/_gallery").get_data(as_text=True)).all("svg")
        for css in picture.classes
    }

    assert drawn >= {
        *("mark", "share-bar", "strip", "chart", "flip-chart", "churn-bar"),
        *("plot", "rate-map", "trend", "mark"),
    }


def test_no_name_in_the_gallery_becomes_an_element(client: FlaskClient) -> None:
    page = Page(client.get("/_gallery").get_data(as_text=True))

    assert all(script.attributes.get("src") for script in page.all("script"))


def test_the_gallery_is_not_there_in_production(sqlite_database: Database) -> None:
    client = create_app(Settings(), sqlite_database).test_client()

    assert client.get("/_gallery").status_code == 404

from flask.testing import FlaskClient

from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import create_app
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


def test_the_gallery_is_not_there_in_production(sqlite_database: Database) -> None:
    client = create_app(Settings(), sqlite_database).test_client()

    assert client.get("/_gallery").status_code == 404

import gzip
import hashlib
from pathlib import Path

import pytest

import offdiag_web
from offdiag_web.app.assets import assets
from support.pages import PageClient

VENDORED = Path(offdiag_web.__file__).parent / "static" / "vendor" / "htmx"
D3 = VENDORED.with_name("d3")
AXE = Path(__file__).parents[2] / "assets" / "axe-core"
KIB = 1024


@pytest.mark.parametrize(("folder", "name"), [(VENDORED, "htmx.min.js"), (AXE, "axe.min.js")])
def test_vendored_files_are_the_ones_that_were_recorded(folder: Path, name: str) -> None:
    digest, recorded = (folder / "SHA256SUMS").read_text().split()

    assert recorded == name
    assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    assert (folder / "LICENSE").is_file()
    assert name in (folder / "VERSION").read_text()


def test_every_vendored_part_of_d3_is_the_one_that_was_recorded() -> None:
    recorded = dict(line.split()[::-1] for line in (D3 / "SHA256SUMS").read_text().splitlines())

    assert set(recorded) == {path.name for path in D3.glob("*.js")}
    for name, digest in recorded.items():
        assert hashlib.sha256((D3 / name).read_bytes()).hexdigest() == digest
        assert name.removesuffix(".min.js") in (D3 / "VERSION").read_text()
    assert len(assets()["parallel.js"].compressed) < 26 * KIB


def test_assets_are_cached_for_ever_under_their_own_digest(client: PageClient) -> None:
    for link in _links(client):
        response = client.get(link)

        assert response.status_code == 200
        assert "immutable" in response.headers["Cache-Control"]


def test_an_outdated_digest_is_answered_but_not_cached(client: PageClient) -> None:
    response = client.get("/assets/0000000000000000/offdiag.css")

    assert response.status_code == 200
    assert response.headers["Cache-Control"] == "no-cache"


def test_assets_are_sent_compressed_where_that_is_understood(client: PageClient) -> None:
    plain = client.get("/assets/x/offdiag.css")
    packed = client.get("/assets/x/offdiag.css", headers={"Accept-Encoding": "gzip"})

    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["Vary"] == "Accept-Encoding"
    assert gzip.decompress(packed.data) == plain.data


def test_stylesheet_and_scripts_stay_small() -> None:
    own_scripts = [asset for name, asset in assets().items() if name in _OWN_SCRIPTS]

    assert len(own_scripts) == len(_OWN_SCRIPTS)
    assert len(assets()["offdiag.css"].compressed) <= 12 * KIB
    assert len(assets()["decision.css"].compressed) <= 2 * KIB
    assert sum(len(script.compressed) for script in own_scripts) <= 12 * KIB
    assert len(assets()["htmx.js"].compressed) <= 18 * KIB


def test_scripts_and_styles_load_nothing_from_elsewhere() -> None:
    for name in ("offdiag.css", *_OWN_SCRIPTS):
        text = assets()[name].content.decode()
        for format_name in _NAMES:
            text = text.replace(format_name, "")

        assert "http:" not in text
        assert "https:" not in text
        assert "@import" not in text
        assert "url(" not in text


_OWN_SCRIPTS = ("offdiag.js", "matrix.js")
_NAMES = ("http://www.w3.org/2000/svg", "https://vega.github.io/schema/vega-lite/v5.json")
"""Of formats, which are written and never asked for."""


def _links(client: PageClient) -> list[str]:
    page = client.page("/_gallery")
    links = [link["href"] for link in page.all("link")]
    return links + [script["src"] for script in page.all("script")]

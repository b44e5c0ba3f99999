"""The documentation as a site: it builds without a warning and loads nothing from elsewhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from support.once_for_all import made_once

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WRITTEN = ("index", "python", "errors", "config-files")
"""Pages that are written out; all are read, and every link on them is followed."""
METRICS = ("README", "brier_half", "macro_f1", "mcc", "recall", "roc_auc", "total_cost")
"""Pages of metrics that are read whole. All are written by one function, and their links are
followed by another test; of the others the headings are enough."""
TYPING = ("-D", "smartquotes=0")
"""Round quotation marks take a tenth of the time and are the business of docutils."""
BUILD = """
import json, sys
from sphinx.cmd.build import main
sys.exit(any([main(call) for call in json.loads(sys.argv[1])]))
"""


class Loads(HTMLParser):
    """Addresses that a browser fetches by itself, and texts of headings."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: text or "" for name, text in attrs}
        if tag == "link" or "src" in given or "srcset" in given:
            self.fetched.append(given.get("src") or given.get("srcset") or given.get("href", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "site", build) / "html"


def build(folder: Path) -> None:
    source = Path(shutil.copytree(DOCS, folder / "docs"))
    for page in (source / "metrics").glob("*.md"):
        if page.stem not in METRICS:
            headings = re.findall(r"^#+ .+\n", page.read_text(encoding="utf-8"), re.MULTILINE)
            page.write_text("\n".join(headings), encoding="utf-8")
    pages = [str(source / f"{page}.md") for page in WRITTEN]

    # Reading all pages and following their links takes seconds, writing all of them half a minute.
    checked = ["--builder", "dummy", "--fail-on-warning", "--keep-going"]
    places = [*TYPING, "--conf-dir", str(DOCS), "--doctree-dir", str(folder / "trees")]
    places.append(str(source))
    calls = [
        [*checked, *places, str(folder / "dummy")],
        ["--builder", "html", *places, str(folder / "html"), *pages],
    ]
    built = subprocess.run(
        [sys.executable, "-c", BUILD, json.dumps(calls)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert built.returncode == 0, built.stdout + built.stderr


def loads(page: Path) -> Loads:
    parser = Loads()
    parser.feed(page.read_text(encoding="utf-8"))
    return parser


def test_pages_load_nothing_from_other_hosts(site: Path) -> None:
    for page in WRITTEN:
        fetched = loads(site / f"{page}.html").fetched

        assert len(fetched) > 3
        for address in fetched:
            assert not urlsplit(address).netloc, address
    # What the other pages show is named in their sources.
    for source in DOCS.rglob("*.md"):
        text = source.read_text(encoding="utf-8")
        assert not re.search(r"!\[[^]]*\]\(\w*:?//|<(?:img|iframe|script)\b", text), source


def test_style_sheets_and_fonts_load_nothing_from_other_hosts(site: Path) -> None:
    for sheet in (site / "_static").rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        for address in re.findall(r"(?:@import\s+|url\()\s*['\"]?([^'\")\s]+)", text):
            assert address.startswith("data:") or not urlsplit(address).netloc, address


def test_every_page_is_found_from_the_first_one(site: Path) -> None:
    sidebar = {urlsplit(link).path for link in loads(site / "index.html").links}
    pages = {
        page.relative_to(DOCS).with_suffix(".html").as_posix()
        for page in (*DOCS.glob("*.md"), *DOCS.glob("contributing/*.md"))
    }

    assert pages - sidebar - {"index.html"} == set()


def test_reference_comes_from_the_code(site: Path) -> None:
    python = (site / "python.html").read_text(encoding="utf-8")
    errors = (site / "errors.html").read_text(encoding="utf-8")
    files = (site / "config-files.html").read_text(encoding="utf-8")

    assert all(f'id="{name.replace("_", "-")}"' in python for name in ("log_run", "cost"))
    assert 'id="conflict"' in errors
    assert "offdiag_web.wsgi:application()" in files

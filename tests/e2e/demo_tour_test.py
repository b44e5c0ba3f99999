"""What the tour quotes is what the pages say over a registry that the demo has made."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import create_app
from support.demo import registry_of
from support.once_for_all import made_once
from support.pages import Page

DOCS = Path(__file__).parents[2] / "docs"
TOUR = (DOCS / "tour.md").read_text(encoding="utf-8")
COSTS = (DOCS / "costs.md").read_text(encoding="utf-8")
QUOTES = sorted(set(re.findall(r"^> (.+)$", TOUR + COSTS, flags=re.MULTILINE)))


@pytest.fixture(scope="module")
def stops() -> Iterator[ModuleType]:
    sys.path.insert(0, str(DOCS))
    try:
        yield importlib.import_module("tour_stops")
    finally:
        sys.path.remove(str(DOCS))


@pytest.fixture(scope="module")
def second_part(stops: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the code of the second part prints, and the text of its pages."""

    def make(folder: Path) -> None:
        database, printed = stops.log_own_runs(folder)
        with closing(database):
            said = text_of_pages(database, stops.own_addresses(database))
        (folder / "printed").write_text(printed, encoding="utf-8")
        (folder / "said").write_text(said, encoding="utf-8")

    return made_once(tmp_path_factory, "second part of the tour", make)


@pytest.fixture(scope="module")
def said(
    demo: tuple[Path, str],
    second_part: Path,
    stops: ModuleType,
    tmp_path_factory: pytest.TempPathFactory,
) -> str:
    """All text of all pages where the tour stops, ids and white space evened out."""

    def make(folder: Path) -> None:
        with registry_of(demo[0]) as database:
            said = text_of_pages(database, stops.addresses(database))
        (folder / "said").write_text(said, encoding="utf-8")

    first_part = made_once(tmp_path_factory, "first part of the tour", make)
    return "".join(
        (part / "said").read_text(encoding="utf-8") for part in (first_part, second_part)
    )


def text_of_pages(database: Database, addresses: Mapping[str, str]) -> str:
    client = create_app(Settings(), database).test_client()
    texts = []
    for address in addresses.values():
        answer = client.get(address, follow_redirects=True)
        assert answer.status_code == 200, address
        (page,) = Page(answer.get_data(as_text=True)).all("main")
        texts.append(page.text)
    return "\n".join(texts)


def test_there_are_quotes_for_all_questions() -> None:
    sections = TOUR.split("\n## ")[1:]

    assert len(sections) == 5 + 2
    assert all("\n> " in section for section in sections)


def test_the_second_part_prints_what_the_page_says(second_part: Path) -> None:
    printed = (second_part / "printed").read_text(encoding="utf-8")
    block = "".join(re.findall(r"^```text\n(.*?)^```$", TOUR, flags=re.DOTALL | re.MULTILINE))

    assert [line.split() for line in printed.splitlines()] == [
        line.split() for line in block.splitlines()
    ]


def test_the_pages_say_what_the_tour_quotes(said: str) -> None:
    assert [quote for quote in QUOTES if " ".join(quote.split()) not in said] == []


def test_the_pages_have_the_rows_that_the_tour_reads_off(said: str) -> None:
    rows = [
        r"random forest champion 0\.885 [^A-Z]*Balanced accuracy 2 runs share the lead",
        r"1 run leads",
        r"logistic regression 0\.918 “8” 10/16 random forest champion 0\.885 “8” 6/16",
        r"25 nearest neighbours r_\w+ KNeighborsClassifier",
        r"accuracy −3\.1 pp",
        r"0\.986\s*0\.836\s*−15\.1 pp",
        r"C\s*random forest, cautious\s*0/64\s*13/107",
        r"1\s*↑\s*2\s*C\s*random forest, cautious .*?\b76 lowest",
        r"E\s*logistic regression .*?\b123 ",
        r"The predictions of the run cost 731 per 1,000",
    ]
    assert [row for row in rows if not re.search(row, said)] == []


def test_every_picture_is_shown_and_every_shown_picture_is_there() -> None:
    pages = (path.read_text(encoding="utf-8") for path in DOCS.glob("*.md"))
    shown = {name for page in pages for name in re.findall(r"\]\(images/([\w-]+\.png)\)", page)}

    assert shown == {path.name for path in (DOCS / "images").glob("*.png")}


def test_the_pictures_together_are_small() -> None:
    assert sum(path.stat().st_size for path in (DOCS / "images").glob("*.png")) < 1_200_000

"""The files of an edition: self-contained, escaped, and saying the same in every form."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
from dataclasses import replace

import pytest

from offdiag.reports.document import read_report, report_document
from offdiag.reports.files import report_files
from offdiag.reports.report import Report
from offdiag.reports.scope import Condition, Side
from support.pages import Page
from support.report_figures import (
    SCOPE,
    UNDEFINED,
    class_figures,
    leader_of,
    report,
    revision,
    run,
    snapshot,
)

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></svg><script>alert(2)</script>",
    "{{7*7}}",
    "=1+1",
    "a|b *c* [d](javascript:e)",
    "\u202eevil",
)


def files_of(shown: Report) -> dict[str, str]:
    return {file.kind: file.content.decode() for file in report_files(shown)}


@pytest.fixture
def second() -> Report:
    """An edition in which everything that can be told is told."""
    scope = replace(
        SCOPE, baseline="r_plain", alerts=(Condition("recall", Side.BELOW, 0.9, "mel"),)
    )
    before = report(snapshot([run("focal", 0.7), run("plain", 0.6)]), scope=scope)
    after = snapshot(
        [
            run("focal", 0.8),
            run("plain", 0.6),
            run("new", 0.5, metrics={**run("new", 0.5).metrics, "mcc": UNDEFINED}),
        ],
        leader=leader_of("r_focal"),
        slices=(run("focal", 0.4, slice="country=DE"),),
        revisions=(revision(),),
    )
    return report(after, before, scope=scope)


@pytest.fixture
def hostile() -> Report:
    names = [run(name, 0.9 - 0.1 * place) for place, name in enumerate(HOSTILE)]
    best = replace(
        names[0],
        model=HOSTILE[1],
        classes=(class_figures(HOSTILE[0], 0.2), class_figures(HOSTILE[2], 0.3)),
    )
    shown = snapshot([best, *names[1:]], leader=leader_of(best.id, HOSTILE[:2]))
    return report(shown, facts={"name": HOSTILE[2], "project": HOSTILE[1]})


def test_the_page_refers_to_nothing_outside(second: Report) -> None:
    page = Page(files_of(second)["html"])

    assert not page.all("script")
    assert not page.all("link")
    assert not page.all("img")
    for element in page.elements:
        assert not {"src", "href", "style", "srcset"} & element.attributes.keys(), element
        assert not [name for name in element.attributes if name.startswith("on")]
    assert not re.search(r"url\(|@import", files_of(second)["html"])


def test_the_page_allows_itself_its_own_stylesheet_and_nothing_else(second: Report) -> None:
    html = files_of(second)["html"]
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style is not None

    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()

    assert f"default-src 'none'; style-src 'sha256-{digest}'" in html.replace("&#39;", "'")


def test_drawings_carry_literal_colours(second: Report) -> None:
    html = files_of(second)["html"]
    drawings = re.findall(r"<svg.*?</svg>", html, re.DOTALL)

    assert len(drawings) == 3
    for drawing in drawings:
        colours = re.findall(r'(?:fill|stroke)="([^"]*)"', drawing)
        assert colours
        assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours)


def test_the_matrix_names_both_axes(second: Report) -> None:
    files = files_of(second)
    page = Page(files["html"])

    matrix = page.one("table", "matrix")

    assert matrix.inside("th")[0].text == "actual ↓ predicted →"
    assert "actual class down, predicted class across" in " ".join(h.text for h in page.all("h2"))
    assert "| actual ↓ predicted → | mel | nv |\n" in files["markdown"]
    assert "| mel | 60 | 40 |\n" in files["markdown"]


def test_every_head_cell_says_what_its_column_is(second: Report) -> None:
    page = Page(files_of(second)["html"])

    assert all(head.text for head in page.all("th"))
    assert all(head["scope"] in {"col", "row"} for head in page.all("th"))


def test_every_row_has_a_header(second: Report) -> None:
    page = Page(files_of(second)["html"])
    rows = [row for body in page.all("tbody") for row in body.inside("tr")]
    headers = [row.inside("th") for row in rows]

    assert all(len(cells) == 1 and cells[0]["scope"] == "row" for cells in headers)
    assert {"focal", "mel"} <= {cells[0].text for cells in headers}


def test_the_first_sentence_is_the_first_sentence_everywhere(second: Report) -> None:
    files = files_of(second)
    first = Page(files["html"]).one("p", "lead").text

    assert first.startswith("Label version 2 of derm-7 (10 labels corrected) left every ranking")
    assert files["markdown"].splitlines()[2].startswith(first)


def test_the_time_that_an_edition_is_of_is_written_for_people(second: Report) -> None:
    files = files_of(second)

    assert files["html"].count("2026-11-16 06:00 Europe/Ljubljana") == 2
    assert "2026-11-16 06:00 Europe/Ljubljana" in files["markdown"]


def test_hostile_names_are_text_in_the_page(hostile: Report) -> None:
    page = Page(files_of(hostile)["html"])

    assert not page.all("script")
    assert not page.all("img")
    text = " ".join(cell.text for cell in page.all("td"))
    assert "<script>alert(1)</script>" in text
    assert "{{7*7}}" in text
    assert "\\u202eevil" in text


def test_hostile_names_are_text_in_markdown(hostile: Report) -> None:
    markdown = files_of(hostile)["markdown"]

    assert "\\<script\\>" in markdown
    assert "a\\|b \\*c\\* \\[d\\](javascript:e)" in markdown
    assert not re.search(r"(?<!\\)<", markdown)
    assert "\u202e" not in markdown


def test_no_cell_of_the_csv_is_a_formula(hostile: Report) -> None:
    rows = list(csv.reader(io.StringIO(files_of(hostile)["csv"])))

    cells = [cell for row in rows[1:] for cell in row]
    assert "'=1+1" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))]


def test_the_csv_has_every_value_at_full_precision(second: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(files_of(second)["csv"])))

    mcc = {row["name"]: row for row in rows if row["metric"] == "mcc" and not row["slice"]}
    assert float(mcc["focal"]["value"]) == 0.8
    assert float(mcc["focal"]["ci_low"]) == 0.8 - 0.02
    assert (mcc["new"]["value"], mcc["new"]["reason"]) == ("", "no_predicted_positives")
    assert {row["slice"] for row in rows} == {"", "country=DE"}
    assert len(rows) == 4 * (4 + 2 * 3)


def test_the_document_reads_back_as_the_same_report(second: Report) -> None:
    document = json.loads(files_of(second)["json"])

    assert read_report(document) == second


def test_a_document_of_another_format_is_not_read(second: Report) -> None:
    document = report_document(second)

    assert read_report(document | {"format": 2}) is None
    assert read_report({**document, "snapshot": {}}) is None


def test_the_digest_covers_the_figures_and_not_the_moment(second: Report) -> None:
    again = report(second.snapshot, second, facts={"number": 40})
    other = report(snapshot([run("focal", 0.81)]))

    digest = report_document(second)["data_digest"]

    assert report_document(again)["data_digest"] == digest
    assert report_document(other)["data_digest"] != digest
    assert digest in files_of(second)["html"]


def test_the_same_report_gives_the_same_bytes(second: Report) -> None:
    assert report_files(second) == report_files(second)


def test_an_empty_scope_makes_a_report_too() -> None:
    files = files_of(report(snapshot([], truth=None)))

    assert "There is no evaluated run in scope." in files["html"]
    assert files["csv"].count("\r\n") == 1

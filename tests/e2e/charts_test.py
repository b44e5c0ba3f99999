"""Charts tell what a mark is by pointer and by keys, and can be taken along."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from support.compared import ComparedRegistry
from support.scored_runs import ScoredRegistry


def test_a_chart_is_read_out_by_arrow_keys_and_saved_in_three_forms(
    open_page: Any, tmp_path: Path
) -> None:
    watched = open_page("/_gallery/charts")
    page = watched.page
    chart = page.locator("main svg.chart").first
    line = page.locator("main svg.chart + .chart-read").first

    chart.focus()
    page.keyboard.press("ArrowRight")
    expect(line).not_to_be_empty()
    first = line.text_content()
    page.keyboard.press("ArrowRight")

    assert re.fullmatch(r".+: recall [01]\.\d\d \(.* to .*\), [\d,]+ examples", first or "")
    expect(line).not_to_have_text(first or "")
    chart.hover(position={"x": 60, "y": 60})
    expect(line).to_have_text(re.compile("recall"))

    menu = page.get_by_text("Save chart").first
    expect(menu).to_have_accessible_name(re.compile("Save chart: ."))
    menu.click()
    saved = {}
    for name in ("PNG", "SVG", "Vega-Lite"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name, exact=True).first.click()
        saved[name] = tmp_path / download.value.suggested_filename
        download.value.save_as(saved[name])

    assert saved["PNG"].read_bytes().startswith(b"\x89PNG")
    assert saved["SVG"].read_text().startswith("<svg")
    specification = json.loads(saved["Vega-Lite"].read_text())
    assert len(specification["data"]["values"]) > 1
    watched.expect_no_complaints()


def test_a_chart_is_read_out_by_a_tap(open_page: Any) -> None:
    page = open_page("/_gallery/charts").page
    chart = page.locator("main svg.chart").first
    box = chart.bounding_box()

    # What a finger sends that does not move.
    chart.dispatch_event("pointerdown", {"clientX": box["x"] + 60, "clientY": box["y"] + 60})

    expect(page.locator("main svg.chart + .chart-read").first).to_have_text(re.compile("recall"))


CHARTS = {
    "thresholds": (
        "open_scored",
        ".threshold-plot",
        r"from [\d.e−]+: cost [\d,.]+, .* missed, .*",
    ),
    "one run's thresholds": (
        "open_scored",
        ".threshold-plot",
        r"from [\d.e−]+: cost [\d,.]+, .* missed, .*",
    ),
    "scores": ("open_scored", ".plot:has(rect[data-read])", r".*: [\d.]+ % from .* to .*"),
    "flips": ("open_compared", ".flip-chart", r"[AB] at [\d.,]+×: [\d.]+ times the lowest cost"),
    "time": ("open_revised", ".model-trend", r".+, \d+ \w+ \d{4}: \d\.\d{3}( \(.*\))?"),
    "models": ("open_revised", ".model-trend", r".+, \d+ \w+ \d{4}: \d\.\d{3}( \(.*\))?"),
}
THREE = "{compared.plain},{compared.focal},{compared.matrix}"
LETTERED = {
    "worst class": ("open_revised", "/datasets/pets", ".scatter"),
    "parallel axes": ("open_revised", "/runs?q=dataset:pets&view=parallel", ".parallel"),
    "changed examples": ("open_compared", "/compare?{compared.pair}", ".churn-bar"),
    "three runs": ("open_compared", f"/compare?runs={THREE}", ":is(td, th) .strip"),
    "recall by size": ("open_page", "/problems/1", ".chart"),
}


@pytest.fixture
def paths(scored: ScoredRegistry, compared: ComparedRegistry) -> dict[str, str]:
    """Pages with these charts."""
    return {
        "thresholds": f"/whatif?runs={scored.event}&cost=@0-1",
        "one run's thresholds": f"/whatif/decisions?run={scored.event}&cost=@0-1",
        "scores": f"/runs/{scored.event}/curves",
        "flips": f"/whatif?{compared.pair}&cost=@0-1",
        "time": "/runs?q=dataset:pets&view=trend",
        "models": "/datasets/pets",
    }


TOUCHING = """() => {
    // The box of a text has room above its capitals.
    const inked = text => {
        const {left, right, top, bottom, height} = text.getBoundingClientRect();
        return {left, right, bottom, top: top + 0.16 * height, text: text.textContent};
    };
    const touching = [];
    for (const chart of document.querySelectorAll("main svg")) {
        if (chart.matches(".plot-small")) continue;
        const box = chart.getBoundingClientRect();
        const names = [...chart.querySelectorAll(".axis-name, .axis-title")].map(inked);
        const texts = [...chart.querySelectorAll("text.tick, text.direct")].map(inked);
        for (const name of names) {
            if (name.top < box.top || name.left < box.left - 1) touching.push([name.text, "edge"]);
            for (const text of texts) {
                const isBeside = text.right < name.left || name.right < text.left;
                if (!isBeside && text.top < name.bottom + 1 && name.top < text.bottom + 1)
                    touching.push([name.text, text.text]);
            }
        }
    }
    return touching;
}"""


SMALLEST_LETTERS = """drawn => Math.min(...[...drawn.querySelectorAll("text")].map(
    text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"""


@pytest.mark.parametrize("which", CHARTS)
def test_arrow_keys_tell_the_values_of_a_chart_whose_axes_touch_no_words_on_a_phone(
    which: str, request: pytest.FixtureRequest, paths: dict[str, str]
) -> None:
    opener, chart, said = CHARTS[which]
    phone = {"width": 390, "height": 844}
    watched = request.getfixturevalue(opener)(paths[which], viewport=phone)

    assert watched.page.evaluate(TOUCHING) == []
    drawn = watched.page.locator(f"main svg{chart}").first
    assert drawn.evaluate(SMALLEST_LETTERS) >= 11
    drawn.focus()
    watched.page.keyboard.press("ArrowRight")

    line = drawn.locator("xpath=following-sibling::p[1]")
    expect(line).to_have_text(re.compile(rf"^{said}$"))
    menu = drawn.locator("xpath=following-sibling::details[1]")
    menu.locator("summary").click()
    expect(menu.get_by_role("button", name="Vega-Lite")).to_be_visible()
    watched.expect_no_complaints()


@pytest.mark.parametrize("which", LETTERED)
def test_letters_of_charts_can_be_read_on_a_phone(
    which: str, request: pytest.FixtureRequest, compared: ComparedRegistry
) -> None:
    opener, path, chart = LETTERED[which]
    phone = {"width": 390, "height": 844}
    page = request.getfixturevalue(opener)(path.format(compared=compared), viewport=phone).page

    assert page.locator(f"main svg:is({chart}):has(text)").first.evaluate(SMALLEST_LETTERS) >= 11
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.evaluate(TOUCHING) == []


def test_the_dots_of_the_scatter_are_read_out_where_they_have_the_focus(open_revised: Any) -> None:
    watched = open_revised("/datasets/pets")
    dot = watched.page.locator("main svg.scatter a.dot").last

    dot.focus()

    expect(watched.page.locator("svg.scatter + .chart-read")).to_have_text(
        dot.get_attribute("aria-label")
    )
    watched.page.keyboard.press("Shift+Tab")
    assert watched.page.evaluate("document.activeElement.localName") != "svg"


def test_a_chart_that_is_drawn_anew_is_read_out_as_well(
    open_compared: Any, compared: ComparedRegistry
) -> None:
    watched = open_compared(f"/whatif?{compared.pair}&cost=@0-1")
    page = watched.page
    with page.expect_response("**/whatif?**"):
        page.locator("#at").fill("7")

    expect(page.locator("#results")).not_to_have_attribute("aria-busy", "true")
    page.locator("svg.flip-chart").focus()
    page.keyboard.press("ArrowRight")

    expect(page.locator("svg.flip-chart + .chart-read")).to_have_text(re.compile("lowest cost"))


def test_a_chart_that_is_loaded_beside_a_list_is_read_out_as_well(open_page: Any) -> None:
    page = open_page("/problems", viewport={"width": 1440, "height": 900}).page

    page.locator("#flag-pane svg.chart").first.focus()
    page.keyboard.press("ArrowRight")

    expect(page.locator("#flag-pane .chart-read").first).to_have_text(re.compile(": recall "))


def test_parallel_axes_are_saved_with_the_places_of_their_runs(
    open_revised: Any, tmp_path: Path
) -> None:
    page = open_revised("/runs?q=dataset:pets&view=parallel").page
    page.get_by_text("Save chart").click()

    with page.expect_download() as download:
        page.get_by_role("button", name="Vega-Lite", exact=True).click()
    download.value.save_as(tmp_path / "parallel.json")

    specification = json.loads((tmp_path / "parallel.json").read_text())
    assert specification["encoding"]["x"]["type"] == "nominal"
    assert {"Accuracy", "Balanced accuracy"} <= {
        each["x"] for each in specification["data"]["values"]
    }

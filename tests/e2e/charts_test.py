"""Charts tell what a mark is by pointer and by keys, and can be taken along."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import expect


def test_arrow_keys_read_a_chart_out(open_page: Any) -> None:
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
    watched.expect_no_complaints()


def test_a_chart_is_saved_in_three_forms(open_page: Any, tmp_path: Path) -> None:
    watched = open_page("/_gallery/charts")
    page = watched.page
    page.get_by_text("Save chart").first.click()
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

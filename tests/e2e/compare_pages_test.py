"""Comparisons in a browser: accessible, narrow, the same without scripts, and a way through.

The pages of one kind share a context each, because a context costs more than a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from support.browser import Watched, served, text_without_ages, violations, watched
from support.compared import ComparedRegistry, fill_compared
from support.registries import dashboard, shared_registry

pytestmark = pytest.mark.browser

NAMES = (
    *("pair", "one matrix", "unpaired", "many classes", "three", "nine", "refused", "choosing"),
    *("hostile", "examples", "hostile examples"),
)
ONE_OF_EACH_KIND = ("pair", "three", "refused", "choosing", "examples")


@pytest.fixture(scope="module")
def compared(
    migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ComparedRegistry]:
    """Runs to compare, shared by tests that only read."""
    with shared_registry(migrated_file, tmp_path_factory, "compared") as database:
        yield fill_compared(database)


@pytest.fixture(scope="module")
def address(compared: ComparedRegistry) -> Iterator[str]:
    """Address of the dashboard over that registry."""
    with served(dashboard(compared.database)) as url:
        yield url


@pytest.fixture(scope="module")
def paths(compared: ComparedRegistry) -> dict[str, str]:
    """Each page by what it shows."""
    hostile = compared.runs("hostile", "more_hostile")
    return {
        "pair": f"/compare?{compared.pair}",
        "one matrix": f"/compare?{compared.pair}&matrix=b&value=f1",
        "unpaired": f"/compare?{compared.runs('plain', 'matrix')}",
        "many classes": f"/compare?{compared.runs('large', 'larger')}",
        "three": f"/compare?{compared.runs('plain', 'focal', 'almost')}",
        "nine": f"/compare?runs={','.join(compared.alike)}",
        "refused": f"/compare?{compared.runs('part', 'other_part')}",
        "choosing": "/compare",
        "hostile": f"/compare?{hostile}",
        "examples": f"/compare/examples?{compared.pair}&which=only_b",
        "hostile examples": f"/compare/examples?{hostile}&which=both_wrong",
    }


@pytest.fixture(scope="module")
def views(browser: Browser, address: str) -> Iterator[dict[str, Watched]]:
    """One page of a browser for each way to look."""
    kinds: dict[str, dict[str, Any]] = {
        "light": {"color_scheme": "light", "bypass_csp": True},
        "dark": {"color_scheme": "dark", "bypass_csp": True},
        "narrow": {"viewport": {"width": 320, "height": 640}},
        "plain": {},
        "without scripts": {"java_script_enabled": False},
    }
    contexts = {
        kind: browser.new_context(base_url=address, **options) for kind, options in kinds.items()
    }
    yield {kind: watched(context, address) for kind, context in contexts.items()}
    for context in contexts.values():
        context.close()


@pytest.mark.parametrize(
    ("theme", "name"),
    [*(("light", name) for name in NAMES), *(("dark", name) for name in ONE_OF_EACH_KIND)],
)
def test_a_page_is_accessible(
    views: dict[str, Watched], paths: dict[str, str], theme: str, name: str
) -> None:
    views[theme].page.goto(paths[name])

    assert violations(views[theme]) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_page_breaks_no_policy_and_does_not_scroll_sideways(
    views: dict[str, Watched], paths: dict[str, str], name: str
) -> None:
    narrow = views["narrow"]
    narrow.page.goto(paths[name])

    assert narrow.page.evaluate("document.documentElement.scrollWidth") <= 320
    narrow.expect_no_complaints()


@pytest.mark.parametrize("name", ONE_OF_EACH_KIND)
def test_a_page_says_the_same_without_scripts(
    views: dict[str, Watched], paths: dict[str, str], name: str
) -> None:
    texts = []
    for kind in ("plain", "without scripts"):
        views[kind].page.goto(paths[name])
        texts.append(text_without_ages(views[kind].page))

    assert texts[0] == texts[1]


@pytest.mark.parametrize("kind", ["plain", "without scripts"])
def test_from_the_list_to_an_example_and_back(views: dict[str, Watched], kind: str) -> None:
    page: Page = views[kind].page
    page.goto("/runs")
    page.get_by_role("searchbox", name="Filter").fill("dataset:derm")
    page.get_by_role("button", name="Apply").click()

    page.get_by_role("checkbox", name="Select plain CE").check()
    page.get_by_role("checkbox", name="Select focal", exact=True).check()
    page.get_by_role("button", name="Compare").click()

    expect(page).to_have_url(re.compile(r"/compare\?runs=r_\w+,r_\w+$"))
    expect(page.get_by_role("heading", name="Compare 2 runs")).to_be_visible()
    expect(page.get_by_role("note").first).to_contain_text("than A on")
    page.get_by_role("link", name=re.compile("examples, only A right")).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("only A right")
    expect(page.get_by_role("rowheader").first).to_contain_text("img-")
    page.get_by_role("link", name="Comparison of A and B").click()

    expect(page.get_by_role("heading", name="Which examples changed")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_contain_text("only A right")
    views[kind].expect_no_complaints()


def test_what_is_ticked_survives_another_filter(views: dict[str, Watched]) -> None:
    page: Page = views["plain"].page
    page.goto("/runs?q=dataset:derm plain")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.get_by_text("1 ticked")).to_be_visible()

    page.get_by_role("searchbox", name="Filter").fill("dataset:derm almost")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("1 ticked")).to_be_visible()
    page.get_by_role("checkbox", name="Select almost focal").check()
    expect(page.get_by_text("2 ticked")).to_be_visible()
    page.get_by_role("button", name="Compare").click()

    expect(page.locator(".run-name").first).to_contain_text("plain CE")
    expect(page.locator(".run-name").last).to_contain_text("almost focal")
    views["plain"].expect_no_complaints()


def test_s_swaps_and_g_m_leads_here(views: dict[str, Watched], paths: dict[str, str]) -> None:
    page: Page = views["plain"].page
    page.goto(paths["pair"])
    before = page.get_by_role("note").first.inner_text()

    page.keyboard.press("s")
    expect(page.get_by_role("note").first).not_to_have_text(before)
    page.keyboard.press("g")
    page.keyboard.press("m")

    expect(page).to_have_url(re.compile("/compare$"))


def test_the_difference_matrix_is_one_tab_stop(
    views: dict[str, Watched], paths: dict[str, str]
) -> None:
    page: Page = views["plain"].page
    page.goto(paths["pair"])
    cells = page.locator("table.matrix-difference td[data-cell]")

    expect(page.locator("table.matrix-difference td[tabindex='0']")).to_have_count(1)
    cells.first.focus()
    page.keyboard.press("End")

    expect(cells.nth(2)).to_be_focused()


def test_markdown_and_link_are_copied(
    browser: Browser, address: str, paths: dict[str, str]
) -> None:
    with browser.new_context(
        base_url=address, permissions=["clipboard-read", "clipboard-write"]
    ) as context:
        page = watched(context, address).page
        page.goto(paths["pair"])

        page.get_by_role("link", name="Copy link").click()
        expect(page.locator("#announcement")).to_have_text("link copied")
        link = page.evaluate("navigator.clipboard.readText()")
        page.get_by_role("link", name="Copy as Markdown").click()
        expect(page.locator("#announcement")).to_have_text("as Markdown copied")
        text = page.evaluate("navigator.clipboard.readText()")

    assert link == f"{address}{paths['pair']}"
    assert "| Accuracy |" in text
    assert f"<{link}>" in text


def test_high_contrast_keeps_worse_and_certain_apart(
    browser: Browser, address: str, paths: dict[str, str]
) -> None:
    with browser.new_context(base_url=address, forced_colors="active") as context:
        page = watched(context, address).page
        page.goto(paths["pair"])

        widths = page.evaluate(
            """() => ["td.certain", "td[data-cell]:not(.certain)"].map((cell) =>
                getComputedStyle(
                    document.querySelector(`table.matrix-difference ${cell}`)
                ).borderTopWidth)"""
        )
        notch = page.evaluate(
            """() => getComputedStyle(
                document.querySelector("td.worse"), "::after").borderTopWidth"""
        )

    assert widths == ["3px", "1px"]
    assert notch == "7px"

"""Costs in a browser: the same digits as the server, and a link that shows the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page, expect

from offdiag.domain.number_text import Amounts, amounts_for
from offdiag.metrics.costs.edits import cost_text, forgiven, read_cost
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import evaluate_costs, expected_samples
from offdiag.metrics.costs.what_if import ranks
from offdiag.metrics.metric_text import PER_CASES
from offdiag_web.app.assets import assets
from offdiag_web.components.costs.ranking import moved_text
from support.browser import served
from support.dashboard import LESION_COUNTS, LESIONS, log_counts
from support.kinds import Files
from support.logging_runs import work_off
from support.matrices import numbered_labels
from support.registries import dashboard

pytestmark = pytest.mark.browser

MODULE = f"/assets/{assets()['whatif.js'].digest}/whatif.js"
RECOMPUTE = """async ([module, size, cells, weights, groups, support, cases, decimals]) => {
  const { readCells, readGroups, forgiven, totalCost, bestConstant, perThousand, amountText,
    decimalsFor } = await import(module);
  const prices = forgiven(weights.map(Number), size, readGroups(groups));
  const total = totalCost(readCells(cells), prices);
  const best = bestConstant(support.map(Number), prices);
  const mean = perThousand(total, cases);
  const text = amountText(mean, decimals);
  return [total, best.code, best.total, mean, text, decimalsFor([mean])];
}"""

COSTS = st.one_of(
    st.just(0.0),
    st.integers(-50, 1_000).map(float),
    st.floats(1e-15, 1e15),
    st.floats(-1e15, -1e-15),
    st.decimals("0.01", "99", places=2).map(float),
)


@st.composite
def questions(
    draw: st.DrawFn,
) -> tuple[CostMatrix, np.ndarray[Any, Any], Any, tuple[int, ...], int]:
    """Costs, counts, class shares or None, a group of classes, and decimals."""
    size = draw(st.integers(2, 6))
    line = st.lists(COSTS, min_size=size, max_size=size)
    weights = np.array(draw(st.lists(line, min_size=size, max_size=size)))
    count = st.one_of(st.just(0), st.integers(0, 60), st.integers(0, 10**12))
    cells = st.lists(count, min_size=size, max_size=size)
    counts = np.array(draw(st.lists(cells, min_size=size, max_size=size)))
    counts[range(size), range(size)] += 1
    shares = draw(st.none() | st.lists(st.floats(0.01, 1), min_size=size, max_size=size))
    prevalence = None if shares is None else np.array(shares) / sum(shares)
    group = draw(st.lists(st.integers(0, size - 1), max_size=size, unique=True).map(sorted))
    costs = CostMatrix(weights, numbered_labels(size))
    return costs, counts, prevalence, tuple(group), draw(st.integers(0, 6))


@pytest.fixture(scope="module")
def blank(browser: Browser, base_url: str) -> Iterator[Page]:
    """One page of the dashboard for all that only computes."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{base_url}/costs")
        yield page


def test_the_browser_gets_the_same_digits_as_the_server(blank: Page) -> None:
    @given(questions())
    def agree(question: Any) -> None:
        costs, counts, prevalence, group, decimals = question
        effective = forgiven(costs, (group,) if len(group) > 1 else ())
        found = evaluate_costs(counts, effective.weights, prevalence=prevalence)
        cases, support = expected_samples(counts, prevalence=prevalence)
        total = found["total_cost"].at().value
        mean = float(found["mean_cost"].value) * PER_CASES

        written = " ".join(f"{n}:{_exact(c)}" for n, c in enumerate(cases.ravel()) if c)
        # JavaScript writes large whole numbers without an exponent; Python takes them for int.
        total_there, code, constant, mean_there, text, needed = blank.evaluate(
            RECOMPUTE,
            [
                MODULE,
                costs.n_classes,
                written,
                [cost_text(cost) for cost in costs.weights.ravel().tolist()],
                ",".join(map(str, group)) if len(group) > 1 else "",
                [_exact(n) for n in support],
                int(counts.sum()),
                decimals,
            ],
        )

        assert (float(total_there), float(mean_there)) == (total, mean)
        assert needed == amounts_for([mean]).decimals
        assert code == found["best_trivial_class"].at().value
        assert float(constant) == found["best_trivial_cost"].at().value
        assert text == Amounts(decimals).text(mean)

    agree()


def test_the_browser_reads_a_cost_as_the_server_does(blank: Page) -> None:
    texts = st.one_of(
        COSTS.map(cost_text),
        st.floats().map(repr),
        st.text(st.sampled_from("0123456789+-.eE ,x_"), max_size=8),
    )

    @given(texts)
    def agree(text: str) -> None:
        read = blank.evaluate(
            "async ([module, text]) => (await import(module)).parseCost(text)", [MODULE, text]
        )

        assert read == read_cost(text)

    agree()


def test_the_browser_ranks_as_the_server_does(blank: Page) -> None:
    @given(st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=8))
    def agree(values: list[float]) -> None:
        places, moves = blank.evaluate(
            """async ([module, values]) => {
              const { ranks, movedText } = await import(module);
              const places = ranks(values);
              return [places, places.map((rank) => movedText(rank, 3))];
            }""",
            [MODULE, values],
        )

        assert tuple(places) == ranks(values)
        assert moves == [moved_text(rank, 3) for rank in places]

    agree()


@pytest.fixture(scope="module")
def with_costs(
    files: Files, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    """Address of a dashboard over two runs, and of its what-if page."""
    focal = [[min(count, 2) for count in line] for line in LESION_COUNTS]
    for code, line in enumerate(LESION_COUNTS):
        focal[code][code] = sum(line) - sum(n for k, n in enumerate(focal[code]) if k != code)
    with files.new(tmp_path_factory.mktemp("with_costs")) as database:
        runs = [
            log_counts(database, counts, LESIONS, name=name, dataset="derm-7", evaluated=False)
            for name, counts in (("plain", LESION_COUNTS), ("focal", focal))
        ]
        work_off(database)
        with served(dashboard(database)) as address:
            yield address, f"/whatif?runs={','.join(runs)}"


def show_matrix(page: Page) -> None:
    """Unfold the fields of all cells."""
    page.get_by_text("Full cost matrix").click()


def test_the_slider_moves_everything_and_agrees_with_the_server(
    open_at: Any, with_costs: tuple[str, str]
) -> None:
    address, path = with_costs
    seen = open_at(address, f"{path}&cost=@0-1&vary=mel%3Env")
    page = seen.page
    before = page.locator(".flip-chart .now").get_attribute("d")
    cost = page.locator("#ranking [data-letter=A] [data-cost]")
    slider = page.locator("#ratio")
    expect(slider).to_have_attribute("aria-valuetext", page.locator("#at").input_value())

    with page.expect_response("**/whatif?*"):
        slider.fill("130")
        expect(slider).to_have_attribute("aria-valuetext", "20")
        # The browser's own numbers, before the server has answered.
        expect(page.locator("#at")).to_have_value("20")
        assert page.locator(".flip-chart .now").get_attribute("d") != before
        assert cost.inner_text().startswith("88")

    expect(page).to_have_url(re.compile(r"set=mel%3Env:20&vary=mel%3Env"))
    expect(page.locator("#results")).not_to_have_attribute("aria-busy", "true")
    expect(cost).to_have_text("881.6")
    expect(page.locator("#disagreement")).to_be_hidden()
    seen.expect_no_complaints()


def test_a_changed_cost_shows_at_once_and_its_link_shows_the_same_to_somebody_else(
    open_at: Any, with_costs: tuple[str, str]
) -> None:
    address, path = with_costs
    mine = open_at(address, path, permissions=["clipboard-read", "clipboard-write"])
    page = mine.page
    show_matrix(page)
    field = page.get_by_role("textbox", name="cost, actual mel, predicted nv")
    before = page.locator("#ranking tbody tr").first.inner_text()

    field.fill("20")

    # The browser's own numbers need no server; the address follows with the server's.
    expect(page.locator("#ranking [data-letter=A] [data-cost]")).to_have_text("881.6")
    expect(page).to_have_url(re.compile(r"set=mel%3Env:20"))
    expect(page.locator("#results")).not_to_have_attribute("aria-busy", "true")
    expect(page.locator("#disagreement")).to_be_hidden()
    expect(page.locator("#announcement")).to_have_text("Cost recalculated, B first")
    assert page.locator("#ranking tbody tr").first.inner_text() != before
    page.locator("summary", has_text="Share").click()
    page.get_by_role("link", name="Copy link").click()
    expect(page.locator("#announcement")).to_have_text("link copied")
    link = page.evaluate("navigator.clipboard.readText()")
    page.keyboard.press("Escape")

    other = open_at(address, link.removeprefix(address))
    show_matrix(other.page)

    shown = other.page.locator("main").inner_text()
    assert shown == page.locator("main").inner_text()
    expect(other.page.get_by_role("textbox", name="cost, actual mel, predicted nv")).to_have_value(
        "20"
    )
    for seen in (mine, other):
        seen.expect_no_complaints()


def test_what_is_varied_stays_what_was_chosen(open_at: Any, with_costs: tuple[str, str]) -> None:
    page = open_at(*with_costs).page
    show_matrix(page)
    vary = page.get_by_role("combobox", name="Vary")
    expect(vary).to_have_value("")

    for cost in ("20", "21"):
        page.get_by_role("textbox", name="cost, actual mel, predicted nv").fill(cost)
        expect(page).to_have_url(re.compile(rf"set=mel%3Env:{cost}$"))
        expect(page.locator("#results")).not_to_have_attribute("aria-busy", "true")
        expect(vary).to_have_value("")

    vary.select_option("mel>nv")
    expect(page).to_have_url(re.compile("vary=mel%3Env$"))
    expect(page.locator("#results")).not_to_have_attribute("aria-busy", "true")
    expect(vary).to_have_value("mel>nv")


def test_what_is_no_number_is_marked_and_a_block_of_a_spreadsheet_is_pasted_from_a_cell_on(
    open_at: Any, with_costs: tuple[str, str]
) -> None:
    page = open_at(*with_costs).page
    show_matrix(page)
    field = page.get_by_role("textbox", name="cost, actual mel, predicted nv")
    cost = page.locator("#ranking [data-letter=A] [data-cost]")
    before = cost.inner_text()

    field.fill("much")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(cost).to_have_text(before)
    field.fill("1")
    expect(field).not_to_have_attribute("aria-invalid", "true")

    page.get_by_role("textbox", name="cost, actual nv, predicted mel").focus()
    page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.setData("text/plain", "2\\t3\\n4\\t5\\n");
          document.activeElement.dispatchEvent(
            new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
          );
        }"""
    )
    expect(page).to_have_url(re.compile("set=nv%3Emel:2,nv%3Ebkl:3,mel%3Emel:4,mel%3Ebkl:5"))
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("textbox", name="cost, actual mel, predicted mel")).to_be_focused()


def test_a_server_that_does_not_answer_leaves_the_numbers_of_the_browser(
    open_at: Any, with_costs: tuple[str, str]
) -> None:
    page = open_at(*with_costs, own_window=True).page
    show_matrix(page)
    page.route("**/whatif?*", lambda route: route.fulfill(status=503, body="busy"))

    page.get_by_role("textbox", name="cost, actual mel, predicted nv").fill("20")

    for place in ("#announcement", "#notices"):
        expect(page.locator(place)).to_contain_text("The server did not answer")
    expect(page.locator("#ranking [data-letter=A] [data-cost]")).to_have_text("881.6")


def test_a_disagreement_would_be_said(open_at: Any, with_costs: tuple[str, str]) -> None:
    page = open_at(*with_costs, own_window=True).page
    show_matrix(page)

    def wrong(route: Any) -> None:
        answer = route.fetch()
        text = re.sub(r'data-total="[^"]+"', 'data-total="1.5"', answer.text())
        route.fulfill(response=answer, body=text)

    page.route("**/whatif?*", wrong)
    page.get_by_role("textbox", name="cost, actual mel, predicted nv").fill("20")

    expect(page.get_by_role("alert")).to_contain_text("computed different totals")


def _exact(number: float) -> str:
    plain = float(number)
    return str(int(plain)) if plain.is_integer() else repr(plain)

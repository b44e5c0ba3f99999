"""What the first view of every kind of page weighs after one run, and after months of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, ViewportSize

from offdiag.domain.runs import RunFacts
from offdiag.services.champions.leaders import primary_metric
from offdiag.store.database import Database
from offdiag.store.dataset_page import dataset_list
from offdiag.store.ranked_runs import ranked_runs
from offdiag_web.components.datasets import runs_of_dataset_url
from offdiag_web.urls.datasets import DatasetAddress
from support.browser import Watched, served, watched
from support.logging_runs import log, work_off
from support.months import Months, fill_months
from support.once_for_all import filled_for_all
from support.registries import dashboard

pytestmark = pytest.mark.browser

MOST_REQUESTS, MOST_BYTES = 8, 60 * 1024
PHONE = ViewportSize(width=390, height=844)
LOWEST_METRIC = 500
"""Where the first number of a run stands at the latest on a phone, in CSS pixels from above."""
WITH_PAIR = "skin"

_FIRST_NUMBER = r"""() => {
    let highest = null;
    const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const node = texts.currentNode;
        if (!/\b[01]\.\d{2,}/.test(node.data)) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        const box = range.getBoundingClientRect();
        const isSeen = box.height && node.parentElement.checkVisibility();
        if (isSeen && (highest === null || box.top < highest)) highest = box.top;
    }
    return highest;
}"""


_CUT_NUMBERS = r"""() => [...document.querySelectorAll("main td, main th")]
    .filter((cell) => cell.checkVisibility() && cell.clientWidth > 1
        && getComputedStyle(cell).overflowX === "hidden" && cell.scrollWidth > cell.clientWidth
        && /\d\.\d|\d\/\d/.test(cell.innerText))
    .map((cell) => cell.innerText)"""


def log_only_run(database: Database) -> None:
    """The only run of its dataset."""
    actual = ["well"] * 80 + ["ill"] * 20
    predicted = ["well"] * 75 + ["ill"] * 17 + ["well"] * 8
    log(database, y_true=actual, y_pred=predicted, facts=RunFacts(name="the only run"))
    work_off(database)


def paths_of(database: Database) -> list[str]:
    """Every kind of page, and those of a run on every dataset."""
    found = ["/?q=", "/runs", "/problems", "/problems/1", "/costs", "/reports", "/jobs", "/audit"]
    with database.read() as session:
        for dataset in dataset_list(session):
            at = DatasetAddress(dataset.project, dataset.name)
            key = primary_metric(dataset)
            ids = [
                each.id
                for each in ranked_runs(
                    session, dataset.id, key, lower_is_better=False, limit=2
                ).runs
            ]
            found.append(f"/runs/{ids[0]}")
            if len(ids) == 1:
                found += [at.approve_url(), at.data_url(), f"/runs/{ids[0]}/classes"]
            elif dataset.name == WITH_PAIR:
                pair = ",".join(ids)
                found += [f"/compare?runs={pair}", f"/whatif?runs={pair}&cost=@0-1"]
                found += [at.url(), runs_of_dataset_url(at)]
    return found


@contextmanager
def first_view(browser: Browser, address: str, path: str) -> Iterator[tuple[Watched, list[int]]]:
    """A page in a browser that has nothing of it yet, with the bytes of each response.

    What the browser has from its cache, such as an icon shown twice, has no bytes.
    """
    context: BrowserContext = browser.new_context()
    sizes: list[int] = []
    seen = watched(context.new_page(), address)
    wire = context.new_cdp_session(seen.page)
    wire.send("Network.enable")
    wire.on("Network.loadingFinished", lambda event: sizes.append(int(event["encodedDataLength"])))
    seen.goto(path)
    yield seen, sizes
    context.close()


def complaints(browser: Browser, address: str, path: str) -> list[str]:
    with first_view(browser, address, path) as (seen, sizes):
        found = []
        seen.page.wait_for_load_state("networkidle")
        n_requests = sum(size > 0 for size in sizes)
        if n_requests > MOST_REQUESTS or sum(sizes) > MOST_BYTES:
            found.append(f"{n_requests} requests of {sum(sizes)} bytes")
        seen.page.set_viewport_size(PHONE)
        width = seen.page.evaluate("document.documentElement.scrollWidth")
        if width > PHONE["width"]:
            found.append(f"{width} pixels wide on a phone")
        if cut := seen.page.evaluate(_CUT_NUMBERS):
            found.append(f"cut on a phone: {cut}")
        is_run = path.startswith("/runs/") and path.count("/") == 2
        if is_run and not (seen.page.evaluate(_FIRST_NUMBER) or LOWEST_METRIC) < LOWEST_METRIC:
            found.append(f"the first number is at {seen.page.evaluate(_FIRST_NUMBER)}")
        return seen.complaints + found


def test_the_first_view_of_every_page_is_light_and_fits_a_phone(
    browser: Browser, sqlite_database: Database, tmp_path_factory: pytest.TempPathFactory
) -> None:
    filled_for_all(tmp_path_factory, sqlite_database, fill_months, Months)
    log_only_run(sqlite_database)
    with served(dashboard(sqlite_database)) as address:
        found = {path: complaints(browser, address, path) for path in paths_of(sqlite_database)}

    assert {path: said for path, said in found.items() if said} == {}

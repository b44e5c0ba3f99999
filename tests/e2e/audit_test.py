"""Auditing a table as a reader does: paste, look, correct, pass the address on."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

TABLE = "Model\tAccuracy\tError rate\nSVM\t93.0%\t7.0%\nOurs\t95.0%\t9.0%\n"


def test_a_pasted_table_is_audited_corrected_and_passed_on(open_page: Any) -> None:
    seen = open_page("/audit")
    page: Page = seen.page

    page.get_by_label("Table text").fill(TABLE)
    page.get_by_role("button", name="Audit", exact=True).click()
    marked = page.get_by_role("region", name="Your table, cell by cell")
    expect(marked.get_by_role("row").last).to_contain_text("9.0% ✕ contradicts")
    marked.get_by_role("link", name="contradicts").last.click()
    ours = page.get_by_role("region", name="Verdicts on Ours").get_by_role("row")
    expect(ours.last).to_contain_text("Error rate")
    expect(ours.last).to_contain_text("impossible")
    expect(ours.last).to_contain_text("error rate = 1 - accuracy")
    page.get_by_role("combobox", name="Error rate").fill("-")
    page.get_by_role("button", name="Audit again").first.click()

    expect(page).to_have_url(re.compile(r"read:Error%20rate=-&table="))
    expect(page.locator(".lead")).to_contain_text("Nothing contradicts the numbers.")
    theirs: Page = open_page(page.url, java_script_enabled=False).page
    assert theirs.locator("main").inner_text() == page.locator("main").inner_text()
    seen.expect_no_complaints()

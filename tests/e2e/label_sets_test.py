"""A multi-label run in a browser: accessible, narrow, from a count to the samples it counts."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from offdiag.store.database import Database
from support.browser import (
    CLEAN,
    served,
    violations_in_both_themes,
    width_on_a_small_screen,
)
from support.logging_runs import work_off
from support.registries import dashboard
from support.set_runs import log_sets, random_sets

pytestmark = pytest.mark.browser


def test_a_count_of_a_label_leads_to_its_cases(open_at: Any, sqlite_database: Database) -> None:
    true, predicted = random_sets(120, 4)
    run = log_sets(sqlite_database, y_true=true, y_pred=predicted)
    work_off(sqlite_database)
    missed = int((true[:, 0] & ~predicted[:, 0]).sum())
    with served(dashboard(sqlite_database)) as address:
        seen = open_at(address, f"/runs/{run.id}")
        page = seen.page

        assert violations_in_both_themes(seen) == CLEAN
        assert width_on_a_small_screen(seen) <= 320
        first = page.get_by_role("table", name="sea", exact=True)
        first.get_by_role("link", name=str(missed), exact=True).first.click()
        expect(page.get_by_role("heading", level=2).first).to_contain_text(
            f"{missed} wrong examples, actual “sea”"
        )
        seen.expect_no_complaints()

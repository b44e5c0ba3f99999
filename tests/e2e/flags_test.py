"""Working through flags: by keyboard alone, beside somebody else, without scripts."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from offdiag.flags.lifecycle import FlagState
from offdiag.services.flags.page import browse_flag, browse_flags
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag.store.flags import FlagFilter
from offdiag_web import create_app
from support.browser import CLEAN, Watched, served, violations_in_both_themes
from support.dashboard import log_lesions

pytestmark = pytest.mark.browser

WIDE = {"width": 1500, "height": 900}
NARROW = {"width": 320, "height": 640}
READER = "ana"

Open = Callable[..., Watched]


@pytest.fixture(scope="module")
def lesions_file(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A registry with one run whose smallest class is never found, to be copied."""
    path = Path(shutil.copy(migrated_file, tmp_path_factory.mktemp("lesions") / "registry.db"))
    database = Database(f"sqlite:///{path}", synchronous="normal")
    log_lesions(database)
    database.close()
    return path


@pytest.fixture
def database(lesions_file: Path, tmp_path: Path) -> Iterator[Database]:
    """A copy of that registry, to be changed."""
    path = shutil.copy(lesions_file, tmp_path / "lesions.db")
    opened = Database(f"sqlite:///{path}", synchronous="normal")
    yield opened
    opened.close()


@pytest.fixture
def go(open_at: Open, database: Database) -> Iterator[Open]:
    """Opens a path as somebody whose name is known, unless `reader` is empty."""
    with served(create_app(Settings(), database)) as address:

        def visit(path: str, *, reader: str = READER, **options: Any) -> Watched:
            seen = open_at(address, "about:blank", **options)
            if reader:
                seen.page.context.add_cookies(
                    [{"name": "reader", "value": reader, "url": address}]
                )
            seen.goto(path)
            return seen

        yield visit


def in_order(database: Database) -> list[int]:
    return [entry.flag.id for entry in browse_flags(database, FlagFilter()).entries]


def state_of(database: Database, number: int) -> FlagState:
    return browse_flag(database, number).entry.flag.status.state


def test_flags_are_worked_through_by_keyboard_alone(go: Open, database: Database) -> None:
    seen = go("/flags", reader="", viewport=WIDE)
    page, press = seen.page, seen.page.keyboard.press
    first, second, third, fourth, fifth, sixth, *_ = in_order(database)
    _tab_to(page, page.get_by_label("Say who you are"))
    page.keyboard.type("ana")
    press("Enter")

    # The gravest one stands beside the list.
    expect(_beside(page)).to_have_text(_title(database, first))
    press("a")
    expect(_beside(page)).to_have_text(_title(database, second))
    assert state_of(database, first) is FlagState.ACKNOWLEDGED

    press("z")
    press("Enter")
    expect(_beside(page)).to_have_text(_title(database, third))
    assert state_of(database, second) is FlagState.SNOOZED

    press("d")
    page.keyboard.type("too few examples, a known gap")
    press("Tab")
    press("Enter")
    expect(_beside(page)).to_have_text(_title(database, fourth))
    assert state_of(database, third) is FlagState.DISMISSED
    assert browse_flag(database, third).history[-1].text == "too few examples, a known gap"

    press("@")
    press("Enter")
    expect(page.get_by_role("status").first).to_contain_text(f"F-{fourth} assigned to ana.")
    expect(_beside(page)).to_have_text(_title(database, fourth))
    assert browse_flag(database, fourth).entry.flag.assignee == "ana"

    # Two at once: move, select, move, select.
    for key in ("j", "x", "j", "x"):
        press(key)
    expect(page.get_by_text("2 selected")).to_be_visible()
    press("a")
    expect(page.get_by_role("status").first).to_contain_text("acknowledged")
    assert {state_of(database, number) for number in (fifth, sixth)} == {FlagState.ACKNOWLEDGED}
    seen.expect_no_complaints()


def test_enter_shows_a_flag_beside_the_list_and_reloading_keeps_it(
    go: Open, database: Database
) -> None:
    page = go("/flags", viewport=WIDE).page
    _, second, *_ = in_order(database)
    expect(_beside(page)).to_be_visible()

    for key in ("j", "j", "Enter"):
        page.keyboard.press(key)
    expect(_beside(page)).to_have_text(_title(database, second))
    expect(page).to_have_url(re.compile(rf"/flags#F-{second}$"))
    page.reload()

    expect(_beside(page)).to_have_text(_title(database, second))
    expect(page.locator("a[data-row]:focus")).to_have_count(1)


def test_a_narrow_screen_shows_the_list_and_then_the_page(go: Open, database: Database) -> None:
    seen = go("/flags", viewport=NARROW)
    page = seen.page
    first, *_ = in_order(database)
    expect(page.locator("#flag-pane")).to_be_hidden()

    page.keyboard.press("j")
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile(rf"/flags/{first}$"))
    page.keyboard.press("d")
    expect(page.get_by_label("Reason to dismiss")).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    page.keyboard.press("Escape")
    expect(page.get_by_label("Reason to dismiss")).to_be_hidden()
    seen.expect_no_complaints()


def test_two_tabs_with_one_flag_do_not_overwrite_each_other(go: Open, database: Database) -> None:
    first, *_ = in_order(database)
    mine = go(f"/flags/{first}")
    theirs = go(f"/flags/{first}", reader="kim")
    theirs.page.keyboard.press("a")
    expect(theirs.page.get_by_role("status").first).to_contain_text("acknowledged")

    page = mine.page
    page.keyboard.press("d")
    page.keyboard.type("typed before I knew")
    page.get_by_role("button", name="Dismiss", exact=True).click()

    expect(page.get_by_role("alert")).to_contain_text("was acknowledged by kim in the meantime")
    assert state_of(database, first) is FlagState.ACKNOWLEDGED
    reason = page.get_by_label("Reason to dismiss")
    expect(reason).to_have_value("typed before I knew")
    page.get_by_role("button", name="Dismiss", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("dismissed")
    assert state_of(database, first) is FlagState.DISMISSED
    # The refusal is an answer with status 409, which a browser notes.
    assert all("409" in complaint for complaint in mine.complaints)


def test_flags_are_settled_without_scripts(go: Open, database: Database) -> None:
    first, second, third, *_ = in_order(database)
    page = go("/flags", java_script_enabled=False, viewport=WIDE).page
    expect(page.locator("#flag-pane")).to_be_hidden()

    for number in (second, third):
        page.get_by_label(f"Select F-{number}", exact=True).check()
    page.get_by_text("Dismiss…").click()
    page.get_by_label("Reason to dismiss").fill("known")
    page.get_by_role("button", name="Dismiss", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("dismissed")
    page.locator("a[data-row]").first.click()
    page.get_by_role("button", name="Acknowledge").click()

    expect(page.get_by_role("status").first).to_contain_text(f"F-{first} acknowledged.")
    assert {state_of(database, number) for number in (second, third)} == {FlagState.DISMISSED}
    assert state_of(database, first) is FlagState.ACKNOWLEDGED


def test_everything_to_settle_flags_with_is_accessible(go: Open, database: Database) -> None:
    checked = go("/flags", viewport=WIDE)
    page = checked.page
    expect(_beside(page)).to_be_visible()

    page.get_by_role("checkbox").first.check()
    for summary in page.locator("summary").all():
        summary.click()

    assert violations_in_both_themes(checked) == CLEAN


def _beside(page: Page) -> Any:
    return page.locator("#flag-pane h1")


def _title(database: Database, number: int) -> re.Pattern[str]:
    detail = browse_flag(database, number)
    label = detail.entry.flag.content.class_label
    assert detail.rule is not None
    return re.compile(re.escape(detail.rule.title) + ("$" if label is None else f": .*{label}"))


def _tab_to(page: Page, wanted: Any) -> None:
    """Move by Tab alone until something has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if wanted.evaluate("control => control === document.activeElement"):
            return
    raise AssertionError("the focus never arrived")

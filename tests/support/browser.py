"""A real browser on a real server, and what it complained about."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from flask import Flask
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Response
from werkzeug.serving import make_server

CHROMIUM_PLACES = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
CHROMIUM_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
AXE = Path(__file__).parents[1] / "assets" / "axe-core" / "axe.min.js"
AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def text_without_ages(page: Page) -> str:
    """What a page says, but for how long ago things were: that goes on while it is loaded."""
    return re.sub(
        r"just now|\d+ (?:s|min|h)\b(?: ago)?", "a moment", page.locator("main").inner_text()
    )


def chromium() -> str | None:
    """The browser of this machine, None if there is none."""
    return next((place for place in CHROMIUM_PLACES if Path(place).exists()), None)


@contextmanager
def served(app: Flask) -> Iterator[str]:
    """Serve an application on a free port; yields the address without a final slash."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


_ABORTED_POLLS = ("htmx:sendAbort", "htmx:afterRequest")

Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
CLEAN: dict[str, list[str]] = {"light": [], "dark": []}
"""What axe-core finds on a page that is accessible."""


@dataclass
class Watched:
    """A page whose complaints are kept: console errors, exceptions, foreign requests."""

    page: Page
    complaints: list[str] = field(default_factory=list)

    def expect_no_complaints(self) -> None:
        assert self.complaints == []


def violations_in_both_themes(checked: Watched) -> dict[str, list[str]]:
    """The same in the light and in the dark theme of one page, which need not be loaded twice."""
    found: dict[str, list[str]] = {}
    for theme in THEMES:
        checked.page.emulate_media(color_scheme=theme)
        found[theme] = violations(checked)
    return found


def width_on_a_small_screen(checked: Watched) -> int:
    """How wide a page is in CSS pixels where 320 are to be seen."""
    checked.page.set_viewport_size({"width": 320, "height": 640})
    return int(checked.page.evaluate("document.documentElement.scrollWidth"))


def watched(context: BrowserContext, base_url: str) -> Watched:
    """Open a page in which nothing may go wrong unnoticed.

    A violation of the content security policy is a console error, so it is noticed too.
    """
    seen = Watched(context.new_page())

    def on_console(message: ConsoleMessage) -> None:
        # A poll that is under way when the reader goes elsewhere is aborted, and that is fine.
        if message.text.startswith(_ABORTED_POLLS):
            return
        if message.type in {"error", "warning"}:
            seen.complaints.append(f"console {message.type}: {message.text}")

    def on_response(response: Response) -> None:
        if not response.url.startswith(base_url):
            seen.complaints.append(f"request to {response.url}")

    seen.page.on("console", on_console)
    seen.page.on("pageerror", lambda error: seen.complaints.append(f"exception: {error}"))
    seen.page.on("response", on_response)
    seen.page.on("dialog", lambda dialog: seen.complaints.append(f"dialog: {dialog.message}"))
    return seen


_FAILED_RULES = """async tags => {
  const options = {runOnly: {type: 'tag', values: tags}, resultTypes: ['violations']};
  const found = await axe.run(document, options);
  return found.violations.map(({id, help, nodes}) => ({id, help, html: nodes.map(n => n.html)}));
}"""
"""What passed is megabytes on a large page, and telling them takes longer than the checks."""


def violations(checked: Watched) -> list[str]:
    """What axe-core finds on a page whose context bypasses its policy, one line for each rule."""
    if not checked.page.evaluate("'axe' in window"):
        checked.page.evaluate(AXE.read_text(encoding="utf-8"))
    found = checked.page.evaluate(_FAILED_RULES, AXE_TAGS)
    return [
        f"{rule['id']}: {rule['help']}: {[html[:160] for html in rule['html'][:3]]}"
        for rule in found
    ]

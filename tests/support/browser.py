"""A real browser on a real server, and what it complained about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flask import Flask
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Response
from werkzeug.serving import make_server

from support.listeners import running

CHROMIUM_PLACES = (
    # The same browser without windows on a screen starts and draws in less time.
    "/usr/bin/chromium-headless-shell",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
)
CHROMIUM_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    # Otherwise each page that is opened is drawn by two processes that begin with nothing,
    # which takes longer than everything that tests do with most pages.
    "--renderer-process-limit=1",
    "--in-process-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
AXE = Path(__file__).parents[1] / "assets" / "axe-core" / "axe.min.js"
AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def text_without_ages(page: Page) -> str:
    """What a page says, but for how long ago things were: that goes on while it is loaded.

    How charts are saved is left out, too: only a script can do that.
    """
    said = page.evaluate(
        """() => {
            for (const menu of document.querySelectorAll(".chart-menu")) menu.hidden = true;
            for (const line of document.querySelectorAll(".chart-read")) line.hidden = true;
            return document.querySelector("main").innerText;
        }"""
    )
    return re.sub(r"just now|\d+ (?:s|min|h)\b(?: ago)?", "a moment", said)


def chromium() -> str | None:
    """The browser of this machine, None if there is none."""
    return next((place for place in CHROMIUM_PLACES if Path(place).exists()), None)


@contextmanager
def served(app: Flask) -> Iterator[str]:
    """Serve an application on a free port; yields the address without a final slash."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    with running(server) as url:
        yield url


_ABORTED_POLLS = ("htmx:sendAbort", "htmx:afterRequest")

CLEAN: dict[str, list[str]] = {"light": [], "dark": []}
"""What axe-core finds on a page that is accessible."""


@dataclass
class Watched:
    """A page whose complaints are kept: console errors, exceptions, foreign requests."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)
    _listening: dict[str, Callable[[Any], None]] = field(default_factory=dict)

    def goto(self, path: str) -> None:
        """Open a path of the server, or a whole address."""
        self.page.goto(path if ":" in path.partition("/")[0] else self.address + path)

    def listen(self, **listeners: Callable[[Any], None]) -> None:
        self._listening |= listeners
        for event, listener in listeners.items():
            self.page.on(event, listener)  # type: ignore[call-overload]  # an event by its name

    def stop_listening(self) -> None:
        for event, listener in self._listening.items():
            self.page.remove_listener(event, listener)

    def expect_no_complaints(self) -> None:
        assert self.complaints == []


def violations_in_both_themes(checked: Watched) -> dict[str, list[str]]:
    """The same in the light and in the dark theme of one page, which need not be loaded twice.

    Themes differ in their colours alone, so the second one is held to the rules about these.
    """
    checked.page.emulate_media(color_scheme="light")
    found: dict[str, list[str]] = {"light": violations(checked)}
    checked.page.emulate_media(color_scheme="dark")
    return found | {"dark": violations(checked, _RULES_OF_COLOURS)}


def width_on_a_small_screen(checked: Watched) -> int:
    """How wide a page is in CSS pixels where 320 are to be seen."""
    checked.page.set_viewport_size({"width": 320, "height": 640})
    return int(checked.page.evaluate("document.documentElement.scrollWidth"))


def cut_regions(page: Page) -> list[str]:
    """The names of the tables and tabs of a page that are wider than it, folded ones too."""
    found: list[str] = page.evaluate(
        """() => {
            document.querySelectorAll("details").forEach(each => each.open = true);
            return [...document.querySelectorAll(".scrollx, .tabs")]
                .filter(region => region.scrollWidth > region.clientWidth)
                .map(region => region.getAttribute("aria-label"));
        }"""
    )
    return found


def expect_sound_page(
    open_page: Callable[..., Watched], path: str, *, is_whole: bool, is_accessible: bool
) -> None:
    """No complaint, texts inside their charts, narrow, and accessible where that is asked.

    As a whole it also says the same without scripts and is accessible in both themes. What a page
    complains of and how wide it is depend on its data; the rest hardly does, and is asked once of
    what has the same template.
    """
    seen = open_page(path)
    seen.expect_no_complaints()
    if is_whole:
        plain = open_page(path, java_script_enabled=False)
        assert text_without_ages(plain.page) == text_without_ages(seen.page)
        assert violations_in_both_themes(seen) == CLEAN
    elif is_accessible:
        assert violations(seen) == []
    assert seen.page.evaluate(_TEXTS_OUT_OF_CHARTS) == []
    assert width_on_a_small_screen(seen) <= 320
    assert seen.page.evaluate(_CHIPS_OF_LETTERS) == []


_TEXTS_OUT_OF_CHARTS = """() => [...document.querySelectorAll("main svg")].flatMap((chart) => {
    const frame = chart.getBoundingClientRect();
    const texts = [...chart.querySelectorAll("text")];
    return texts.filter((text) => text.getClientRects().length).filter((text) => {
        const box = text.getBoundingClientRect();
        return box.left < frame.left - 1 || box.right > frame.right + 1
            || box.top < frame.top - 2 || box.bottom > frame.bottom + 2;
    }).map((text) => text.textContent);
})"""
"""A picture ends at its edge, and so does what is written in it."""
_CHIPS_OF_LETTERS = """() => [...document.querySelectorAll("main .chip")].filter((chip) => {
    const box = chip.getBoundingClientRect();
    return box.height > box.width;
}).map((chip) => chip.textContent.trim())"""
"""A narrow column breaks a word of a chip after each letter."""


def watched(page: Page, address: str) -> Watched:
    """A page in which nothing may go wrong unnoticed.

    A violation of the content security policy is a console error, so it is noticed too.
    """
    seen = Watched(page, address)

    def on_console(message: ConsoleMessage) -> None:
        # A poll that is under way when the reader goes elsewhere is aborted, and that is fine.
        if message.text.startswith(_ABORTED_POLLS):
            return
        if message.type in {"error", "warning"}:
            seen.complaints.append(f"console {message.type}: {message.text}")

    def on_response(response: Response) -> None:
        if not response.url.startswith(address):
            seen.complaints.append(f"request to {response.url}")

    seen.listen(
        console=on_console,
        response=on_response,
        pageerror=lambda error: seen.complaints.append(f"exception: {error}"),
        dialog=lambda dialog: seen.complaints.append(f"dialog: {dialog.message}"),
    )
    return seen


class Windows:
    """Windows of a browser that one test after the other is lent.

    To make one takes several times as long as to load a page. What a test may leave behind is
    put back: cookies, the size of the window and the media it pretends to be. A test that
    intercepts requests asks for a window of its own: whether a route is in force again on a page
    that had one before depends on the browser's timing.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._idle: dict[str, list[Page]] = {}

    @contextmanager
    def lent(self) -> Iterator[Callable[..., Watched]]:
        """A function that opens a window for a server; options are those of a context."""
        in_use: list[tuple[str, dict[str, Any], Watched]] = []
        own: list[BrowserContext] = []

        def opened(address: str, *, own_window: bool = False, **options: Any) -> Watched:
            if own_window:
                own.append(self._browser.new_context(**options))
                return watched(own[-1].new_page(), address)
            key = repr(sorted(options.items()))
            idle = self._idle.setdefault(key, [])
            page = idle.pop() if idle else self._browser.new_context(**options).new_page()
            in_use.append((key, options, seen := watched(page, address)))
            return seen

        yield opened
        for context in own:
            context.close()
        for key, options, seen in in_use:
            _tidy(seen, options)
            self._idle[key].append(seen.page)

    def close(self) -> None:
        """Close those that are not in use."""
        for page in [page for idle in self._idle.values() for page in idle]:
            page.context.close()


def _tidy(seen: Watched, options: dict[str, Any]) -> None:
    page = seen.page
    for other in page.context.pages:
        if other is not page:
            other.close()
    page.goto("about:blank")
    seen.stop_listening()
    page.context.clear_cookies()
    page.set_viewport_size(options.get("viewport", {"width": 1280, "height": 720}))
    page.emulate_media(
        media="null",
        color_scheme=options.get("color_scheme", "light"),
        forced_colors=options.get("forced_colors", "none"),
    )


_ROWS_LIKE_THOSE_ABOVE = "tbody > tr:nth-child(n+11):not(:last-child)"
"""Of hundreds of rows that one template writes ten say whether it is accessible."""
_FAILED_RULES = """async ([rules, exclude]) => {
  const options = {runOnly: rules, resultTypes: ['violations']};
  const found = await axe.run({exclude}, options);
  return found.violations.map(({id, help, nodes}) => ({id, help, html: nodes.map(n => n.html)}));
}"""
"""What passed is megabytes on a large page, and telling them takes longer than the checks."""


_ALL_RULES = {"type": "tag", "values": AXE_TAGS}
_RULES_OF_COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}


def violations(checked: Watched, rules: Mapping[str, object] = _ALL_RULES) -> list[str]:
    """What axe-core finds on a page, one line for each rule."""
    if not checked.page.evaluate("'axe' in window"):
        checked.page.evaluate(AXE.read_text(encoding="utf-8"))
    found = checked.page.evaluate(_FAILED_RULES, [rules, [_ROWS_LIKE_THOSE_ABOVE]])
    return [
        f"{rule['id']}: {rule['help']}: {[html[:160] for html in rule['html'][:3]]}"
        for rule in found
    ]

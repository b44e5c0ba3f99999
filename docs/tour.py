"""Take the pictures of the tour, of the quick start and of the page about notebooks.

The demo is made anew, and the code of the pages executed; what they make is looked at in Chromium.

Times and ids of runs differ from call to call; all numbers are the same.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tour_stops
from PIL import Image
from playwright.sync_api import Browser, sync_playwright
from werkzeug.serving import WSGIRequestHandler, make_server

from offdiag import compare
from offdiag.cli.commands import run as offdiag
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import create_app
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_workers.process import working_in_background

DOCS = Path(__file__).parent
PICTURES = DOCS / "images"
WIDTH = 1280
COLOURS = 256
MOST_BYTES = 1_200_000
"""All pictures together: a clone of the project should stay small."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
AUTHOR = "ana"

Theme = Literal["light", "dark"]


@dataclass(frozen=True, slots=True)
class Picture:
    """A page from its top down to a height in CSS pixels, or to its end."""

    stop: str
    height: int
    theme: Theme = "light"
    width: int = WIDTH

    @property
    def file_name(self) -> str:
        return f"{self.stop}{'' if self.theme == 'light' else '-dark'}.png"


ALL_PICTURES = (
    Picture("home", 480),
    Picture("dataset", 1_110),
    Picture("compare", 1_310),
    Picture("problems", 830),
    Picture("run-page", 940),
    Picture("run-page", 940, "dark"),
    Picture("what-if", 1_400),
)
OF_SECOND_PART = (Picture("methods", 800),)

OF_QUICK_START = (
    Picture("quickstart-run", 510),
    Picture("quickstart-compare", 875),
    Picture("quickstart-decision", 745),
)

OF_NOTEBOOK = (Picture("notebook", 705, width=1_126),)


def main() -> int:
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        print(f"None of {', '.join(BROWSERS)} is installed.", file=sys.stderr)
        return 1
    os.environ["LOGNAME"] = AUTHOR
    taken: dict[str, bytes] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        for made, pictures in (
            (served_demo, ALL_PICTURES),
            (served_second_part, OF_SECOND_PART),
            (served_quick_start, OF_QUICK_START),
            (written_cards, OF_NOTEBOOK),
        ):
            with made() as (address, stops):
                taken |= {
                    picture.file_name: taken_in(browser, address, stops, picture)
                    for picture in pictures
                }
        browser.close()
    total = sum(map(len, taken.values()))
    if total > MOST_BYTES:
        print(f"The pictures have {total:,} bytes, {MOST_BYTES:,} at most.", file=sys.stderr)
        return 1
    PICTURES.mkdir(exist_ok=True)
    for file_name, content in taken.items():
        (PICTURES / file_name).write_bytes(content)
    print(f"{len(taken)} pictures taken, {total:,} bytes in all.")
    return 0


@contextmanager
def served_demo() -> Iterator[tuple[str, Mapping[str, str]]]:
    """Make the demo in a folder that is removed again; yields its address and its stops."""
    with tempfile.TemporaryDirectory() as folder:
        if offdiag(["demo", "--no-serve", "--folder", folder]) != 0:
            raise SystemExit("the demo has failed.")
        database = Database(f"sqlite:///{Path(folder) / 'offdiag.db'}")
        with served(database) as address:
            yield address, tour_stops.addresses(database)


@contextmanager
def served_second_part() -> Iterator[tuple[str, Mapping[str, str]]]:
    """Run the code of the second part in a folder; yields its address and its stops."""
    with tempfile.TemporaryDirectory() as folder:
        database, _ = tour_stops.log_own_runs(Path(folder))
        with served(database) as address:
            yield address, tour_stops.own_addresses(database)


@contextmanager
def served_quick_start() -> Iterator[tuple[str, Mapping[str, str]]]:
    """Execute the page of the quick start in a folder; yields its address and its pages."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'offdiag.db'}"
        session = executed("quickstart.md", url)
        first, second = session["first"].id, session["second"].id
        with served(Database(url)) as address:
            yield (
                address,
                {
                    "quickstart-run": f"/runs/{first}",
                    "quickstart-compare": f"/compare?runs={first},{second}",
                    "quickstart-decision": DatasetAddress("default", "clinic").url(),
                },
            )


@contextmanager
def written_cards() -> Iterator[tuple[str, Mapping[str, str]]]:
    """Execute the first example about notebooks, and write its cards one below the other."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'offdiag.db'}"
        runs = executed("notebooks.md", url, at_most=1)["runs"]
        results = (runs[0], runs[0].evaluation(), compare(runs))
        cards = "".join(each._repr_html_() for each in results)
        page = Path(folder) / "cards.html"
        page.write_text(f'<!doctype html><meta charset="utf-8">{cards}', encoding="utf-8")
        yield page.as_uri(), {"notebook": page.as_uri()}


def executed(page: str, url: str, *, at_most: int | None = None) -> dict[str, Any]:
    """The variables after the Python examples of a page, or the first of them, with a registry."""
    text = (DOCS / page).read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    os.environ["OFFDIAG_URL"] = url
    session: dict[str, Any] = {}
    with redirect_stdout(StringIO()):
        exec(compile("".join(examples[:at_most]), page, "exec"), session)  # noqa: S102 - code of our own page
    return session


@contextmanager
def served(database: Database) -> Iterator[str]:
    """Serve a registry, with a worker, and close it after that; yields the address."""
    settings = Settings()
    server = make_server(
        "127.0.0.1",
        0,
        create_app(settings, database),
        threaded=True,
        request_handler=_SilentHandler,
    )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        with working_in_background(database, settings):
            yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        database.close()


def taken_in(browser: Browser, address: str, stops: Mapping[str, str], picture: Picture) -> bytes:
    """The picture of a page as a PNG of few colours."""
    context = browser.new_context(
        base_url=address,
        color_scheme=picture.theme,
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="UTC",
        viewport={"width": picture.width, "height": picture.height},
    )
    page = context.new_page()
    page.goto(stops[picture.stop], wait_until="networkidle")
    content = page.screenshot(animations="disabled")
    context.close()
    return _with_few_colours(content)


def _with_few_colours(content: bytes) -> bytes:
    """The same as a palette picture; the most frequent colours stay as they are."""
    image = Image.open(BytesIO(content)).convert("RGB")
    # Edges of letters have hundreds of colours that nobody misses; areas have few.
    pixels = np.asarray(image).reshape(-1, 3)
    colours, counts = np.unique(pixels, axis=0, return_counts=True)
    frequent = colours[np.argsort(-counts, kind="stable")[:COLOURS]]
    palette = Image.new("P", (1, 1))
    palette.putpalette(frequent.ravel().tolist())
    buffer = BytesIO()
    image.quantize(palette=palette, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


class _SilentHandler(WSGIRequestHandler):
    """Requests of the tour are of interest to nobody."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


if __name__ == "__main__":
    sys.exit(main())

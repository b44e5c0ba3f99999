"""Pictures of the gallery as it looked when somebody last looked at it.

They are pixels, so they depend on the browser and its fonts: both are recorded beside them, and
where another is found there is nothing to compare. To take them anew, and then look at them:

    make snapshots
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from offdiag.store.database import Database
from offdiag.store.schema import upgrade
from support.browser import CHROMIUM_ARGUMENTS, chromium, served
from support.gallery.addresses import PAGES
from support.registries import dashboard

FOLDER = Path(__file__).parents[1] / "e2e" / "snapshots"
TAKEN_WITH = FOLDER / "taken-with.json"
COMMAND = "make snapshots"
SHADES = (6, 7, 6)
"""Of red, green and blue: few enough for one palette, so that files are small and exact."""

Look = Literal["light", "dark", "forced"]


class Emulation(TypedDict):
    """What a browser is told of the reader's wishes."""

    color_scheme: Literal["light", "dark"]
    forced_colors: Literal["active", "none"]


LOOKS: dict[Look, Emulation] = {
    "light": {"color_scheme": "light", "forced_colors": "none"},
    "dark": {"color_scheme": "dark", "forced_colors": "none"},
    "forced": {"color_scheme": "light", "forced_colors": "active"},
}

_WIDTHS = """
() => {
  const context = document.createElement("canvas").getContext("2d");
  return ["sans", "mono"].map((name) => {
    const family = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);
    context.font = `100px ${family}`;
    return Math.round(context.measureText("0123456789 Handgloves ▸▾→ 98 %").width * 100);
  });
}
"""


@dataclass(frozen=True)
class Machine:
    """What pixels depend on: the major version of the browser, and its fonts.

    `widths` are those of a line of text in the fonts of the pages, in hundredths of a pixel.
    """

    browser: str
    fonts: list[str]
    widths: list[int]

    def said(self) -> str:
        return f"Chromium {self.browser} with {' and '.join(self.fonts)} {self.widths}"


@dataclass(frozen=True)
class Taken:
    """A picture by the name of its file."""

    name: str
    pixels: NDArray[np.uint8]


def recorded_machine() -> Machine:
    """The machine on which the pictures in the folder were taken."""
    return Machine(**json.loads(TAKEN_WITH.read_text(encoding="utf-8")))


def this_machine(browser: Browser, address: str) -> Machine:
    """Browser and fonts that pages of this server are drawn with here."""
    page = browser.new_page()
    page.goto(f"{address}{PAGES['components']}")
    page.evaluate("document.body.append(document.createElement('code'))")
    page.locator("code").last.evaluate("(element) => { element.textContent = 'mono'; }")
    session = page.context.new_cdp_session(page)
    for domain in ("DOM", "CSS"):
        session.send(f"{domain}.enable")
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    fonts = []
    for selector in ("h1", "body > code"):
        node = session.send("DOM.querySelector", {"nodeId": root, "selector": selector})
        used: Any = session.send("CSS.getPlatformFontsForNode", {"nodeId": node["nodeId"]})
        fonts.append(used["fonts"][0]["postScriptName"])
    widths = page.evaluate(_WIDTHS)
    page.context.close()
    return Machine(browser.version.split(".")[0], fonts, widths)


def taken(browser: Browser, address: str) -> Iterator[Taken]:
    """Every page of the gallery in every look; each page is loaded once.

    What is around the page is left out: it changes with things that are not in the gallery.
    """
    for name, path in PAGES.items():
        # All of the longest page fits: a window that had to grow for the picture would lay out
        # names that are written upwards anew, and not in each kind of Chromium.
        size: ViewportSize = {"width": 1024, "height": 7000}
        context = browser.new_context(viewport=size, device_scale_factor=0.5)
        page = context.new_page()
        page.goto(f"{address}{path}")
        for look, emulation in LOOKS.items():
            page.emulate_media(**emulation)
            picture = Image.open(io.BytesIO(page.locator("main").screenshot()))
            yield Taken(f"{name}-{look}.png", in_shades(picture))
        context.close()


def in_shades(picture: Image.Image) -> NDArray[np.uint8]:
    """The pixels of a picture as places in the palette, (height, width)."""
    colours = np.asarray(picture.convert("RGB")).astype(np.int64)
    red, green, blue = (colours[..., at] * shades // 256 for at, shades in enumerate(SHADES))
    places: NDArray[np.int64] = (red * SHADES[1] + green) * SHADES[2] + blue
    return places.astype(np.uint8)


def recorded(name: str) -> NDArray[np.uint8]:
    """The pixels of the picture in the folder."""
    return np.asarray(Image.open(FOLDER / name))


def share_of_different_pixels(before: NDArray[np.uint8], now: NDArray[np.uint8]) -> float:
    """How much of a picture is not the same; all of it where the sizes differ."""
    return 1.0 if before.shape != now.shape else float((before != now).mean())


def difference_picture(before: NDArray[np.uint8], now: NDArray[np.uint8]) -> Image.Image:
    """Before, now, and what differs in red, side by side."""
    height, width = (max(sides) for sides in zip(before.shape, now.shape, strict=True))
    framed = [Image.new("RGB", (width, height), "white") for _ in range(3)]
    for frame, pixels in zip(framed, (before, now, now), strict=True):
        frame.paste(picture_of(pixels).convert("RGB"))
    both = [np.asarray(frame) for frame in framed[:2]]
    differs = Image.fromarray((both[0] != both[1]).any(axis=-1))
    framed[2].paste("red", mask=differs)
    joined = Image.new("RGB", (3 * width, height))
    for place, frame in enumerate(framed):
        joined.paste(frame, (place * width, 0))
    return joined


def picture_of(pixels: NDArray[np.uint8]) -> Image.Image:
    """A picture with the palette of all snapshots."""
    picture = Image.fromarray(pixels).convert("L")
    picture.putpalette(_palette())
    return picture


def _palette() -> list[int]:
    found = []
    for place in range(int(np.prod(SHADES))):
        rest, blue = divmod(place, SHADES[2])
        red, green = divmod(rest, SHADES[1])
        for shade, of in zip((red, green, blue), SHADES, strict=True):
            found.append(round(255 * shade / (of - 1)))
    return found


def main() -> None:
    path = chromium()
    if path is None:
        raise SystemExit("There is no Chromium on this machine to take pictures with.")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        database = Database(f"sqlite:///{folder}/registry.db")
        upgrade(database)
        browser = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_ARGUMENTS))
        with served(dashboard(database)) as address:
            machine = this_machine(browser, address)
            for picture in taken(browser, address):
                picture_of(picture.pixels).save(FOLDER / picture.name, optimize=True)
        TAKEN_WITH.write_text(json.dumps(asdict(machine), indent=2) + "\n", encoding="utf-8")
        browser.close()
        database.close()
    sys.stdout.write(
        f"Taken with {machine.said()}: look at the pictures in {FOLDER} before they go in.\n"
    )


if __name__ == "__main__":
    main()

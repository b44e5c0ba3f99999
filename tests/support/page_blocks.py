"""Blocks of code on the pages of the documentation."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *(
        ROOT / folder / "README.md"
        for folder in ("benchmarks", "config", "examples", "migrations")
    ),
)


@dataclass(frozen=True, slots=True)
class Block:
    """The text of a block, and its name: its page, and which of its kind it is there."""

    name: str
    page: str
    text: str


def blocks(kind: str) -> list[Block]:
    """All blocks of a kind on all pages, as a fence of that kind opens them."""
    return list(_blocks(kind))


def _blocks(kind: str) -> Iterator[Block]:
    fence = re.compile(rf"^```{kind}\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    for path in PAGES:
        page = path.relative_to(ROOT).as_posix()
        found = fence.findall(path.read_text(encoding="utf-8"))
        for number, text in enumerate(found, start=1):
            yield Block(f"{page}:{number}", page, text)


def output_below(block: Block) -> str | None:
    """What a page shows directly below a block of Python as its output, None if nothing."""
    page = (ROOT / block.page).read_text(encoding="utf-8")
    _, _, below = page.partition(f"```python\n{block.text}```\n\n```text\n")
    return below.partition("```")[0] or None


def commands(text: str) -> list[list[str]]:
    """The words of each command after a `$`, continued lines joined; output is left out."""
    found: list[list[str]] = []
    open_line = ""
    for line in text.splitlines():
        if open_line:
            open_line += f"\n{line}"
        elif line.startswith("$ "):
            open_line = line.removeprefix("$ ")
        words = _words(open_line)
        if open_line and words is not None:
            found.append(words)
            open_line = ""
    assert not open_line, open_line
    return found


def _words(line: str) -> list[str] | None:
    """Words of a command without its comment, None where it goes on in the next line."""
    if line.endswith("\\"):
        return None
    try:
        return shlex.split(line.replace("\\\n", " "), comments=True)
    except ValueError:  # A quotation is open.
        return None

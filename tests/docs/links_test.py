"""Links between the pages lead somewhere."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "config").glob("*.md"),
        *(ROOT / "benchmarks").glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs" / "contributing").glob("*.md"),
        *(ROOT / "docs" / "decisions").glob("*.md"),
        *(ROOT / "docs" / "metrics").glob("*.md"),
    ]
)


@cache
def anchors(page: Path) -> set[str]:
    """Anchors that a Markdown renderer gives to the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(page: Path) -> list[str]:
    """Relative links of a page that lead nowhere, each with the page."""
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(f"{page.relative_to(ROOT)}: {target}")
    return broken


def test_every_relative_link_resolves() -> None:
    assert len(PAGES) > 50
    assert [link for page in PAGES for link in broken_links(page)] == []


def test_the_index_has_at_most_twelve_entries() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")

    assert 0 < len(re.findall(r"^\* ", index, flags=re.MULTILINE)) <= 12

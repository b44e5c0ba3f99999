"""Retired terms stay out of documentation, help and templates; each has a replacement."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RETIRED = {
    r"bells?": "notifier",
    r"doors?": "authentication",
    r"twins?": "copy, format",
    r"dear(?:er|est)?": "expensive",
    r"grav(?:er|est)": "more severe, most severe",
    r"anew": "again",
    r"whoever": "the user, the caller, or the passive",
    r"somebody": "the user, the caller, or the passive",
    r"nobody": "no one, or the passive",
    r"settl(?:e|es|ed|ing)": "triage, decide",
    r"giv(?:e|es|en|ing) up": "fail, cancel",
    r"gave up": "failed, cancelled",
    r"on the spot": "immediately, in this process",
    r"in vain": "without effect",
    r"buri(?:ed|al)": "failed",
    r"yardsticks?": "baseline",
    r"headline (?:metrics|numbers)": "primary metrics",
    r"mass matri(?:x|ces)": "fractional confusion matrix",
    r"constant answers?": "constant prediction",
    r"told apart": "distinguished",
    r"not separable": "no significant difference",
}
"""Patterns of terms without an innocent use here, and what to write in their place."""
PATTERN = re.compile(rf"\b(?:{'|'.join(RETIRED)})\b", re.IGNORECASE)
SHOWN = re.compile(r"^> .*$|`[^`\n]+`", re.MULTILINE)
"""Quotations of pages, and code: names that programs use may differ from the terms in prose."""
MARKUP = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", re.DOTALL)
TEMPLATES = sorted((ROOT / "web/offdiag_web").rglob("*.html"))
STILL_OLD = {
    "components/flags.html",
    "pages/access/tokens.html",
    "pages/access/users.html",
    "pages/audit/page.html",
    "pages/costs/page.html",
    "pages/flags/page.html",
    "pages/reports/edition.html",
    "pages/reports/form.html",
    "pages/run_meta/page.html",
    "pages/run_advice/page.html",
    "pages/run_matrix/page.html",
    "pages/run_matrix/sets.html",
    "pages/runs/page.html",
    "pages/what_if/page.html",
}
"""Templates that have yet to be rewritten; a file that is done leaves this list."""
FILES = sorted(
    [
        *ROOT.glob("*.md"),
        *(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "metrics"),
        *(path for path in (ROOT / "config").rglob("*") if path.is_file()),
        *(ROOT / "examples").glob("*.*"),
    ]
)


def retired(text: str) -> Iterator[str]:
    """Retired terms in prose, also where a line break divides them."""
    prose = SHOWN.sub("", text)
    yield from (found.group() for found in PATTERN.finditer(" ".join(prose.split())))


def found_in(path: Path, markup: re.Pattern[str] | None = None) -> list[str]:
    """The retired terms of a file, each with its place."""
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT).as_posix()
    return [f"{name}: {term}" for term in retired(markup.sub(" ", text) if markup else text)]


def test_no_file_has_a_retired_term() -> None:
    assert len(FILES) > 50
    assert [found for path in FILES for found in found_in(path)] == []


def test_no_template_has_a_retired_term() -> None:
    root = ROOT / "web/offdiag_web"
    rewritten = [path for path in TEMPLATES if path.relative_to(root).as_posix() not in STILL_OLD]

    assert len(rewritten) > 50
    assert [found for path in rewritten for found in found_in(path, MARKUP)] == []


@pytest.mark.parametrize(
    "text",
    ["Ring the bell.", "the dearest error", "It was given\nup.", "Whoever asks.", "Settle it."],
)
def test_a_retired_term_would_be_noticed(text: str) -> None:
    assert list(retired(text))


@pytest.mark.parametrize(
    "text", ["`ring_bell` is a name", "> about 140 would settle it", "bellows"]
)
def test_code_and_quotations_may_have_them(text: str) -> None:
    assert list(retired(text)) == []

"""The rates that pages state are those that were measured."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CLAIMS = sorted((BENCHMARKS / "results").glob("claims*.json"))


@pytest.fixture(autouse=True)
def _import_benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])


def test_the_tables_of_the_page_of_slices_are_those_of_the_result() -> None:
    from slices import BEGIN, END, PAGE, page_text

    result = json.loads((BENCHMARKS / "results" / "slices.json").read_text("utf-8"))
    shown = PAGE.read_text("utf-8").split(BEGIN)[1].split(END)[0].strip()

    assert shown == page_text(result).strip()


@pytest.mark.parametrize("path", CLAIMS, ids=[path.stem for path in CLAIMS])
def test_the_page_of_claims_has_all_cells_of_every_result(path: Path) -> None:
    from claims import PAGE, page_text, place_of

    result = json.loads(path.read_text("utf-8"))
    begin, end = place_of(result["name"])
    shown = PAGE.read_text("utf-8").split(begin)[1].split(end)[0].strip()

    assert shown == page_text(result).strip()

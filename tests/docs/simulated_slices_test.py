"""The rates that the page of slices states are those that were measured."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_tables_of_the_page_are_those_of_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    from slices import BEGIN, END, PAGE, page_text

    result = json.loads((ROOT / "benchmarks" / "results" / "slices.json").read_text("utf-8"))
    shown = PAGE.read_text("utf-8").split(BEGIN)[1].split(END)[0].strip()

    assert shown == page_text(result).strip()

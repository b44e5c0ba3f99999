"""What the page says of tests is so: they exist, and its figures are those that were measured."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "contributing" / "reliability.md").read_text(encoding="utf-8")
RESULT = ROOT / "benchmarks" / "results" / "storm.json"


def rows_of(title: str) -> list[list[str]]:
    """Cells of the first table under a heading, without its head."""
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def named_tests(text: str) -> list[str]:
    return re.findall(r"`([\w/]+_test\.py)`", text)


def test_a_test_that_is_named_is_there_and_tests_something() -> None:
    defines = re.compile(r"^(async )?def test_", flags=re.MULTILINE)
    paths = [ROOT / "tests" / name for name in sorted(set(named_tests(PAGE)))]

    assert len(paths) > 10
    assert [path for path in paths if not path.is_file()] == []
    assert [path for path in paths if not defines.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("title", ["Faults", "Pitfalls of dependencies"])
def test_every_row_names_its_test_and_says_what_came_of_it(title: str) -> None:
    rows = rows_of(title)

    assert len(rows) > 10
    for row in rows:
        assert all(row), row
        named = " ".join(row[2:])
        folders = re.findall(r"`((?:unit|web|sdk|faults|workers)/[\w/]+)`", named)
        assert named_tests(named) or folders, row
        assert all((ROOT / "tests" / folder).is_dir() for folder in folders), row


def test_every_test_of_faults_has_a_row() -> None:
    written = {path.name for path in (ROOT / "tests" / "faults").glob("*_test.py")}

    assert written <= {Path(name).name for name in named_tests(PAGE)}


def test_the_table_of_the_storm_is_that_of_its_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    from result_table import result_table
    from storm_table import BEGIN, END

    shown = PAGE.split(BEGIN)[1].split(END)[0].strip()

    assert shown == result_table(json.loads(RESULT.read_text(encoding="utf-8")))


def test_the_tables_of_the_soak_are_those_of_its_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    from soak.document import BEGIN, END, soak_tables
    from soak.records import read_records

    shown = PAGE.split(BEGIN)[1].split(END)[0].strip()

    assert set(read_records()) == {"sqlite", "postgresql"}
    assert shown == soak_tables(read_records())

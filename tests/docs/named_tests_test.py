"""The tests that pages name as evidence are there, and no promise is without one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("contributing/bad-inputs.md", "threat-model.md")


def evidence(page: str) -> list[tuple[str, list[str]]]:
    """What is promised and the tests it names, for each line of a table with such a column."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    found = []
    for table in re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE):
        head, _, *lines = [line.strip("| ").split(" | ") for line in table.splitlines()]
        if head[-1].strip() == "tests":
            found += [(cells[0], re.findall(r"`([^`]+_test\.py)`", cells[-1])) for cells in lines]
    return found


@pytest.mark.parametrize("page", PAGES)
def test_every_promise_names_tests_that_exist(page: str) -> None:
    promises = evidence(page)

    missing = [name for _, names in promises for name in names
               if not (ROOT / "tests" / name).is_file()]  # fmt: skip

    assert len(promises) > 20
    assert missing == []
    assert [promise for promise, names in promises if not names] == []

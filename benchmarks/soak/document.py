"""Write the soak tables of docs/contributing/reliability.md: `python -m soak.document`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from result_table import put_between, result_table

from load.programs import ROOT
from soak.records import read_records

PAGE = ROOT / "docs" / "contributing" / "reliability.md"
BEGIN, END = "<!-- The soak begins. -->", "<!-- The soak ends. -->"
NAMES = {"sqlite": "On SQLite", "postgresql": "On PostgreSQL"}


def write_tables() -> None:
    """Put the tables of the last soaks into the page, in place of those before."""
    put_between(PAGE, BEGIN, END, soak_tables(read_records()))


def soak_tables(records: Mapping[str, dict[str, Any]]) -> str:
    """What was done and what came of it, on each database that there is a record of."""
    return "\n\n".join(
        f"### {name}\n\n{result_table(records[base])}"
        for base, name in NAMES.items()
        if base in records
    )


if __name__ == "__main__":
    write_tables()

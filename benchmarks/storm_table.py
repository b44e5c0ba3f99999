"""The table of results/storm.json as it stands in docs/contributing/reliability.md.

python benchmarks/storm_table.py
"""

from __future__ import annotations

import json
from pathlib import Path

from result_table import put_between, result_table

PAGE = Path(__file__).parents[1] / "docs" / "contributing" / "reliability.md"
RESULT = Path(__file__).parent / "results" / "storm.json"
BEGIN = "<!-- The storm begins. -->"
END = "<!-- The storm ends. -->"


def write_table() -> None:
    """Replace the table in the page with that of the last storm."""
    put_between(PAGE, BEGIN, END, result_table(json.loads(RESULT.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    write_table()

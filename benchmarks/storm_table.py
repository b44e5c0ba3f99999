"""The table of results/storm.json as it stands in docs/reliability.md.

python benchmarks/storm_table.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
RESULT = Path(__file__).parent / "results" / "storm.json"
BEGIN = "<!-- The storm begins. -->"
END = "<!-- The storm ends. -->"


def write_table() -> None:
    """Put the table of the last storm into the page, in place of the one before."""
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    table = storm_table(json.loads(RESULT.read_text(encoding="utf-8")))
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")


def storm_table(result: dict[str, Any]) -> str:
    """Where and when, then a line for each figure and each goal, in the order of the storm."""
    machine = result["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    where = (
        f"{result['date']}, {machine['processor']}, {machine['cores']} cores, "
        f"Python {machine['python']}, load {machine['load_1_min']} before; {versions}."
    )
    if machine["load_1_min"] > machine["cores"]:
        where += " The machine did much else meanwhile, which every figure of time shows."
    lines = [
        where,
        "",
        "| what was done | |",
        "| --- | --: |",
        *(f"| {name} | {_number(value)} |" for name, value in result["facts"].items()),
        "",
        "| what came of it | wanted | measured | |",
        "| --- | --: | --: | --- |",
        *(_line(goal) for goal in result["goals"]),
    ]
    return "\n".join(lines)


def _line(goal: dict[str, Any]) -> str:
    sign = "≥" if goal["at_least"] else "≤"
    wanted = _number(goal["wanted"])
    bound = wanted if goal["wanted"] == 0 else f"{sign} {wanted}"
    verdict = "met" if goal["is_met"] else "**missed**"
    return f"| {goal['name']} | {bound} | {_number(goal['measured'])} | {verdict} |"


def _number(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if value == round(value) else f"{value:,.3g}"


if __name__ == "__main__":
    write_table()

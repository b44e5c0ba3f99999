"""Formatting a result for the documentation: place and time, figures, goals met and missed."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def put_between(page: Path, begin: str, end: str, text: str) -> None:
    """Replace the text between two marks of a page."""
    before, rest = page.read_text(encoding="utf-8").split(begin)
    after = rest.split(end)[1]
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


def result_table(result: dict[str, Any]) -> str:
    """Place and time, then a line for each figure and each goal, in the order of the result."""
    machine = result["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    where = (
        f"{result['date']}, {machine['processor']}, {machine['cores']} cores, "
        f"Python {machine['python']}, load {machine['load_1_min']} before; {versions}."
    )
    if machine["load_1_min"] > machine["cores"]:
        where += " The machine did much else meanwhile, which every figure of time shows."
    facts = [f"| {name} | {_number(value)} |" for name, value in result["facts"].items()]
    lines = [
        where,
        "",
        *(["| what was done | |", "| --- | --: |", *facts, ""] if facts else []),
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

"""The tables of docs/contributing/load.md, written from the results: `python -m load.document`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness import RESULTS
from result_table import put_between

from load.programs import ROOT

DOCUMENT = ROOT / "docs" / "contributing" / "load.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
NAMES = {"sqlite": "SQLite, `offdiag serve`", "postgresql": "PostgreSQL, gunicorn"}


def main() -> None:
    write_document()


def write_document() -> None:
    """Put the tables of all results that are there between the two marks of the page."""
    put_between(DOCUMENT, BEGIN, END, f"\n{tables()}")


def tables() -> str:
    """All tables as Markdown."""
    sections = []
    for base, name in NAMES.items():
        path = RESULTS / f"load-{base}.json"
        if path.exists():
            sections.append(_section(name, json.loads(path.read_text(encoding="utf-8"))))
    return "\n".join(sections)


def _section(name: str, result: Mapping[str, Any]) -> str:
    machine, facts = result["machine"], result["facts"]
    held = [goal for goal in result["goals"] if not goal["name"].endswith("p95, ms")]
    parts = [
        f"## {name}",
        f"{result['date']}; {machine['processor']}, {machine['cores']} cores, "
        f"{machine['memory_gib']} GiB, {machine['system']}, Python {machine['python']}; load "
        f"before {machine['load_1_min']}; "
        + ", ".join(f"{library} {version}" for library, version in result["versions"].items())
        + ".",
        _table(("held to", "limit", "measured", ""), map(_goal, held)),
        _table(("figure", ""), ((fact, _figure(value)) for fact, value in facts.items())),
        "### What clients saw",
        _table(
            ("request", "n", "p50, ms", "p95, ms", "longest, ms", "put off", "errors"),
            (
                tuple(_figure(value) for value in row.values())
                for row in result["tables"]["requests"]
            ),
        ),
        "### Pages, asked one after the other",
        _table(
            ("page", "p50 at 10,000", "p50 at 100,000", "p95", "limit", "statements", ""),
            map(_page, result["tables"]["pages"]),
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _goal(goal: Mapping[str, Any]) -> Sequence[str]:
    sign = "≥" if goal["at_least"] else "≤"
    verdict = "met" if goal["is_met"] else "**missed**"
    return (goal["name"], f"{sign} {_figure(goal['wanted'])}", _figure(goal["measured"]), verdict)


def _page(row: Mapping[str, Any]) -> Sequence[str]:
    limit = row["limit, ms"]
    verdict = "" if limit is None else "met" if row["p95, ms"] <= limit else "**missed**"
    return (
        str(row["page"]),
        _figure(row["p50 of few, ms"]),
        _figure(row["p50, ms"]),
        _figure(row["p95, ms"]),
        "" if limit is None else _figure(limit),
        _figure(row["statements"]),
        verdict,
    )


def _table(heads: Sequence[str], rows: Any) -> str:
    align = ["---", *("--:" for _ in heads[1:])]
    lines = [heads, align, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _figure(value: float | str) -> str:
    return (
        value if isinstance(value, str) else f"{value:,.4g}" if value < 10_000 else f"{value:,.0f}"
    )


if __name__ == "__main__":
    main()

"""What a gate found: as a table, Markdown and JUnit XML."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, tostring

from rich.table import Table
from rich.text import Text

from offdiag.cli.output import printable
from offdiag.cli.tables import filled_table
from offdiag.filters.conditions import Side
from offdiag.gate.conditions import MetricCondition, parse_condition
from offdiag.records.gate import CheckedCondition, Gate
from offdiag.reports.texts import markdown_escaped


def gate_table(gate: Gate) -> Table:
    """One line for each condition, and the outcome in the last one."""
    return filled_table(
        ("", "condition", "found", "note"),
        (
            (
                Text("passed") if each.passed else Text("FAILED", style="bold"),
                each.condition,
                _found(each),
                each.note,
            )
            for each in gate.conditions
        ),
        caption=f"{_outcome(gate)}{_not_paired(gate)}{_against(gate)}",
    )


def gate_markdown(gate: Gate) -> str:
    """The same as a heading and a table, with the ids of run and baseline below."""
    lines = [
        f"### Gate {_outcome(gate).lower()}",
        "",
        "| | condition | found | note |",
        "| --- | --- | --- | --- |",
    ]
    for each in gate.conditions:
        outcome = "passed" if each.passed else "**FAILED**"
        cells = map(markdown_escaped, (each.condition, _found(each), each.note))
        lines.append(f"| {' | '.join((outcome, *cells))} |")
    ids = {"Run": gate.run, "baseline": gate.baseline, "champion": gate.champion}
    about = ", ".join(f"{name} `{run_id}`" for name, run_id in ids.items() if run_id is not None)
    below = f"{about}.{_not_paired(gate)}" if about else ""
    return "\n".join([*lines, *(["", below] if below else []), ""])


def junit_xml(gate: Gate) -> bytes:
    """One suite with a test for each condition; what was found is in its failure."""
    failed = sum(not each.passed for each in gate.conditions)
    counts = {"tests": str(len(gate.conditions)), "failures": str(failed)}
    suites = Element("testsuites", counts)
    suite = SubElement(suites, "testsuite", {"name": "offdiag gate", **counts})
    for each in gate.conditions:
        name = printable(each.condition)
        test = SubElement(suite, "testcase", {"classname": "offdiag.gate", "name": name})
        if not each.passed:
            found = printable(" ".join(filter(None, (_found(each), each.note))))
            SubElement(test, "failure", {"message": found})
    content: bytes = tostring(suites, encoding="utf-8", xml_declaration=True)
    return content


def _outcome(gate: Gate) -> str:
    n_passed = sum(each.passed for each in gate.conditions)
    outcome = "Passed" if gate.passed else "Failed"
    return f"{outcome}: {n_passed} of {len(gate.conditions)} conditions passed."


def _not_paired(gate: Gate) -> str:
    return "" if gate.not_paired is None else f" Not paired: {gate.not_paired}."


def _against(gate: Gate) -> str:
    if gate.champion is None:
        return ""
    if gate.champion == gate.run:
        return " The run is the champion of its dataset."
    as_baseline = " is the baseline" if gate.champion == gate.baseline else ""
    return f" Champion {gate.champion}{as_baseline}."


def _found(checked: CheckedCondition) -> str:
    """The number that was compared, with the value and interval it belongs to."""
    value = checked.value
    if value is None:
        return checked.reason or ""
    if checked.measured is None:
        return f"undefined ({checked.reason})"
    low, high = value.get("ci_low"), value.get("ci_high")
    interval = f"[{_end(low, '-∞')}, {_end(high, '∞')}]"
    condition = parse_condition(checked.condition)
    if isinstance(condition, MetricCondition) and condition.side is not Side.VALUE:
        return f"{_number(checked.measured)} of {_number(value['value'])} {interval}"
    has_interval = value.get("ci_method") is not None
    return f"{_number(checked.measured)} {interval}" if has_interval else _number(checked.measured)


def _end(end: float | None, otherwise: str) -> str:
    return otherwise if end is None else _number(end)


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.6g}"

"""The examples of the page about gates are conditions and options that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from offdiag.cli.decide.gate import gate
from offdiag.gate.conditions import MetricCondition, parse_condition
from offdiag.metrics.catalogue import SPECS

PAGE = (Path(__file__).parents[2] / "docs" / "gate.md").read_text(encoding="utf-8")


def gate_commands() -> list[list[str]]:
    """The words of every `offdiag gate` in the examples, continued lines joined."""
    joined = re.sub(r"\\\n\s*", " ", PAGE)
    joined = re.sub(r"\n\s+(?=--)", " ", joined)
    lines = re.findall(r"^[\s$]*offdiag gate (.+?)(?: \|.*)?$", joined, flags=re.MULTILINE)
    return [shlex.split(line) for line in lines]


def test_the_examples_are_found() -> None:
    assert len(gate_commands()) == 4


def test_every_example_is_a_command_line_that_is_understood() -> None:
    for words in gate_commands():
        context = gate.make_context("gate", list(words))

        assert context.params["conditions"]
        for text in context.params["conditions"]:
            parse_condition(text)


def test_every_condition_in_the_table_is_one_and_names_a_metric_that_exists() -> None:
    table = PAGE.split("| condition | passes if |")[1].split("\n\n")[0]
    texts = [text for cell in re.findall(r"^\| (`.+?`) \|", table, flags=re.MULTILINE)
             for text in re.findall(r"`(.+?)`", cell)]  # fmt: skip

    conditions = [parse_condition(text) for text in texts]

    keys = {spec.key for spec in SPECS}
    assert len(conditions) == 16
    for condition in conditions:
        if isinstance(condition, MetricCondition):
            assert condition.key in keys

"""The examples of the page about gates are conditions and options that exist."""

from __future__ import annotations

import re
from pathlib import Path

from offdiag.gate.conditions import MetricCondition, parse_condition
from offdiag.metrics.catalogue import SPECS

PAGE = (Path(__file__).parents[2] / "docs" / "gate.md").read_text(encoding="utf-8")


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

"""`offdiag recount`: the query of a run on a DuckDB file, after its labels were corrected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from offdiag.cli.labels.recount import _shown
from offdiag.domain.values import MetricValue
from support.warehouses import CORRECTED, change, log, make_warehouse

Command = Callable[..., Any]


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return make_warehouse(tmp_path)


def test_the_command_counts_a_duckdb_file(
    offdiag: Command, warehouse: Path, registry_url: str
) -> None:
    run = log(warehouse, registry_url, name="nightly", predicted="old")
    change(warehouse, CORRECTED)
    done = offdiag("recount", "nightly", "--database", str(warehouse), "--json")
    assert done.code == 0, done.err
    (made,) = done.json["runs"]
    assert made["old"] == run.id
    assert (made["overall_accuracy_before"], made["overall_accuracy"]) == (0.98, 1.0)


def test_an_undefined_accuracy_says_why() -> None:
    assert _shown(MetricValue(None, "no_samples")) == "undefined (no samples)"
    assert _shown(MetricValue(0.5)) == "0.5000"


def test_a_stored_query_can_only_read_the_file(
    offdiag: Command, warehouse: Path, registry_url: str
) -> None:
    cases: list[tuple[str, str]] = [
        ("SELECT * FROM read_csv('/etc/hostname')", "disabled by configuration"),
        ("CREATE TABLE more (i INTEGER)", "not a single SELECT"),
        ("SELECT 1 AS y, 1 AS old, 'a' AS site FROM frame", "frame does not exist"),
        ("SELECT i FROM answers", "no column 'y'"),
    ]
    for query, message in cases:
        run = log(warehouse, registry_url, name="nightly", predicted="old", query=query)
        done = offdiag("recount", run.id, "--database", str(warehouse))
        assert done.code == 2
        assert message in " ".join(done.err.split())
        assert run.tags == {}

"""No true table is accused, rounded or cut off: the benchmark, with fewer tables."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
N_TABLES = 12
SEED = 7


@pytest.fixture(scope="module")
def audit_tables() -> ModuleType:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = spec_from_file_location("audit_tables", BENCHMARKS / "audit_tables.py")
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        sys.modules["audit_tables"] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(BENCHMARKS))
    return module


def test_true_tables_are_not_accused_and_corrupted_ones_found(audit_tables: ModuleType) -> None:
    rows = audit_tables.simulated(N_TABLES, seed=SEED)

    assert [row["true_accused"] for row in rows] == [0] * 6
    beside_a_matrix = [row for row in rows if row["told"] == "matrix"]
    assert all(row["corrupted_found"] >= 0.8 * row["tables"] for row in beside_a_matrix)
    assert sum(row["corrupted_found"] for row in rows) >= 0.5 * N_TABLES

"""A DuckDB file with predictions and labels, some of which are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pandas as pd

import offdiag

QUERY = "SELECT y, old, new, p, site FROM\n answers"


def make_warehouse(folder: Path) -> Path:
    """A database whose labels are wrong for every 50th example, until `correct`."""
    path = folder / "warehouse.duckdb"
    with duckdb.connect(str(path)) as there:
        there.execute(
            "CREATE TABLE answers AS SELECT i, (i % 5 = 0) <> (i % 50 = 0) AS y, "
            "i % 5 = 0 AS old, i % 5 = 0 AND i % 7 > 0 AS new, (i % 89) / 89 AS p, "
            "'site ' || i % 3 AS site FROM range(2000) AS numbers(i)"
        )
    return path


def change(path: Path, statement: str) -> None:
    with duckdb.connect(str(path)) as there:
        there.execute(statement)


CORRECTED = "UPDATE answers SET y = i % 5 = 0"


def rows_of(path: Path, query: str = QUERY) -> pd.DataFrame:
    with duckdb.connect(str(path), read_only=True) as there:
        found: pd.DataFrame = there.sql(query).df()
    return found


def log(path: Path, url: str, **given: Any) -> Any:
    arguments: dict[str, Any] = {
        "dataset": "payments",
        "labels": [False, True],
        "positive_label": True,
        "slices": ["site"],
        "keep_predictions": False,
        "query": QUERY,
        "url": url,
    }
    return offdiag.log_frame(rows_of(path), **arguments | given)

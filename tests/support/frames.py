"""The same columns as a frame of each library that can be logged from."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import dask.dataframe as dd
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa

Columns = dict[str, list[Any]]
Maker = Callable[[Columns], object]


def duckdb_relation(columns: Columns) -> duckdb.DuckDBPyRelation:
    connection = duckdb.connect()
    connection.register("cases", pa.table(columns))
    return connection.sql("SELECT * FROM cases")


def dask_frame(columns: Columns) -> object:
    return dd.from_pandas(pd.DataFrame(columns), npartitions=3)  # type: ignore[no-untyped-call]  # As it is.


def ibis_table(columns: Columns) -> object:
    connection = import_module("ibis").polars.connect()
    return connection.create_table("cases", pa.table(columns))


EAGER: dict[str, Maker] = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
LAZY: dict[str, Maker] = {
    "polars lazy": pl.LazyFrame,
    "duckdb": duckdb_relation,
    "dask": dask_frame,
}
if find_spec("ibis") is not None:
    LAZY["ibis"] = ibis_table
FRAMES = EAGER | LAZY

"""The page docs/sql.md: the relations of `offdiag sql`, column by column."""

from __future__ import annotations

from pathlib import PurePosixPath

from offdiag.store.relations.columns import RELATIONS, Column

PATH = PurePosixPath("sql.md")
GENERATED = "<!-- Written by docs/generate.py from docs/sql_page.py; edit that. -->"

INTRODUCTION = """\
# SQL queries

`offdiag sql` queries a registry in SQL, down to single predictions. It works on SQLite and
PostgreSQL:

```console
$ offdiag sql "SELECT name, value FROM runs JOIN metrics USING (run_id)
    WHERE key = 'mcc' AND class IS NULL ORDER BY value DESC"
```

Install it with `pip install 'offdiag[sql]'`. Queries use the
[dialect](https://duckdb.org/docs/stable/sql/introduction) of DuckDB, including `SHOW TABLES`,
`DESCRIBE runs` and `SUMMARIZE metrics`. Deleted runs are not visible.

```console
$ offdiag sql "SELECT slices['country'] AS country, count(*) AS n,
    avg((actual = predicted)::INT) AS accuracy
    FROM predictions GROUP BY country ORDER BY accuracy" --dataset holdout
$ offdiag sql "SELECT sample_id, actual, predicted, score FROM predictions
    WHERE actual <> predicted" --run r_4bcd6fgh8jkm --output wrong.parquet
```

## Performance

A query reads only the relations and columns that it names, and only the runs that match its
conditions on run, dataset or project. `--run`, `--dataset` and `--project` restrict all relations
of a query and can be repeated.

Predictions are streamed in chunks, so memory does not grow with their number. The ground truth of
one dataset at a time is in memory, with identifiers and slices only if the query names them.
DuckDB writes large sorts and joins to a temporary folder (`TMPDIR`).

A query is cancelled after `sql.timeout_s` (300 seconds), or `--timeout`. It blocks no writer,
because each relation is read in short transactions when needed. Two relations can therefore differ
by what is written meanwhile.

## Output

A query prints a table of at most 1,000 rows, or `--limit`.

* `--json` prints `columns` with their types, `rows` as lists, and `is_cut`.
* `--output` writes all rows to a new file in the format of its ending: `.csv`, `.json`, `.jsonl`,
  `.parquet` or `.arrow`. The file gets its name when it is complete.

CSV text that could start a formula in a spreadsheet has an apostrophe in front. Numbers that are
not finite are NULL in JSON and CSV.

Queries are read-only, without access to files, network, extensions and settings ([decision
023](decisions/023-sql-with-duckdb.md)).

## Relations

`metrics` and `cells` are from the current evaluation of each run on all of its examples; the SDK
and the pages have those of slices."""


def pages() -> dict[PurePosixPath, str]:
    """The page by its path below docs."""
    parts = [GENERATED, INTRODUCTION]
    for name, columns in RELATIONS.items():
        parts += [f"### `{name}`", _NOTES[name], _table(columns)]
    return {PATH: "\n\n".join(parts) + "\n"}


_NOTES = {
    "runs": "One row for each run.",
    "metrics": "One row for each [metric](metrics/README.md) of a run as a whole, with `class` "
    "NULL, and one for each of its classes.",
    "cells": "One row for each non-empty cell of a confusion matrix; none for multi-label runs.",
    "predictions": "One row for each prediction of a complete run, in logging order. Runs logged "
    "as a matrix or as counts, and multi-label runs, have none.",
    "flags": "One row for each [flag](flags.md) that was ever raised, also on slices.",
}


def _table(columns: tuple[Column, ...]) -> str:
    rows = [f"| `{column.name}` | {column.type} | {column.text} |" for column in columns]
    return "\n".join(["| column | type | meaning |", "| --- | --- | --- |", *rows])

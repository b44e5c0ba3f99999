"""The page docs/sql.md: the relations that `offdiag sql` answers about, column by column."""

from __future__ import annotations

from pathlib import PurePosixPath

from offdiag.store.relations.columns import RELATIONS, Column

PATH = PurePosixPath("sql.md")
GENERATED = "<!-- Written by docs/generate.py from docs/sql_page.py; edit that. -->"

INTRODUCTION = """\
# Questions in SQL

Metrics and pages answer what is asked every day. For everything else, `offdiag sql` asks the
registry in SQL, down to the single prediction, on SQLite and PostgreSQL alike:

```console
$ offdiag sql "SELECT name, value FROM runs JOIN metrics USING (run_id)
    WHERE key = 'mcc' AND class IS NULL ORDER BY value DESC"
```

It needs `pip install 'offdiag[sql]'`, which brings DuckDB; its
[dialect](https://duckdb.org/docs/stable/sql/introduction) is the one to write. `SHOW TABLES`,
`DESCRIBE runs` and `SUMMARIZE metrics` work too. Deleted runs are in no relation.

```console
$ offdiag sql "SELECT slices['country'] AS country, count(*) AS n,
    avg((actual = predicted)::INT) AS accuracy
    FROM predictions GROUP BY country ORDER BY accuracy" --dataset holdout
$ offdiag sql "SELECT sample_id, actual, predicted, score FROM predictions
    WHERE actual <> predicted" --run r_4bcd6fgh8jkm --output wrong.parquet
```

## What is read

Only the relations and columns that a question names are read, and where it asks for one run,
dataset or project, only its runs. `--run`, `--dataset` and `--project` say the same for all of a
question, and can be repeated. Predictions pass by chunk by chunk: fifty million of them need no
more memory than one, beside the ground truth of one dataset at a time, of which identifiers and
slices are read only if they are named. What DuckDB itself collects, for sorting or joining, it
puts into a temporary folder (`TMPDIR`) once it is large.

Each relation is read at the moment it is needed, in short transactions, so that a long question
holds nobody up; on a registry that is being written, two relations may differ by what happened
in between. A question that takes longer than `sql.timeout_s` (300 seconds), or `--timeout`, is
given up.

## What comes out

A table with at most 1,000 rows, or `--limit`; `--json` prints `columns` with their types, `rows`
as lists, and `is_cut`. With `--output` everything is written to a file whose ending says how:
`.csv`, `.json`, `.jsonl`, `.parquet` or `.arrow`. The file has its name once it is complete. Text
in CSV cannot start a formula in a spreadsheet: it has an apostrophe in front then. Numbers that
are not finite are NULL in JSON and CSV.

A question can only read, from the registry alone: files, network, extensions and settings are
out of its reach ([decision 023](decisions/023-sql-with-duckdb.md)).

## Relations

`metrics`, `cells` and `flags` are those of the evaluation that counts for its run, of all its
cases; what slices were asked for is in the SDK and on the pages."""


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
    "cells": "One row for each occupied cell of a confusion matrix. Runs whose cases carry sets "
    "of labels have none.",
    "predictions": "One row for each prediction of a complete run, in the order they were logged. "
    "Runs that were uploaded as a matrix or as counts, and those whose cases carry sets of "
    "labels, have none.",
    "flags": "One row for each [flag](flags.md) that was ever raised.",
}


def _table(columns: tuple[Column, ...]) -> str:
    rows = [f"| `{column.name}` | {column.type} | {column.text} |" for column in columns]
    return "\n".join(["| column | type | meaning |", "| --- | --- | --- |", *rows])

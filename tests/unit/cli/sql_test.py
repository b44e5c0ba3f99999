"""`offdiag sql`: answers as tables, JSON and files."""

from __future__ import annotations

import csv
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offdiag as sdk
from offdiag.errors import InvalidInput
from offdiag.services.sql import run_query
from offdiag.store.database import Database
from offdiag.store.relations.columns import RunScope

Command = Callable[..., Any]
Filled = Callable[[Callable[..., Any]], Any]

SUMS = "SELECT actual, sum(count)::BIGINT AS n FROM cells GROUP BY actual ORDER BY actual"


@pytest.fixture
def registry(filled: Filled) -> str:
    """Id of a run with a class that begins like a formula."""
    return str(filled(log_formula))


def log_formula(*_: object) -> str:
    run = sdk.log_matrix(
        [[9, 1], [2, 8]], orientation="actual_rows", labels=["=1+1", "b"], name="m", dataset="d"
    )
    run.evaluation()
    return run.id


def test_an_answer_is_a_table_or_json(offdiag: Command, registry: str) -> None:
    table = offdiag("sql", SUMS)
    as_json = offdiag("sql", SUMS, "--json").json

    lines = [line.split() for line in table.out.splitlines() if line.strip()]
    assert [lines[0], *lines[2:]] == [["actual", "n"], ["=1+1", "10"], ["b", "10"]]
    assert as_json == {
        "columns": [{"name": "actual", "type": "string"}, {"name": "n", "type": "int64"}],
        "rows": [["=1+1", 10], ["b", 10]],
        "is_cut": False,
    }


def test_json_holds_every_type_and_no_number_that_is_none(offdiag: Command, registry: str) -> None:
    query = (
        "SELECT 0.0 / 0, 1e400, DATE '2026-01-02', TIMESTAMPTZ '2026-01-02 03:04:05+00',"
        " sum(1::HUGEINT), 1.50::DECIMAL(9, 2), [1, NULL], {'a': 1}, MAP {'k': 'v'},"
        " 'x'::BLOB, INTERVAL 1 DAY, NULL, true"
    )

    (row,) = offdiag("sql", query, "--json").json["rows"]

    assert row[:4] == [None, None, "2026-01-02", "2026-01-02T03:04:05+00:00"]
    assert row[4:10] == [1, 1.5, [1, None], {"a": 1}, {"k": "v"}, "78"]
    assert row[11:] == [None, True]


def test_long_answers_are_cut_and_say_so(offdiag: Command, registry: str) -> None:
    by_default = offdiag("sql", "FROM range(1500)")
    two = offdiag("sql", "FROM range(3)", "--limit", "2", "--json").json
    all_of_it = offdiag("sql", "FROM range(3)", "--limit", "3")

    assert by_default.err == "There are more rows than 1,000; see --limit.\n"
    assert "999" in by_default.out
    assert two["rows"] == [[0], [1]]
    assert two["is_cut"] is True
    assert all_of_it.err == ""


def test_files_hold_the_whole_answer_in_the_form_their_name_says(
    offdiag: Command, registry: str, folder: Path
) -> None:
    for ending in ("csv", "json", "jsonl", "parquet", "arrow"):
        written = offdiag("sql", SUMS, "--output", f"sums.{ending}", "--json")

        assert written.json == {"file": f"sums.{ending}", "rows": 2}

    expected = [{"actual": "=1+1", "n": 10}, {"actual": "b", "n": 10}]
    lines = (folder / "sums.jsonl").read_text(encoding="utf-8").splitlines()
    with (folder / "sums.csv").open(encoding="utf-8", newline="") as stream:
        assert list(csv.reader(stream)) == [["actual", "n"], ["'=1+1", "10"], ["b", "10"]]
    assert json.loads((folder / "sums.json").read_text(encoding="utf-8")) == expected
    assert [json.loads(line) for line in lines] == expected
    assert pq.read_table(folder / "sums.parquet").to_pylist() == expected
    assert pa.ipc.open_file(folder / "sums.arrow").read_all().to_pylist() == expected


def test_a_file_is_cut_only_where_asked_and_never_overwritten(
    offdiag: Command, registry: str, folder: Path
) -> None:
    assert offdiag("sql", "FROM range(2500)", "--output", "all.csv").out == (
        "all.csv has 2,500 rows.\n"
    )
    assert offdiag("sql", "FROM range(9)", "--output", "some.csv", "--limit", "4").code == 0

    again = offdiag("sql", "SELECT 1", "--output", "some.csv")
    unknown = offdiag("sql", "SELECT 1", "--output", "some.xls")
    twice = offdiag("sql", "SELECT 1 AS a, 2 AS a", "--output", "twice.json")

    assert len((folder / "some.csv").read_text(encoding="utf-8").splitlines()) == 5
    assert (
        again.err == "offdiag: file: 'some.csv' exists. Name another file, or remove this one.\n"
    )
    assert "has none of the endings .csv, .json" in unknown.err
    assert "two columns are called 'a'" in twice.err
    assert {again.code, unknown.code, twice.code} == {2}
    assert not (folder / "twice.json").exists()


def test_a_failing_question_is_one_line_and_leaves_no_file(
    offdiag: Command, registry: str, folder: Path
) -> None:
    late = "SELECT CAST(actual AS INT) FROM cells"

    for answer in (offdiag("sql", late), offdiag("sql", late, "--output", "x.csv")):
        assert answer.code == 2
        assert answer.out == ""
        assert answer.err.startswith("offdiag: query: Conversion Error: ")
        assert answer.err.count("\n") == 1
    assert list(folder.glob("*x.csv*")) == []


def test_an_unknown_relation_is_not_answered_with_a_table_of_the_engine(
    offdiag: Command, registry: str
) -> None:
    answer = offdiag("sql", "SELECT * FROM nope")

    assert answer.code == 2
    assert "Table with name nope does not exist! SHOW TABLES" in answer.err


def test_a_question_comes_from_stdin_too(
    offdiag: Command, registry: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "query.sql").write_text("SELECT count(*) FROM runs", encoding="utf-8")
    with (folder / "query.sql").open(encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdin", stream)

        assert offdiag("sql", "-", "--json").json["rows"] == [[1]]


def test_a_scope_narrows_the_question_and_must_exist(offdiag: Command, registry: str) -> None:
    count = "SELECT count(*) FROM runs"

    assert offdiag("sql", count, "--run", registry, "--json").json["rows"] == [[1]]
    assert offdiag("sql", count, "--dataset", "e").err == (
        "offdiag: --dataset: no run is in the dataset 'e'. "
        "`offdiag runs list` shows what there is.\n"
    )


def test_without_the_extra_it_is_named(
    offdiag: Command, registry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)

    answer = offdiag("sql", "SELECT 1")

    assert answer.err == ("offdiag: duckdb is not installed. Run: pip install 'offdiag[sql]'\n")
    assert answer.code == 2


def test_a_query_that_takes_too_long_is_given_up(
    offdiag: Command, registry: str, folder: Path
) -> None:
    endless = "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b"

    told = offdiag("sql", endless, "--timeout", "0.2")
    written = offdiag("sql", endless, "--timeout", "0.2", "--output", "a.csv")

    assert (told.code, written.code) == (2, 2)
    assert "this took longer than 0.2 s" in told.err
    assert not (folder / "a.csv").exists()


def test_rows_that_are_read_too_slowly_end_too(sqlite_database: Database) -> None:
    endless = "SELECT * FROM range(100000000)"

    def read_slowly() -> None:
        with run_query(sqlite_database, endless, RunScope(), timeout_s=0.1) as answer:
            for _ in answer.batches:
                threading.Event().wait(0.05)

    with pytest.raises(InvalidInput, match=r"took longer than 0\.1 s"):
        read_slowly()

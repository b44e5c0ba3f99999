"""A missing value is never a class: every way in refuses it and names its place.

An empty cell of CSV is missing unless it has quotes or the empty text was declared as a class.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from flask.testing import FlaskClient

import offdiag
from offdiag.cli.commands import run as run_command
from offdiag.cli.file_input import PredictionColumns
from offdiag.errors import InvalidInput
from offdiag.importers import read as read_foreign
from offdiag.sdk.logging import log_imported
from offdiag.sdk.watch import UNENDED_QUIET_S, FolderWatch
from offdiag.store.database import Database
from support.registries import LENT

ARROW = "application/vnd.apache.arrow.stream"
PARQUET = "application/vnd.apache.parquet"
PRED = ["1", "2", "2"]
TABLE = pa.table({"y_true": ["1", None, "2"], "y_pred": PRED})
CSV = "y_true,y_pred\n1,1\n\n,2\n2,2\n"
RIGHT_LINE = '{"y_true": "1", "y_pred": "1"}'
NULL_LINE = '"y_true": null, '
QUOTED = 'y_true,y_pred\n1,1\n"",2\n2,2\n'


@dataclass(frozen=True)
class Ways:
    """Ways into a registry; each gives the refusal, None where everything was stored."""

    folder: Path
    url: str
    client: FlaskClient
    capture: pytest.CaptureFixture[str]

    def sdk(self, y_true: object, **more: Any) -> str | None:
        return _refusal(lambda: offdiag.log_run(y_true=y_true, y_pred=PRED, **self._facts, **more))

    def frame(self, frame: object, **more: Any) -> str | None:
        named = {"actual": "y_true", "predicted": "y_pred", **more}
        return _refusal(lambda: offdiag.log_frame(frame, **named, **self._facts))

    def command(self, name: str, content: bytes | str, *options: str) -> str | None:
        path = self._written(name, content)
        facts = ("--name", "n", "--dataset", "d", "--url", self.url)
        logged = self._said("log", str(path), *facts, *options)
        assert self._said("evaluate", str(path), *options) == logged
        return logged

    def watch(self, name: str, content: bytes | str) -> str | None:
        path = self._written(name, content)
        columns = PredictionColumns({"y_true": "y_true", "y_pred": "y_pred"}, ())

        def read(file: Path) -> Callable[[str], offdiag.Run]:
            arrays = columns.read(file, labels=None)
            return lambda key: offdiag.log_run(**arrays, **self._facts, client_key=key)

        now = iter([0.0, UNENDED_QUIET_S])
        watched = FolderWatch(path.parent, read, scope="", clock=lambda: next(now))
        (taken,) = [*watched.look(), *watched.look()]
        return taken.problem

    def imported(self, name: str, content: str, **more: Any) -> str | None:
        path = self._written(name, content)
        named = {"true_column": "y_true", "pred_column": "y_pred", **more}
        return _refusal(
            lambda: log_imported(read_foreign("dvclive", path, **named), **self._facts)
        )

    def http(self, kind: str, body: bytes, *, labels: tuple[str, ...] = ("1", "2")) -> str | None:
        run = {"name": "n", "dataset": "d", "labels": labels}
        run_id = self.client.post("/api/v1/runs", json=run).get_json()["id"]
        answer = self.client.put(f"/api/v1/runs/{run_id}/chunks/0", data=body, content_type=kind)
        told = answer.get_json()
        return f"{told['error']}" if answer.status_code >= 400 else None

    @property
    def _facts(self) -> dict[str, Any]:
        return {"name": "n", "dataset": "d", "url": self.url}

    def _written(self, name: str, content: bytes | str) -> Path:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def _said(self, *arguments: str) -> str | None:
        self.capture.readouterr()
        code = run_command(arguments)
        return None if code == 0 else self.capture.readouterr().err


def _refusal(log: Callable[[], object]) -> str | None:
    try:
        log()
    except InvalidInput as error:
        return str(error)
    return None


def parquet(table: pa.Table = TABLE) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def arrow(table: pa.Table = TABLE) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


def json_lines(gap: str) -> str:
    return "\n".join([RIGHT_LINE, "", f'{{{gap}"y_pred": "2"}}', '{"y_true": "2", "y_pred": "2"}'])


def json_body(gap: str) -> bytes:
    return f'{{"y_true": ["1", {gap}, "2"], "y_pred": ["1", "2", "2"]}}'.encode()


@pytest.fixture
def ways(
    sqlite_database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Iterator[Ways]:
    folder = tmp_path / "files"
    folder.mkdir()
    with LENT.over(sqlite_database) as application:
        yield Ways(folder, sqlite_database.url, application.test_client(), capsys)


@pytest.mark.parametrize(
    ("logged", "place"),
    [
        *(
            pytest.param(lambda ways, gap=gap: ways.sdk(gap), "index 1", id=f"sdk {name}")
            for name, gap in {
                "None": ["1", None, "2"],
                "NaN beside text": ["1", np.nan, "2"],
                "NA": ["1", pd.NA, "2"],
                "objects": np.array(["1", np.nan, "2"], dtype=object),
                "floats": np.array([1.0, np.nan, 2.0]),
                "Series": pd.Series(["1", None, "2"]),
                "categories": pd.Series(["1", None, "2"], dtype="category"),
                "null as a category": pa.DictionaryArray.from_arrays([0, 1, 0], ["1", None]),
            }.items()
        ),
        (lambda ways: ways.frame(TABLE.to_pandas()), "in row 1"),
        (lambda ways: ways.frame(pl.from_arrow(TABLE)), "in row 1"),
        (lambda ways: ways.frame(TABLE.to_pandas(), keep_predictions=False), "row 1 first"),
        (
            lambda ways: ways.frame(
                TABLE.to_pandas().astype("string[python]"), keep_predictions=False
            ),
            "row 1 first",
        ),
        (lambda ways: ways.command("f.csv", CSV), "line 4 of f.csv"),
        (lambda ways: ways.command("f.tsv", CSV.replace(",", "\t")), "line 4 of f.tsv"),
        (lambda ways: ways.command("f.csv", 'y_true,y_pred\n"1\n1",1\n2,\n'), "line 4 of f.csv"),
        (lambda ways: ways.command("f.csv", CSV, "--labels", "1,2"), "line 4 of f.csv"),
        (lambda ways: ways.command("f.jsonl", json_lines(NULL_LINE)), "line 3 of f.jsonl"),
        (lambda ways: ways.command("f.jsonl", json_lines("")), "line 3 of f.jsonl"),
        (lambda ways: ways.command("f.parquet", parquet()), "row 1 of f.parquet"),
        (lambda ways: ways.command("f.arrow", arrow()), "row 1 of f.arrow"),
        (lambda ways: ways.watch("f.csv", CSV), "line 4 of f.csv"),
        (lambda ways: ways.imported("f.csv", CSV), "line 4 of f.csv"),
        (
            lambda ways: ways.imported(
                "f.json", '[{"y_true": "1", "y_pred": "1"}, {"y_true": null, "y_pred": "2"}]'
            ),
            "index 1",
        ),
        (lambda ways: ways.http("text/csv", CSV.encode()), "line 4 of"),
        (lambda ways: ways.http("application/json", json_body("null")), "y_true"),
        (lambda ways: ways.http(ARROW, arrow()), "index 1"),
        (lambda ways: ways.http(PARQUET, parquet()), "index 1"),
    ],
)  # fmt: skip
def test_a_missing_value_is_refused_with_its_place(
    ways: Ways, logged: Callable[[Ways], str | None], place: str
) -> None:
    refusal = logged(ways)

    assert refusal is not None
    assert place in refusal.lower()


@pytest.mark.parametrize(
    "logged",
    [
        lambda ways: ways.sdk(["1", "", "2"]),
        lambda ways: ways.frame(pd.DataFrame({"y_true": ["1", "", "2"], "y_pred": PRED})),
        lambda ways: ways.command("f.csv", QUOTED),
        lambda ways: ways.command("f.csv", CSV, "--labels", "1,2,"),
        lambda ways: ways.command("f.jsonl", json_lines('"y_true": "", ')),
        lambda ways: ways.watch("f.csv", QUOTED),
        lambda ways: ways.imported("f.csv", QUOTED),
        lambda ways: ways.imported("f.csv", CSV, labels=["1", "2", ""]),
        lambda ways: ways.http("text/csv", CSV.encode(), labels=("1", "2", "")),
        lambda ways: ways.http("application/json", json_body('""'), labels=("1", "2", "")),
    ],
)
def test_the_empty_text_is_a_class_where_it_is_meant(
    ways: Ways, logged: Callable[[Ways], str | None]
) -> None:
    assert logged(ways) is None


def test_declaring_the_empty_text_makes_no_class_of_null(ways: Ways) -> None:
    lines = json_lines(NULL_LINE)

    assert "line 3" in (ways.command("f.jsonl", lines, "--labels", "1,2,") or "")
    assert "index 1" in (ways.http(ARROW, arrow(), labels=("1", "2", "")) or "")


@pytest.mark.parametrize(
    ("dialect", "form"),
    [
        ("csv", "actual,a,{}\na,5,1\n{},2,7\n"),
        ("csv", "actual,predicted,count\na,a,5\na,{0},1\n{0},{0},7\n"),
        ("caret", ",a,{}\na,5,1\n{},2,7\n"),
        ("caret", "Prediction,Reference,Freq\na,a,5\na,{0},1\n{0},{0},7\n"),
    ],
)
def test_an_empty_name_in_a_matrix_is_a_class_only_in_quotes_or_declared(
    tmp_path: Path, dialect: str, form: str
) -> None:
    path = tmp_path / "m.csv"
    path.write_text(form.format("", ""))

    with pytest.raises(InvalidInput, match=r"line \d of m.csv leaves the name of a class empty"):
        read_foreign(dialect, path)

    assert read_foreign(dialect, path, labels=["a", ""]).content.labels == ("a", "")
    path.write_text(form.format('""', '""'))
    assert read_foreign(dialect, path).content.labels == ("a", "")


def test_an_empty_name_of_a_case_and_an_empty_score_are_missing_too(ways: Ways) -> None:
    table = "id,p,y_true,y_pred\nx,.5,1,1\n,.5,2,2\n"

    for options in (("--id", "id"), ("--score", "p")):
        path = ways.folder / "f.csv"
        path.write_text(table if "--id" in options else table.replace("\n,.5", "\ny,"))
        code = run_command(
            ("log", str(path), "--name", "n", "--dataset", "d", "--url", ways.url, *options)
        )
        assert code == 2
        assert "line 3 of f.csv has no value" in ways.capture.readouterr().err


def test_an_empty_cell_is_the_empty_set_where_cases_have_sets(ways: Ways) -> None:
    assert ways.command("f.csv", "y_true,y_pred\na|b,a\n,b\n", "--sets") is None

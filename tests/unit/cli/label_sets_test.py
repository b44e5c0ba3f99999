"""Sets of labels on the command line: sea|sky."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

Command = Callable[..., Any]

TABLE = "id,y_true,y_pred\n1,sea|sky,sea\n2,sea,sea|sky\n3,,sky\n4,sand,sand\n"


@pytest.fixture
def file(folder: Path) -> str:
    (folder / "sets.csv").write_text(TABLE, encoding="utf-8")
    return "sets.csv"


def test_sets_in_a_file_are_evaluated(file: str, offdiag: Command) -> None:
    answer = offdiag("evaluate", file, "--sets", "--labels", "sea,sky,sand", "--json")

    assert answer.code == 0
    assert answer.json["labels"] == ["sea", "sky", "sand"]
    assert answer.json["aggregate"]["subset_accuracy"]["value"] == 0.25
    assert answer.json["multilabel_matrix"] == [[1.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    assert answer.json["empty_sets"]["spurious_when_true_empty"] == [0, 1, 0]


@pytest.mark.parametrize("command", ["evaluate", "log"])
def test_sets_with_another_separator_are_noted(
    command: str, folder: Path, offdiag: Command
) -> None:
    table = "y_true,y_pred\nsea;sky,sky;sea\nsea,sea\nsky,sky\n"
    (folder / "sets.csv").write_text(table, encoding="utf-8")
    of_run = ("--name", "first", "--dataset", "d") if command == "log" else ()

    answer = offdiag(command, "sets.csv", "--sets", *of_run)

    assert "Class 'sea;sky' lists other classes" in answer.err
    assert "--sets on the command line reads sea|sky" in answer.err


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_lists_in_a_file_are_sets(suffix: str, folder: Path, offdiag: Command) -> None:
    table = pa.table(
        {"y_true": [["sea", "sky"], ["sky"], []], "y_pred": [["sky", "sea"], ["sea"], []]}
    )
    if suffix == "parquet":
        pq.write_table(table, folder / "lists.parquet")
    else:
        lines = map(json.dumps, table.to_pylist())
        (folder / "lists.jsonl").write_text("\n".join(lines), encoding="utf-8")

    answer = offdiag("evaluate", f"lists.{suffix}", "--sets", "--json")

    assert answer.json["labels"] == ["sea", "sky"]
    assert answer.json["aggregate"]["subset_accuracy"]["value"] == pytest.approx(2 / 3)


def test_sets_are_shown_with_named_axes(file: str, offdiag: Command) -> None:
    answer = offdiag("evaluate", file, "--sets")

    assert "actual ↓  predicted →" in answer.out
    assert "fractional shares, Algorithm 1" in answer.out


def test_sets_have_no_advice(file: str, offdiag: Command) -> None:
    answer = offdiag("evaluate", file, "--sets", "--advise")

    assert answer.code != 0
    assert "carry sets of labels" in answer.err


def test_a_logged_run_of_sets_is_shown(file: str, offdiag: Command) -> None:
    logged = offdiag(
        *("log", file, "--sets", "--name", "forest", "--dataset", "photos", "--id", "id"), "--json"
    )
    shown = offdiag("runs", "show", logged.json["id"], "--json")

    assert shown.json["task"] == "multilabel"
    assert offdiag("runs", "list").code == 0
    text = offdiag("runs", "show", logged.json["id"]).out
    assert "photos (multilabel, 3 labels" in text
    assert "class" not in text.lower().partition("example_f1")[0]

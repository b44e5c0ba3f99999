"""`offdiag audit FILE` and `offdiag audit -`: tables as they were copied."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]

TABLE = """\
Model\tAccuracy\tError rate
SVM\t93.0%\t7.0%
Ours\t95.0%\t9.0%
"""


@pytest.fixture
def table(folder: Path) -> Path:
    path = folder / "table.txt"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_a_copied_table_is_read_and_audited_model_by_model(table: Path, offdiag: Command) -> None:
    answer = offdiag("audit", table.name, "--json")

    assert answer.code == 1
    assert answer.json["verdict"] == "impossible"
    assert {each["model"]: each["verdict"] for each in answer.json["models"]} == {
        "SVM": "consistent",
        "Ours": "impossible",
    }
    assert [number["line"] for number in answer.json["models"][1]["numbers"]] == [3, 3]


def test_a_dash_reads_what_is_piped_in(offdiag: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Accuracy 0.9\nMicro F1 0.90")))

    answer = offdiag("audit", "-", "--json")

    assert (answer.code, answer.json["verdict"]) == (0, "consistent")


def test_people_see_how_the_text_was_read_and_why(table: Path, offdiag: Command) -> None:
    answer = offdiag("audit", table.name)

    assert "How the text was read" in answer.out
    assert "@Ours" in answer.out
    assert "error rate = 1 - accuracy" in answer.out


def test_a_head_can_be_given_another_meaning(table: Path, offdiag: Command) -> None:
    answer = offdiag("audit", table.name, "--read", "Error rate=-", "--json")

    assert answer.code == 0
    heads = {head["head"]: head for head in answer.json["reading"]["heads"]}
    assert heads["Error rate"]["meaning"] == "-"
    assert heads["Error rate"]["is_corrected"]


@pytest.mark.parametrize(
    "options",
    [
        ("--class-counts", "ill=100,well=200"),
        ("--class-counts", "100,200", "--labels", "ill,well"),
    ],
)
def test_sizes_of_classes_can_be_added_to_a_text(
    folder: Path, offdiag: Command, options: tuple[str, ...]
) -> None:
    text = "acc 0.9567 sens 0.8545 spec 0.9734"
    (folder / "t.txt").write_text(text, encoding="utf-8")

    answer = offdiag("audit", "t.txt", *options, "--positive", "ill", "--json")

    assert (answer.code, answer.json["verdict"]) == (1, "impossible")
    assert answer.json["models"][0]["matrices"]["count"] == 0


def test_a_unit_that_is_not_clear_is_asked_for_and_can_be_stated(
    folder: Path, offdiag: Command
) -> None:
    (folder / "t.txt").write_text("precision 1.2\nrecall 0.9", encoding="utf-8")

    asked, answered = offdiag("audit", "t.txt"), offdiag("audit", "t.txt", "--unit", "percent")

    assert (asked.code, answered.code) == (2, 0)
    assert "can be 1.2 %, or a fraction" in asked.err


def test_control_characters_of_a_text_do_not_reach_the_terminal(
    folder: Path, offdiag: Command
) -> None:
    text = "Model\tAccuracy\tError\nS\x1b[31mVM\t0.9\t0.1\n=cmd()\t0.9\t0.1\n"
    (folder / "t.txt").write_text(text, encoding="utf-8")

    answer = offdiag("audit", "t.txt")

    assert answer.code == 0
    assert "\x1b" not in answer.out


@pytest.mark.parametrize(
    ("content", "arguments", "says"),
    [
        (b"", ("t.txt",), "no number in the text"),
        (b"\xff\xfe\x00", ("t.txt",), "not text in UTF-8"),
        (b"x" * 30_000, ("t.txt",), "30000 characters"),
        (b"Accuracy 0.9", ("t.txt", "--reported", "mcc=1"), "--reported cannot be used with"),
        (b"Accuracy 0.9", ("t.txt", "--matrix", "m.csv"), "--matrix cannot be used with"),
        (b"Accuracy 0.9", ("t.txt", "--read", "Accuracy"), "gives no meaning"),
        (b"Accuracy 0.9", ("t.txt", "--read", "Accuracy=acuracy"), "'acuracy' does not"),
        (b"F1 0.9", ("t.txt", "--read", "F1=-", "--read", "F1=mcc"), "'F1' is given twice"),
        (b"Accuracy 0.9", ("t.txt", "--positive", "x"), "no class 'x'"),
        (b'{"reported": {"mcc": 1}}', ("t.txt", "--read", "mcc=-"), "no table text"),
        (b'{"reported": {"mcc": 1}}', ("t.txt", "--unit", "percent"), "no table text"),
        (b"Predicted A B\nActual A 83\nActual B 57", ("t.txt",), "line 2, 'Actual A 83', has"),
        (b"[1]", ("t.json",), "no member 'reported'"),
    ],
)
def test_what_cannot_be_read_is_an_error(
    folder: Path, offdiag: Command, content: bytes, arguments: tuple[str, ...], says: str
) -> None:
    (folder / arguments[0]).write_bytes(content)

    answer = offdiag("audit", *arguments)

    assert answer.code == 2
    assert says in answer.err

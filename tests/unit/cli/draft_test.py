"""`offdiag draft`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import offdiag as sdk

Command = Callable[..., Any]


@pytest.fixture(autouse=True)
def digits(offdiag: Command) -> None:
    sdk.log_run(
        y_true=["0", "1", "1"],
        y_pred=["0", "1", "1"],
        sample_ids=["a=1", "b", "c"],
        labels=["0", "1", "8"],
        name="r",
        dataset="digits",
    )


def test_answers_are_shown_published_and_undone(offdiag: Command) -> None:
    assert "2 answers" in offdiag("draft", "answer", "digits", "a=1=8", "b=-").out
    twice = offdiag("draft", "answer", "digits", "b=0", "a=1", "b=8")
    assert (twice.code, "'b' is given twice" in twice.err) == (2, True)
    offdiag("draft", "answer", "digits", "b=0", "--author", "ben")
    offdiag("draft", "answer", "digits", "c=1", "--author", "ben")

    shown = offdiag("draft", "show", "digits")

    assert "disagree" in shown.out
    assert shown.out.count("ben: ") == 1, "nobody else has answered c"
    assert "agree on 0 of 1" in shown.out
    assert offdiag("draft", "show", "digits", "--json").json["n_changes"] == 1
    assert offdiag("draft", "answer", "digits", "b=8", "--decide", "--json").json == {
        "n_answers": 1
    }
    assert "2" in offdiag("draft", "publish", "digits", "--reason", "seen").out
    undone = offdiag("draft", "undo", "digits", "2", "--reason", "wrong", "--json").json
    assert (undone["version"], undone["n_corrected"]) == (3, 2)


def test_a_class_that_is_called_like_no_label_is_asked_about(offdiag: Command) -> None:
    sdk.log_run(
        y_true=["-", "+"], y_pred=["-", "-"], sample_ids=["a", "b"], name="r", dataset="signs"
    )

    unclear = offdiag("draft", "answer", "signs", "a=+", "b=-")

    assert (unclear.code, "'-' is a class of this dataset" in unclear.err) == (2, True)
    assert "offdiag.label_draft" in unclear.err
    assert offdiag("draft", "show", "signs", "--json").json["samples"] == []
    assert offdiag("draft", "answer", "signs", "a=+").code == 0


def test_what_cannot_be_told_is_shown_apart_from_every_class(offdiag: Command) -> None:
    offdiag("draft", "answer", "digits", "b=-")

    assert "cannot be told" in offdiag("draft", "show", "digits").out


def test_an_agreement_without_kappa_says_why(offdiag: Command) -> None:
    for author in ("ana", "ben"):
        offdiag("draft", "answer", "digits", "b=8", "--author", author)

    shown = " ".join(offdiag("draft", "show", "digits").out.split())

    assert "Cohen's kappa undefined (one answer only)." in shown


def test_tasks_are_written_and_read(offdiag: Command, tmp_path: Path) -> None:
    offdiag("draft", "answer", "digits", "b=8")
    file = tmp_path / "tasks.json"

    assert offdiag("draft", "export", "digits", str(file), "--tool", "argilla").code == 0
    assert [each["id"] for each in json.loads(file.read_text())] == ["b"]
    assert offdiag("draft", "import", "digits", str(file), "--json").json == {"n_answers": 1}
    file.write_text("no JSON")
    assert offdiag("draft", "import", "digits", str(file)).code == 2
    assert "SAMPLE=LABEL" in offdiag("draft", "answer", "digits", "b").err

"""`offdiag audit`: published numbers from options and files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


def test_numbers_that_cannot_be_are_told_with_the_identity_that_decides(offdiag: Command) -> None:
    answer = offdiag("audit", "--reported", "accuracy=0.90", "--reported", "micro f1=0.80")

    assert answer.code == 1
    assert "impossible" in answer.out.lower()


def test_a_transposed_reading_is_found_by_the_class_counts(folder: Path, offdiag: Command) -> None:
    (folder / "m.csv").write_text(",1,2,3\n1,8,1,5\n2,3,17,2\n3,8,3,7\n", encoding="utf-8")

    answer = offdiag(
        "audit", "--matrix", "m.csv", "--class-counts", "1=19,2=21,3=14",
        "--reported", "accuracy=0.5926", "--json",
    )  # fmt: skip

    assert (answer.code, answer.json["verdict"]) == (1, "transposed")
    assert answer.json["matrix"]["orientation"] == "actual_columns"


def test_zeros_at_the_end_say_how_far_was_rounded(folder: Path, offdiag: Command) -> None:
    (folder / "t.json").write_text('{"reported": {"accuracy": 0.5930}}', encoding="utf-8")

    answer = offdiag("audit", "t.json", "--json")

    assert answer.json["numbers"][0]["reported"] == "0.5930"


def test_options_add_to_the_file_and_win_over_it(folder: Path, offdiag: Command) -> None:
    content = {"reported": {"accuracy": "90 %", "macro recall": "0.5"}}
    (folder / "t.json").write_text(json.dumps(content), encoding="utf-8")

    answer = offdiag(
        "audit", "t.json", "--reported", "accuracy=0.93", "--reported", "recall[a]=0.5",
        "--labels", "a,b", "--json",
    )  # fmt: skip

    numbers = {entry["name"]: entry["reported"] for entry in answer.json["numbers"]}
    assert numbers == {"accuracy": "0.93", "macro recall": "0.5", "recall": "0.5"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "no number was reported. Name a FILE with a table, or give --reported accuracy=0.93"),
        (["--reported", "accuracy"], "'accuracy' is not a number with a name"),
        (["--reported", "=1"], "'=1' is not a number with a name"),
        (["--reported", "recall[a=1"], "not a number with a name"),
        (["--reported", "acc=1", "--reported", "acc=0"], "'acc' is given twice"),
        (["--reported", "f1=1", "--reported", "f1[a]=0"], "'f1[a]' is given twice"),
        (["--reported", "acuracy=1"], "'acuracy' is not a metric"),
        (["--reported", "accuracy=high"], "is not a number"),
        (["--reported", "accuracy=1", "--class-counts", "a=ten"], "'ten' instead of a number"),
        (["--reported", "accuracy=1", "--class-counts", "a=1,a=2"], "name each class once"),
        (["--reported", "accuracy=1", "--class-counts", "a=1,2"], "name each class once"),
        (["gone.json"], "cannot be read"),
        (["list.json"], "no member 'reported'"),
        (["more.json"], "a member 'counts'"),
    ],
)
def test_what_cannot_be_audited_is_an_error(
    folder: Path, offdiag: Command, arguments: list[str], says: str
) -> None:
    (folder / "list.json").write_text("[1]", encoding="utf-8")
    (folder / "more.json").write_text('{"reported": {}, "counts": 1}', encoding="utf-8")

    answer = offdiag("audit", *arguments)

    assert answer.code == 2
    assert says in answer.err

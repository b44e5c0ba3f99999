"""`offdiag hierarchy`: groups of classes set from a file, shown and taken away."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
GROUPS = {"vehicle": ["bike", {"road": ["car"]}], "animal": ["cat"]}


@pytest.fixture
def things(folder: Path, offdiag: Command) -> str:
    """Name of a dataset with one run."""
    rows = "y_true,y_pred\n" + "".join(f"{name},{name}\n" for name in ("cat", "car", "bike"))
    (folder / "p.csv").write_text(rows, encoding="utf-8")
    answer = offdiag("log", "p.csv", "--name", "first", "--dataset", "things")
    assert answer.code == 0, answer.err
    return "things"


def test_groups_are_set_from_a_file_and_shown(folder: Path, offdiag: Command, things: str) -> None:
    (folder / "groups.json").write_text(json.dumps(GROUPS), encoding="utf-8")

    answer = offdiag("hierarchy", "set", things, "groups.json")

    assert answer.code == 0, answer.err
    assert answer.out == "vehicle: bike\n  road: car\nanimal: cat\n"
    assert offdiag("hierarchy", "show", things).out == answer.out
    assert offdiag("hierarchy", "show", things, "--json").json == {"hierarchy": GROUPS}


def test_toml_says_the_same(folder: Path, offdiag: Command, things: str) -> None:
    text = 'animal = ["cat"]\n[vehicle]\nroad = ["car", "bike"]\n'
    (folder / "groups.toml").write_text(text, encoding="utf-8")

    answer = offdiag("hierarchy", "set", things, "groups.toml", "--json")

    assert answer.json == {"hierarchy": {"animal": ["cat"], "vehicle": {"road": ["car", "bike"]}}}


def test_groups_can_be_taken_away(folder: Path, offdiag: Command, things: str) -> None:
    (folder / "groups.json").write_text(json.dumps(GROUPS), encoding="utf-8")
    offdiag("hierarchy", "set", things, "groups.json")

    answer = offdiag("hierarchy", "clear", things)

    assert (answer.code, answer.out) == (0, "The classes are in no groups.\n")
    assert offdiag("hierarchy", "show", things, "--json").json == {"hierarchy": None}


def test_unusable_files_change_nothing(folder: Path, offdiag: Command, things: str) -> None:
    cases: list[tuple[str, str, str]] = [
        ("groups.json", '{"animal": ["wolf"]}', "'wolf' is not one of the 3 declared labels"),
        ("groups.json", "[1", "groups.json"),
        ("groups.toml", "= 1", "groups.toml"),
        ("groups.yaml", "", "is not supported"),
    ]
    for name, text, said in cases:
        (folder / name).write_text(text, encoding="utf-8")

        answer = offdiag("hierarchy", "set", things, name)

        assert answer.code == 2
        assert said in answer.err
        assert offdiag("hierarchy", "show", things, "--json").json == {"hierarchy": None}


def test_a_missing_file_and_an_unknown_dataset_are_errors(offdiag: Command, things: str) -> None:
    assert offdiag("hierarchy", "set", things, "none.json").code == 2
    assert offdiag("hierarchy", "show", "nothing").code == 2

"""`offdiag leaders`, `propose` and `approve`: which run of a dataset is used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.fixture
def runs(folder: Path, offdiag: Command) -> list[str]:
    """Ids of a good run and a poor one, both evaluated."""
    ids = []
    for name, wrong in (("good", 2), ("poor", 30)):
        other = {"cat": "dog", "dog": "cat"}
        rows = [
            f"{label},{other[label] if place < wrong else label}"
            for label in ("cat", "dog")
            for place in range(60)
        ]
        text = "\n".join(["y,yhat", *rows])
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
        columns = ("--true", "y", "--pred", "yhat", "--dataset", "pets", "--name", name)
        answer = offdiag("log", f"{name}.csv", *columns, "--json")
        ids.append(str(answer.json["id"]))
        assert offdiag("gate", ids[-1], "--min", "mcc>=0").code == 0
    return ids


def test_runs_that_wait_for_their_evaluation_are_evaluated_first(
    offdiag: Command, folder: Path
) -> None:
    labels = ["cat"] * 60 + ["dog"] * 60
    for name, wrong in (("good", 2), ("poor", 30)):
        predicted = ["dog"] * wrong + labels[wrong:]
        lines = [f"{y},{yhat}" for y, yhat in zip(labels, predicted, strict=True)]
        (folder / f"{name}.csv").write_text("\n".join(["y_true,y_pred", *lines]), encoding="utf-8")
        tags = ("--tag", f"group={name}", "--tag", "seed=1")
        offdiag("log", f"{name}.csv", "--dataset", "pets", "--name", name, *tags)
    logged = (folder / "offdiag.db").read_bytes()

    for command, shown in (
        (("leaders", "pets"), "1 of 2 runs may be the best"),
        (("methods", "pets"), "poor"),
        (("cost", "rank", "--dataset", "pets"), "poor"),
        (("approve", "poor", "--reason", "cheap"), "is the champion"),
    ):
        (folder / "offdiag.db").write_bytes(logged)
        answer = offdiag(*command)

        assert (answer.code, shown in answer.out) == (0, True), answer


def test_leaders_name_no_weighted_run_beside_others(
    offdiag: Command, folder: Path, runs: list[str]
) -> None:
    rows = [f"{label},{label},{at % 2 + 1}" for label in ("cat", "dog") for at in range(60)]
    (folder / "survey.csv").write_text("\n".join(["y,yhat,w", *rows]), encoding="utf-8")
    columns = ("--true", "y", "--pred", "yhat", "--weight", "w", "--dataset", "pets")
    offdiag("log", "survey.csv", *columns, "--name", "survey")

    said = offdiag("leaders", "pets").out
    found = offdiag("leaders", "pets", "--json").json

    assert "1 of 2 runs may be the best" in said
    assert "1 run with sample weights is not ranked with runs without." in said
    assert "survey" not in said
    assert ([run["id"] for run in found["runs"]], found["n_weighted"]) == (runs, 1)


def test_leaders_count_no_run_whose_threshold_was_chosen_on_the_examples(
    offdiag: Command, folder: Path, runs: list[str]
) -> None:
    scores = {"cat": 0.7, "dog": 0.4}
    rows = [
        f"{label},{label},{scores[label] + 0.01 * (at % 9) - 0.02 * (at % 11)}"
        for label in ("cat", "dog")
        for at in range(60)
    ]
    (folder / "scored.csv").write_text("\n".join(["y,yhat,s", *rows]), encoding="utf-8")
    columns = ("--true", "y", "--pred", "yhat", "--score", "s", "--positive", "cat")
    offdiag("log", "scored.csv", *columns, "--dataset", "pets", "--name", "scored")
    (folder / "loss.csv").write_text("actual,cat,dog\ncat,0,5\ndog,1,0\n", encoding="utf-8")
    offdiag("cost", "add", "loss", "loss.csv", "--dataset", "pets")
    assert offdiag("gate", "scored", "--min", "mcc>=0").code == 0
    chosen = ("--matrix", "loss", "--threshold", "cheapest", "--save-as", "chosen")
    answer = offdiag("cost", "decide", "scored", *chosen)
    assert answer.code == 0, answer

    said = offdiag("leaders", "pets").out
    found = offdiag("leaders", "pets", "--json").json

    assert "of 3 runs may be the best" in said
    assert "1 run is not compared: its threshold was chosen on these examples." in said
    assert (found["n_runs"], found["n_chosen_here"]) == (4, 1)
    best = found["best_of_many"]
    names = {run["id"]: run["name"] for run in found["runs"]}
    assert (names[best["run"]], best["n_runs"]) == ("scored", 3)
    assert f"the first is expected to reach about {best['corrected']['value']:.3f}" in said


def test_a_run_is_proposed_and_approved(offdiag: Command, runs: list[str]) -> None:
    good, poor = runs
    assert offdiag("leaders", "pets", "--metric", "mcc", "--json").json["best_set"] == [good]
    assert "candidate" in offdiag("propose", good, "--require", "mcc >= 0.5").out

    refused = offdiag("approve", poor, "--reason", "cheap", "--require", "mcc >= 0.5")
    assert refused.code == 2
    assert "fails the gate: mcc >= 0.5" in refused.err
    forced = ("--reason", "cheap", "--require", "mcc >= 0.5", "--although-gate-fails", "--json")
    found = offdiag("approve", poor, *forced).json
    assert (found["role"], found["run"], found["reason"]) == ("champion", poor, "cheap")
    assert found["gate"]["passed"] is False


def test_methods_stand_as_on_their_page(offdiag: Command, folder: Path) -> None:
    labels = ["cat"] * 60 + ["dog"] * 60
    for name, wrong in (("best", 3), ("level", 4), ("poor", 40)):
        for seed in (1, 2, 3):
            predicted = ["dog"] * (wrong + seed % 2) + labels[wrong + seed % 2 :]
            rows = [f"{y},{yhat}" for y, yhat in zip(labels, predicted, strict=True)]
            text = "\n".join(["y_true,y_pred", *rows])
            (folder / "runs.csv").write_text(text, encoding="utf-8")
            tags = ("--tag", f"group={name}", "--tag", f"seed={seed}")
            offdiag("log", "runs.csv", "--dataset", "pets", "--name", f"{name} {seed}", *tags)

    table = offdiag("methods", "pets").out

    standing = {line.split()[0]: line for line in table.splitlines() if line.strip()}
    assert standing["best"].rstrip().endswith("best")
    assert standing["level"].rstrip().endswith("no significant difference")
    assert standing["poor"].rstrip().endswith("significantly worse")

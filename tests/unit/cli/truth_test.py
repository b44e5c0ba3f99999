"""`offdiag truth`: versions listed, labels revised from a file, differences shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
Filled = Callable[[Callable[..., Any]], Any]

PREDICTIONS = "id,y_true,y_pred\nx1,ill,ill\nx2,ill,well\nx3,well,well\n"


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


@pytest.fixture
def clinic(filled: Filled) -> str:
    """Name of a dataset with one run."""
    return str(filled(log_clinic))


def log_clinic(folder: Path, offdiag: Command) -> str:
    file = write(folder, "p.csv", PREDICTIONS)
    answer = offdiag("log", file, "--name", "first", "--dataset", "clinic", "--id", "id")
    assert answer.code == 0, answer.err
    return "clinic"


def revise(folder: Path, offdiag: Command, text: str, *more: str) -> Any:
    file = write(folder, "new.csv", text)
    return offdiag("truth", "revise", "clinic", file, "--reason", "second look", *more)


def test_labels_in_a_file_make_a_new_version(folder: Path, offdiag: Command, clinic: str) -> None:
    answer = revise(folder, offdiag, "id,label\nx2,well\nx1,\n")

    assert answer.code == 0, answer.err
    assert answer.out.strip() == (
        "Version 2 corrects version 1 of clinic: 1 label corrected, 1 removed. "
        "2 of 3 samples have a label. 1 run is re-evaluated."
    )
    versions = offdiag("truth", "show", clinic, "--json").json["versions"]
    assert [(row["version"], row["parent"], row["is_head"]) for row in versions] == [
        (2, 1, True),
        (1, None, False),
    ]
    assert versions[0]["class_counts"] == [0, 2]
    assert versions[0]["reason"] == "second look"
    assert versions[1]["n_runs"] == 1
    shown = offdiag("truth", "show", clinic).out
    assert "Ground truth of clinic in project default" in shown
    assert "ill 2, well 1" in shown
    assert "second look" in shown


def test_columns_can_be_named(folder: Path, offdiag: Command, clinic: str) -> None:
    text = "case;verdict\nx2;well\n"

    answer = revise(folder, offdiag, text, "--id", "case", "--label", "verdict", "--json")

    assert answer.json["n_corrected"] == 1
    assert answer.json["version"] == 2


def test_labels_that_are_so_already_change_nothing_and_runs_that_wait_are_named(
    folder: Path, offdiag: Command, clinic: str
) -> None:
    as_logged = revise(folder, offdiag, "id,label\nx2,ill\n")
    revise(folder, offdiag, "id,label\nx2,well\n")
    waiting = offdiag("truth", "impact", clinic, "1..2").out
    again = revise(folder, offdiag, "id,label\nx2,well\n")

    assert as_logged.code == 2
    assert "has these labels already" in as_logged.err
    assert "No run was evaluated with both versions." in waiting
    assert "first: queued for evaluation." in waiting
    assert again.code == 0
    assert (
        again.out.strip()
        == "Version 2 already has these labels (1 label corrected); nothing was changed."
    )


def test_the_difference_of_versions_is_shown(folder: Path, offdiag: Command, clinic: str) -> None:
    revise(folder, offdiag, "id,label\nx2,well\nx3,\n")

    shown = offdiag("truth", "diff", clinic, "1", "2").out
    short = offdiag("truth", "diff", clinic, "1", "2", "--limit", "1").out
    found = offdiag("truth", "diff", clinic, "1", "2", "--json").json

    assert "Version 1 to version 2: 1 label corrected, 1 removed" in shown
    assert "no label" in shown
    assert "1 more" in short
    assert found["moves"] == [
        {"before": "ill", "after": "well", "n": 1},
        {"before": "well", "after": None, "n": 1},
    ]
    assert found["samples"] == [
        {"sample": "x2", "before": "ill", "after": "well"},
        {"sample": "x3", "before": "well", "after": None},
    ]


def test_a_slice_of_a_run_is_shown(offdiag: Command) -> None:
    import offdiag as library

    run = library.log_run(
        y_true=["ill", "ill", "well"],
        y_pred=["ill", "well", "well"],
        slices={"ward": ["A", "B", "B"]},
        name="sliced",
        dataset="wards",
    )

    shown = offdiag("runs", "show", run.id, "--slice", "ward=B", "--json").json
    for_people = offdiag("runs", "show", run.id, "--slice", "ward=B").out

    assert (shown["slice"], shown["matrix"]) == ("ward=B", [[0, 1], [0, 1]])
    assert "Slice of run" in for_people


def test_a_slice_of_a_weighted_run_is_shown(offdiag: Command) -> None:
    import offdiag as library

    run = library.log_run(
        y_true=["ill", "ill", "well"],
        y_pred=["ill", "well", "well"],
        sample_weight=[1, 2, 6],
        slices={"ward": ["A", "B", "B"]},
        name="sliced",
        dataset="wards",
    )

    shown = offdiag("runs", "show", run.id, "--slice", "ward=B").out

    assert re.search(r"\berror_rate +0\.250", shown)


def test_coverage_is_shown_where_labels_are_missing(
    folder: Path, offdiag: Command, clinic: str
) -> None:
    import offdiag as library

    revise(folder, offdiag, "id,label\nx3,\n")
    run_id = offdiag("runs", "list", "--json").json["runs"][0]["id"]
    library.sdk.run.Run(library.sdk.target.target(None), run_id).evaluation()

    listed = offdiag("runs", "list", "--json").json["runs"][0]
    shown = offdiag("runs", "show", run_id, "--json").json
    for_people = offdiag("runs", "show", run_id).out

    assert listed["evaluation"] == {"truth_version": 2, "n_samples": 2, "n_unlabelled": 1}
    assert shown["evaluation"]["n_samples"] == 2
    assert (shown["truth"]["version"], shown["evaluation"]["truth_version"]) == (1, 2)
    assert "2 of 3 examples, label version 2" in for_people


@pytest.fixture
def two_models(filled: Filled) -> str:
    """A dataset whose truth is corrected in favour of one of two models, both scored twice."""
    return str(filled(log_two_models))


def log_two_models(*_: object) -> str:
    import offdiag as library

    truth = ["ill", "well"] * 20
    corrected = {str(number): "ill" for number in range(1, 20, 2)}
    ids = [str(number) for number in range(40)]
    seer = [corrected.get(name, label) for name, label in zip(ids, truth, strict=True)]
    runs = [
        library.log_run(
            y_true=truth, y_pred=predicted, sample_ids=ids, name=name, dataset="clinic"
        )
        for name, predicted in (("believer", truth), ("seer", seer))
    ]
    before = [run.evaluation() for run in runs]
    library.revise_truth(dataset="clinic", labels=corrected, reason="biopsies")
    after = [run.evaluation() for run in runs]
    assert len(before) == len(after) == 2
    return "clinic"


def test_what_a_correction_did_to_runs_is_shown(offdiag: Command, two_models: str) -> None:
    asked = ("truth", "impact", two_models)
    shown = offdiag(*asked, "1..2").out
    short = offdiag(*asked, "1..2", "--metric", "mcc", "--limit", "1").out
    found = offdiag(*asked, "1..2", "--json").json

    assert "Version 1 to version 2: 10 labels corrected." in shown
    assert (
        "2 of 2 runs changed significantly; by balanced accuracy 2 runs changed rank."
    ) in shown
    rows = [line.split() for line in shown.splitlines() if "seer" in line]
    assert rows[0][1:3] == ["seer", "0.750"]
    assert rows[0][5:] == [*("1.000", "+25.0", "pp", "significant", "2", "→", "1")]
    assert "1 more; --limit or --json shows them." in short
    assert (found["before"], found["after"], found["n_changed_labels"]) == (1, 2, 10)
    seer = next(run for run in found["runs"] if run["name"] == "seer")
    assert seer["metrics"]["overall_accuracy"]["before"]["value"] == 0.75
    assert seer["metrics"]["overall_accuracy"]["after"]["value"] == 1.0
    assert seer["metrics"]["overall_accuracy"]["difference"] == 0.25
    assert seer["metrics"]["mcc"]["rank_before"] == 2
    assert seer["metrics"]["mcc"]["rank_after"] == 1
    assert (found["waiting"], found["is_cut"]) == ([], False)
    for arguments, sentence in (
        (("1-2",), "'1-2' are not two versions. Write for example 1..2."),
        (("1..2", "--metric", "log_loss"), "runs are not ranked by 'log_loss' here"),
    ):
        refused = offdiag(*asked, *arguments)
        assert refused.code == 2
        assert sentence in refused.err

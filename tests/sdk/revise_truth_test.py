"""`offdiag.revise_truth` as people call it: with a dict, a frame or a file."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import offdiag
from offdiag.errors import InvalidInput

IDS = ["x1", "x2", "x3", "x4"]
TRUTH = ["ill", "ill", "well", "well"]


@pytest.fixture
def run(tmp_path: Path, registry_url: str, monkeypatch: pytest.MonkeyPatch) -> offdiag.Run:
    """A run that is right about three of four samples."""
    monkeypatch.setenv("OFFDIAG_URL", registry_url)
    monkeypatch.chdir(tmp_path)
    return offdiag.log_run(
        y_true=TRUTH,
        y_pred=["ill", "well", "well", "well"],
        sample_ids=IDS,
        name="rules",
        dataset="clinic",
    )


def csv_file() -> str:
    Path("corrections.csv").write_text("id,label\nx2,well\nx4,\n", encoding="utf-8")
    return "corrections.csv"


def test_labels_are_corrected_and_the_run_is_scored_again(run: offdiag.Run) -> None:
    before = run.evaluation()
    frame = {"id": ["x2", "x4"], "label": ["well", None]}

    made = [
        offdiag.revise_truth(dataset="clinic", labels=labels, reason="Second reading.")
        for labels in (
            {"x2": "well", "x4": None},
            pd.DataFrame(frame),
            pl.DataFrame(frame),
            csv_file(),
            Path(csv_file()),
        )
    ]

    after = run.evaluation()
    assert made[0].n_runs == 1
    # The same corrections in another form are the same version.
    assert [each.was_there for each in made] == [False, True, True, True, True]
    for each in made:
        assert (each.version, each.n_corrected, each.n_unlabelled, each.n_labelled) == (2, 1, 1, 3)
    assert before.aggregate["overall_accuracy"].value == 0.75
    assert after.aggregate["overall_accuracy"].value == 1.0
    assert after.confusion_matrix.to_numpy().tolist() == [[1, 0], [0, 2]]


@pytest.mark.parametrize("was_evaluated", [True, False])
def test_examples_stand_beside_the_corrected_labels(
    run: offdiag.Run, *, was_evaluated: bool
) -> None:
    if was_evaluated:
        run.evaluation()

    offdiag.revise_truth(dataset="clinic", labels={"x2": "well"}, reason="Second reading.")

    assert run.examples().empty
    assert run.examples(kind="all")["actual"].tolist().count("well") == 3


@pytest.mark.usefixtures("run")
def test_a_text_for_no_label_is_refused_with_the_way_to_remove_one() -> None:
    for text in ("nan", "NA", "null", "None", "<NA>", "", "-"):
        with pytest.raises(InvalidInput, match="None, or an empty cell of a file, removes a"):
            offdiag.revise_truth(dataset="clinic", labels={"x1": text}, reason="r")


def test_columns_may_have_other_names(run: offdiag.Run) -> None:
    frame = pd.DataFrame({"ward": ["A"], "verdict": ["well"], "case": ["x2"]})

    made = offdiag.revise_truth(
        dataset="clinic", labels=frame, reason="r", id_column="case", label_column="verdict"
    )

    assert made.n_corrected == 1

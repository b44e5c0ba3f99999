"""Lists that are cut say that more match, and how to get them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import offdiag as sdk
from offdiag.errors import MoreRunsMatch

Command = Callable[..., Any]

TRUE = ["ill", "well", "well", "well"] * 15
WRONG_AT_B = ["ill", "well", "well", "ill", *TRUE[4:20]] * 3
P_ILL = [0.9 if label == "ill" else 0.1 for label in WRONG_AT_B]


@pytest.fixture
def runs(offdiag: Command) -> list[sdk.Run]:
    logged = [
        sdk.log_run(
            y_true=TRUE,
            y_pred=WRONG_AT_B,
            y_score=P_ILL,
            positive_label="ill",
            dataset="clinic",
            name=name,
            model=name,
            slices={"ward": ["a", "a", "a", "b"] * 15},
        )
        for name in ("one", "two", "three")
    ]
    for run in logged:
        run.evaluation()
    return logged


def test_deleted_runs(offdiag: Command, runs: list[sdk.Run]) -> None:
    for run in runs[:2]:
        offdiag("runs", "delete", run.id)

    cut, whole = (offdiag("runs", "deleted", "--limit", number) for number in ("1", "2"))

    assert "More deleted runs match; these are the first 1. --limit shows more." in cut.err
    assert whole.err == ""
    assert [
        offdiag("runs", "deleted", "--limit", number, "--json").json["is_cut"]
        for number in ("1", "2")
    ] == [True, False]


def test_slices(offdiag: Command, runs: list[sdk.Run]) -> None:
    command = ("runs", "slices", runs[0].id)
    found = offdiag(*command, "--json").json

    cut, whole = (offdiag(*command, "--limit", number) for number in ("1", "20"))

    assert found["n_gaps"] == len(found["gaps"]) > 1
    said = f"{found['n_gaps']} gaps match; these are the first 1. --limit shows more."
    assert said in cut.err
    assert whole.err == ""
    of_one = offdiag(*command, "--metric", "overall_accuracy", "--limit", "1", "--json").json
    assert of_one["n_gaps"] == 1


def test_suspect_labels(offdiag: Command, runs: list[sdk.Run]) -> None:
    cut, whole = (
        offdiag("samples", "suspects", "clinic", "--limit", number) for number in ("2", "50")
    )

    assert "3 labels match; these are the first 2. --limit shows more." in cut.err
    assert whole.err == ""


def test_jobs(offdiag: Command, runs: list[sdk.Run]) -> None:
    sdk.log_run(y_true=["a"], y_pred=["a"], dataset="waiting", name="one")
    sdk.log_run(y_true=["a"], y_pred=["a"], dataset="waiting", name="two")

    cut, whole = (offdiag("jobs", "list", "--limit", number) for number in ("1", "50"))

    assert "There are 2 jobs; these are the first 1. --limit shows more." in cut.err
    assert whole.err == ""


def test_runs_that_are_searched_in_python(
    runs: list[sdk.Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(sdk.search_runs(max_results=2)) == 2
    monkeypatch.setattr("offdiag.sdk.search._USUAL_RESULTS", 2)

    with pytest.warns(MoreRunsMatch, match=r"the first 2. max_results= returns more"):
        assert len(sdk.search_runs(max_results=2)) == 2
    assert len(sdk.search_runs(max_results=3)) == 3

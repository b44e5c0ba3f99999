"""`offdiag compare`: what it says, what it exports, and when it answers no."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import offdiag as sdk
from support.two_models import COUNTRIES, FOCAL, PLAIN, TRUTH, N

Command = Callable[..., Any]


@pytest.fixture
def runs(folder: Path) -> list[str]:
    """Ids of two runs on the same examples, and of one on other ones."""
    same = [
        sdk.log_run(
            y_true=list(TRUTH),
            y_pred=predicted,
            name=name,
            dataset="derm",
            slices={"country": list(COUNTRIES)},
        ).id
        for predicted, name in ((PLAIN, "plain"), (FOCAL, "focal"))
    ]
    other = sdk.log_run(y_true=["a", "b"], y_pred=["a", "b"], name="other", dataset="letters")
    return [*same, other.id]


def test_two_runs_are_compared_in_words_and_tables(offdiag: Command, runs: list[str]) -> None:
    answer = offdiag("compare", *runs[:2])

    assert answer.code == 0, answer.err
    assert "B is better than A on balanced accuracy" in answer.out
    assert "only A correct" in answer.out
    assert "Recall of each class" in answer.out


def test_the_baseline_is_put_first_and_a_slice_compared_alone(
    offdiag: Command, runs: list[str]
) -> None:
    options = ("--baseline", runs[1], "--slice", "country=SI", "--json")
    record = offdiag("compare", *runs[:2], *options).json

    assert [run["name"] for run in record["runs"]] == ["focal", "plain"]
    assert record["samples"]["n_compared"] == COUNTRIES.count("SI")


def test_three_runs_are_ranked(offdiag: Command, runs: list[str]) -> None:
    third = sdk.log_run(y_pred=list(TRUTH), name="[bold]perfect", dataset="derm").id

    answer = offdiag("compare", *runs[:2], third)

    assert (
        "C leads on every primary metric; all others are significantly worse than the best."
        in " ".join(answer.out.split())
    )
    assert "[bold]perfect" in answer.out
    assert "A, B" in answer.out


def test_a_matrix_on_older_labels_is_shown_without_a_difference(
    offdiag: Command, runs: list[str]
) -> None:
    actual = ["yes", "yes", "yes", "no", "no"]
    run = sdk.log_run(
        y_true=actual, y_pred=actual, name="new", dataset="corrected", sample_ids=range(5)
    )
    matrix = sdk.log_matrix(
        [[2, 0], [0, 3]],
        labels=["no", "yes"],
        orientation="actual_rows",
        name="matrix",
        dataset="corrected",
    )
    sdk.revise_truth(dataset="corrected", labels={0: "no"}, reason="Second reading.")

    answer = offdiag("compare", run.id, matrix.id)
    found = sdk.compare(run, matrix)

    assert answer.code == 0, answer.err
    assert "so no difference between them is tested: log predictions" in answer.out
    assert "labels" in answer.out.splitlines()[2]
    assert "undefined: the runs were evaluated on different labels" in answer.out
    assert found.metrics["difference"].isna().all()
    assert found.metrics.loc["overall_accuracy", "b"] == 1.0
    assert found.pairs.empty
    assert "no difference between them" in found._repr_html_()
    for shown in (str(found), found._repr_html_()):
        assert "undefined: the runs were evaluated on different labels" in shown


def test_what_cannot_be_compared_is_said_and_ends_with_one(
    offdiag: Command, runs: list[str]
) -> None:
    in_words, as_json = (
        offdiag("compare", runs[0], runs[2]),
        offdiag("compare", runs[0], runs[2], "--json"),
    )

    assert (in_words.code, as_json.code) == (1, 1)
    assert in_words.out.startswith("These runs are on different datasets: A on “derm”")
    assert as_json.json["result"] is None
    assert as_json.json["refusal"]["why"] in in_words.out


def test_shared_examples_are_compared_where_asked_for(offdiag: Command, folder: Path) -> None:
    names = [f"img-{place}" for place in range(N)]
    parts = [
        sdk.log_run(
            y_true=list(TRUTH[part]),
            y_pred=FOCAL[part],
            name="part",
            dataset="parts",
            labels=["nv", "mel", "df"],
            sample_ids=names[part],
        ).id
        for part in (slice(0, 150), slice(20, None))
    ]

    refused, shared = offdiag("compare", *parts), offdiag("compare", *parts, "--shared")

    assert refused.code == 1
    assert "130 shared. --shared compares them on the shared ones." in refused.out
    assert shared.code == 0
    assert "130 examples" in shared.out


def test_examples_of_two_runs_are_listed_by_which_run_is_right(
    offdiag: Command, runs: list[str]
) -> None:
    counts = offdiag("compare", *runs[:2], "--json").json["result"]["counts"]

    listed = offdiag("compare", *runs[:2], "--examples", "only_b", "--class", "mel", "--json").json
    every = offdiag("compare", *runs[:2], "--examples", "only_b", "--limit", "1000", "--json")
    shown = offdiag("compare", *runs[:2], "--examples", "only_b", "--limit", "2")

    assert len(every.json["examples"]) == every.json["total"] == counts["only_b"]
    assert {(each["actual"], each["b"]) for each in listed["examples"]} == {("mel", "mel")}
    assert f"only_b: 2 of {counts['only_b']}" in shown.out


def test_a_class_without_examples_to_list_is_a_usage_error(
    offdiag: Command, runs: list[str]
) -> None:
    answer = offdiag("compare", *runs[:2], "--class", "mel")

    assert answer.code == 2
    assert "Add --examples" in answer.err

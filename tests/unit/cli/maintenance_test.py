"""`recompute`, `gc` and `runs history|delete|restore`: looking after what was logged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

import offdiag as library
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, MetricValueRow

Command = Callable[..., Any]


@pytest.fixture
def logged(folder: Path) -> library.Run:
    """A run that nobody has evaluated yet."""
    return library.log_run(
        y_true=["ill", "ill", "well"],
        y_pred=["ill", "well", "well"],
        sample_ids=[1, 2, 3],
        name="first",
        dataset="clinic",
    )


def revise(labels: dict[int, str]) -> None:
    library.revise_truth(dataset="clinic", labels=labels, reason="second look")


def test_what_is_stale_is_asked_for(offdiag: Command, logged: library.Run) -> None:
    assert "is not evaluated yet" in offdiag("runs", "history", logged.id).out
    logged.evaluation()
    assert offdiag("recompute").out.strip() == "No run is outdated."
    revise({2: "well"})

    answer = offdiag("recompute", "--stale")
    as_json = offdiag("recompute", "--json").json

    assert answer.out.strip() == (
        "1 run is queued (ground truth was corrected: 1). 1 of them were queued already."
    )
    assert as_json == {"n_submitted": 0, "runs": [{"id": logged.id, "reasons": ["truth_revised"]}]}
    logged.evaluation()
    assert "label version 1 → 2" in offdiag("runs", "history", logged.id).out


def test_named_runs_and_all_are_computed_anew(offdiag: Command, logged: library.Run) -> None:
    before = logged.evaluation().to_dict()

    named = offdiag("recompute", logged.id)
    assert named.out.strip() == "1 run is queued (not evaluated yet: 1)."
    assert logged.evaluation().to_dict() == before

    assert offdiag("recompute", "--all").code == 0
    assert logged.evaluation().to_dict() == before


def test_only_one_kind_of_choice_is_possible(offdiag: Command, logged: library.Run) -> None:
    answer = offdiag("recompute", logged.id, "--all")

    assert answer.code == 2
    assert "Name runs, or give --outdated or --all." in answer.err


def test_a_deleted_run_is_gone_until_it_is_restored(offdiag: Command, logged: library.Run) -> None:
    deleted = offdiag("runs", "delete", logged.id)

    assert f"offdiag runs restore {logged.id}" in deleted.out
    assert offdiag("runs", "list", "--json").json["runs"] == []
    refused = offdiag("runs", "history", logged.id)
    assert refused.code == 2
    assert "was deleted" in refused.err

    by_name = offdiag("runs", "restore", "first")
    assert by_name.code == 2
    assert "'first' is not the id of a run. A deleted run is found by its id" in by_name.err
    assert "offdiag runs deleted" in by_name.err
    (listed,) = offdiag("runs", "deleted", "--json").json["runs"]
    assert (listed["id"], listed["name"]) == (logged.id, "first")
    assert logged.id in offdiag("runs", "deleted", "--dataset", listed["dataset"]).out
    other = offdiag("runs", "deleted", "--project", "none")
    assert "There are no such runs." in other.out
    assert "Project 'none' has no datasets" in other.err
    assert offdiag("runs", "restore", logged.id).out.strip() == f"{logged.id} is restored."
    assert len(offdiag("runs", "list", "--json").json["runs"]) == 1
    assert offdiag("runs", "deleted", "--json").json["runs"] == []


def test_collecting_says_what_it_removed(offdiag: Command, logged: library.Run) -> None:
    offdiag("runs", "delete", logged.id)

    kept = offdiag("gc", "--json").json
    removed = offdiag("gc", "--older-than", "0")

    assert kept == {"deleted_runs": 0, "open_runs": 0, "evaluations": 0}
    assert removed.out.startswith("Removed 1 deleted runs, 0 unfinished runs")
    assert offdiag("runs", "restore", logged.id).code == 2


def test_results_of_an_earlier_version_are_said_to_be_outdated_and_end_with_0(
    registry_url: str, offdiag: Command, logged: library.Run
) -> None:
    logged.evaluation()
    database = Database(registry_url)
    with database.write() as session:
        session.execute(update(EvaluationRow).values(suite_version=1))
    database.close()

    before = offdiag("verify")
    assert offdiag("recompute").code == 0
    after = offdiag("verify")

    assert (before.code, after.code) == (0, 0)
    assert "1 run, 1 recomputed, 1 outdated: no problems." in before.out
    assert "`offdiag recompute` queues them now" in " ".join(before.out.split())
    assert "1 run, 1 recomputed, 1 not evaluated yet: no problems." in after.out


def test_a_result_that_drifted_is_corrected_as_the_command_says(
    folder: Path, registry_url: str, offdiag: Command, logged: library.Run
) -> None:
    logged.evaluation()
    database = Database(registry_url)
    with database.write() as session:
        is_accuracy = MetricValueRow.key == "overall_accuracy"
        session.execute(update(MetricValueRow).where(is_accuracy).values(value=0.123))
    database.close()

    before = offdiag("verify")
    recomputed = offdiag("recompute", logged.id)
    logged.evaluation()

    assert before.code == 1
    assert "Drift: `offdiag recompute RUN` computes the results" in " ".join(before.out.split())
    assert recomputed.code == 0
    assert offdiag("verify").code == 0


def test_what_is_wrong_is_shown_and_ends_with_1(
    folder: Path, offdiag: Command, logged: library.Run
) -> None:
    (folder / "ledger.txt").write_text(f"job-1 {'0' * 64}\n")

    shown = offdiag("verify", "--ledger", "ledger.txt")
    found = offdiag("verify", "--ledger", "ledger.txt", "--json")

    assert shown.code == found.code == 1
    counted = "1 run, 1 recomputed, 1 not evaluated yet: 1 problem."
    assert counted in shown.out
    assert "client key job-1" in shown.out
    assert "restore a backup" in " ".join(shown.out.split())
    assert found.json["findings"][0]["kind"] == "lost"

"""The history of a run does not show results of a slice from when it had few labels."""

from __future__ import annotations

import pytest

from offdiag.services.evaluation.history import run_history
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.store.database import Database
from support.archives import revise
from support.logging_runs import log, work_off


def test_a_slice_that_was_too_small_is_not_in_the_history(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of site z, 12 examples have labels, later 3, then 10, and finally 12 again."""
    n = 12
    run = log(
        database,
        y_true=["a", "b"] * n + ["a"] * n,
        y_pred=["a", "b"] * n + ["a"] * n,
        slices={"site": ["x"] * n + ["y"] * n + ["z"] * n},
        sample_ids=list(range(3 * n)),
    )
    work_off(database)
    changes: tuple[dict[int, str | None], ...] = (
        {},
        dict.fromkeys(range(27, 36)),
        dict.fromkeys(range(27, 34), "a"),
        dict.fromkeys(range(34, 36), "a"),
    )
    for labels in changes:
        if labels:
            revise(database, labels)
            work_off(database)
        for part in ("site=x", "site=y", "site=z"):
            evaluation_of_slice(database, run.id, part)
    monkeypatch.setenv("OFFDIAG_SLICES__SUPPRESS_BELOW", "10")

    shown = [each.evaluation for each in run_history(database, run.id)]

    of_z = [each for each in shown if each.slice == "site=z"]
    assert [(each.truth_number, each.n_labelled) for each in of_z] == [(1, 12), (3, 10), (4, 12)]
    of_others = [each.truth_number for each in shown if each.slice in ("site=x", "site=y")]
    assert sorted(filter(None, of_others)) == [1, 1, 2, 3, 3, 4, 4], "one is hidden with z"
    assert [each.truth_number for each in shown if each.slice is None] == [1, 2, 3, 4]

"""Weights of samples move with their project, and the results that are made of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.services.retention.project_archives import export_project, import_project
from offdiag.services.verification.checks import content_is_intact
from offdiag.store import datasets, runs, truths
from offdiag.store.database import Database
from offdiag.store.predictions import weights_in_truth_order
from support.archives import IDS
from support.logging_runs import evaluate, log

WEIGHT = [2.0, 0.5, 1.0, 1.5, 0.25, 0.0]


def test_weights_move_with_their_project(
    database: Database, other: Database, tmp_path: Path
) -> None:
    run = log(database, sample_ids=IDS, sample_weight=WEIGHT)
    before = evaluate(database, run.id).counted

    export_project(database, "default", tmp_path / "project.zip")
    import_project(other, tmp_path / "project.zip")

    with other.read() as session:
        moved = runs.get_run(session, run.id)
        found = weights_in_truth_order(session, [run.id], n_samples=6)[run.id]
        dataset = datasets.get_dataset(session, moved.dataset_id)
        assert moved.truth_version_id is not None
        truth = truths.get_truth(session, moved.truth_version_id)
        assert content_is_intact(session, moved, dataset, truth)
    after = evaluate(other, run.id).counted
    assert moved.is_weighted
    assert sorted(found) == sorted(WEIGHT)
    assert isinstance(before, WeightedCounts)
    assert isinstance(after, WeightedCounts)
    assert after.digest == before.digest
    assert np.array_equal(after.sums, before.sums)

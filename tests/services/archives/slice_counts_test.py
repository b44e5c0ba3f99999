"""Counts of slices move with their evaluation, and are left behind where columns differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sqlalchemy import select

from offdiag.inputs.slice_columns import GivenSlices
from offdiag.metrics.slices.counts import SliceCounts
from offdiag.services.evaluation.slice_counts import slice_counts_of
from offdiag.services.retention.project_archives import export_project, import_project
from offdiag.services.truth.versions import add_slices
from offdiag.store.database import Database
from offdiag.store.models import SliceCountsRow
from offdiag.store.slices import kept_slice_counts
from support.archives import IDS
from support.logging_runs import log, work_off
from support.sites import log_sites


def kept(database: Database, run_id: str) -> SliceCounts | None:
    with database.read() as session:
        return kept_slice_counts(session, run_id)


def add_device(database: Database) -> None:
    given = GivenSlices({"device": ["x", "y"] * 3}, ids=np.array(IDS))
    add_slices(database, project="default", dataset="holdout", given=given)


def test_counts_of_slices_move_with_their_evaluation(
    database: Database, other: Database, tmp_path: Path
) -> None:
    log(other, dataset="was here before")  # So that ids differ.
    work_off(other)
    run = log_sites(database)
    work_off(database)
    there = kept(database, run.id)
    export_project(database, "default", tmp_path / "project.zip")

    import_project(other, tmp_path / "project.zip")

    here = kept(other, run.id)
    assert here is not None
    assert there is not None
    assert here.columns == there.columns
    for moved, made in zip(
        (here.members, here.numbers, here.total),
        (there.members, there.numbers, there.total),
        strict=True,
    ):
        np.testing.assert_array_equal(moved, made)
    with other.write() as session:
        row = session.scalars(select(SliceCountsRow)).one()
        row.n_left_out = 7  # So that counts that are made again would be told.
    found = slice_counts_of(other, run.id)
    assert found is not None
    assert found.n_left_out == 7


def test_counts_by_fewer_columns_than_an_import_brings_are_dropped(
    database: Database, other: Database, tmp_path: Path
) -> None:
    run = log(database, sample_ids=IDS, slices={"site": ["A", "B"] * 3})
    work_off(database)
    export_project(database, "default", tmp_path / "first.zip")
    import_project(other, tmp_path / "first.zip")
    add_device(database)
    export_project(database, "default", tmp_path / "second.zip")

    import_project(other, tmp_path / "second.zip")

    assert kept(other, run.id) is None
    found = slice_counts_of(other, run.id)
    assert found is not None
    assert [name for name, _ in found.columns] == ["device", "site"]


def test_counts_by_fewer_columns_than_are_there_are_not_imported(
    database: Database, other: Database, tmp_path: Path
) -> None:
    log(database, sample_ids=IDS, slices={"site": ["A", "B"] * 3})
    export_project(database, "default", tmp_path / "first.zip")
    import_project(other, tmp_path / "first.zip")
    add_device(other)
    run = log(database, y_pred=["a"] * 6, sample_ids=IDS)
    work_off(database)
    assert kept(database, run.id) is not None
    export_project(database, "default", tmp_path / "second.zip")

    import_project(other, tmp_path / "second.zip")

    assert kept(other, run.id) is None
    found = slice_counts_of(other, run.id)
    assert found is not None
    assert [name for name, _ in found.columns] == ["device", "site"]

"""Runs that were counted together keep what they have in common wherever they go."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, update

from offdiag.domain.runs import RunFacts
from offdiag.errors import Conflict, InvalidInput
from offdiag.metrics.paired.joint_counts import JointCounts
from offdiag.services.comparisons.compare import compare_runs
from offdiag.services.ingest.batch import GivenPairedCounts, PairedTable
from offdiag.services.ingest.log_paired_counts import log_paired_counts
from offdiag.services.paired_runs import NotPaired, pair_runs
from offdiag.services.retention.deletion import delete_run
from offdiag.services.retention.project_archives import export_project, import_project
from offdiag.services.verification.verify import verify
from offdiag.store.database import Database
from offdiag.store.models import PairedRunRow, PairedSamplesRow
from offdiag.store.retention import remove_runs
from offdiag.store.runs import RunRecord
from support.contents import count_rows
from support.logging_runs import work_off

TABLE = PairedTable(
    actual=["ill", "ill", "ill", "well", "well", "well"],
    predicted={
        "old": ["ill", "well", "ill", "well", "well", "ill"],
        "new": ["ill", "ill", "well", "well", "ill", "well"],
    },
    sizes=[10, 4, 1, 80, 3, 2],
    slices={"country": ["DE", "DE", "FR", "DE", "FR", "FR"]},
)


def count(
    database: Database, table: PairedTable = TABLE, *further: PairedTable, **said: Any
) -> tuple[RunRecord, ...]:
    names = dict.fromkeys(name for each in (table, *further) for name in each.predicted)
    return log_paired_counts(
        database,
        runs=[RunFacts(name=name, **said) for name in names],
        dataset="holdout",
        given=GivenPairedCounts([table, *further], counted_on="duckdb"),
    )


def discordant(database: Database, runs: tuple[RunRecord, ...]) -> tuple[int, int] | None:
    found = compare_runs(database, [run.id for run in runs]).result
    paired = getattr(found, "paired", None)
    return None if paired is None else (paired.churn.only_a, paired.churn.only_b)


def test_what_two_runs_share_is_stored(database: Database) -> None:
    runs = count(database)

    work_off(database)
    assert [run.n_predictions for run in runs] == [100, 100]
    assert discordant(database, runs) == (4, 6)
    assert discordant(database, runs[::-1]) == (6, 4)
    found = compare_runs(database, [run.id for run in runs], slice_text="country=FR")
    assert found.samples is not None
    assert found.samples.n_compared == 6
    assert found.slice_levels == {"country": ("DE", "FR")}
    assert verify(database).is_clean


def test_slices_that_only_both_runs_together_tell_are_not_dropped(database: Database) -> None:
    together = {"old": ["a", "a", "b", "b"], "new": ["a", "b", "a", "b"]}
    table = PairedTable(["a"] * 4, together, [1] * 4, {"site": ["x", "y", "y", "x"]})

    def send(sent: PairedTable) -> tuple[RunRecord, ...]:
        return log_paired_counts(
            database,
            runs=[RunFacts(name=name, client_key=name) for name in together],
            dataset="holdout",
            given=GivenPairedCounts([sent], counted_on="duckdb"),
        )

    runs = send(table)

    assert send(table) == runs
    # Each run alone has as many examples of each kind as before.
    with pytest.raises(Conflict, match="client keys belong to runs"):
        send(replace(table, slices={"site": ["y", "x", "x", "y"]}))


def test_an_archive_carries_it(database: Database, migrated_file: Path, tmp_path: Path) -> None:
    runs = count(database)
    work_off(database)
    export_project(database, "default", tmp_path / "project.offdiag")
    other = Database(f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'other.db')}")

    for _ in range(2):
        import_project(other, tmp_path / "project.offdiag")

    assert discordant(other, runs) == (4, 6)
    assert verify(other).is_clean
    other.close()


def test_it_goes_with_the_last_of_its_runs(database: Database) -> None:
    first, second = count(database)
    delete_run(database, first.id, by=None)
    with database.write() as session:
        remove_runs(session, [first.id])
        assert session.scalar(select(func.count()).select_from(PairedSamplesRow)) == 1
        remove_runs(session, [second.id])
        assert session.scalar(select(func.count()).select_from(PairedSamplesRow)) == 0


@pytest.mark.both_databases
def test_damage_is_found(database: Database) -> None:
    first, _ = count(database)
    work_off(database)
    with database.write() as session:
        session.execute(
            update(PairedRunRow).where(PairedRunRow.run_id == first.id).values(predicted=bytes(6))
        )

    assert not verify(database).is_clean


@pytest.mark.both_databases
def test_flags_and_gates_pair_them(database: Database) -> None:
    runs = count(database)
    alone, _ = count(database, replace(TABLE, sizes=[9, 5, 1, 80, 3, 2]))

    with database.read() as session:
        found = pair_runs(session, *runs, truth_id=None)
        other = pair_runs(session, runs[0], alone, truth_id=None)

    assert isinstance(found, JointCounts)
    assert (found.first_matrix.counts.tolist(), found.second_matrix.counts.tolist()) == (
        [[11, 4], [2, 83]],
        [[14, 1], [3, 82]],
    )
    assert isinstance(other, NotPaired)


def of_pair(*names: str, sizes: list[int]) -> PairedTable:
    predicted = [["a", "b", "b", "a"], ["a", "b", "a", "b"]]
    return PairedTable(["a", "b", "a", "b"], dict(zip(names, predicted, strict=True)), sizes)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([replace(TABLE, predicted={"old": TABLE.predicted["old"]})], "fewer than two runs"),
        (
            [of_pair("x", "y", sizes=[5, 5, 1, 1]), of_pair("y", "z", sizes=[5, 5, 1, 1])],
            "the tables do not have the predictions of the runs",
        ),
        (
            [
                of_pair("x", "y", sizes=[5, 5, 1, 1]),
                of_pair("y", "z", sizes=[5, 5, 1, 1]),
                of_pair("x", "z", sizes=[5, 5, 1, 1]),
            ],
            "the counts of 'y' differ from one table to another",
        ),
        ([replace(TABLE, sizes=[1, 2, 3])], "sizes"),
        ([replace(TABLE, actual=[0.5] * 6)], "actual"),
    ],
)
def test_counts_that_contradict_each_other_are_refused(
    database: Database, tables: list[PairedTable], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        count(database, *tables)
    assert count_rows(database, PairedRunRow) == 0

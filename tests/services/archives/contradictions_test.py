"""What contradicts the registry ends an import, and nothing is changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, insert, update

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts
from offdiag.errors import Conflict
from offdiag.services.retention.deletion import delete_run
from offdiag.services.retention.project_archives import export_project, import_project
from offdiag.store.database import Database
from offdiag.store.models import Base, ProjectRow, ReportEditionRow, RunRow, TruthSliceRow
from support.archives import IDS, revise, run_ids
from support.contents import contents
from support.kinds import Files
from support.logging_runs import log, opened


def change_predictions(database: Database) -> None:
    with database.write() as session:
        session.execute(update(RunRow).values(content_digest="other"))


def delete_it(database: Database) -> None:
    delete_run(database, run_ids(database)[0], by=None)


def reopen_it(database: Database) -> None:
    with database.write() as session:
        session.execute(update(RunRow).values(state="open", finished_at=None))


def revise_differently(database: Database) -> None:
    revise(database, {1: "c"}, reason="another look")


def slice_differently(database: Database) -> None:
    with database.write() as session:
        session.execute(update(TruthSliceRow).values(levels=["A", "C"]))


@pytest.fixture(scope="module")
def exported_twice(files: Files, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Archives of a project before and after a correction."""
    folder = tmp_path_factory.mktemp("exported_twice")
    first, second = folder / "first.zip", folder / "second.zip"
    with files.new(folder) as database:
        log(database, sample_ids=IDS, slices={"site": ["A", "B"] * 3})
        export_project(database, "default", first)
        revise(database, {6: "a"})
        export_project(database, "default", second)
    return first, second


@pytest.mark.parametrize(
    ("contradict", "sentence"),
    [
        (change_predictions, "with other predictions"),
        (delete_it, "and was deleted"),
        (reopen_it, "and is still open"),
        (revise_differently, "correct the same labels differently"),
        (slice_differently, "slice column 'site' exists with other values"),
    ],
)
def test_contradictions_end_the_import_and_nothing_is_changed(
    other: Database,
    exported_twice: tuple[Path, Path],
    contradict: Callable[[Database], None],
    sentence: str,
) -> None:
    first, second = exported_twice
    import_project(other, first)
    contradict(other)
    before = contents(other)

    with pytest.raises(Conflict, match=sentence):
        import_project(other, second)

    assert contents(other) == before


def test_another_report_of_the_same_number_is_a_conflict(other: Database, archive: Path) -> None:
    import_project(other, archive)
    with other.write() as session:
        session.execute(update(ReportEditionRow).values(data_digest="other"))
    before = contents(other)

    with pytest.raises(Conflict, match=r"report 'audit' has an edition 1 of .*--as"):
        import_project(other, archive)

    assert contents(other) == before


def test_a_dataset_with_other_classes_is_a_conflict_unless_the_project_is_renamed(
    database: Database, other: Database, tmp_path: Path
) -> None:
    log(database)
    log(other, y_true=["x", "y"], y_pred=["x", "y"])
    export_project(database, "default", tmp_path / "project.zip")

    with pytest.raises(Conflict, match=r"dataset 'holdout' exists with other classes.*--as"):
        import_project(other, tmp_path / "project.zip")

    import_project(other, tmp_path / "project.zip", name="theirs")
    assert len(run_ids(other)) == 2


def test_two_positive_classes_contradict_each_other(
    database: Database, other: Database, tmp_path: Path
) -> None:
    two: dict[str, Any] = {"y_true": ["n", "y"], "y_pred": ["n", "y"]}
    log(database, positive_label="y", **two)
    log(other, positive_label="n", **two)
    export_project(database, "default", tmp_path / "project.zip")

    with pytest.raises(Conflict, match="with other classes"):
        import_project(other, tmp_path / "project.zip")


def test_a_run_is_in_one_project(database: Database, tmp_path: Path) -> None:
    log(database)
    export_project(database, "default", tmp_path / "own.zip")
    before = contents(database)

    with pytest.raises(Conflict, match=r"run r_\w+ is there in another project"):
        import_project(database, tmp_path / "own.zip", name="copy")

    assert contents(database) == before


def test_a_client_key_of_another_run_is_a_conflict(
    database: Database, other: Database, tmp_path: Path
) -> None:
    facts = RunFacts(name="run", client_key="job-1")
    log(database, facts=facts)
    opened(other, labels=LabelSet.inferred_from(["a", "b", "c"]), facts=facts)
    export_project(database, "default", tmp_path / "project.zip")

    with pytest.raises(Conflict, match=r"run r_\w+ is there as r_\w+ and is still open"):
        import_project(other, tmp_path / "project.zip")


def test_somebody_who_makes_the_same_project_at_this_moment_is_a_conflict(
    postgres_database: Database, archive: Path
) -> None:
    # The import has looked for the project and not found it; then another process makes it.
    table = Base.metadata.tables["project"]
    second = Database(postgres_database.url)
    made: list[int] = []

    def make_it_first(_connection: object, clause: object, *_: object) -> None:
        if getattr(clause, "is_insert", False) and clause.table is table and not made:  # type: ignore[attr-defined]  # Inserts have one.
            made.append(1)
            with second.write() as session:
                session.execute(
                    insert(ProjectRow).values(name="default", created_at=second.clock())
                )

    engine = postgres_database._engines.writing
    event.listen(engine, "before_execute", make_it_first)
    with pytest.raises(Conflict, match="another process wrote to the same project"):
        import_project(postgres_database, archive)
    event.remove(engine, "before_execute", make_it_first)

    assert run_ids(postgres_database) == []
    assert len(import_project(postgres_database, archive).new_runs) == 5
    second.close()

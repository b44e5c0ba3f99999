"""Archives that were torn, spoilt or made by hand are refused, and nothing is changed."""

from __future__ import annotations

import json
import resource
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from sqlalchemy import delete, text

from offdiag.errors import InvalidInput
from offdiag.services.retention.backups import back_up, restore
from offdiag.services.retention.project_archives import export_project, import_project
from offdiag.services.verification.verify import verify
from offdiag.store.archive.rows import encode_rows
from offdiag.store.database import Database
from offdiag.store.models import (
    Base,
    CostMatrixRow,
    DatasetRow,
    EvaluationRow,
    LabelSetRow,
    MetricValueRow,
    PredictionChunkRow,
    ProjectRow,
    ReportFileRow,
    RunRow,
    ScheduleRow,
    TruthChunkRow,
)
from support.archives import Registry, forge, replace_part, rewrite, rewrite_manifest, run_ids
from support.logging_runs import evaluate, log, work_off
from support.reporting import edition, log_plain_run

RUN_PART = "tables/run/00000.arrow"


def without_a_part(entries: dict[str, bytes]) -> None:
    del entries[RUN_PART]


def with_a_changed_part(entries: dict[str, bytes]) -> None:
    data = entries[RUN_PART]
    entries[RUN_PART] = data[:-9] + b"x" + data[-8:]


def with_a_longer_part(entries: dict[str, bytes]) -> None:
    entries[RUN_PART] += b"x"


def with_another_part(entries: dict[str, bytes]) -> None:
    entries["tables/run/00001.arrow"] = b"more"


def with_a_path_out_of_the_folder(entries: dict[str, bytes]) -> None:
    entries["../../outside"] = b"more"


def without_manifest(entries: dict[str, bytes]) -> None:
    del entries["manifest.json"]


def with_a_strange_manifest(entries: dict[str, bytes]) -> None:
    entries["manifest.json"] = b"[]"


def with_a_deep_manifest(entries: dict[str, bytes]) -> None:
    entries["manifest.json"] = b"[" * 200_000


def with_parts_elsewhere(entries: dict[str, bytes]) -> None:
    manifest = json.loads(entries["manifest.json"])
    for part in manifest["parts"]:
        part["name"] = f"../{part['name']}"
    entries["manifest.json"] = json.dumps(manifest).encode()


def with_a_part_listed_twice(entries: dict[str, bytes]) -> None:
    manifest = json.loads(entries["manifest.json"])
    manifest["parts"].append(manifest["parts"][0])
    entries["manifest.json"] = json.dumps(manifest).encode()


def with_a_huge_part(entries: dict[str, bytes]) -> None:
    manifest = json.loads(entries["manifest.json"])
    manifest["parts"][0]["n_bytes"] = 10**15
    entries["manifest.json"] = json.dumps(manifest).encode()


def of_another_program(entries: dict[str, bytes]) -> None:
    entries["manifest.json"] = b'{"format": "other", "version": 1}'


def of_a_later_format(entries: dict[str, bytes]) -> None:
    entries["manifest.json"] = b'{"format": "offdiag archive", "version": 2}'


CHANGED: dict[Callable[[dict[str, bytes]], None], str] = {
    without_a_part: "its parts are not those of its manifest",
    with_a_changed_part: "the digest of tables/run/00000.arrow has changed",
    with_a_longer_part: "the length of tables/run/00000.arrow has changed",
    with_another_part: "its parts are not those of its manifest",
    with_a_path_out_of_the_folder: "its parts are not those of its manifest",
    with_a_part_listed_twice: "its parts are not those of its manifest",
    with_parts_elsewhere: "it has no manifest of an offdiag archive",
    with_a_huge_part: "it has no manifest of an offdiag archive",
    without_manifest: "it has no manifest",
    with_a_strange_manifest: "it has no manifest of an offdiag archive",
    with_a_deep_manifest: "it has no manifest of an offdiag archive",
    of_another_program: "it is the archive of another program",
    of_a_later_format: "has format 2; this version of offdiag reads up to 1",
}


def test_an_archive_that_was_changed_is_refused(
    sqlite_database: Database, other: Database, tmp_path: Path
) -> None:
    log(sqlite_database)
    whole = tmp_path / "whole backup.zip", tmp_path / "whole project.zip"
    back_up(sqlite_database, whole[0])
    export_project(sqlite_database, "default", whole[1])
    kept = log(other)
    backup, project = tmp_path / "backup.zip", tmp_path / "project.zip"

    for change, sentence in CHANGED.items():
        for source, target in zip(whole, (backup, project), strict=True):
            shutil.copy(source, target)
            rewrite(target, change)

        with pytest.raises(InvalidInput) as of_backup:
            restore(other, backup, force=True)
        with pytest.raises(InvalidInput) as of_project:
            import_project(other, project)

        assert sentence in str(of_backup.value)
        assert sentence in str(of_project.value)
        assert run_ids(other) == [kept.id]


def test_the_kinds_of_archives_are_not_mixed_up(
    sqlite_database: Database, other: Database, tmp_path: Path
) -> None:
    log(sqlite_database)
    back_up(sqlite_database, tmp_path / "backup.zip")
    export_project(sqlite_database, "default", tmp_path / "project.zip")

    with pytest.raises(InvalidInput, match=r"is a project, not a backup.*import archive"):
        restore(other, tmp_path / "project.zip", force=False)
    with pytest.raises(InvalidInput, match=r"is a backup of a registry, not.*db restore"):
        import_project(other, tmp_path / "backup.zip")
    with pytest.raises(InvalidInput, match="cannot be read"):
        import_project(other, tmp_path / "nowhere.zip")
    with pytest.raises(InvalidInput, match="cannot be read"):
        import_project(other, tmp_path)


def refused(other: Database, archive: Path) -> str:
    """The sentence with which an import is refused that leaves nothing."""
    with pytest.raises(InvalidInput) as error:
        import_project(other, archive)
    assert run_ids(other) == []
    return str(error.value)


def set_value(name: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda row: row.update({name: value})


def swap_labels(row: dict[str, Any]) -> None:
    row["names"] = row["names"][::-1]


def add_a_line(row: dict[str, Any]) -> None:
    row["name"] += "\n"


def change_codes(row: dict[str, Any]) -> None:
    row["codes"] = row["codes"][::-1]


@pytest.mark.parametrize(
    ("model", "change", "sentence"),
    [
        (LabelSetRow, swap_labels, "its names are not those that were logged"),
        (PredictionChunkRow, change_codes, "its predictions are not those that were logged"),
        (TruthChunkRow, change_codes, "its samples are not those that were logged"),
        (RunRow, set_value("n_predictions", 7), "it says 7"),
        (RunRow, set_value("content_digest", "0" * 64), "are not those that were logged"),
        (RunRow, set_value("name", "a\x00b"), "NUL character"),
        (RunRow, set_value("name", "x" * 1_000_000), "has 1000000 characters"),
        (RunRow, set_value("truth_version_id", 99), "refers to a missing row of truth_version"),
        (RunRow, set_value("state", "strange"), "a row of run is refused"),
        (DatasetRow, add_a_line, "control character"),
        (ProjectRow, set_value("name", ""), "the name is empty"),
        (CostMatrixRow, set_value("weights", b"1234567"), "cost matrix visits version 1"),
        (ReportFileRow, set_value("content", b"<script>"), "is not the one that was frozen"),
        (MetricValueRow, set_value("value", float("nan")), "a row of metric_value is refused"),
    ],
)
def test_what_was_never_logged_is_refused_though_all_digests_fit(
    other: Database,
    archive: Path,
    model: type[Base],
    change: Callable[[dict[str, Any]], None],
    sentence: str,
) -> None:
    forge(archive, model, change)

    assert sentence in refused(other, archive)


def test_a_run_whose_id_is_a_path_is_refused(
    sqlite_database: Database, other: Database, tmp_path: Path
) -> None:
    log(sqlite_database)
    with sqlite_database.write() as session:
        session.execute(text("PRAGMA defer_foreign_keys = ON"))
        for table, column in (("run", "id"), ("prediction_chunk", "run_id")):
            session.execute(text(f"UPDATE {table} SET {column} = '../../etc/passwd'"))
    export_project(sqlite_database, "default", tmp_path / "project.zip")

    assert "run '../../etc/passwd'" in refused(other, tmp_path / "project.zip")


def test_an_edition_that_lost_a_file_can_still_be_moved(
    sqlite_database: Database, other: Database, tmp_path: Path
) -> None:
    log_plain_run(sqlite_database)
    edition(sqlite_database)
    with sqlite_database.write() as session:
        session.execute(delete(ReportFileRow).where(ReportFileRow.kind == "csv"))
    export_project(sqlite_database, "skin", tmp_path / "project.zip")

    import_project(other, tmp_path / "project.zip")

    (found,) = verify(other).findings
    assert found.sentence == "1 of its 4 files are missing."


def test_results_that_the_predictions_do_not_give_are_computed_anew(
    registry: Registry, other: Database, archive: Path
) -> None:
    forge(archive, MetricValueRow, lambda row: row["value"] and row.update({"value": 0.99}))
    before = {
        run_id: evaluate(registry.database, run_id).aggregate
        for run_id in run_ids(registry.database)
        if run_id in registry.filled.run_ids
    }

    taken = import_project(other, archive)

    assert len(taken.new_runs) == 5
    assert verify(other).n_waiting == 5
    work_off(other)
    assert verify(other).is_clean
    for run_id in set(before) & set(taken.new_runs):
        assert evaluate(other, run_id).aggregate == before[run_id]


def test_a_state_that_no_evaluation_stands_for_is_put_right(
    other: Database, archive: Path
) -> None:
    forge(archive, EvaluationRow, set_value("is_current", False))

    import_project(other, archive)

    assert verify(other).n_waiting == 5


def memory_bomb(schema: pa.Schema, n_rows: int) -> bytes:
    """A compressed Arrow stream of `n_rows` rows of nothing."""
    arrays = [
        pa.array([("" if pa.types.is_large_string(field.type) else None)] * n_rows, field.type)
        for field in schema
    ]
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, schema, options=options) as stream:
        stream.write_batch(pa.record_batch(arrays, schema=schema))
    data: bytes = sink.getvalue().to_pybytes()
    return data


def schema_of(model: type[Base]) -> pa.Schema:
    data = encode_rows(Base.metadata.tables[model.__tablename__], [])
    return pa.ipc.open_stream(data).schema


def test_parts_that_unpack_to_more_than_they_say_are_refused(
    other: Database, archive: Path, tmp_path: Path
) -> None:
    bomb = memory_bomb(schema_of(ProjectRow), 100_000)
    replace_part(archive, "project", bomb, n_rows=100_000)
    assert "packed in a way that offdiag never uses" in refused(other, archive)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "cannot be read"),
        (b"no arrow stream", "cannot be read"),
        (memory_bomb(pa.schema([("other", pa.large_string())]), 1), "the columns are others"),
    ],
)
def test_parts_that_are_no_rows_are_refused(
    other: Database, archive: Path, data: bytes, sentence: str
) -> None:
    replace_part(archive, "project", data)

    assert sentence in refused(other, archive)


def test_more_rows_than_the_manifest_says_are_refused(other: Database, archive: Path) -> None:
    rewrite(archive, with_fewer_rows)

    assert "their number is not that of the manifest" in refused(other, archive)


def with_fewer_rows(entries: dict[str, bytes]) -> None:
    manifest = json.loads(entries["manifest.json"])
    for part in manifest["parts"]:
        part["n_rows"] -= 1
    entries["manifest.json"] = json.dumps(manifest).encode()


def test_a_table_that_is_not_ours_is_refused(other: Database, archive: Path) -> None:
    def as_another_table(entries: dict[str, bytes]) -> None:
        manifest = json.loads(entries["manifest.json"])
        part = next(part for part in manifest["parts"] if part["table"] == "run")
        entries["tables/invoice/00000.arrow"] = entries.pop(part["name"])
        part |= {"table": "invoice", "name": "tables/invoice/00000.arrow"}
        entries["manifest.json"] = json.dumps(manifest).encode()

    rewrite(archive, as_another_table)

    assert "has no table invoice" in refused(other, archive)


def test_methods_without_a_bound_are_refused(other: Database, archive: Path) -> None:
    with zipfile.ZipFile(archive) as source:
        entries = {name: source.read(name) for name in source.namelist()}
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_LZMA) as target:
        for name, data in entries.items():
            target.writestr(name, data)

    assert "packed in a way that offdiag never uses" in refused(other, archive)


def test_a_zip_that_lies_about_a_length_costs_no_memory(other: Database, archive: Path) -> None:
    # 128 MiB of zeros, of which the list of entries says that it has as many bytes as the
    # manifest says of the part.
    with zipfile.ZipFile(archive) as source:
        entries = {name: source.read(name) for name in source.namelist()}
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        for name, data in entries.items():
            if name != RUN_PART:
                target.writestr(name, data)
                continue
            with target.open(name, "w", force_zip64=True) as stream:
                for _ in range(8):
                    stream.write(bytes(16 << 20))
        target.getinfo(RUN_PART).file_size = len(entries[RUN_PART])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    sentence = refused(other, archive)

    assert "not a valid archive" in sentence
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


def test_a_large_manifest_is_refused_unread(other: Database, archive: Path) -> None:
    def grow(entries: dict[str, bytes]) -> None:
        entries["manifest.json"] += b" " * (65 << 20)

    rewrite(archive, grow)

    assert "its manifest has" in refused(other, archive)


def test_an_archive_of_a_newer_schema_is_refused_with_a_sentence(
    other: Database, archive: Path
) -> None:
    from offdiag.errors import SchemaMismatch

    rewrite_manifest(archive, schema="9999_from_the_future")

    with pytest.raises(SchemaMismatch, match="newer offdiag"):
        import_project(other, archive)


def test_a_schedule_that_nobody_can_read_is_refused(other: Database, archive: Path) -> None:
    forge(archive, ScheduleRow, set_value("scope", {"project": 7}))

    assert "weekly" in refused(other, archive)


def test_nothing_of_an_import_stays_in_the_temporary_folder(
    other: Database, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))

    import_project(other, archive)
    shutil.copy(archive, tmp_path / "again.zip")
    forge(tmp_path / "again.zip", RunRow, set_value("n_predictions", 7))
    with pytest.raises(InvalidInput):
        import_project(other, tmp_path / "again.zip")

    assert list(place.iterdir()) == []

"""What reads bytes of strangers, each as a function of those bytes.

A target raises nothing but the errors of offdiag. Anything else that comes out of it is a defect:
a traceback for whoever sent the bytes. `tests/fuzz/targets_test.py` runs all of them in seconds,
`make fuzz` for minutes with a fuzzer that follows branches.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from offdiag.audit.table_text.audit import audit_table_text
from offdiag.cli.without_registry.audit import Source, read_audit_object
from offdiag.domain.hierarchy import Hierarchy
from offdiag.domain.labels import LabelSet
from offdiag.domain.schedule import parse_cron
from offdiag.domain.sentences import visible
from offdiag.errors import OffdiagError
from offdiag.filters.parsing import parse_filter, parse_order
from offdiag.gate.conditions import parse_condition
from offdiag.importers import ImportedMatrix, read
from offdiag.importers.mlflow_folder import read_meta
from offdiag.importers.wandb import read_run_log
from offdiag.inputs.bodies.columns import ChunkColumns, columns_of
from offdiag.inputs.bodies.formats import read_arrow_body, read_csv_body
from offdiag.inputs.files.costs import read_cost_table, read_weights
from offdiag.inputs.files.json_files import read_hierarchy
from offdiag.inputs.files.matrix import read_matrix
from offdiag.inputs.files.tables import read_columns
from offdiag.inputs.label_changes import read_label_changes
from offdiag.metrics.costs.edits import read_edits
from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.records.base import first_problem
from offdiag.records.ingest import Chunk
from offdiag.services.ingest.batch import read_batch
from offdiag.services.verification.verify import read_ledger
from offdiag.store.archive.file import opened_archive, read_manifest
from offdiag.store.archive.rows import decode_rows
from offdiag.store.models import Base
from offdiag_web.api.ingest import gunzipped
from offdiag_web.api.requests import read_json
from offdiag_web.urls.filter_line import parse_filter as parse_search_field

Target = Callable[[bytes], str]
"""Gives the words of a refusal, \"\" for what was read."""

LABELS = LabelSet.declared(["a", "b", "c"])


def _text(data: bytes) -> str:
    """Any text, half surrogate pairs among it."""
    return data.decode("utf-8", "surrogatepass" if b"\xed" in data else "replace")


def _of_text(read_text: Callable[[str], object]) -> Target:
    def target(data: bytes) -> str:
        try:
            text = _text(data)
        except UnicodeDecodeError:
            text = data.decode("latin-1")
        return _refused_or_read(lambda: read_text(text))

    return target


def _of_file(read_path: Callable[[Path], object], suffix: str) -> Target:
    def target(data: bytes) -> str:
        with tempfile.TemporaryDirectory(prefix="offdiag-fuzz-") as folder:
            path = Path(folder) / f"file{suffix}"
            path.write_bytes(data)
            return _refused_or_read(lambda: read_path(path))

    return target


def _of_bytes(read_bytes: Callable[[bytes], object]) -> Target:
    def target(data: bytes) -> str:
        return _refused_or_read(lambda: read_bytes(data))

    return target


def _refused_or_read(act: Callable[[], object]) -> str:
    """What a refusal says, in the forms of all interfaces; "" where there was none."""
    try:
        act()
    except OffdiagError as error:
        return f"{json.dumps(error.to_dict())} {visible(str(error))}"
    return ""


def _as_batch(found: ChunkColumns) -> None:
    read_batch(
        y_pred=found.y_pred,
        y_true=found.y_true,
        y_score=found.y_score,
        ids=found.sample_ids,
        slices=found.slices,
        labels=LABELS,
        positive_label=None,
    )


def _arrow_chunk(data: bytes) -> None:
    _as_batch(columns_of(read_arrow_body(data), LABELS))


def _csv_chunk(data: bytes) -> None:
    _as_batch(columns_of(read_csv_body(data, LABELS), LABELS))


def _json_chunk(data: bytes) -> None:
    read_json(data)
    try:
        chunk = Chunk.model_validate_json(data, strict=True)
    except ValidationError as error:
        raise first_problem(error, Chunk) from None
    _as_batch(
        ChunkColumns(
            y_pred=chunk.y_pred,
            y_true=chunk.y_true,
            y_score=chunk.y_score,
            sample_ids=chunk.sample_ids,
            slices=dict(chunk.slices),
        )
    )


def _table(path: Path) -> None:
    found = read_columns(path, ["y_true", "y_pred"])
    _as_batch(ChunkColumns(y_true=found["y_true"], y_pred=found["y_pred"]))


def _corrections(path: Path) -> None:
    read_label_changes(path, LABELS)


def _weights(path: Path) -> None:
    cost_matrix(read_weights(path).weights, labels=LABELS)


def _cost_table(text: str) -> None:
    cost_matrix(read_cost_table(text, LABELS), labels=LABELS)


def _cost_edits(text: str) -> None:
    read_edits(text, cost_matrix(1.0 - np.eye(3), labels=LABELS))


def _hierarchy(path: Path) -> None:
    Hierarchy.declared(read_hierarchy(path), LABELS)


def _imported(dialect: str) -> Callable[[Path], None]:
    labels = ["a", "b", "c"] if dialect in ("sklearn", "hugging-face") else None

    def reader(path: Path) -> None:
        content = read(dialect, path, labels=labels).content
        if isinstance(content, ImportedMatrix):
            LabelSet.declared(content.labels)

    return reader


def _mlflow_meta(path: Path) -> None:
    path.rename(path.with_name("meta.yaml"))
    read_meta(path.parent)


def _mlflow_artifact(suffix: str) -> Callable[[Path], None]:
    def reader(path: Path) -> None:
        artifacts = path.parent / "artifacts"
        artifacts.mkdir()
        path.rename(artifacts / f"confusion_matrix{suffix}")
        metrics = path.parent / "metrics"
        metrics.mkdir()
        (metrics / "loss").write_bytes((artifacts / f"confusion_matrix{suffix}").read_bytes())
        read("mlflow", path.parent, orientation="actual_rows")

    return reader


def _rows(data: bytes) -> None:
    list(decode_rows(Base.metadata.tables["dataset"], data, n_rows=1))


def _archive(path: Path) -> None:
    with opened_archive(path, "project") as archive:
        for part in archive.manifest.parts:
            archive.read(part)


def _unpacked(data: bytes) -> None:
    """A body under `Content-Encoding: gzip`, of which at most a megabyte is unpacked."""
    gunzipped(data, 1 << 20)


TARGETS: Mapping[str, Target] = {
    "chunk-arrow": _of_bytes(_arrow_chunk),
    "chunk-csv": _of_bytes(_csv_chunk),
    "chunk-json": _of_bytes(_json_chunk),
    "chunk-gzip": _of_bytes(_unpacked),
    "filter": _of_text(parse_filter),
    "order": _of_text(lambda text: parse_order([text])),
    "search-field": _of_text(parse_search_field),
    "gate-condition": _of_text(parse_condition),
    "cron": _of_text(parse_cron),
    "table-csv": _of_file(_table, ".csv"),
    "table-jsonl": _of_file(_table, ".jsonl"),
    "table-arrow": _of_file(_table, ".arrow"),
    "table-parquet": _of_file(_table, ".parquet"),
    "corrections-csv": _of_file(_corrections, ".csv"),
    "matrix-csv": _of_file(read_matrix, ".csv"),
    "matrix-json": _of_file(read_matrix, ".json"),
    "sklearn-npy": _of_file(_imported("sklearn"), ".npy"),
    "sklearn-json": _of_file(_imported("sklearn"), ".json"),
    "sklearn-txt": _of_file(_imported("sklearn"), ".txt"),
    "caret-txt": _of_file(_imported("caret"), ".txt"),
    "caret-csv": _of_file(_imported("caret"), ".csv"),
    "dvclive-json": _of_file(_imported("dvclive"), ".json"),
    "wandb-json": _of_file(_imported("wandb"), ".json"),
    "wandb-log": _of_file(read_run_log, ".wandb"),
    "lm-eval-jsonl": _of_file(_imported("lm-eval"), ".jsonl"),
    "hugging-face-json": _of_file(_imported("hugging-face"), ".json"),
    "mlflow-meta": _of_file(_mlflow_meta, ".yaml"),
    "pycm-obj": _of_file(_imported("pycm"), ".obj"),
    "named-axes-csv": _of_file(_imported("csv"), ".csv"),
    "mlflow-json": _of_file(_mlflow_artifact(".json"), ".json"),
    "mlflow-csv": _of_file(_mlflow_artifact(".csv"), ".csv"),
    "costs-csv": _of_file(_weights, ".csv"),
    "costs-json": _of_file(_weights, ".json"),
    "costs-toml": _of_file(_weights, ".toml"),
    "cost-table": _of_text(_cost_table),
    "cost-edits": _of_text(_cost_edits),
    "hierarchy-json": _of_file(_hierarchy, ".json"),
    "hierarchy-toml": _of_file(_hierarchy, ".toml"),
    "published-table": _of_text(audit_table_text),
    "published-json": _of_bytes(lambda data: read_audit_object(Source(data, "file"))),
    "ledger": _of_file(read_ledger, ".txt"),
    "archive-zip": _of_file(_archive, ".zip"),
    "archive-manifest": _of_bytes(lambda data: read_manifest("file", data, "project")),
    "archive-rows": _of_bytes(_rows),
}
"""By name; their seeds lie under that name in `tests/fuzz/seeds`."""

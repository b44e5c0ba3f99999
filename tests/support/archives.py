"""Registries with something of everything, and archives that were tampered with."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Integer, insert, select, text

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts
from offdiag.domain.texts import CostName
from offdiag.flags.lifecycle import Action
from offdiag.inputs.content.given_images import image_file
from offdiag.inputs.content.given_samples import GivenSample
from offdiag.reports.scope import ReportScope
from offdiag.services.cost_matrices import add_costs, set_default_costs
from offdiag.services.datasets import comment_on_dataset, pin_baseline
from offdiag.services.delivery.message import EmailTarget
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.services.flags.triage import decide_flags
from offdiag.services.reports.edition import report_now
from offdiag.services.retention.deletion import delete_run
from offdiag.services.run_notes import change_run, comment_on_run
from offdiag.services.samples.content import log_samples
from offdiag.services.schedules.edit import add_schedule
from offdiag.store.archive.file import MANIFEST
from offdiag.store.archive.project import table_of
from offdiag.store.archive.rows import decode_rows, encode_rows, plain_row
from offdiag.store.database import Database
from offdiag.store.models import Base, FlagRow, RunRow, WorkRow
from support.contents import contents
from support.logging_runs import correct_labels, log, opened, upload_matrix, work_off

IDS = [1, 2, 3, 4, 5, 6]


@dataclass(frozen=True)
class Filled:
    """What `fill` put into a registry: ids of the complete runs of project default by name."""

    runs: dict[str, str]

    @property
    def run_ids(self) -> list[str]:
        return sorted(self.runs.values())


@dataclass(frozen=True)
class Registry:
    """A database, and what was put into it."""

    database: Database
    filled: Filled


def fill(database: Database) -> Filled:
    """Everything of a project, runs in another one, one open, one deleted."""
    scored = log(
        database,
        dataset="scored",
        facts=RunFacts(name="scored", client_key="job-1", params={"lr": 0.1, "seed": None}),
        y_true=["n", "y"] * 20,
        y_pred=["n"] * 40,
        y_score=[0.1, 0.4] * 20,
        positive_label="y",
    )
    better = log(
        database,
        dataset="scored",
        facts=RunFacts(name="better"),
        y_true=["n", "y"] * 20,
        y_pred=["n", "y"] * 20,
        y_score=[0.1, 0.9] * 20,
    )
    sliced = log(database, sample_ids=IDS, slices={"site": ["A", "B"] * 3})
    look = [GivenSample("1", text="a case", image=image_file([[0, 255]])), GivenSample("2")]
    log_samples(database, project="default", dataset="holdout", given=look)
    work_off(database)
    revise(database, {6: None, 1: "b"})
    rare = np.arange(600) % 12
    wide = log(
        database,
        dataset="wide",
        y_true=rare,
        y_pred=np.roll(rare, 1),
        sample_ids=[f"fall-{number} ä" for number in range(600)],
    )
    matrix = upload_matrix(database, [[3, 1], [0, 2]], ["a", "b"], orientation="actual_columns")
    log(database, facts=RunFacts(name="elsewhere", project="other"), dataset="holdout")
    gone = log(database, dataset="gone")
    work_off(database)
    evaluation_of_slice(database, sliced.id, "site=A")
    delete_run(database, gone.id, by=None)
    opened(database, "open", LabelSet.declared(["a", "b"]))
    _judge(database, baseline=better.id)
    _report(database)
    return Filled(
        {
            "scored": scored.id,
            "better": better.id,
            "sliced": sliced.id,
            "wide": wide.id,
            "matrix": matrix.id,
        }
    )


def copy_rows(source: Database, target: Database) -> None:
    """Put all rows of a registry into an empty one on PostgreSQL."""
    with source.read() as there, target.write() as here:
        # Without the checks of foreign keys the order does not matter.
        here.execute(text("SET LOCAL session_replication_role = replica"))
        for table in Base.metadata.sorted_tables:
            if rows := [dict(row) for row in there.execute(select(table)).mappings()]:
                here.execute(insert(table), rows)
            if "id" in table.columns and isinstance(table.columns["id"].type, Integer):
                sequence = f"pg_get_serial_sequence('{table.name}', 'id')"
                here.execute(text(f"SELECT setval({sequence}, max(id)) FROM {table.name}"))


revise = partial(correct_labels, author="ada")
"""Correct the truth of dataset holdout."""


def add_visits(database: Database, *, missed: float, dataset: str = "scored") -> None:
    """A version of the cost matrix `visits`."""
    weights = {"n": {"n": 0.0, "y": 1.0}, "y": {"n": missed, "y": 0.0}}
    add_costs(database, project="default", dataset=dataset, name="visits", weights=weights)


def flags_of(database: Database, run_id: str) -> dict[str, tuple[str, str | None]]:
    """State and reason of the flags of a run by rule and class."""
    with database.read() as session:
        rows = session.scalars(select(FlagRow).where(FlagRow.run_id == run_id))
        return {f"{row.rule} {row.class_label}": (row.state, row.reason) for row in rows}


def run_ids(database: Database) -> list[str]:
    with database.read() as session:
        return sorted(session.scalars(select(RunRow.id)))


def held(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """The contents of a database, without since when work waits: a backup starts that anew."""
    found = contents(database)
    moments = [
        place
        for place, column in enumerate(table_of(WorkRow).columns)
        if column.name in {"due", "lease_until"}
    ]
    found["work"] = [
        tuple(value for place, value in enumerate(row) if place not in moments)
        for row in found["work"]
    ]
    return found


def count_of(database: Database, model: type[Base]) -> int:
    with database.read() as session:
        return len(session.execute(select(*table_of(model).primary_key.columns)).all())


def _judge(database: Database, *, baseline: str) -> None:
    """Costs in two versions, a baseline, and flags of which one is dismissed."""
    add_visits(database, missed=5.0)
    add_visits(database, missed=9.0)
    set_default_costs(database, project="default", dataset="scored", wanted=CostName("visits"))
    pin_baseline(database, baseline, author="ada")
    work_off(database)
    with database.read() as session:
        first = session.scalars(select(FlagRow.id).order_by(FlagRow.id)).first()
    assert first is not None, "no rule fires on these runs any more"
    decide_flags(database, [first], Action.DISMISS, reason="known", author="ada")
    decide_flags(database, [first], Action.COMMENT, text="see the minutes", author="bea")
    comment_on_run(database, baseline, text="a good start", author="bea")
    comment_on_dataset(
        database, project="default", dataset="scored", text="wait for more labels", author=None
    )
    change_run(database, baseline, note="The first run that was any good.")


def _report(database: Database) -> None:
    """A schedule, a computed report whose delivery is refused, and a pending one."""
    scope = ReportScope(project="default", dataset="scored")
    add_schedule(database, name="weekly", cron="0 6 * * 1", zone="UTC", scope=scope, delivery=())
    report_now(database, name="audit", scope=scope, delivery=[EmailTarget("ada@example.org")])
    work_off(database)
    report_now(database, name="pending", scope=scope)


def rewrite(file: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    """Write an archive again with other entries."""
    with zipfile.ZipFile(file) as source:
        entries = {name: source.read(name) for name in source.namelist()}
    change(entries)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        for name, data in entries.items():
            target.writestr(name, data)


def rewrite_manifest(file: Path, **changes: Any) -> None:
    """Write an archive again with other fields in its manifest."""

    def change(entries: dict[str, bytes]) -> None:
        manifest = json.loads(entries[MANIFEST]) | changes
        entries[MANIFEST] = json.dumps(manifest).encode()

    rewrite(file, change)


def replace_part(file: Path, table: str, data: bytes, **facts: Any) -> None:
    """Replace the first part of a table, with a manifest that says that it is right."""

    def change(entries: dict[str, bytes]) -> None:
        manifest = json.loads(entries[MANIFEST])
        part = next(part for part in manifest["parts"] if part["table"] == table)
        entries[part["name"]] = data
        part |= {"n_bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} | facts
        entries[MANIFEST] = json.dumps(manifest).encode()

    rewrite(file, change)


def forge(file: Path, model: type[Base], change: Callable[[dict[str, Any]], None]) -> None:
    """Change every row of a table, and all digests so that they fit."""
    table = table_of(model)
    with zipfile.ZipFile(file) as source:
        manifest = json.loads(source.read(MANIFEST))
        part = next(part for part in manifest["parts"] if part["table"] == table.name)
        rows = list(decode_rows(table, source.read(part["name"]), n_rows=part["n_rows"]))
    for row in rows:
        change(row)
    plain = [plain_row(table, row) for row in rows]  # type: ignore[arg-type]  # A plain mapping does.
    replace_part(file, table.name, encode_rows(table, plain), n_rows=len(rows))

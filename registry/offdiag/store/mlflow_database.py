"""Reading the runs of an experiment from an SQLite database of MLflow, without writing to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from offdiag.domain.runs import MAX_TEXT_LENGTH, Scalar
from offdiag.errors import InvalidInput
from offdiag.importers.mlflow import TrackedRun, artifacts_at, number_or_text
from offdiag.importers.mlflow_folder import no_experiment, no_run

_UNFINISHED = ("RUNNING", "SCHEDULED")
_EXPERIMENTS = "SELECT experiment_id, name FROM experiments WHERE lifecycle_stage = 'active'"
_RUN = "SELECT run_uuid, name, status, artifact_uri FROM runs WHERE lifecycle_stage = 'active'"
_OF_EXPERIMENT = f"{_RUN} AND experiment_id = ? ORDER BY start_time"
_BY_ID = f"{_RUN} AND run_uuid = ?"
_PARAMS = "SELECT key, value FROM params WHERE run_uuid = ? ORDER BY key"
_TAGS = "SELECT key, value FROM tags WHERE run_uuid = ? ORDER BY key"
_METRICS = "SELECT key, value, is_nan FROM latest_metrics WHERE run_uuid = ? ORDER BY key"


@dataclass(frozen=True)
class MlflowDatabase:
    """An MLflow database file."""

    file: Path

    def runs(self, experiment: str) -> Iterator[TrackedRun]:
        """The active runs of an experiment, by its name or id, oldest first.

        Raises `NotFound` if there is no such experiment and `InvalidInput` for a file that is not
        an MLflow database.
        """
        with self._opened() as database:
            wanted = _experiment_id(database, experiment, self.file)
            for found in database.execute(_OF_EXPERIMENT, (wanted,)).fetchall():
                yield _run(database, found, self.file.parent)

    def run(self, run_id: str) -> TrackedRun:
        """A run by its id. Raises `NotFound` and `InvalidInput`."""
        with self._opened() as database:
            found = database.execute(_BY_ID, (run_id,)).fetchone()
            if found is None:
                raise no_run(run_id, self.file)
            return _run(database, found, self.file.parent)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        if not self.file.is_file():
            raise _refused(self.file, "there is no such file")
        address = f"{self.file.resolve().as_uri()}?mode=ro"
        try:
            with closing(sqlite3.connect(address, uri=True)) as database:
                yield database
        except sqlite3.Error as error:
            raise _refused(self.file, str(error)) from None


def _experiment_id(database: sqlite3.Connection, experiment: str, file: Path) -> int:
    known = database.execute(_EXPERIMENTS).fetchall()
    for place in (1, 0):
        for row in known:
            if str(row[place]) == experiment:
                return int(row[0])
    raise no_experiment(experiment, [name for _, name in known], file)


def _run(
    database: sqlite3.Connection, found: tuple[str, str | None, str, str], base: Path
) -> TrackedRun:
    run_id, name, status, address = found
    params = _texts(database, _PARAMS, run_id)
    for key, value, is_nan in database.execute(_METRICS, (run_id,)):
        params[f"metrics.{key}"] = "nan" if is_nan else number_or_text(repr(float(value)))
    tags = _texts(database, _TAGS, run_id)
    return TrackedRun(
        run_id,
        str(name or tags.get("mlflow.runName") or run_id),
        status not in _UNFINISHED,
        artifacts_at(address, base),
        params,
        tags,
    )


def _texts(database: sqlite3.Connection, statement: str, run_id: str) -> dict[str, Scalar]:
    return {
        key: str(value)[:MAX_TEXT_LENGTH] for key, value in database.execute(statement, (run_id,))
    }


def _refused(file: Path, reason: str) -> InvalidInput:
    return InvalidInput(
        f"{file} is not a readable MLflow database: {reason}.",
        field="tracking_uri",
        hint="Check the path; `mlflow db upgrade` upgrades an old one.",
    )

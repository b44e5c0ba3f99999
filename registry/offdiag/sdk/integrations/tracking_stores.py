"""Tracking stores of MLflow by their URI: which kind there is, and who reads it."""

from __future__ import annotations

import math
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from offdiag.domain.runs import MAX_TEXT_LENGTH, Scalar
from offdiag.errors import InvalidInput
from offdiag.importers.mlflow import TrackedRun, is_file_url, path_of
from offdiag.importers.mlflow_folder import FolderStore
from offdiag.sdk.integrations.mlflow_server import opened_server

_DEFAULT_DATABASE = Path("mlflow.db")
_DEFAULT_FOLDER = Path("mlruns")


class TrackingStore(Protocol):
    """Where MLflow keeps its runs."""

    def runs(self, experiment: str) -> Iterator[TrackedRun]:
        """The active runs of an experiment, by its name or id, oldest first."""

    def run(self, run_id: str) -> TrackedRun:
        """A run by its id."""


@contextmanager
def opened_store(uri: str | None) -> Iterator[TrackingStore]:
    """The tracking store at a URI, as MLflow writes them, or at MLflow's own default.

    A folder or `file:` and `sqlite:///` are read as files, `http:` and `https:` are asked, all
    others need the package mlflow. Raises `InvalidInput`.
    """
    address = uri or _default_uri()
    with tempfile.TemporaryDirectory() as downloads:
        if address.startswith(("http://", "https://")):
            with opened_server(address, Path(downloads)) as server:
                yield server
        elif address.startswith("sqlite:///"):
            # What reads a database is loaded by those who have one.
            from offdiag.store.mlflow_database import MlflowDatabase

            yield MlflowDatabase(Path(address.removeprefix("sqlite:///").partition("?")[0]))
        elif "://" in address and not is_file_url(address):
            yield _ClientStore(address, Path(downloads))
        else:
            yield FolderStore(path_of(address))


def _default_uri() -> str:
    """Where MLflow's own client would look, without loading it."""
    if "mlflow" in sys.modules:
        return str(sys.modules["mlflow"].get_tracking_uri())
    known = os.environ.get("MLFLOW_TRACKING_URI")
    if known:
        return known
    if _DEFAULT_DATABASE.is_file():
        return f"sqlite:///{_DEFAULT_DATABASE}"
    return str(_DEFAULT_FOLDER)


@dataclass(frozen=True)
class _ClientStore:
    """A store that is read by MLflow's own client."""

    uri: str
    downloads: Path

    def runs(self, experiment: str) -> Iterator[TrackedRun]:
        client = self._client()
        with _in_words(self.uri):
            found = client.get_experiment_by_name(experiment)
        experiment_id = experiment if found is None else found.experiment_id
        order, token = ["attributes.start_time ASC"], None
        while True:
            with _in_words(self.uri):
                page = client.search_runs([experiment_id], order_by=order, page_token=token)
            for run in page:
                yield self._run(client, run)
            token = page.token
            if not token:
                return

    def run(self, run_id: str) -> TrackedRun:
        client = self._client()
        with _in_words(self.uri):
            return self._run(client, client.get_run(run_id))

    def _client(self) -> Any:
        try:
            from mlflow import MlflowClient
        except ModuleNotFoundError:
            raise InvalidInput(
                f"{self.uri!r} is read by MLflow alone.",
                field="tracking_uri",
                hint="Install mlflow-skinny, or give the address of a tracking server.",
            ) from None
        return MlflowClient(tracking_uri=self.uri)

    def _run(self, client: Any, run: Any) -> TrackedRun:
        metrics = {
            f"metrics.{key}": value if math.isfinite(value) else str(value)
            for key, value in run.data.metrics.items()
        }
        return TrackedRun(
            run.info.run_id,
            run.info.run_name or run.info.run_id,
            run.info.status not in ("RUNNING", "SCHEDULED"),
            _ClientArtifacts(client, run.info.run_id, self.downloads),
            {**_texts(run.data.params), **metrics},
            _texts(run.data.tags),
        )


@dataclass(frozen=True)
class _ClientArtifacts:
    client: Any
    run_id: str
    downloads: Path

    def names(self) -> list[str]:
        with _in_words("The artifact store"):
            return sorted(self._below(None))

    def file(self, name: str) -> Path:
        folder = self.downloads / self.run_id
        folder.mkdir(exist_ok=True)
        with _in_words("The artifact store"):
            return Path(self.client.download_artifacts(self.run_id, name, str(folder)))

    def _below(self, folder: str | None) -> Iterator[str]:
        for entry in self.client.list_artifacts(self.run_id, folder):
            if entry.is_dir:
                yield from self._below(entry.path)
            else:
                yield entry.path


@contextmanager
def _in_words(where: str) -> Iterator[None]:
    from mlflow.exceptions import MlflowException

    try:
        yield
    except MlflowException as error:
        raise InvalidInput(
            f"{where} refuses: {error}", field="tracking_uri", hint="Check it with MLflow itself."
        ) from None


def _texts(entries: Mapping[str, str]) -> dict[str, Scalar]:
    return {key: text[:MAX_TEXT_LENGTH] for key, text in entries.items()}

"""Tracking stores of MLflow by their URI: the kinds of stores, and how each is read."""

from __future__ import annotations

import math
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote

from offdiag.domain.runs import MAX_TEXT_LENGTH, Scalar
from offdiag.errors import InvalidInput, NotFound, ServerUnavailable
from offdiag.importers.mlflow import TrackedRun, is_file_url, number_or_text, path_of
from offdiag.importers.mlflow_folder import FolderStore

if TYPE_CHECKING:
    import httpx

_DEFAULT_DATABASE = Path("mlflow.db")
_DEFAULT_FOLDER = Path("mlruns")


class TrackingStore(Protocol):
    """A store of MLflow runs."""

    def runs(self, experiment: str) -> Iterator[TrackedRun]:
        """The active runs of an experiment, given by its name or id, oldest first."""

    def run(self, run_id: str) -> TrackedRun:
        """The run with an id."""


@contextmanager
def opened_store(uri: str | None) -> Iterator[TrackingStore]:
    """The tracking store at a URI in MLflow's form, or at MLflow's default.

    A folder, `file:` and `sqlite:///` are read as files, and `http:` and `https:` over the
    network; all others need the package mlflow. Raises `InvalidInput`.
    """
    address = uri or _default_uri()
    with tempfile.TemporaryDirectory() as downloads:
        if address.startswith(("http://", "https://")):
            with opened_server(address, Path(downloads)) as server:
                yield server
        elif address.startswith("sqlite:///"):
            # What reads a database is loaded by those who have one.
            from offdiag.store.mlflow_database import MlflowDatabase

            yield MlflowDatabase(_database_file(address))
        elif "://" in address and not is_file_url(address):
            yield _ClientStore(address, Path(downloads))
        else:
            yield FolderStore(path_of(address))


def _database_file(address: str) -> Path:
    """The file of a database; MLflow writes blanks in the path of its default as %20."""
    path = address.removeprefix("sqlite:///").partition("?")[0]
    return Path(path) if Path(path).exists() else Path(unquote(path))


def _default_uri() -> str:
    """The URI that MLflow's own client would use, found without loading it."""
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
    """A store that is read with MLflow's own client."""

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
                f"only MLflow can read {self.uri!r}.",
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


_API = "/api/2.0/mlflow"
_TIMEOUT_S = 60.0
_PAGE = 1_000
_UNFINISHED = ("RUNNING", "SCHEDULED")


@contextmanager
def opened_server(url: str, folder: Path) -> Iterator[Server]:
    """The server at an address; its artifacts are downloaded to a folder.

    User, password and token come from the variables of MLflow's own client:
    MLFLOW_TRACKING_USERNAME, MLFLOW_TRACKING_PASSWORD and MLFLOW_TRACKING_TOKEN.
    """
    import httpx

    token = os.environ.get("MLFLOW_TRACKING_TOKEN")
    user = os.environ.get("MLFLOW_TRACKING_USERNAME")
    with httpx.Client(
        timeout=_TIMEOUT_S,
        headers={"Authorization": f"Bearer {token}"} if token else None,
        auth=(user, os.environ.get("MLFLOW_TRACKING_PASSWORD", "")) if user else None,
    ) as client:
        yield Server(url.rstrip("/"), folder, client)


@dataclass(frozen=True)
class Server:
    """A tracking server with an open connection."""

    url: str
    folder: Path
    client: httpx.Client

    def runs(self, experiment: str) -> Iterator[TrackedRun]:
        """The active runs of an experiment, given by its name or id, oldest first.

        Raises `NotFound`, `InvalidInput` if the server refuses, and `ServerUnavailable`.
        """
        asked: dict[str, Any] = {
            "experiment_ids": [self._experiment_id(experiment)],
            "max_results": _PAGE,
            "order_by": ["attributes.start_time ASC"],
        }
        while True:
            page = self._ask("POST", f"{_API}/runs/search", json=asked)
            for run in page.get("runs", []):
                yield self._run(run)
            token = page.get("next_page_token")
            if not token:
                return
            asked["page_token"] = token

    def run(self, run_id: str) -> TrackedRun:
        return self._run(self._ask("GET", f"{_API}/runs/get", params={"run_id": run_id})["run"])

    def _experiment_id(self, experiment: str) -> str:
        try:
            found = self._ask(
                "GET",
                f"{_API}/experiments/get-by-name",
                params={"experiment_name": experiment},
            )
        except NotFound:
            if not experiment.isdigit():
                raise
            found = self._ask(
                "GET", f"{_API}/experiments/get", params={"experiment_id": experiment}
            )
        return str(found["experiment"]["experiment_id"])

    def _run(self, run: Mapping[str, Any]) -> TrackedRun:
        info, data = run["info"], run.get("data", {})
        run_id = str(info["run_id"])
        tags = _entries(data.get("tags", []))
        params: dict[str, Scalar] = dict(_entries(data.get("params", [])))
        for metric in data.get("metrics", []):
            params[f"metrics.{metric['key']}"] = number_or_text(str(metric.get("value", 0.0)))
        return TrackedRun(
            run_id,
            str(info.get("run_name") or tags.get("mlflow.runName") or run_id),
            info.get("status") not in _UNFINISHED,
            ServerArtifacts(self, run_id),
            params,
            tags,
        )

    def artifact_names(self, run_id: str, folder: str = "") -> Iterator[str]:
        """Paths of the files of a run below a folder."""
        params = {"run_id": run_id, "path": folder} if folder else {"run_id": run_id}
        while True:
            page = self._ask("GET", f"{_API}/artifacts/list", params=params)
            for entry in page.get("files", []):
                if entry.get("is_dir"):
                    yield from self.artifact_names(run_id, entry["path"])
                else:
                    yield str(entry["path"])
            if not page.get("next_page_token"):
                return
            params["page_token"] = page["next_page_token"]

    def download(self, run_id: str, name: str) -> Path:
        """A file of a run, in a folder for that run."""
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            raise InvalidInput(
                f"{name!r} is outside the run.", field="artifact", hint="Name another one."
            )
        file = self.folder / run_id / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with (
            _server_errors(self.url),
            self.client.stream(
                "GET", f"{self.url}/get-artifact", params={"run_id": run_id, "path": name}
            ) as answer,
            file.open("wb") as target,
        ):
            if answer.status_code != 200:
                answer.read()
                raise _refusal(answer, self.url)
            for block in answer.iter_bytes():
                target.write(block)
        return file

    def _ask(self, method: str, path: str, **given: Any) -> dict[str, Any]:
        with _server_errors(self.url):
            answer = self.client.request(method, f"{self.url}{path}", **given)
        if answer.status_code != 200:
            raise _refusal(answer, self.url)
        try:
            found = answer.json()
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise _no_server(self.url)
        return found


@dataclass(frozen=True)
class ServerArtifacts:
    """Artifacts that are downloaded from a server."""

    server: Server
    run_id: str

    def names(self) -> list[str]:
        return sorted(self.server.artifact_names(self.run_id))

    def file(self, name: str) -> Path:
        return self.server.download(self.run_id, name)


def _entries(entries: Iterable[Mapping[str, str]]) -> dict[str, Scalar]:
    return {entry["key"]: entry.get("value", "")[:MAX_TEXT_LENGTH] for entry in entries}


@contextmanager
def _server_errors(url: str) -> Iterator[None]:
    import httpx

    try:
        yield
    except (httpx.TransportError, httpx.InvalidURL) as error:
        raise ServerUnavailable(
            f"{url} cannot be reached ({type(error).__name__}: {error}).",
            field="tracking_uri",
            hint="Check the address, and that the server is running.",
        ) from None


def _refusal(answer: httpx.Response, url: str) -> Exception:
    try:
        said = answer.json()
        reason = str(said["message"]).rstrip(".")
    except (ValueError, KeyError, TypeError):
        return _no_server(url, f" (status {answer.status_code})")
    if answer.status_code == 404:
        return NotFound(
            f"{url} answers: {reason}.", field="tracking_uri", hint="Name another one."
        )
    return InvalidInput(
        f"{url} refuses: {reason}.", field="tracking_uri", hint="Its log may say more."
    )


def _no_server(url: str, status: str = "") -> InvalidInput:
    return InvalidInput(
        f"{url} does not answer like an MLflow tracking server{status}.",
        field="tracking_uri",
        hint="Check the address, and MLFLOW_TRACKING_TOKEN or MLFLOW_TRACKING_USERNAME and "
        "MLFLOW_TRACKING_PASSWORD if it requires sign-in.",
    )

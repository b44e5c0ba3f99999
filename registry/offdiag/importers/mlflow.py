"""MLflow: the runs of a tracking store, with their metrics, parameters, tags and artifacts.

MLflow's own evaluation stores the matrix only as a picture, with shares instead of counts. What
can be imported is a table with one row per sample, such as that of its evaluation or of
`log_table`, or a matrix that the user logged as CSV or JSON.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from offdiag.domain.runs import MAX_TEXT_LENGTH, Scalar
from offdiag.errors import InvalidInput
from offdiag.importers.imported import Imported, ImportedLabels, ImportedMatrix, Stated
from offdiag.importers.named_axes import matrix_with_named_axes
from offdiag.importers.prediction_table import is_prediction_table, read_prediction_table
from offdiag.inputs.files.checks import unreadable

CONVENTION = (
    "The evaluation table has the actual class of a sample in one column, the predicted "
    "one in another; a logged matrix must name its axes."
)
_TABLE = "eval_results_table.json"
_MATRICES = ("confusion_matrix.json", "confusion_matrix.csv")
_TRUE, _PRED = "target", "outputs"
"""MLflow's names for the columns of its evaluation, unless the evaluated data name them."""
_NO_PREDICTIONS = (
    *("input_example.json", "serving_input_example.json", "serving_input_payload.json"),
    "per_class_metrics.csv",
)
"""Tables that MLflow writes about models and about the classes of an evaluation."""
_SHOWN = 10
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_MOST_BYTES = 4 * MAX_TEXT_LENGTH
"""The most bytes that the longest stored text needs in UTF-8."""


class Artifacts(Protocol):
    """The files that a run has logged."""

    def names(self) -> Sequence[str]:
        """Their paths inside the run, sorted. Raises `InvalidInput` if they cannot be reached."""

    def file(self, name: str) -> Path:
        """One of them as a file on this machine. Raises `InvalidInput` if it cannot be reached."""


@dataclass(frozen=True)
class TrackedRun:
    """A run of MLflow. `params` also has its last metrics, as `metrics.<name>`."""

    run_id: str
    name: str
    is_finished: bool
    artifacts: Artifacts
    params: Mapping[str, Scalar] = field(default_factory=dict)
    tags: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True)
class FolderArtifacts:
    """Artifacts in a folder."""

    folder: Path

    def names(self) -> list[str]:
        return sorted(file.relative_to(self.folder).as_posix() for file in _files(self.folder))

    def file(self, name: str) -> Path:
        return self.folder / name


@dataclass(frozen=True)
class UnreachableArtifacts:
    """Artifacts that are not on this machine, or in a store that only MLflow can read."""

    address: str

    def names(self) -> list[str]:
        is_folder = "://" not in self.address and not self.address.startswith("mlflow-artifacts:")
        raise InvalidInput(
            f"there is no folder {self.address}: the run has no artifacts, or not on this machine."
            if is_folder
            else f"its artifacts are at {self.address}.",
            field="tracking_uri",
            hint="Run `mlflow server` where they can be read, and give its address.",
        )

    def file(self, name: str) -> Path:
        raise NotImplementedError(name)


def artifacts_at(address: str, base: Path) -> Artifacts:
    """The artifacts at a path or `file:` address; relative paths start at `base`."""
    folder = base / path_of(address)
    return FolderArtifacts(folder) if folder.is_dir() else UnreachableArtifacts(address)


def path_of(address: str) -> Path:
    """The path in a `file:` address, or any other address as a path."""
    return Path(unquote(urlsplit(address).path)) if is_file_url(address) else Path(address)


def is_file_url(address: str) -> bool:
    """Whether an address begins with `file:`."""
    return address.startswith("file:")


def read_mlflow(path: Path, stated: Stated) -> Imported:
    """Read a run directory such as `mlruns/0/6f1c…`. Raises `InvalidInput`."""
    if not (path / "artifacts").is_dir():
        raise InvalidInput(
            f"{str(path)!r} is not a run of MLflow: it has no folder 'artifacts'.",
            field="file",
            hint="Give the folder that holds meta.yaml, metrics and artifacts.",
        )
    return read_tracked(run_in_folder(path, path.name), stated)[1]


def run_in_folder(
    path: Path, run_id: str, *, name: str = "", is_finished: bool = True, address: str = ""
) -> TrackedRun:
    """A run as the file store stores it. Raises `InvalidInput` if it cannot be read.

    `address` is the place of the artifacts, if they are not next to the parameters.
    """
    beside = path / "artifacts"
    try:
        params = {**_entries(path / "params"), **_metrics(path / "metrics")}
        tags = _entries(path / "tags")
    except OSError as error:
        raise unreadable(path, error) from None
    return TrackedRun(
        run_id,
        str(tags.get("mlflow.runName") or name or run_id),
        is_finished,
        FolderArtifacts(beside) if beside.is_dir() else artifacts_at(address, path),
        params,
        tags,
    )


def read_tracked(run: TrackedRun, stated: Stated) -> tuple[str, Imported]:
    """The path and content of the artifact with the predictions or the matrix of a run.

    Unless an artifact is stated, it is the table of an evaluation, else the only table whose
    columns are recognised, else a confusion matrix. Raises `InvalidInput` if there is none or more
    than one.
    """
    names = run.artifacts.names()
    if stated.artifact is not None:
        if stated.artifact not in names:
            raise InvalidInput(
                f"the run has no artifact {stated.artifact!r}.", field="artifact", hint=_has(names)
            )
        return _read(run, stated.artifact, stated)
    refused: list[InvalidInput] = []
    for candidates in _candidates(names):
        found = []
        for name in candidates:
            try:
                found.append(_read(run, name, stated))
            except InvalidInput as error:
                refused.append(error)
        if len(found) == 1:
            return found[0]
        if found:
            raise InvalidInput(
                f"the run has several: {', '.join(name for name, _ in found)}.",
                field="artifact",
                hint="Name one of them.",
            )
    if refused:
        raise refused[0]
    raise InvalidInput(
        "the run has no table of predictions and no confusion matrix among its artifacts.",
        field="artifact",
        hint=_has(names),
    )


def _candidates(names: Sequence[str]) -> Iterator[list[str]]:
    """Artifacts that may be read, the most likely ones first."""
    evaluations = [name for name in names if _base(name) == _TABLE]
    matrices = [name for name in names if _base(name) in _MATRICES]
    models = tuple(name.removesuffix("MLmodel") for name in names if name.endswith("/MLmodel"))
    yield evaluations
    yield [
        name
        for name in names
        if is_prediction_table(name)
        and name not in (*evaluations, *matrices)
        and _base(name) not in _NO_PREDICTIONS
        and not name.startswith(models)
    ]
    yield matrices


def _base(name: str) -> str:
    return name.rpartition("/")[2]


def _read(run: TrackedRun, name: str, stated: Stated) -> tuple[str, Imported]:
    file = run.artifacts.file(name)
    content = _content(file, stated)
    return name, Imported("mlflow", CONVENTION, content, file, run.params, run.tags)


def _content(file: Path, stated: Stated) -> ImportedLabels | ImportedMatrix:
    if not is_prediction_table(file.name):
        return matrix_with_named_axes(file, stated)
    if file.name == _TABLE and stated.true_column is None and stated.pred_column is None:
        try:
            return read_prediction_table(
                file, replace(stated, true_column=_TRUE, pred_column=_PRED)
            )
        except InvalidInput as error:
            if error.field not in ("true_column", "pred_column"):
                raise
    try:
        return read_prediction_table(file, stated)
    except InvalidInput as error:
        try:
            return matrix_with_named_axes(file, stated)
        except InvalidInput as of_matrix:
            # Of a matrix that lacks its orientation or its classes, that is what is amiss.
            is_matrix = of_matrix.field == "orientation" or file.name in _MATRICES
            raise (of_matrix if is_matrix else error) from None


def _files(folder: Path) -> Iterator[Path]:
    """Every file below a folder. A run may come from anywhere, so links out of it are refused."""
    inside = folder.resolve()
    for file in sorted(folder.rglob("*")):
        if not file.is_file():
            continue
        if not file.resolve().is_relative_to(inside):
            raise InvalidInput(
                f"{str(file)!r} is a link out of the run.",
                field="file",
                hint="Remove it, or copy its target.",
            )
        yield file


def _has(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    return f"It has {shown}." if shown else "It has none."


def _entries(folder: Path) -> dict[str, Scalar]:
    """The content of each file below a folder by its path, cut to the stored length."""
    return {
        f"{file.relative_to(folder).as_posix()}": _text(file)[:MAX_TEXT_LENGTH]
        for file in _files(folder)
    }


def _metrics(folder: Path) -> dict[str, Scalar]:
    """The last value of each metric; a line has its time, its value and its step.

    The last value is the latest one of the highest step, as MLflow shows it: in a run that was
    resumed or has several writers, lines may be in another order.
    """
    metrics: dict[str, Scalar] = {}
    for file in _files(folder):
        lines = [line.split() for line in _text(file, last=True).splitlines()]
        if len(lines) > 1 and file.stat().st_size > _MOST_BYTES:
            del lines[0]  # Its beginning may be missing.
        values = [fields for fields in lines if len(fields) >= 2]
        if values:
            name = f"metrics.{file.relative_to(folder).as_posix()}"
            metrics[name] = number_or_text(max(reversed(values), key=_step_and_time)[1])
    return metrics


def _step_and_time(fields: Sequence[str]) -> tuple[float, ...]:
    step = fields[2] if len(fields) > 2 else "0"
    found = (number_or_text(text) for text in (step, fields[0]))
    return tuple(each if isinstance(each, float) else 0.0 for each in found)


def number_or_text(text: str) -> float | str:
    """A text as a number; NaN and infinities stay text."""
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else text


def _text(file: Path, *, last: bool = False) -> str:
    """The beginning of a file, or its end, up to the stored length."""
    with file.open("rb") as source:
        if last:
            source.seek(max(0, file.stat().st_size - _MOST_BYTES))
        text = source.read(_MOST_BYTES).decode("utf-8", "replace")
    return text.strip().replace("\0", "")

"""The runs of an experiment in MLflow's file store, a folder such as `mlruns`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from offdiag.errors import InvalidInput, NotFound
from offdiag.importers.mlflow import TrackedRun, run_in_folder
from offdiag.inputs.files.checks import unreadable

_FINISHED = "3"
_UNFINISHED = ("1", "2")
"""States are numbered from 1: RUNNING, SCHEDULED, FINISHED, FAILED, KILLED."""
_LINE = re.compile(r"^(\w+): (.*(?:\n +.*)*)$", re.MULTILINE)


@dataclass(frozen=True)
class FolderStore:
    """A file store, given by its folder."""

    folder: Path

    def runs(self, experiment: str) -> Iterator[TrackedRun]:
        """The active runs of an experiment, given by its name or id, oldest first.

        Raises `NotFound` if there is no such experiment, and `InvalidInput` for unreadable files.
        """
        if not self.folder.is_dir():
            raise InvalidInput(
                f"there is no folder {str(self.folder)!r}.",
                field="tracking_uri",
                hint="Give the folder mlruns, sqlite:///FILE or the address of a server.",
            )
        known = [(read_meta(folder), folder) for folder in _folders(self.folder)]
        active = [(meta, folder) for meta, folder in known if _is_active(meta)]
        for key in ("name", "experiment_id"):
            for meta, folder in active:
                if meta.get(key) == experiment:
                    yield from _runs(folder)
                    return
        raise no_experiment(experiment, [meta.get("name", "") for meta, _ in active], self.folder)

    def run(self, run_id: str) -> TrackedRun:
        """The run with an id. Raises `NotFound`, and `InvalidInput` if it cannot be read."""
        for folder in _folders(self.folder):
            found = folder / run_id
            if found in _folders(folder):
                return _run(found, read_meta(found))
        raise no_run(run_id, self.folder)


def _runs(experiment: Path) -> Iterator[TrackedRun]:
    found = [(read_meta(folder), folder) for folder in _folders(experiment)]
    for meta, folder in sorted(found, key=lambda run: run[0].get("start_time", "").zfill(20)):
        if _is_active(meta):
            yield _run(folder, meta)


def _run(folder: Path, meta: Mapping[str, str]) -> TrackedRun:
    return run_in_folder(
        folder,
        folder.name,
        name=meta.get("run_name", ""),
        is_finished=meta.get("status", _FINISHED) not in _UNFINISHED,
        address=meta.get("artifact_uri") or str(folder / "artifacts"),
    )


def _is_active(meta: Mapping[str, str]) -> bool:
    return meta.get("lifecycle_stage", "active") == "active"


def no_run(wanted: str, where: object) -> NotFound:
    """The error for a run that a store does not have."""
    return NotFound(
        f"{where} has no run {wanted!r}.", field="run_id", hint="MLflow shows ids of 32 digits."
    )


def no_experiment(wanted: str, known: list[str], where: object) -> NotFound:
    """The error for an experiment that a store does not have."""
    shown = ", ".join(repr(name) for name in sorted(known)[:10])
    return NotFound(
        f"{where} has no experiment {wanted!r}.",
        field="experiment",
        hint=f"It has {shown}." if shown else "It has none.",
    )


def _folders(parent: Path) -> list[Path]:
    try:
        return sorted(meta.parent for meta in parent.glob("*/meta.yaml") if not _hidden(meta))
    except OSError as error:
        raise unreadable(parent, error) from None


def _hidden(meta: Path) -> bool:
    return meta.parent.name.startswith(".") or meta.parent.is_symlink()


def read_meta(folder: Path) -> Mapping[str, str]:
    """The scalars of `meta.yaml`, which is flat: one name and one value per line."""
    file = folder / "meta.yaml"
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise unreadable(file, error) from None
    except UnicodeDecodeError:
        raise InvalidInput(
            f"{file} is not UTF-8.", field="tracking_uri", hint="Correct the file."
        ) from None
    return {name: _scalar(value) for name, value in _LINE.findall(text)}


def _scalar(text: str) -> str:
    """A YAML value as text; long ones are folded over indented lines."""
    text = " ".join(line for line in map(str.strip, text.split("\n")) if line)
    if text.startswith("'") and text.endswith("'"):
        return text[1:-1].replace("''", "'")
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except ValueError:
            return text.strip('"')
    return "" if text == "null" else text

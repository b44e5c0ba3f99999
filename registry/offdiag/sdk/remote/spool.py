"""What waits on this machine to be sent, runs and content: a folder each, of whole files.

    <spool>/<run>/run.json        what opens the run on a server
                  000000.<digest>.arrow    a chunk
                  finished.json   how many chunks there are; without it the job never finished
                  refused.json    why the registry refused it; then it is sent only if asked to
                  lock            held by the job that writes, or the process that sends

A file is written under another name and then renamed, so that a process killed at any moment
leaves whole files only. The lock is one of the kernel: it ends with the process that holds it.

Each file has a digest over its folder and content, so that a damaged or exchanged one is never
sent. Those of version 1 had none, and chunks were named 000000.arrow.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from offdiag.errors import (
    NO_ROOM,
    Conflict,
    InvalidInput,
    Malformed,
    OffdiagError,
    SpoolFull,
    TooLarge,
)

PAIRED_COUNTS = "paired counts"
"""The kind of a request that logs several runs."""
SAMPLES = "samples"
"""The kind of a request that stores content of samples; it names their dataset, and no run."""
_VERSION = 2
_RUN, _FINISHED, _LOCK, _REFUSED = "run.json", "finished.json", "lock", "refused.json"
_CHUNK_SUFFIX = ".arrow"
_CHUNK = re.compile(rf"(\d+)(?:\.[0-9a-f]{{64}})?{re.escape(_CHUNK_SUFFIX)}")
_UNFINISHED = re.compile(rf"{re.escape(_RUN)}\.\d+\.part")
_FOLDER_MODE, _FILE_MODE = 0o700, 0o600
_FINAL = frozenset({InvalidInput.code, Malformed.code, TooLarge.code, Conflict.code})
"""Codes of refusals that the same data would get again; a missing permission may be granted."""


def is_final(refusal: OffdiagError) -> bool:
    """Whether the registry would refuse the same data again."""
    return refusal.code in _FINAL


@dataclass(frozen=True, slots=True)
class SpooledRequest:
    """A request to a server, with its JSON body.

    The kind is "run", "matrix", "counts", "paired counts" or "samples".
    """

    kind: str
    body: str

    @classmethod
    def of_samples(cls, project: str, dataset: str, upload: str) -> SpooledRequest:
        """The request for a chunk of content; the same content is the same request."""
        key = hashlib.sha256(f"{dataset}\0{upload}".encode()).hexdigest()
        said = json.dumps({"name": dataset, "project": project, "client_key": key})
        # The chunk is large and is JSON already.
        return cls(SAMPLES, f'{said[:-1]}, "upload": {upload}}}')

    def samples(self) -> tuple[str, str]:
        """The dataset of waiting content, and the body that stores its chunk."""
        said = json.loads(self.body)
        return said["name"], json.dumps(said["upload"])

    def name_and_project(self) -> tuple[str, str]:
        """The name of the run, or the dataset of samples, and the project."""
        said = json.loads(self.body)
        if self.kind == PAIRED_COUNTS:
            return ", ".join(run["name"] for run in said["runs"]), said["project"]
        return said["name"], said["project"]


class SpooledRun:
    """The folder of one run. A process that writes to it or sends it holds its lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock: int | None = None
        self._is_begun = False

    @classmethod
    def of(cls, spool: Path, asked: SpooledRequest) -> SpooledRun:
        """The folder of a run, the same for the same client key in the same project."""
        said = json.loads(asked.body)
        runs = said["runs"] if asked.kind == PAIRED_COUNTS else [said]
        keys = [run["client_key"] for run in runs]
        key = json.dumps([asked.kind, said["project"], *keys])
        return cls(spool / hashlib.sha256(key.encode()).hexdigest()[:24])

    def begin(self, asked: SpooledRequest) -> None:
        """Create the folder and write what it contains. Raises `SpoolFull` and `InvalidInput`.

        What another attempt with the same key left there is replaced if it was refused.
        """
        try:
            for folder in (self.folder.parent, self.folder):
                folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        except OSError as error:
            raise self._failure(error) from error
        if not self.hold():
            raise Conflict(
                f"another process writes or sends the run in {str(self.folder)!r}.",
                field="client_key",
                hint="Log it with one process at a time, or with another client key.",
            )
        if not self._is_begun and (self.folder / _REFUSED).exists():
            self._remove_content()
        self._is_begun = True
        body = json.loads(asked.body)
        digest = self._digest(asked.kind, json.dumps(body))
        said = {"version": _VERSION, "kind": asked.kind, "body": body, "sha256": digest}
        self._write(_RUN, json.dumps(said).encode())

    def hold(self) -> bool:
        """Take the lock until `release` or the end of the process; False if it is taken."""
        if self._lock is not None:
            return True
        try:
            lock = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _FILE_MODE)
        except FileNotFoundError:
            return False  # The process that sent it has removed it.
        except OSError as error:
            raise self._failure(error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return False
        self._lock = lock
        return True

    def release(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def asked(self) -> SpooledRequest | None:
        """The request that opens the run; None if the folder has none in a known form."""
        try:
            said = json.loads((self.folder / _RUN).read_bytes())
            found = SpooledRequest(said["kind"], json.dumps(said["body"]))
            found.name_and_project()
            if said["version"] == 1:
                return found
            is_intact = said["sha256"] == self._digest(found.kind, found.body)
            return found if said["version"] == _VERSION and is_intact else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def is_unfilled(self) -> bool:
        """Whether the process that made the folder ended before it wrote a complete file."""
        names = (path.name for path in self.folder.iterdir())
        return all(name == _LOCK or _UNFINISHED.fullmatch(name) for name in names)

    def put(self, seq: int, data: Any) -> Path:
        """Keep a chunk, in place of another one with its number, if there is any.

        Raises `SpoolFull` and `InvalidInput`.
        """
        name = self._name_of_chunk(seq, data)
        path = self._write(name, data)
        for other in self.folder.glob(f"{seq:06}.*"):
            if other.name != name and _CHUNK.fullmatch(other.name):
                other.unlink(missing_ok=True)
        return path

    def content(self, seq: int, chunk: Path) -> bytes:
        """The content of a waiting chunk. Raises `Malformed` if it is not what was put there."""
        data = chunk.read_bytes()
        if chunk.name not in {self._name_of_chunk(seq, data), f"{seq:06}{_CHUNK_SUFFIX}"}:
            raise Malformed(
                f"its chunk {seq} is damaged.", hint="Log it again, or remove its folder."
            )
        return data

    def _name_of_chunk(self, seq: int, data: Any) -> str:
        return f"{seq:06}.{self._digest(str(seq), data)}{_CHUNK_SUFFIX}"

    def finish(self, n_chunks: int) -> None:
        """Record that no more chunks follow. Raises as `put` does."""
        said = {"n_chunks": n_chunks, "sha256": self._digest(str(n_chunks))}
        self._write(_FINISHED, json.dumps(said).encode())

    def n_chunks(self) -> int | None:
        """How many chunks the run has, sent or not; None while it is not finished.

        Raises `Malformed` if that cannot be read.
        """
        try:
            said = json.loads((self.folder / _FINISHED).read_bytes())
            n_chunks = int(said["n_chunks"])
            is_intact = said.get("sha256") in {None, self._digest(str(n_chunks))}
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            is_intact = False
        if not is_intact:
            raise Malformed(
                f"its {_FINISHED} is damaged.",
                hint="Log it again, or remove its folder.",
            )
        return n_chunks

    def chunks(self) -> list[tuple[int, Path]]:
        """The waiting chunks by number."""
        found = ((_CHUNK.fullmatch(path.name), path) for path in self.folder.iterdir())
        return sorted((int(match[1]), path) for match, path in found if match is not None)

    def explain(self, refusal: OffdiagError) -> None:
        """Store the reason of a refusal next to the run."""
        self._write(_REFUSED, json.dumps(refusal.to_dict()).encode())

    def refusal(self) -> str | None:
        """Why the run would be refused again; None if it was not, or if that may have changed."""
        try:
            said = json.loads((self.folder / _REFUSED).read_bytes())
            refusal = OffdiagError(said["message"], field=said["field"], hint=said["hint"])
            return str(refusal) if said["code"] in _FINAL else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def remove(self) -> None:
        """Remove the folder with what is left in it, after everything is sent or discarded."""
        self._remove_content()
        (self.folder / _LOCK).unlink(missing_ok=True)
        # Another process may just have opened a lock of its own; an empty folder is no harm.
        with suppress(OSError):
            self.folder.rmdir()
        self.release()

    def _remove_content(self) -> None:
        # The reason goes last: without it, what is left of a refused run would be sent.
        for _, path in self.chunks():
            path.unlink(missing_ok=True)
        for name in (_RUN, _FINISHED, _REFUSED):
            (self.folder / name).unlink(missing_ok=True)
        for path in self.folder.glob("*.part"):
            path.unlink(missing_ok=True)

    def _digest(self, *content: Any) -> str:
        digest = hashlib.sha256(self.folder.name.encode())
        for part in content:
            digest.update(b"\0")
            digest.update(part.encode() if isinstance(part, str) else part)
        return digest.hexdigest()

    def _write(self, name: str, data: Any) -> Path:
        path = self.folder / name
        part = self.folder / f"{name}.{os.getpid()}.part"
        try:
            with open(part, "wb", opener=_for_the_owner) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
            _sync_folder(self.folder)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise self._failure(error) from error
        return path

    def _failure(self, error: OSError) -> SpoolFull | InvalidInput:
        if error.errno in NO_ROOM:
            return SpoolFull(
                f"there is no room in {str(self.folder)!r} for predictions waiting to be sent.",
                field="client.spool",
                hint="Make room, or set OFFDIAG_SPOOL to a folder on another disk.",
            )
        return InvalidInput(
            f"{str(self.folder)!r} cannot be written: {error.strerror or error}.",
            field="client.spool",
            hint="Set OFFDIAG_SPOOL to another folder.",
        )


def spooled_runs(spool: Path) -> Iterator[SpooledRun]:
    """The folders of a spool, oldest first."""
    if not spool.is_dir():
        return
    folders = []
    for path in spool.iterdir():
        with suppress(FileNotFoundError):  # Another process that sends has removed it.
            if path.is_dir():
                folders.append((path.stat().st_mtime, path.name, path))
    for _, _, folder in sorted(folders):
        yield SpooledRun(folder)


def _for_the_owner(path: str, flags: int) -> int:
    """Make waiting predictions readable by their owner only, whatever the umask."""
    return os.open(path, flags, _FILE_MODE)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Sending what waits in the offline queue, each item once, even if other processes send too."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from offdiag.domain.labels import LabelSet
from offdiag.errors import DatabaseUnavailable, NotFound, OffdiagError
from offdiag.records.ingest import ClosedRun, ClosedRuns, OpenedRun
from offdiag.sdk.remote.connection import Connection, with_retries
from offdiag.sdk.remote.send import send_chunk, send_closing, send_samples
from offdiag.sdk.remote.spool import (
    PAIRED_COUNTS,
    SAMPLES,
    SpooledRequest,
    SpooledRun,
    spooled_runs,
)
from offdiag.services.ingest.chunk_stream import in_order_of

_WITHOUT_RUN = (
    "its run.json is missing, damaged, or written by another version of offdiag. "
    "Send it with that version, or remove its folder."
)


class SyncResult(StrEnum):
    """The outcome of a run in the spool."""

    SENT = "sent"
    LEFT_OPEN = "left open"
    """Everything there is was sent, but the job ended before it finished the run."""
    REFUSED = "refused"
    DISCARDED = "discarded"
    NOT_REACHED = "not reached"
    IN_USE = "in use"
    """A job still writes it, or another process is sending it."""
    UNREADABLE = "unreadable"

    @property
    def is_done(self) -> bool:
        """Whether it is stored, as far as there is something to store."""
        return self in {SyncResult.SENT, SyncResult.LEFT_OPEN}

    @property
    def is_left(self) -> bool:
        """Whether it is still in the spool."""
        return not self.is_done and self is not SyncResult.DISCARDED


@dataclass(frozen=True, slots=True)
class SyncedRun:
    """A run or content of the spool after one attempt; `why` says why it is still there."""

    folder: str
    outcome: SyncResult
    name: str | None = None
    project: str | None = None
    run_id: str | None = None
    n_sent: int = 0
    why: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


class Destination(Protocol):
    """Where spooled runs are sent to. Each method makes one attempt and raises its errors."""

    def open_run(self, asked: SpooledRequest) -> tuple[str, LabelSet]:
        """Open the run or find it; its id, and its classes at the destination."""
        ...

    def put(self, run_id: str, seq: int, content: bytes) -> None:
        """Store one chunk, an Arrow stream."""
        ...

    def finish(self, run_id: str, n_chunks: int) -> None:
        """Close the run."""
        ...

    def log_whole(self, asked: SpooledRequest) -> str | None:
        """Log what is a single request; the id of its run, None for content of samples."""
        ...


@dataclass(frozen=True, slots=True)
class ServerDestination:
    """A server that spooled runs are sent to."""

    connection: Connection
    retry_for_s: float

    def open_run(self, asked: SpooledRequest) -> tuple[str, LabelSet]:
        answer = self._patiently(lambda: self.connection.send("POST", "/runs", asked.body))
        run = OpenedRun.model_validate_json(answer)
        return run.id, run.labels.label_set()

    def put(self, run_id: str, seq: int, content: bytes) -> None:
        self._patiently(lambda: send_chunk(self.connection, run_id, seq, content))

    def finish(self, run_id: str, n_chunks: int) -> None:
        self._patiently(lambda: send_closing(self.connection, run_id, n_chunks or None))

    def log_whole(self, asked: SpooledRequest) -> str | None:
        if asked.kind == SAMPLES:
            self._patiently(lambda: send_samples(self.connection, *asked.samples()))
            return None
        path = {"matrix": "/matrices", "counts": "/counts"}.get(asked.kind, "/paired-counts")
        answer = self._patiently(lambda: self.connection.send("POST", path, asked.body))
        if asked.kind == PAIRED_COUNTS:
            return ", ".join(run.id for run in ClosedRuns.model_validate_json(answer).runs)
        return ClosedRun.model_validate_json(answer).id

    def _patiently(self, attempt: Callable[[], Any]) -> Any:
        return with_retries(attempt, retry_for_s=self.retry_for_s)


def sync(
    spool: Path,
    destination: Destination,
    *,
    retries_refused: bool = False,
    discarded: Collection[str] = (),
) -> Iterator[SyncedRun]:
    """Send the runs of a spool one by one, oldest first; stored ones are removed from it.

    A refused run stays, with the reason next to it, and the others are sent. It is sent again only
    with `retries_refused`, and removed if its folder is in `discarded`. If the destination cannot
    be reached, the rest stays unchanged. Raises `NotFound` for a folder to discard that has no
    refused run.
    """
    for name in discarded:
        _require_refused(spool, name)
    is_away = False
    for spooled in spooled_runs(spool):
        if not spooled.hold():
            yield SyncedRun(spooled.folder.name, SyncResult.IN_USE)
            continue
        try:
            if spooled.folder.name in discarded:
                found: SyncedRun | None = _discarded(spooled)
            elif not retries_refused and (refusal := spooled.refusal()) is not None:
                found = _described(spooled, SyncResult.REFUSED, refusal)
            else:
                found = _synced(spooled, destination, is_away=is_away)
        finally:
            spooled.release()
        if found is not None:
            yield found
            is_away = is_away or found.outcome is SyncResult.NOT_REACHED


def _require_refused(spool: Path, folder: str) -> None:
    known = [spooled for spooled in spooled_runs(spool) if spooled.folder.name == folder]
    if known and known[0].refusal() is not None:
        return
    if known:
        message, hint = f"{folder!r} was not refused, but waits.", "Run `offdiag sync` to send it."
    else:
        message = f"there is no {folder!r} in {str(spool)!r}."
        hint = "`offdiag sync` lists the folders in the queue."
    raise NotFound(message, field="discard", hint=hint)


def _discarded(spooled: SpooledRun) -> SyncedRun:
    described = _described(spooled, SyncResult.DISCARDED, None)
    spooled.remove()
    return described


def _described(spooled: SpooledRun, outcome: SyncResult, why: str | None) -> SyncedRun:
    asked = spooled.asked()
    name, project = (None, None) if asked is None else asked.name_and_project()
    return SyncedRun(spooled.folder.name, outcome, name, project, why=why)


@dataclass(slots=True)
class _Progress:
    """What the destination has of a run so far."""

    run_id: str | None = None
    n_sent: int = 0


def _synced(spooled: SpooledRun, destination: Destination, *, is_away: bool) -> SyncedRun | None:
    folder = spooled.folder.name
    asked = spooled.asked()
    if asked is None:
        if spooled.is_unfilled():
            spooled.remove()
            return None
        return SyncedRun(folder, SyncResult.UNREADABLE, why=_WITHOUT_RUN)
    name, project = asked.name_and_project()
    if is_away:
        return SyncedRun(folder, SyncResult.NOT_REACHED, name, project)
    progress = _Progress()
    why = None
    try:
        outcome = _sent(spooled, asked, destination, progress)
    except DatabaseUnavailable as error:
        outcome, why = SyncResult.NOT_REACHED, str(error)
    except OffdiagError as error:
        spooled.explain(error)
        outcome, why = SyncResult.REFUSED, str(error)
    else:
        spooled.remove()
    return SyncedRun(folder, outcome, name, project, progress.run_id, progress.n_sent, why)


def _sent(
    spooled: SpooledRun, asked: SpooledRequest, destination: Destination, progress: _Progress
) -> SyncResult:
    """Send everything, noting what is stored."""
    n_chunks = spooled.n_chunks()
    if asked.kind != "run":
        progress.run_id = destination.log_whole(asked)
        return SyncResult.SENT
    run_id, labels = destination.open_run(asked)
    progress.run_id = run_id
    for seq, path in spooled.chunks():
        destination.put(run_id, seq, in_order_of(spooled.content(seq, path), labels))
        path.unlink()
        progress.n_sent += 1
    if n_chunks is None:
        return SyncResult.LEFT_OPEN
    destination.finish(run_id, n_chunks)
    return SyncResult.SENT

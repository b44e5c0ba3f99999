"""A run that is logged to a server: open there, or in the spool until `offdiag sync` sends it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from offdiag.domain.labels import LabelSet
from offdiag.domain.look_alikes import warn_of
from offdiag.domain.runs import RunState
from offdiag.errors import Conflict, KeyUsed, OffdiagError, RunKept, ServerUnavailable
from offdiag.records.ingest import OpenedRun
from offdiag.sdk.remote.connection import Connection, with_retries
from offdiag.sdk.remote.send import AT_EXIT_S, Sender, rows_in_request, send_chunk, send_closing
from offdiag.sdk.remote.spool import SpooledRequest, SpooledRun, is_final
from offdiag.services.ingest.batch import Batch
from offdiag.services.ingest.chunk_stream import write_chunk
from offdiag.settings import ClientSettings

WAITING = "waiting/"
"""Prefix of the ids of runs that no server has yet."""


class RemoteRun:
    """An open run on a server."""

    keeps = True

    def __init__(
        self,
        connection: Connection,
        opened: OpenedRun,
        asked: SpooledRequest,
        settings: ClientSettings,
    ) -> None:
        self.run_id = opened.id
        self.labels = opened.labels.label_set()
        self.positive_label = opened.positive_label
        # A finished run that was found by its key takes no chunks.
        self._is_open = opened.state == RunState.OPEN.value
        self._connection = connection
        self._settings = settings
        self._asked = asked
        self._spooled = SpooledRun.of(Path(settings.spool), asked)
        self._sender = Sender(self._send, self._spooled, asked)

    def chunk_size(self, batch: Batch) -> int:
        """As many samples as one request takes."""
        return rows_in_request(batch)

    def put(self, seq: int, batch: Batch) -> None:
        """Pass one chunk to the thread that sends. Raises `SpoolFull`."""
        self._sender.put(seq, write_chunk(batch, self.labels))

    def leave(self) -> None:
        """Send what was put for at most `AT_EXIT_S`; the rest stays in the spool."""
        self._sender.close(retry_for_s=min(AT_EXIT_S, self._settings.retry_for_s))
        self._spooled.release()

    def finish(self, n_chunks: int) -> str:
        """Close the run when everything is stored, or leave the rest in the spool.

        Raises the refusal of the server, unless only a warning is wanted.
        """
        retry_until = time.monotonic() + self._settings.retry_for_s
        failure = self._sender.close(retry_for_s=self._settings.retry_for_s)
        if failure is None:
            try:
                run_id = with_retries(
                    lambda: send_closing(self._connection, self.run_id, n_chunks or None),
                    retry_for_s=max(0.0, retry_until - time.monotonic()),
                )
            except OffdiagError as error:
                failure = error
            else:
                if self._sender.has_spooled:
                    self._spooled.remove()
                return run_id
        failure = self._explained(failure)
        keep_finished(self._spooled, self._asked, n_chunks, failure)
        report(failure, self._spooled, self._settings)
        return self.run_id

    def _explained(self, failure: OffdiagError) -> OffdiagError:
        """A refusal in terms of the run instead of its chunks, saying if the run stays open."""
        if isinstance(failure, Conflict) and failure.field in ("seq", "n_chunks"):
            failure = KeyUsed(
                f"run {self.run_id} was logged before with other content.",
                field="client_key",
                hint="Use a new key for a new run; a retry must send the same.",
            )
        if not self._is_open or not is_final(failure):
            return failure
        stays = f"Run {self.run_id} stays open; `offdiag runs delete {self.run_id}` deletes it."
        hint = f"{failure.hint} {stays}" if failure.hint else stays
        return type(failure)(failure.message, field=failure.field, hint=hint)

    def _send(self, seq: int, content: Any) -> None:
        send_chunk(self._connection, self.run_id, seq, content)


class SpoolingRun:
    """A run that is only in the spool until `offdiag sync` sends it."""

    keeps = True

    def __init__(
        self, labels: LabelSet, positive_label: str | None, asked: SpooledRequest, spool: Path
    ) -> None:
        self.labels = labels
        self.positive_label = positive_label
        self._asked = asked
        self.spooled = SpooledRun.of(spool, asked)
        self.spooled.begin(asked)
        self.run_id = f"{WAITING}{self.spooled.folder.name}"

    def chunk_size(self, batch: Batch) -> int:
        """As many samples as one request takes."""
        return rows_in_request(batch)

    def put(self, seq: int, batch: Batch) -> None:
        """Keep one chunk. Raises `SpoolFull`."""
        self.spooled.put(seq, write_chunk(batch, self.labels))

    def leave(self) -> None:
        """Let `offdiag sync` send the chunks that were put."""
        self.spooled.release()

    def finish(self, n_chunks: int) -> str:
        """Mark the run as complete."""
        keep_finished(self.spooled, self._asked, n_chunks)
        return self.run_id


def keep_finished(
    spooled: SpooledRun,
    asked: SpooledRequest,
    n_chunks: int,
    failure: OffdiagError | None = None,
) -> None:
    """Mark a run in the spool as complete, and let other processes send it, unless refused."""
    spooled.begin(asked)
    spooled.finish(n_chunks)
    if failure is not None and is_final(failure):
        spooled.explain(failure)
    spooled.release()


def where_kept(failure: OffdiagError, spooled: SpooledRun, what: str = "run") -> str:
    """A sentence about data in the spool: that it waits, or what can be done if it is refused."""
    if not is_final(failure):
        return f"The {what} is kept in {spooled.folder}; `offdiag sync` sends it."
    return (
        f"The {what} is kept in {spooled.folder} as refused: `offdiag sync --retry` sends it "
        f"again, and `offdiag sync --discard {spooled.folder.name}` removes it."
    )


def report(
    failure: OffdiagError, spooled: SpooledRun, settings: ClientSettings, what: str = "run"
) -> None:
    """Raise a refusal, or warn of it; warn if the server was only unavailable."""
    kept = where_kept(failure, spooled, what)
    if isinstance(failure, ServerUnavailable) or settings.on_error == "warn":
        warn_of([f"{failure} {kept}"], RunKept)
        return
    hint = f"{failure.hint} {kept}" if failure.hint else kept
    raise type(failure)(failure.message, field=failure.field, hint=hint) from failure

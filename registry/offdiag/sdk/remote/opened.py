"""A run on its way to a server: opened there or in the spool, sent chunk by chunk, closed."""

from __future__ import annotations

import base64
import hashlib
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from offdiag.domain.labels import LabelSet
from offdiag.errors import OffdiagError, RunKept, ServerUnavailable
from offdiag.inputs.bodies.columns import MOST_ROWS
from offdiag.sdk.remote.connection import Connection
from offdiag.sdk.remote.patience import patiently
from offdiag.sdk.remote.sender import AT_EXIT_S, Sender
from offdiag.sdk.remote.spool import Asked, SpooledRun
from offdiag.services.ingest.batch import Batch
from offdiag.services.ingest.chunk_stream import MEDIA_TYPE, write_chunk
from offdiag.settings import ClientSettings
from offdiag.wire.ingest import ClosedRun, Closing

WAITING = "waiting/"
"""How the ids of runs begin that no server knows yet."""

_MOST_SENT = 32 << 20
_BYTES_OF_CLASSES = 8
"""Of an actual and a predicted class, where there are billions of classes."""
_BYTES_WITH_MORE = 64
"""Of sets of labels, an identifier or slices too, which are far smaller as a rule."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What the chunks of a run are about."""

    run_id: str
    labels: LabelSet
    positive_label: str | None


def send_chunk(connection: Connection, run_id: str, seq: int, content: Any) -> None:
    """One attempt to store a chunk. Raises as `Connection.ask` does."""
    digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
    connection.ask(
        "PUT",
        f"/runs/{run_id}/chunks/{seq}",
        content=memoryview(content).tobytes(),
        headers={"Content-Type": MEDIA_TYPE, "Content-Digest": f"sha-256=:{digest}:"},
    )


def send_closing(connection: Connection, run_id: str, n_chunks: int | None) -> str:
    """One attempt to close a run; its id. Raises as `Connection.ask` does."""
    body = Closing(n_chunks=n_chunks).model_dump_json()
    answer = connection.send("POST", f"/runs/{run_id}/finish", body)
    return ClosedRun.model_validate_json(answer).id


class RemoteRun:
    """An open run on a server."""

    keeps = True

    def __init__(
        self, connection: Connection, frame: Frame, asked: Asked, settings: ClientSettings
    ) -> None:
        self.run_id = frame.run_id
        self.labels = frame.labels
        self.positive_label = frame.positive_label
        self._connection = connection
        self._settings = settings
        self._asked = asked
        self._spooled = SpooledRun.of(Path(settings.spool), asked)
        self._sender = Sender(self._send, self._spooled, asked)

    def chunk_size(self, batch: Batch) -> int:
        """As many as one request takes."""
        return rows_in_request(batch)

    def put(self, seq: int, batch: Batch) -> None:
        """Hand one chunk to the thread that sends. Raises `SpoolFull`."""
        self._sender.put(seq, write_chunk(batch, self.labels))

    def leave(self) -> None:
        """Send what was put, for a moment; the rest is kept in the spool."""
        self._sender.close(patience_s=min(AT_EXIT_S, self._settings.patience_s))
        self._spooled.release()

    def finish(self, n_chunks: int) -> str:
        """Close the run when everything is stored, or leave the rest in the spool.

        Raises what the server refuses with, unless only a warning is wanted.
        """
        give_up_at = time.monotonic() + self._settings.patience_s
        failure = self._sender.close(patience_s=self._settings.patience_s)
        if failure is None:
            try:
                run_id = patiently(
                    lambda: send_closing(self._connection, self.run_id, n_chunks or None),
                    patience_s=max(0.0, give_up_at - time.monotonic()),
                )
            except OffdiagError as error:
                failure = error
            else:
                if self._sender.has_spooled:
                    self._spooled.remove()
                return run_id
        keep_finished(self._spooled, self._asked, n_chunks)
        report(failure, self._spooled, self._settings)
        return self.run_id

    def _send(self, seq: int, content: Any) -> None:
        send_chunk(self._connection, self.run_id, seq, content)


class SpoolingRun:
    """A run that only the spool knows, until `offdiag sync` sends it."""

    keeps = True

    def __init__(
        self, labels: LabelSet, positive_label: str | None, asked: Asked, spool: Path
    ) -> None:
        self.labels = labels
        self.positive_label = positive_label
        self._asked = asked
        self._spooled = SpooledRun.of(spool, asked)
        self._spooled.begin(asked)
        self.run_id = f"{WAITING}{self._spooled.folder.name}"

    def chunk_size(self, batch: Batch) -> int:
        """As many as one request takes."""
        return rows_in_request(batch)

    def put(self, seq: int, batch: Batch) -> None:
        """Keep one chunk. Raises `SpoolFull`."""
        self._spooled.put(seq, write_chunk(batch, self.labels))

    def leave(self) -> None:
        """Let `offdiag sync` send what is there."""
        self._spooled.release()

    def finish(self, n_chunks: int) -> str:
        """Say that the run is whole."""
        keep_finished(self._spooled, self._asked, n_chunks)
        return self.run_id


def rows_in_request(batch: Batch) -> int:
    """How many cases like those of a batch are sent at once.

    As many as a server takes: every request ends with a commit, which costs more than the cases
    of a small one. Of cases with many scores or much to say there are fewer, so that a body that
    has to be sent again does not take long.
    """
    columns = 0 if batch.scores is None else batch.scores.n_columns
    has_more = batch.of_sets or batch.ids is not None or batch.slices
    case_bytes = (_BYTES_WITH_MORE if has_more else _BYTES_OF_CLASSES) + 4 * columns
    return max(1, min(MOST_ROWS, _MOST_SENT // case_bytes))


def keep_finished(spooled: SpooledRun, asked: Asked, n_chunks: int) -> None:
    """Mark a run in the spool as whole, and let others send it."""
    spooled.begin(asked)
    spooled.finish(n_chunks)
    spooled.release()


def report(failure: OffdiagError, spooled: SpooledRun, settings: ClientSettings) -> None:
    """Raise a refusal, or warn of it; warn of a server that was only away."""
    kept = f"The run is kept in {spooled.folder}; `offdiag sync` sends it."
    if isinstance(failure, ServerUnavailable) or settings.on_error == "warn":
        warnings.warn(f"{failure} {kept}", RunKept, stacklevel=2)
        return
    hint = f"{failure.hint} {kept}" if failure.hint else kept
    raise type(failure)(failure.message, field=failure.field, hint=hint) from failure

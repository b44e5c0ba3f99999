"""Whether the process answers, whether from what is in the database, and whether it is to stop.

A server that was told to stop still answers, but wants nothing more sent to it. gunicorn's first
process hears the signal and others answer, so the mark lies in memory that a process shares with
those it forks.
"""

from __future__ import annotations

import mmap
import signal
from types import FrameType

from flask import Blueprint, Response, jsonify

from offdiag.errors import OffdiagError, SchemaMismatch
from offdiag.store.schema import require_schema
from offdiag_web.app.context import current_registry, public
from offdiag_web.app.errors import RETRY_AFTER_S

_SET = b"\x01"
_mark = mmap.mmap(-1, 1)


def start_draining() -> None:
    """From now on `/readyz` says no, here and in processes forked from here."""
    _mark[0:1] = _SET


def is_draining() -> bool:
    """Whether that was said."""
    return _mark[0:1] == _SET


def stop_draining() -> None:
    """Take it back, for a process that goes on after all."""
    _mark[0:1] = b"\x00"


def announce_stop(drain_s: float) -> None:
    """Let SIGTERM to this process wait `drain_s` seconds, in which `/readyz` says no.

    For gunicorn's `when_ready`, which runs in its first process after that has installed its
    own handlers. The second SIGTERM of the same process stops at once.

    gunicorn forks the processes that answer from this one, which therefore has no thread that
    could act on signals. Its handlers take no lock: they set the mark, let the kernel count the
    seconds, and put a number into the queue of gunicorn, which is made for that.
    """
    stops_at_once = signal.getsignal(signal.SIGTERM)

    def stop(_number: int, frame: FrameType | None) -> None:
        if callable(stops_at_once):
            stops_at_once(signal.SIGTERM, frame)

    def announce(number: int, frame: FrameType | None) -> None:
        if is_draining() or not drain_s:
            stop(number, frame)
            return
        start_draining()
        signal.setitimer(signal.ITIMER_REAL, drain_s)

    signal.signal(signal.SIGALRM, stop)
    signal.signal(signal.SIGTERM, announce)


blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
@public()
def healthz() -> Response:
    """Nothing is asked of the database."""
    response = jsonify(status="ok")
    response.cache_control.no_store = True
    return response


@blueprint.get("/readyz")
@public()
def readyz() -> Response:
    """200 while requests can be answered, else 503 with the reason, for whoever sends them here.

    Anybody may ask, so the reason names neither files nor servers.
    """
    if is_draining():
        response = jsonify(status="not ready", code="draining", reason="The server is stopping.")
        response.status_code = 503
        response.retry_after = RETRY_AFTER_S
        response.cache_control.no_store = True
        return response
    try:
        require_schema(current_registry().database)
    except OffdiagError as error:
        is_schema = isinstance(error, SchemaMismatch)
        response = jsonify(
            status="not ready",
            code=error.code,
            reason="The database has another schema than this program needs."
            if is_schema
            else "The database does not respond.",
        )
        response.status_code = 503
        response.retry_after = RETRY_AFTER_S
    else:
        response = jsonify(status="ready")
    response.cache_control.no_store = True
    return response

"""Whether this server was told to stop: it still answers, but wants nothing more sent to it.

gunicorn's first process hears the signal and others answer, so the mark lies in memory that a
process shares with those it forks. Configurations of gunicorn that teams have copied from ours
import this module by its name.
"""

from __future__ import annotations

import mmap
import signal
from types import FrameType

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

"""Whether this server was asked to stop: it still responds, but should get no more requests.

gunicorn's master process receives the signal and others handle requests, so the mark is in memory
that a process shares with those it forks. Configurations of gunicorn that teams have copied from
ours import this module by its name.
"""

from __future__ import annotations

import mmap
import signal
from types import FrameType

_SET = b"\x01"
_mark = mmap.mmap(-1, 1)


def start_draining() -> None:
    """Make `/readyz` fail from now on, in this process and in processes forked from it."""
    _mark[0:1] = _SET


def is_draining() -> bool:
    """Whether the server is draining."""
    return _mark[0:1] == _SET


def stop_draining() -> None:
    """Stop draining, for a process that continues after all."""
    _mark[0:1] = b"\x00"


def announce_stop(drain_s: float) -> None:
    """Make SIGTERM to this process wait `drain_s` seconds, during which `/readyz` fails.

    For gunicorn's `when_ready`, which runs in its master process after that has installed its own
    handlers. A second SIGTERM to the same process stops it immediately.

    gunicorn forks its workers from this process, which therefore has no thread that could act on
    signals. gunicorn's handlers take no lock: they set the mark, let the kernel count the seconds,
    and put a number into a queue of gunicorn that is made for this.
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

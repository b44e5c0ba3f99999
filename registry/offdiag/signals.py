"""Handling of signals to stop in a thread of its own, where a lock cannot cause a deadlock.

A Python signal handler runs in the main thread between any two of its steps, possibly while that
thread holds the very lock that the handler needs: setting a `threading.Event` in a handler while
the same thread waits for it is a deadlock. Here the interpreter itself writes the signal number
into a pipe, and a separate thread reads it and acts on it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

STOPS = tuple(
    number for number in signal.Signals if number.name in {"SIGINT", "SIGTERM", "SIGHUP"}
)
"""The signals that Ctrl-C, supervisors and a closed terminal send; Windows has not the last."""


@contextmanager
def acting_on_signals(act: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Call `act` with each signal to stop, in a thread of its own, while the block runs.

    SIGHUP remains ignored if it is, as by `nohup`.

    Only the main thread may enter the block. The previous handlers are restored afterwards.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)  # The interpreter must not wait while it handles a signal.
    thread = threading.Thread(
        target=_act_on_each, args=(reading, act), name="signals", daemon=True
    )
    thread.start()
    woken_before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    handled_before = {
        number: signal.signal(number, _leave_to_the_pipe)
        for number in STOPS
        if not (number.name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN)
    }
    try:
        yield
    finally:
        for number, handler in handled_before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(woken_before)
        os.close(writing)
        thread.join()
        os.close(reading)


def _leave_to_the_pipe(_number: int, _frame: FrameType | None) -> None:
    """Keep the interpreter from ending the program; the pipe already has the signal number."""


def _act_on_each(reading: int, act: Callable[[signal.Signals], None]) -> None:
    while numbers := os.read(reading, 64):
        for number in numbers:
            # Signals with handlers of other code are written to the pipe too.
            if number in STOPS:
                act(signal.Signals(number))

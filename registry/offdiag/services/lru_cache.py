"""Results that were computed before, for the next request for the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from os import getpid
from threading import Event, Lock, local
from typing import Generic, TypeVar

Result = TypeVar("Result")


class _Thread(local):
    is_computing = False


_THIS = _Thread()


class LruCache(Generic[Result]):
    """The results that were asked for last, by a key that names all of their inputs by content.

    A key therefore never means anything else, and nothing has to be forgotten but for room.
    Safe to share among threads: of those that ask for the same at once, one computes it and the
    others wait, and compute it themselves if it fails. A thread that is computing waits for no
    other, so no two wait for each other.
    """

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._results: OrderedDict[Hashable, Result] = OrderedDict()
        self._computed: dict[Hashable, Event] = {}
        self._lock = Lock()

    def get(self, key: Hashable, compute: Callable[[], Result]) -> Result:
        # A forked process has not the threads that were computing.
        place, own, is_nested = (getpid(), key), Event(), _THIS.is_computing
        with self._lock:
            if key in self._results:
                return self._known(key)
            computed = self._computed.setdefault(place, own)
        if computed is not own and not is_nested:
            computed.wait()
            with self._lock:
                if key in self._results:
                    return self._known(key)
        _THIS.is_computing = True
        try:
            found = compute()
            with self._lock:
                self._results[key] = found
                while len(self._results) > self._most:
                    self._results.popitem(last=False)
            return found
        finally:
            _THIS.is_computing = is_nested
            if computed is own:
                with self._lock:
                    del self._computed[place]
                own.set()

    def _known(self, key: Hashable) -> Result:
        self._results.move_to_end(key)
        return self._results[key]

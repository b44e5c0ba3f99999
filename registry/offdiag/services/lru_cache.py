"""A cache of recently computed results, shared between threads."""

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
    """The results requested last, by a key that identifies all their inputs by content.

    A key therefore never changes its meaning, and results are removed only to make room. The cache
    is thread-safe: if several threads ask for the same result at once, one computes it and the
    others wait, and compute it themselves if it fails. A thread that is computing never waits for
    another one, so no two wait for each other.
    """

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._results: OrderedDict[Hashable, Result] = OrderedDict()
        self._computed: dict[Hashable, Event] = {}
        self._lock = Lock()

    def __contains__(self, key: Hashable) -> bool:
        with self._lock:
            return key in self._results

    def get(self, key: Hashable, compute: Callable[[], Result]) -> Result:
        # A forked process does not have the threads that were computing.
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


def result_of(
    kept: LruCache[Result] | None, key: Hashable, compute: Callable[[], Result]
) -> Result:
    """The result for the key from a cache, if there is one, else from `compute`."""
    return compute() if kept is None else kept.get(key, compute)

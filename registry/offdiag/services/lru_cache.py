"""Results that were computed before, for the next request for the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Result = TypeVar("Result")


class LruCache(Generic[Result]):
    """The results that were asked for last, by a key that names all of their inputs by content.

    A key therefore never means anything else, and nothing has to be forgotten but for room.
    Safe to share among threads; two that ask for the same at once may both compute it.
    """

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._results: OrderedDict[Hashable, Result] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, compute: Callable[[], Result]) -> Result:
        """The result that belongs to a key."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return self._results[key]
        found = compute()
        with self._lock:
            self._results[key] = found
            while len(self._results) > self._most:
                self._results.popitem(last=False)
        return found

"""Results that are kept while there is room."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event

import pytest

from offdiag.services import lru_cache
from offdiag.services.lru_cache import LruCache


class Computing:
    """Gives back what it is asked for and remembers that it was."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, key: str) -> str:
        self.asked.append(key)
        return key


def test_a_result_is_computed_once() -> None:
    kept: LruCache[str] = LruCache(most=2)
    compute = Computing()

    found = [kept.get("a", partial(compute, "a")) for _ in range(3)]

    assert found == ["a", "a", "a"]
    assert compute.asked == ["a"]


def test_what_was_asked_for_longest_ago_makes_room() -> None:
    kept: LruCache[str] = LruCache(most=2)
    compute = Computing()

    for key in ("a", "b", "a", "c", "a", "b"):
        kept.get(key, partial(compute, key))

    assert compute.asked == ["a", "b", "c", "b"]


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Event:
    """Set once a thread waits for another one."""
    somebody_waits = Event()

    class Observed(Event):
        def wait(self, timeout: float | None = None) -> bool:
            somebody_waits.set()
            return super().wait(timeout)

    monkeypatch.setattr(lru_cache, "Event", Observed)
    return somebody_waits


def asked_by_two(
    kept: LruCache[str], waits: Event, first: Callable[[], str], second: Callable[[], str]
) -> tuple[BaseException | None, str]:
    """What the first ends with and what the second gets, which asks while the first computes."""
    begun = Event()

    def slow() -> str:
        begun.set()
        assert waits.wait(60)
        return first()

    with ThreadPoolExecutor() as threads:
        one = threads.submit(kept.get, "a", slow)
        assert begun.wait(60)
        other = threads.submit(kept.get, "a", second)
        return one.exception(60), other.result(60)


def test_who_asks_meanwhile_waits_for_the_one_that_computes(waits: Event) -> None:
    kept: LruCache[str] = LruCache(most=2)
    compute = Computing()

    found = asked_by_two(kept, waits, partial(compute, "first"), partial(compute, "second"))

    assert found == (None, "first")
    assert compute.asked == ["first"]


def test_a_failure_is_that_of_the_one_that_computes_alone(waits: Event) -> None:
    kept: LruCache[str] = LruCache(most=2)

    failure, found = asked_by_two(kept, waits, lambda: str(1 // 0), lambda: "second")

    assert isinstance(failure, ZeroDivisionError)
    assert found == "second"
    assert kept.get("a", lambda: "third") == "second"


def test_two_that_need_what_the_other_computes_do_not_wait_for_each_other() -> None:
    kept: LruCache[str] = LruCache(most=4)
    begun = {"a": Event(), "b": Event()}

    def needing(own: str, other: str) -> str:
        begun[own].set()
        assert begun[other].wait(60)
        return own + kept.get(other, lambda: other)

    with ThreadPoolExecutor() as threads:
        one = threads.submit(kept.get, "a", partial(needing, "a", "b"))
        two = threads.submit(kept.get, "b", partial(needing, "b", "a"))

        assert [one.result(60)[0], two.result(60)[0]] == ["a", "b"]

"""Results that are kept while there is room."""

from __future__ import annotations

from functools import partial

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

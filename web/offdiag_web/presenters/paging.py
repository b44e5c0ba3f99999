"""Parts of a long list that is at hand: which lines are shown, and the links around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from offdiag_web.presenters import numbers


@dataclass(frozen=True, slots=True)
class Paging:
    """The lines from `start` up to but without `end`, counted from 0."""

    start: int
    end: int
    range_text: str
    previous_url: str | None
    next_url: str | None

    @property
    def is_whole(self) -> bool:
        return self.previous_url is None and self.next_url is None


def paging(
    total: int,
    start: int,
    *,
    per_page: int,
    words: tuple[str, str],
    url: Callable[[int], str],
) -> Paging:
    """The page that starts at a line, or the last one where there are not as many lines.

    `words` name one line and several; `url` makes the address of the page from its first line.
    """
    first = min(start, max(total - 1, 0) // per_page * per_page)
    end = min(first + per_page, total)
    shown = numbers.plural(total, *words)
    if end - first < total:
        shown = f"{numbers.count(first + 1)}\N{EN DASH}{numbers.count(end)} of {shown}"
    return Paging(
        start=first,
        end=end,
        range_text=shown,
        previous_url=url(max(first - per_page, 0)) if first else None,
        next_url=url(end) if end < total else None,
    )

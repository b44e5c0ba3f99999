"""Controls that pages share: segments, sortable headers, page numbers; names of tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from offdiag.domain.runs import Task
from offdiag_web.components import numbers


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


@dataclass(frozen=True, slots=True)
class Segment:
    """One choice of a control; `key` is the shortcut that leads to it."""

    text: str
    url: str
    is_current: bool
    key: str | None = None


AriaSort = Literal["ascending", "descending", "none"]


def aria_sort(*, is_current: bool, descending: bool) -> AriaSort:
    """The value of `aria-sort` for a column head."""
    if not is_current:
        return "none"
    return "descending" if descending else "ascending"


TASK_WORDS = {
    Task.BINARY: "binary",
    Task.MULTICLASS: "multi-class",
    Task.MULTILABEL: "multi-label",
}


@dataclass(frozen=True, slots=True)
class ClassWords:
    """What one of the things that a run tells apart is called, and several."""

    one: str
    many: str


CLASSES = ClassWords("class", "classes")
LABELS = ClassWords("label", "labels")


def class_words(task: Task) -> ClassWords:
    """Classes exclude each other; a case that carries a set has labels."""
    return LABELS if task is Task.MULTILABEL else CLASSES

"""One choice of a segmented control: a link to another view of the same thing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Segment:
    """One choice of a control; `key` is the shortcut that leads to it."""

    text: str
    url: str
    is_current: bool
    key: str | None = None

"""Comments on a page, and the form that adds one; histories of flags have the same lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from offdiag.store.comments import Comment
from offdiag_web.components.controls import Moment, moment

WROTE = "wrote"
NOBODY_NAMED = "somebody"


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One entry. `who` is None where an evaluation or time did it; `quote` is plain text."""

    at: Moment
    who: str | None
    what: str
    quote: str | None


@dataclass(frozen=True, slots=True)
class Discussion:
    """The comments on one thing, oldest first. `url` takes the next one, `back` shows it."""

    url: str
    back: str
    lines: tuple[HistoryLine, ...]


def discussion(comments: Iterable[Comment], *, url: str, back: str, now: datetime) -> Discussion:
    """Present the comments on one thing."""
    return Discussion(url, back, tuple(comment_line(each, now) for each in comments))


def comment_line(comment: Comment, now: datetime) -> HistoryLine:
    """One comment as a line of a history."""
    at = moment(comment.at, now=now)
    return HistoryLine(at, comment.author or NOBODY_NAMED, WROTE, comment.text)

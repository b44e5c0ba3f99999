"""Comments on runs and datasets."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import Field

from offdiag.records.base import InProject, RequestBody, ResponseBody

if TYPE_CHECKING:
    from collections.abc import Iterable

    from offdiag.store.comments import Comment as StoredComment


class Comment(ResponseBody):
    """A comment on a run or a dataset: plain text that cannot be changed afterwards."""

    id: int
    at: datetime
    author: str | None
    text: str


class Comments(ResponseBody):
    """All comments on a run or a dataset, oldest first."""

    comments: list[Comment]


class NewComment(RequestBody):
    """A comment on a run."""

    text: str = Field(description="Plain text of at most 5,000 characters.")
    author: str | None = None


class NewDatasetComment(NewComment, InProject):
    """A comment on a dataset."""


def comments_document(comments: Iterable[StoredComment]) -> Comments:
    return Comments(comments=list(map(Comment.made_of, comments)))

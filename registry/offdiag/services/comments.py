"""Comments on runs and datasets; those on flags are part of their triage."""

from __future__ import annotations

from offdiag.domain.texts import require_reason
from offdiag.services.truth.versions import dataset_named
from offdiag.store.comments import About, add_comments
from offdiag.store.database import Database
from offdiag.store.runs import get_run


def comment_on_run(database: Database, run_id: str, *, text: str, author: str | None) -> None:
    """Add a comment to a run. Raises `NotFound`, and `InvalidInput` for a blank or long text."""
    remark = require_reason(text, field="comment")
    with database.write() as session:
        get_run(session, run_id)
        add_comments(
            session, About.RUN, [run_id], text=remark, author=author, now=database.clock()
        )


def comment_on_dataset(
    database: Database, *, project: str, dataset: str, text: str, author: str | None
) -> None:
    """Add a comment to a dataset. Raises as `comment_on_run`."""
    remark = require_reason(text, field="comment")
    with database.write() as session:
        known = dataset_named(session, project=project, name=dataset)
        add_comments(
            session, About.DATASET, [known.id], text=remark, author=author, now=database.clock()
        )

"""Comments on runs and datasets: read and written."""

from __future__ import annotations

from offdiag.records.base import InProject
from offdiag.records.run import Comments, NewComment, NewDatasetComment, comments_document
from offdiag.services.comments import comment_on_dataset, comment_on_run
from offdiag.services.truth.versions import dataset_named
from offdiag.store.comments import About, comments_on
from offdiag.store.runs import get_run
from offdiag_web.api.operations import author, operation, resource
from offdiag_web.app.context import current_registry

blueprint = resource("comments")


@operation(blueprint, "GET", "/runs/<run:run_id>/comments", answers=Comments)
def list_run_comments(run_id: str) -> Comments:
    """Read the comments on a run, oldest first."""
    with current_registry().database.read() as session:
        get_run(session, run_id)
        return comments_document(comments_on(session, About.RUN, run_id))


@operation(blueprint, "POST", "/runs/<run:run_id>/comments", answers=Comments, is_repeatable=True)
def add_run_comment(run_id: str, json: NewComment) -> Comments:
    """Add a comment to a run."""
    database = current_registry().database
    comment_on_run(database, run_id, text=json.text, author=author(json.author))
    return list_run_comments(run_id)


@operation(blueprint, "GET", "/datasets/<name:name>/comments", answers=Comments)
def list_dataset_comments(name: str, query: InProject) -> Comments:
    """Read the comments on the decision of a dataset, oldest first."""
    return _of_dataset(query.project, name)


@operation(
    blueprint, "POST", "/datasets/<name:name>/comments", answers=Comments, is_repeatable=True
)
def add_dataset_comment(name: str, json: NewDatasetComment) -> Comments:
    """Add a comment to the decision of a dataset."""
    comment_on_dataset(
        current_registry().database,
        project=json.project,
        dataset=name,
        text=json.text,
        author=author(json.author),
    )
    return _of_dataset(json.project, name)


def _of_dataset(project: str, name: str) -> Comments:
    with current_registry().database.read() as session:
        known = dataset_named(session, project=project, name=name)
        return comments_document(comments_on(session, About.DATASET, known.id))

"""Tags, notes and comments that people add to runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from offdiag.domain.runs import Scalar, stored_note
from offdiag.domain.texts import require_reason
from offdiag.errors import InvalidInput, Stale
from offdiag.store import runs
from offdiag.store.audit_log import describe
from offdiag.store.comments import About, add_comments
from offdiag.store.database import Database
from offdiag.store.project_access import project_of_run
from offdiag.store.runs import RunRecord

Tags = Mapping[str, Scalar]


def change_run(
    database: Database,
    run_id: str,
    *,
    tags: Mapping[str, Scalar] | None = None,
    added_tags: Mapping[str, Scalar] | None = None,
    note: str | None = None,
    seen: RunRecord | None = None,
) -> None:
    """Replace the tags of a run, add tags, or replace its note; a blank note removes it.

    Jobs that add tags at the same time lose none. With `seen`, changes only if tags and note are
    still as in it. Raises `NotFound`, `Stale`, and `InvalidInput` if there is nothing to change,
    tags are unusable, or the note is too long or cannot be stored.
    """
    if tags is None and added_tags is None and note is None:
        raise InvalidInput("no change is given.", field="tags", hint="Name tags, a note, or both.")
    if note is not None:
        note = stored_note(note)
    with database.write() as session:
        known = runs.lock_run(session, run_id, alone=True)
        if seen is not None and (known.tags, known.note) != (seen.tags, seen.note):
            raise Stale(
                "the run was changed since you read it.",
                field="If-Match",
                hint="Read it again, then retry. Nothing was changed.",
            )
        if tags is not None or added_tags is not None:
            wanted = {**(known.tags if tags is None else tags), **(added_tags or {})}
            runs.set_tags(session, run_id, known.facts(tags=wanted).tags)
        if note is not None:
            runs.set_note(session, run_id, note or None)


def tag_runs(database: Database, run_ids: Sequence[str], key: str, value: Scalar) -> None:
    """Add a tag to several runs, keeping their other tags.

    Either all of them change or none. Raises `NotFound`, and `InvalidInput` for no runs or a tag
    that cannot be stored.
    """
    _change_tags(database, run_ids, key, value, lambda tags: {**tags, key: value})


def remove_tag(
    database: Database, run_ids: Sequence[str], key: str, *, value: str | None = None
) -> int:
    """Remove a tag from the runs that have it; with `value`, only where it has this value.

    Returns how many runs had it. Either all of them change or none. Raises `NotFound`, and
    `InvalidInput` for no runs.
    """

    def rest(tags: Tags) -> Tags:
        kept = value is not None and str(tags.get(key)) != value
        return tags if kept else {name: each for name, each in tags.items() if name != key}

    return _change_tags(database, run_ids, key, value, rest)


def _change_tags(
    database: Database,
    run_ids: Sequence[str],
    key: str,
    value: Scalar | None,
    changed: Callable[[Tags], Tags],
) -> int:
    """Change the tags of runs and record it; returns how many runs have changed."""
    if not run_ids:
        raise InvalidInput("no run is chosen.", field="runs", hint="Tick the runs to change.")
    with database.write() as session:
        # Always in the same order, so that two calls do not wait for each other.
        ordered, projects, n_changed = sorted(set(run_ids)), set[int](), 0
        for run_id in ordered:
            known = runs.lock_run(session, run_id, alone=True)
            tags = changed(known.tags)
            n_changed += tags != known.tags
            runs.set_tags(session, run_id, known.facts(tags=tags).tags)
            projects.add(known.project_id)
        (project,) = project_of_run(session, ordered[0]) if len(projects) == 1 else (None,)
        describe(
            session,
            action="tag-runs",
            subject=", ".join(ordered),
            project=project,
            detail={"tag": key, "value": value, "n_runs": len(ordered)},
        )
    return n_changed


def comment_on_run(database: Database, run_id: str, *, text: str, author: str | None) -> None:
    """Add a comment to a run. Raises `NotFound`, and `InvalidInput` for a blank or long text."""
    remark = require_reason(text, field="comment")
    with database.write() as session:
        runs.get_run(session, run_id)
        add_comments(
            session, About.RUN, [run_id], text=remark, author=author, now=database.clock()
        )

"""The metadata page of a run: editing its tags and note, comments, and pinning it as baseline."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from flask import Blueprint, redirect, request, url_for
from werkzeug.wrappers import Response

from offdiag.domain.runs import (
    MAX_NOTE_LENGTH,
    Task,
    stored_note,
)
from offdiag.errors import InvalidInput, OffdiagError, Stale
from offdiag.records.runs.run import run_document
from offdiag.services.datasets import pin_baseline, unpin_run
from offdiag.services.run_notes import change_run, comment_on_run
from offdiag.store.run_page import RunDetail, RunHeader
from offdiag.store.runs import get_run
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import own_path
from offdiag_web.app.errors import failure_of, status_of
from offdiag_web.app.exports import json_response
from offdiag_web.app.preferences import require_user_name, user_name_if_given
from offdiag_web.components.runs.frame import RUN, run_page, stored_run
from offdiag_web.pages.run_meta.view import (
    MOST_MARGINS,
    digests_of,
    entries,
    facts_of,
    labels_note,
    lineage_of,
    orientation_of,
)
from offdiag_web.urls.run import run_url

REVIEW = "review"
"""The tag that holds the review state."""
REVIEW_STATES = ("to review", "reviewed", "rejected")


def tag_lines(tags: Mapping[str, Any]) -> str:
    """The tags for editing, "key=value" on each line, without the review state."""
    return "\n".join(f"{fact.name}={fact.text}" for fact in entries(tags) if fact.name != REVIEW)


def require_tag_lines(text: str, shown: str) -> None:
    """Raise `InvalidInput` for a line without a key and for two lines with the same key.

    Lines that were `shown` are accepted, since they may belong to one value of several lines.
    """
    known, places = set(shown.splitlines()), dict[str, tuple[int, str]]()
    for number, line in enumerate(text.splitlines(), 1):
        key = line.partition("=")[0].strip()
        if not key and line.strip() and line not in known:
            raise InvalidInput(
                f"line {number} of the tags has no key: {line[:40]!r}.",
                field="tags",
                hint="Write key=value, or remove the line.",
            )
        first, of_first = places.setdefault(key, (number, line))
        if key and first != number and not known >= {line, of_first}:
            raise InvalidInput(
                f"lines {first} and {number} of the tags both give {key[:40]!r}.",
                field="tags",
                hint="Keep one of them.",
            )


def read_tags(text: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """The tags from edited lines; unchanged values keep their type."""
    texts = {fact.name: fact.text for fact in entries(known)}
    tags: dict[str, Any] = {}
    for line in text.splitlines():
        key, _, value = (part.strip() for part in line.partition("="))
        if key:
            tags[key] = known[key] if texts.get(key) == value else value
    return tags


def _typed_tags(form: Mapping[str, str], known: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The tags in the fields of a form whose names begin with `prefix`, with the review state."""
    tags = read_tags(form.get(f"{prefix}tags", ""), known)
    review = form.get(f"{prefix}review", "")
    return tags | {REVIEW: review} if review in REVIEW_STATES else tags


def provenance(
    detail: RunDetail,
    *,
    now: datetime,
    refused: OffdiagError | None = None,
    refused_comment: OffdiagError | None = None,
) -> Response:
    """The page of everything recorded with a run, with the error of a refused edit or comment."""
    run = detail.run
    response = run_page(
        "run_meta/page.html",
        detail,
        "meta",
        facts=tuple(facts_of(detail, now)),
        digests=tuple(digests_of(detail)),
        params=entries(run.params),
        tags=entries(run.tags),
        labels=run.labels.names[:MOST_MARGINS],
        labels_note=labels_note(detail),
        orientation=None if detail.run.task is Task.MULTILABEL else orientation_of(detail),
        lineage=None if run.derivation is None else lineage_of(run.derivation),
        edited=_edited(run, refused),
        failure_of_form=None if refused is None else failure_of(refused),
        review_states=REVIEW_STATES,
        longest_note=MAX_NOTE_LENGTH,
        refused_comment=refused_comment,
    )
    error = refused or refused_comment
    if error is not None:
        response.status_code = status_of(error)
    return response


def _edited(run: RunHeader, refused: OffdiagError | None) -> dict[str, str]:
    """The fields of the form: what is stored, or what was typed and the text it replaces."""
    stored = {
        "review": str(run.tags.get(REVIEW) or ""),
        "tags": tag_lines(run.tags),
        "note": run.note or "",
    }
    edited = stored | {f"shown_{name}": text for name, text in stored.items()}
    if refused is None:
        return edited
    edited |= request.form.to_dict()
    # The page now shows the changed note, so saving again replaces it.
    return edited | ({"shown_note": stored["note"]} if isinstance(refused, Stale) else {})


blueprint = Blueprint("run_meta", __name__)


@blueprint.get(f"{RUN}/meta")
def page(run_id: str) -> Response:
    detail = stored_run(run_id)
    return provenance(detail, now=current_registry().database.clock())


@blueprint.get(f"{RUN}/meta.json")
def meta_json(run_id: str) -> Response:
    return json_response(run_document(stored_run(run_id)))


@blueprint.post(f"{RUN}/tags")
def change_tags(run_id: str) -> Response:
    """Change only what the reader edited: the note, single tags, the review state."""
    try:
        _change_tags(run_id, request.form)
    except (InvalidInput, Stale) as error:
        now = current_registry().database.clock()
        return provenance(stored_run(run_id), now=now, refused=error)
    return redirect(url_for("run_meta.page", run_id=run_id), 303)


def _change_tags(run_id: str, form: Mapping[str, str]) -> None:
    database = current_registry().database
    with database.read() as session:
        known = get_run(session, run_id)
    require_tag_lines(form.get("tags", ""), form.get("shown_tags", ""))
    shown, typed = (_typed_tags(form, known.tags, prefix) for prefix in ("shown_", ""))
    kept = {key: tag for key, tag in known.tags.items() if key not in shown or key in typed}
    changed = {key: tag for key, tag in typed.items() if key not in shown or tag != shown[key]}
    before, note = (stored_note(form.get(name, "")) for name in ("shown_note", "note"))
    now = known.note or ""
    if note not in (before, now) and before != now:
        raise Stale(
            "the note was changed since this page was opened.",
            field="note",
            hint="It is shown above the form. Save again to replace it with yours.",
        )
    change_run(
        database, run_id, tags=kept | changed, note=None if note == before else note, seen=known
    )


@blueprint.post(f"{RUN}/comments")
def add_comment(run_id: str) -> Response:
    database, text = current_registry().database, request.form.get("comment", "")
    try:
        comment_on_run(database, run_id, text=text, author=require_user_name())
    except InvalidInput as error:
        return provenance(stored_run(run_id), now=database.clock(), refused_comment=error)
    return _back_to(run_id)


@blueprint.post(f"{RUN}/baseline/pin")
def pin(run_id: str) -> Response:
    pin_baseline(current_registry().database, run_id, author=user_name_if_given())
    return _back_to(run_id)


@blueprint.post(f"{RUN}/baseline/unpin")
def unpin(run_id: str) -> Response:
    unpin_run(current_registry().database, run_id)
    return _back_to(run_id)


def _back_to(run_id: str) -> Response:
    page = run_url(run_id)
    return redirect(own_path(request.form.get("back", page)), 303)

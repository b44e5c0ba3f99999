"""The metadata page of a run: editing its tags and note, comments, and pinning it as baseline."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flask import Blueprint, redirect, request, url_for
from werkzeug.wrappers import Response

from offdiag.domain.look_alikes import look_alikes_in_words
from offdiag.domain.orientation import OrientationVerdict, SourceOrientation
from offdiag.domain.runs import (
    COMMIT,
    MAX_NOTE_LENGTH,
    Derivation,
    Task,
    decision_text,
    logged_by,
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
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.controls import (
    Chip,
    class_words,
    moment,
    orientation_chip,
    spell_short,
)
from offdiag_web.components.runs.frame import RUN, run_page, stored_run
from offdiag_web.urls.run import run_url

MOST_MARGINS = 50
"""Most classes that are listed with their totals."""

_SOURCES = {
    SourceOrientation.PREDICTIONS: "pairs of labels; the matrix was counted here",
    SourceOrientation.ACTUAL_ROWS: "a matrix with actual classes in rows",
    SourceOrientation.ACTUAL_COLUMNS: "a matrix with actual classes in columns",
}
_COUNTED_ELSEWHERE = "columns of a data frame, whose own engine counted the matrix"
_VERDICTS = {
    OrientationVerdict.CANONICAL: (
        "Verified: the actual totals match the class counts of the dataset, the predicted totals "
        "do not."
    ),
    OrientationVerdict.TRANSPOSED: (
        "Looks transposed: the predicted totals match the class counts of the dataset, the actual "
        "totals do not."
    ),
    OrientationVerdict.AMBIGUOUS: (
        "Cannot be verified: both totals match the class counts of the dataset, so both readings "
        "are possible."
    ),
    OrientationVerdict.INCONSISTENT: (
        "Does not match: neither the actual nor the predicted totals match the class counts of "
        "the dataset."
    ),
    OrientationVerdict.UNVERIFIED: (
        "Not verified: the dataset has no class counts to compare with."
    ),
}


@dataclass(frozen=True, slots=True)
class Fact:
    """A named fact; a digest is shown in a fixed-width font, a time with its relative form."""

    name: str
    text: str
    is_code: bool = False
    when: datetime | None = None


@dataclass(frozen=True, slots=True)
class Margin:
    """The three counts of one class that were compared, and whether they agree."""

    label: str
    dataset: str
    actual: str
    predicted: str
    actual_agrees: bool | None
    predicted_agrees: bool | None


@dataclass(frozen=True, slots=True)
class OrientationRecord:
    """How the matrix was logged and is stored, and whether its margins match the dataset."""

    logged_as: str
    stored_as: str
    verdict: str
    chip: Chip
    margins: tuple[Margin, ...]
    n_left_out: int


@dataclass(frozen=True, slots=True)
class Lineage:
    """The run whose scores this one was decided from, and the decision rule in words."""

    source: str
    source_url: str
    rule: str
    facts: tuple[Fact, ...]


_RULES = {
    "least_expected_cost": "For each example, the prediction with the lowest expected cost.",
    "threshold": "The positive class if its score is at least the threshold.",
}


def lineage_of(derivation: Derivation) -> Lineage:
    """The source run and the decision rule of a derived run."""
    recipe = dict(derivation.recipe)
    rule = str(recipe.pop("rule", "unknown"))
    return Lineage(
        derivation.run_id,
        run_url(derivation.run_id),
        _RULES.get(rule, rule),
        tuple(
            Fact(name, text if isinstance(text, str) else json.dumps(text, ensure_ascii=False))
            for name, text in recipe.items()
        ),
    )


def facts_of(detail: RunDetail, now: datetime) -> list[Fact]:
    """What the run is, and when and with what it was logged and evaluated."""
    run, results = detail.run, detail.results
    facts = [
        Fact("Run", run.id, is_code=True),
        Fact("Project", run.project),
        Fact("Dataset", run.dataset + (f", labels v{run.truth.number}" if run.truth else "")),
        Fact("Model", run.model or "not given"),
        Fact("Predictions", _predictions_text(run)),
        Fact(
            "Scores",
            numbers.plural(run.score_columns, "column") if run.score_columns else "none logged",
        ),
        *([] if run.decision is None else [Fact("Predicted", decision_text(run.decision))]),
        *_positive_class(run),
        *(
            Fact(name.capitalize(), text or "not given", is_code=name == COMMIT and bool(text))
            for name, text in logged_by(run).items()
        ),
        _moment_fact("Logged", run.created_at, now),
        _moment_fact("Finished", run.finished_at, now),
    ]
    if results is not None:
        facts += [
            _moment_fact("Evaluated", results.facts.computed_at, now),
            Fact("Evaluation took", spell_short(results.facts.duration_s)),
            Fact("Metric suite", f"version {results.facts.suite_version}"),
            Fact("Engine", results.facts.engine_version),
        ]
    return facts


def _predictions_text(run: RunHeader) -> str:
    n = numbers.count(run.n_predictions)
    return n if run.counted_on is None else f"{n}, counted by {run.counted_on} and not stored"


def _positive_class(run: RunHeader) -> list[Fact]:
    if run.positive_label is None:
        return []
    how = ", by convention" if run.positive_by_convention else ", named for the dataset"
    return [Fact("Positive class", f"{quoted_name(run.positive_label)}{how}")]


def _moment_fact(name: str, when: datetime | None, now: datetime) -> Fact:
    if when is None:
        return Fact(name, "not yet")
    return Fact(name, moment(when, now=now).full, when=when)


def digests_of(detail: RunDetail) -> list[Fact]:
    """The digests that identify the inputs of the results."""
    run, results = detail.run, detail.results
    known = [
        ("Content as logged", run.content_digest),
        ("Ground truth", run.truth.digest if run.truth else None),
        ("Labels", run.labels.digest),
        ("Matrix", results.facts.matrix_digest if results else None),
        ("Inputs of the evaluation", results.facts.input_digest if results else None),
    ]
    return [Fact(name, digest, is_code=True) for name, digest in known if digest]


def entries(values: Mapping[str, Any]) -> tuple[Fact, ...]:
    """Parameters or tags by name; values other than texts are written as JSON."""
    return tuple(
        Fact(key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for key, value in sorted(values.items())
    )


def labels_note(detail: RunDetail) -> str:
    """How many classes the run has, where they come from, and which look alike."""
    labels = detail.run.labels
    order = "in a meaningful order" if labels.ordinal else "in this order"
    known = "inferred from the data, sorted" if labels.inferred else f"declared {order}"
    shown = min(len(labels), MOST_MARGINS)
    part = "" if shown == len(labels) else f"; the first {shown} are shown"
    alike = look_alikes_in_words(labels)
    note = "" if alike is None else f" {alike}"
    words = class_words(detail.run.task)
    return f"{numbers.plural(len(labels), words.one, words.many)}, {known}{part}.{note}"


def orientation_of(detail: RunDetail) -> OrientationRecord:
    """How the orientation of the matrix was stated and verified."""
    run = detail.run
    margins = _margins(run.labels.names, run.orientation_evidence or {})
    return OrientationRecord(
        logged_as=_SOURCES[run.source] if run.counted_on is None else _COUNTED_ELSEWHERE,
        stored_as="actual classes in rows, predicted classes in columns",
        verdict=_verdict_text(run),
        chip=orientation_chip(run.source, run.orientation_verdict, counted_on=run.counted_on),
        margins=margins[:MOST_MARGINS],
        n_left_out=max(len(margins) - MOST_MARGINS, 0),
    )


def _verdict_text(run: RunHeader) -> str:
    verdict = run.orientation_verdict
    is_sure = run.counted_on is not None and verdict == OrientationVerdict.CANONICAL
    if run.source is SourceOrientation.PREDICTIONS or is_sure:
        return "Nothing to verify: the matrix was counted from actual and predicted classes."
    if verdict is None:
        return "Not verified yet: the run is still open."
    return _VERDICTS[OrientationVerdict(verdict)]


def _margins(names: Sequence[str], evidence: Mapping[str, Any]) -> tuple[Margin, ...]:
    """The compared totals by class; those that disagree come first."""
    actual, predicted = evidence.get("actual_margin"), evidence.get("predicted_margin")
    if actual is None or predicted is None:
        return ()
    known = evidence.get("class_counts") or [None] * len(names)
    margins = [
        Margin(
            label=name,
            dataset="unknown" if count is None else numbers.count(count),
            actual=numbers.count(as_actual),
            predicted=numbers.count(as_predicted),
            actual_agrees=None if count is None else as_actual == count,
            predicted_agrees=None if count is None else as_predicted == count,
        )
        for name, count, as_actual, as_predicted in zip(
            names, known, actual, predicted, strict=True
        )
    ]
    return tuple(sorted(margins, key=lambda margin: margin.actual_agrees is not False))


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
    if before not in (note, known.note or ""):
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

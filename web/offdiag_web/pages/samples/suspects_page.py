"""The labels of a dataset that independent models contradict."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, make_response, redirect, render_template, request
from markupsafe import Markup
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

from offdiag.domain.access import Role
from offdiag.domain.number_text import number
from offdiag.domain.sample_content import SuspectQuestion
from offdiag.errors import Conflict, InvalidInput
from offdiag.metrics.label_errors.suspects import PLANTED_SHARE, PlantedErrors
from offdiag.records.datasets.label_errors import (
    MOST_SUSPECTS,
    SUSPECT_COLUMNS,
    suspect_rows,
    suspects_document,
)
from offdiag.services.samples.drafts import answer_labels
from offdiag.services.samples.suspects import Suspect, SuspectLabels, suspect_labels
from offdiag.store.datasets import dataset_named
from offdiag_web.app.context import current_registry, kept_suspects, requires
from offdiag_web.app.dispatch import DATA_FORMAT, requested_project
from offdiag_web.app.errors import REFUSED, Failure, failure_of
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.app.parameters import refuse_unread
from offdiag_web.app.preferences import require_user_name, user_name_if_given
from offdiag_web.charts.marks import share_bar
from offdiag_web.components import numbers
from offdiag_web.components.classes import ClassHead, class_head
from offdiag_web.components.controls import paging
from offdiag_web.components.datasets import DATASET, dataset_frame, find_in_any_project
from offdiag_web.components.numbers import percent
from offdiag_web.components.samples import (
    SHOW,
    SampleLook,
    SampleLooks,
    draft_text,
    no_longer_listed,
    sample_looks,
)
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.query_string import read_start, whole_number

blueprint = Blueprint("suspects", __name__)
find_in_any_project(blueprint)

SUSPECTS_PER_PAGE = 25
SUGGESTED, LEAVE_OUT, IS_RIGHT = "suggested", "leave out", "right"


@dataclass(frozen=True, slots=True)
class SuspectLine:
    """One suspect."""

    look: SampleLook
    label: ClassHead
    suggested: ClassHead
    answers: tuple[tuple[str, str], ...]
    against: str
    margin: str
    bar: Markup


@blueprint.get(f"{DATASET}/suspects")
def page(name: str) -> Response:
    return _page(name)


def _page(name: str, failure: Failure | None = None) -> Response:
    start, notices = read_start(request.args)
    class_label, at_least = request.args.get("class", ""), _at_least()
    if class_label and class_label not in _class_names(name):
        notices.append(
            f"There is no label “{class_label[:40]}”; suspects of all labels are shown."
        )
        class_label = ""
    if request.args.get("against", str(at_least)) != str(at_least):
        notices.append("The number of models is invalid; 1 is used instead.")
    found = _found(
        name,
        SuspectQuestion(
            class_label or None, at_least, start, SUSPECTS_PER_PAGE, user_name_if_given()
        ),
    )
    address = DatasetAddress(found.dataset.project, found.dataset.name)
    looks = sample_looks(address, (each.sample for each in found.suspects))
    most = max((n for _, _, n in found.moves), default=1)
    html = render_template(
        "samples/suspects.html",
        notices=[*notices, *no_longer_listed(each.sample for each in found.suspects)],
        failure=failure,
        address=address,
        own_url=_own_url(address),
        frame=dataset_frame(found.dataset, found.size, current="suspects"),
        found=found,
        statement=statement(found),
        planted=None if found.planted is None else planted_sentence(found.planted),
        lines=tuple(_line(each, found, looks) for each in found.suspects),
        moves=tuple(
            (class_head(a), class_head(b), numbers.count(n), share_bar(n / most, name=str(n)))
            for a, b, n in found.moves[:8]
        ),
        looks=looks,
        classes=found.dataset.labels.names,
        class_label=class_label,
        at_least=at_least,
        paging=paging(
            found.total,
            found.start,
            per_page=SUSPECTS_PER_PAGE,
            words=("suspect label", "suspect labels"),
            url=lambda at: address.suspects_url(
                class_label=class_label, at_least=at_least, start=at
            ),
        ),
        is_shown=request.args.get(SHOW) == "shown",
        draft={
            "text": "" if found.draft is None else draft_text(found.draft),
            "next_version": found.version + 1,
            "revision": "" if found.draft is None else found.draft.revision,
        },
    )
    return make_response(html, REFUSED if failure else 200)


def _class_names(name: str) -> tuple[str, ...]:
    with current_registry().database.read() as session:
        return dataset_named(session, project=requested_project(), name=name).labels.names


@blueprint.post(f"{DATASET}/suspects")
@requires(Role.LABELER)
def propose(name: str) -> Response:
    """Add the reader's labels of the selected samples to the draft."""
    project = requested_project()
    try:
        person = require_user_name()
        found = _found(name, SuspectQuestion(limit=MOST_SUSPECTS, person=person))
        answer_labels(
            current_registry().database,
            project=project,
            dataset=name,
            labels=chosen_labels(found, request.form),
            author=person,
            note=request.form.get("note"),
        )
    except (Conflict, InvalidInput) as error:
        return _page(name, failure_of(error))
    return redirect(_own_url(DatasetAddress(project, name)), 303)


def chosen_labels(found: SuspectLabels, form: MultiDict[str, str]) -> dict[int | str, str | None]:
    """The new label of each selected sample, None to remove its label.

    Raises `InvalidInput` if none is selected, and `Conflict` if the labels have changed since the
    form was opened.
    """
    if form.get("version") != str(found.version):
        raise Conflict(
            "the labels were corrected in the meantime.",
            field="version",
            hint="Check the suspects again.",
        )
    selected = set(form.getlist("sample"))
    suspects = [each for each in found.suspects if str(each.sample) in selected]
    if not suspects or len(suspects) < len(selected):
        raise InvalidInput(
            "no suspect label is selected." if not selected else "a sample is not a suspect.",
            field="sample",
            hint="Select examples of this page first.",
        )
    action = form.get("action", SUGGESTED)
    if action == SUGGESTED:
        return {each.sample: each.suggested for each in suspects}
    if action == IS_RIGHT:
        return {each.sample: each.label for each in suspects}
    label = None if action == LEAVE_OUT else form.get("label", "")
    return {each.sample: label for each in suspects}


@blueprint.get(f"{DATASET}/suspects{DATA_FORMAT}")
def export(name: str, form: str) -> Response:
    """JSON says how many match and has the first `MOST_SUSPECTS`; CSV has all."""
    limit = MOST_SUSPECTS if form == "json" else None
    question = SuspectQuestion(request.args.get("class") or None, _at_least(), 0, limit)
    document = suspects_document(_found(name, question))
    if form == "json":
        return json_response(document)
    return csv_response("suspects", SUSPECT_COLUMNS, suspect_rows(document))


def _at_least() -> int:
    return whole_number(request.args.get("against", ""), least=1, most=999) or 1


def _own_url(address: DatasetAddress) -> str:
    """The address of the part of the list that this request is about."""
    start, _ = read_start(request.args)
    return address.suspects_url(
        class_label=request.args.get("class", ""),
        at_least=_at_least(),
        start=start,
        content=request.args.get(SHOW),
    )


def _found(name: str, question: SuspectQuestion) -> SuspectLabels:
    project = requested_project()
    refuse_unread()
    return suspect_labels(
        current_registry().database,
        project=project,
        dataset=name,
        question=question,
        kept=kept_suspects(),
    )


def statement(found: SuspectLabels) -> str:
    """ "34 of 1,503 labels are contradicted by most of 4 models, 7 also by confident
    learning."."""
    if not found.n_suspect:
        return "No suspect labels: no label is contradicted by most models."
    n = numbers.count(found.n_suspect)
    labels = numbers.plural(found.n_labelled, "label")
    be = "is" if found.n_suspect == 1 else "are"
    models = numbers.plural(len(found.families), "model")
    return (
        f"{n} of {labels} {be} contradicted by most of {models}, "
        f"{numbers.count(found.n_confident)} also by confident learning."
    )


def planted_sentence(planted: PlantedErrors) -> str:
    """How well planted errors are found, in one sentence with its interval."""
    (found, found_range), (precision, precision_range) = (
        (percent(mean), f"{percent(low)} to {percent(high)}")
        for mean, low, high in (
            (planted.found, planted.found_low, planted.found_high),
            (planted.precision, planted.precision_low, planted.precision_high),
        )
    )
    return (
        f"If {percent(PLANTED_SHARE)} of the labels were wrong at random, {found} of them "
        f"({found_range} in 95 % of {planted.n_plantings} simulations) would be among the first "
        f"{numbers.count(planted.budget)}, and {precision} of these ({precision_range}) would be "
        "wrong."
    )


def _line(each: Suspect, found: SuspectLabels, looks: SampleLooks) -> SuspectLine:
    return SuspectLine(
        look=looks.of(each.sample),
        label=class_head(each.label),
        suggested=class_head(each.suggested),
        answers=tuple(
            (
                answer.label
                if answer.probability is None
                else f"{answer.label} {number(answer.probability, decimals=2)}",
                "suggested"
                if answer.label == each.suggested
                else "label"
                if answer.label == each.label
                else "other",
            )
            for answer in each.answers
        ),
        against=f"{each.against} of {len(found.families)}",
        margin=number(each.score, decimals=2),
        bar=share_bar(max(each.score, 0), name=each.reason),
    )

"""The labels that people propose for the next version of a dataset."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from offdiag.domain.access import Role
from offdiag.domain.number_text import interval_percent, number
from offdiag.errors import Conflict, InvalidInput
from offdiag.services.samples.drafts import (
    DraftItem,
    DraftStatus,
    LabelDraft,
    label_draft,
    publish_draft,
    withdraw_answers,
)
from offdiag_web.app.context import current_registry, requires
from offdiag_web.app.dispatch import requested_project
from offdiag_web.app.errors import REFUSED, Failure, failure_of, status_of
from offdiag_web.app.preferences import require_user_name, user_name_if_given
from offdiag_web.components import numbers
from offdiag_web.components.classes import ClassHead, label_head
from offdiag_web.components.controls import paging
from offdiag_web.components.datasets import DATASET, dataset_frame, find_in_any_project
from offdiag_web.components.samples import (
    SHOW,
    SampleLook,
    SampleLooks,
    answer_from_form,
    draft_text,
    no_longer_listed,
    sample_looks,
    selected_samples,
)
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.query_string import read_start

blueprint = Blueprint("label_draft", __name__)
find_in_any_project(blueprint)

PER_PAGE = 50
_ORDER = (DraftStatus.DISAGREE, DraftStatus.ONE, DraftStatus.AGREED, DraftStatus.DECIDED)


@dataclass(frozen=True, slots=True)
class DraftLine:
    """A sample. `answers` are those the reader may see; a hidden `outcome` is None."""

    look: SampleLook
    label: ClassHead
    outcome: ClassHead | None
    status: str
    answers: str


@blueprint.get(f"{DATASET}/draft")
def page(name: str) -> Response:
    return _page(name)


@blueprint.post(f"{DATASET}/draft")
@requires(Role.LABELER)
def propose(name: str) -> Response:
    """Store or withdraw the reader's labels of the selected samples."""
    return _act(name, is_final=False)


@blueprint.post(f"{DATASET}/draft/decide")
def decide(name: str) -> Response:
    """Decide the labels of the selected samples."""
    return _act(name, is_final=True)


@blueprint.post(f"{DATASET}/draft/publish")
def publish(name: str) -> Response:
    """Publish a label version from the labels that agree, and show its impact on runs."""
    project = requested_project()
    try:
        made = publish_draft(
            current_registry().database,
            project=project,
            dataset=name,
            reason=request.form.get("reason", ""),
            author=user_name_if_given(),
            opinions=2 if request.form.get("opinions") == "2" else 1,
            seen=request.form.get("seen"),
        )
    except InvalidInput as error:
        return _page(name, failure_of(error))
    except Conflict as error:
        answer = _page(name, failure_of(error))
        answer.status_code = status_of(error)
        return answer
    return redirect(DatasetAddress(project, name).impact_url(made.version.number), 303)


def _act(name: str, *, is_final: bool) -> Response:
    project = requested_project()
    try:
        person = require_user_name()
        if request.form.get("action") == "withdraw":
            withdraw_answers(
                current_registry().database,
                project=project,
                dataset=name,
                samples=selected_samples(),
                author=person,
            )
        else:
            answer_from_form(project=project, dataset=name, person=person, is_final=is_final)
    except (Conflict, InvalidInput) as error:
        return _page(name, failure_of(error))
    start, _ = read_start(request.args)
    return redirect(DatasetAddress(project, name).draft_url(start=start), 303)


def _page(name: str, failure: Failure | None = None) -> Response:
    start, notices = read_start(request.args)
    found = label_draft(current_registry().database, project=requested_project(), dataset=name)
    address = DatasetAddress(found.dataset.project, found.dataset.name)
    items = sorted(found.items, key=lambda item: _ORDER.index(item.status))
    pages = paging(
        len(items),
        start,
        per_page=PER_PAGE,
        words=("example", "examples"),
        url=lambda at: address.draft_url(start=at),
    )
    shown = items[pages.start : pages.end]
    person = user_name_if_given()
    looks = sample_looks(address, (item.sample for item in shown))
    html = render_template(
        "samples/draft.html",
        notices=[*notices, *no_longer_listed(item.sample for item in shown)],
        failure=failure,
        address=address,
        frame=dataset_frame(found.dataset, found.size, current="suspects"),
        next_version=found.version + 1,
        revision=found.revision,
        statement=draft_text(found),
        lines=tuple(_line(item, looks, person) for item in shown),
        looks=looks,
        agreement=agreement_texts(found),
        classes=found.dataset.labels.names,
        paging=pages,
        is_shown=request.args.get(SHOW) == "shown",
    )
    return make_response(html, REFUSED if failure else 200)


def _line(item: DraftItem, looks: SampleLooks, person: str | None) -> DraftLine:
    is_open = item.is_open_to(person)
    return DraftLine(
        look=looks.of(item.sample),
        label=label_head(item.label),
        outcome=label_head(item.outcome)
        if is_open and item.status is not DraftStatus.DISAGREE
        else None,
        status=item.status if is_open else "needs a second answer",
        answers=", ".join(
            f"{each.author}{' decided' if each.is_final else ''}: {each.label or 'cannot be told'}"
            f"{f' ({each.note})' if each.note else ''}"
            for each in item.answers
        )
        if is_open
        else "",
    )


def agreement_texts(found: LabelDraft) -> tuple[str, ...]:
    """How much each two people agree, in one sentence with the intervals."""
    texts = []
    for pair in found.pairs:
        one, other = pair.people
        share, kappa = pair.found.share, pair.found.kappa
        text = (
            f"{one} and {other} agree on {numbers.count(pair.found.n_same)} of "
            f"{numbers.count(pair.found.n)} (95\N{NARROW NO-BREAK SPACE}% "
            f"{interval_percent(share.ci_low or 0, share.ci_high or 0)}); Cohen’s kappa "
        )
        if kappa.value is None:
            text += "is undefined: all answers are the same"
        else:
            text += number(kappa.value, decimals=2)
        if kappa.ci_low is not None and kappa.ci_high is not None:
            text += (
                f" (CI {number(kappa.ci_low, decimals=2)} to {number(kappa.ci_high, decimals=2)})"
            )
        texts.append(f"{text}.")
    return tuple(texts)

"""The data page of a dataset: classes and groups, label versions, slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flask import make_response, render_template, request
from markupsafe import Markup
from werkzeug.wrappers import Response

from offdiag.domain.hierarchy import Group, Hierarchy
from offdiag.domain.labels import LabelSet
from offdiag.domain.look_alikes import look_alikes_in_words
from offdiag.domain.runs import RunState
from offdiag.services.datasets import DatasetDetail, browse_dataset
from offdiag.store.dataset_page import DatasetRuns, dataset_size
from offdiag.store.truths import TruthSummary
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import requested_project
from offdiag_web.app.errors import Failure
from offdiag_web.charts.marks import share_bar
from offdiag_web.components import numbers
from offdiag_web.components.classes import ClassHead, class_head, quoted_name
from offdiag_web.components.controls import Chip, Tone, paging
from offdiag_web.components.datasets import dataset_frame, runs_of_dataset_url
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.query_string import read_start

CLASSES_PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class ClassCount:
    """One class. `change` is the difference from the previous version, None if there is none."""

    head: ClassHead
    count: str
    share: str
    bar: Markup
    change: str | None


def class_counts(
    labels: LabelSet,
    versions: Sequence[TruthSummary],
    address: DatasetAddress,
    start: int,
) -> dict[str, object] | None:
    """The classes of the newest version; None if the dataset has no ground truth."""
    if not versions:
        return None
    newest = versions[0]
    before = next((each for each in versions if each.number == newest.parent), None)
    codes = sorted(range(len(labels)), key=lambda code: -newest.class_counts[code])
    page = paging(
        len(codes),
        start,
        per_page=CLASSES_PER_PAGE,
        words=("class", "classes"),
        url=lambda at: address.data_url(start=at),
    )
    missing = newest.n_samples - newest.n_labelled
    return {
        "number": newest.number,
        "classes": tuple(
            _class_count(labels.names[code], code, newest, before)
            for code in codes[page.start : page.end]
        ),
        "compared_with": None if before is None else before.number,
        "unlabelled": numbers.plural(missing, "example") if missing else None,
        "paging": page,
    }


def _class_count(
    name: str, code: int, newest: TruthSummary, before: TruthSummary | None
) -> ClassCount:
    count, of = newest.class_counts[code], max(newest.n_labelled, 1)
    share = numbers.fine_percent(count, of)
    return ClassCount(
        head=class_head(name),
        count=numbers.count(count),
        share=share,
        bar=share_bar(count / of, name=f"{share} of the labelled examples"),
        change=None if before is None else numbers.signed(count - before.class_counts[code]),
    )


MOST_GROUPS = 100
MOST_NAMED = 12
"""Most classes of a group that are named."""


@dataclass(frozen=True, slots=True)
class GroupLine:
    """A group, listed after those around it; `n_hidden` of its classes are not named."""

    around: tuple[str, ...]
    name: str
    classes: tuple[str, ...]
    n_hidden: int


def group_lines(hierarchy: Hierarchy) -> dict[str, object]:
    """Every group before those inside it, up to `MOST_GROUPS`."""
    groups = list(hierarchy.by_name.values())
    hidden = len(groups) - MOST_GROUPS
    return {
        "lines": tuple(_line(hierarchy, group) for group in groups[:MOST_GROUPS]),
        "more": numbers.plural(hidden, "more group") if hidden > 0 else None,
    }


def _line(hierarchy: Hierarchy, group: Group) -> GroupLine:
    classes = [each for each in group.members if isinstance(each, str)]
    return GroupLine(
        around=tuple(numbers.shortened(each.name) for each in hierarchy.parents[group.name]),
        name=numbers.shortened(group.name),
        classes=tuple(numbers.shortened(name) for name in classes[:MOST_NAMED]),
        n_hidden=max(len(classes) - MOST_NAMED, 0),
    )


MOST_LEVELS = 12
"""Most values of a slice column that are named on the page."""

_STATES: tuple[tuple[RunState, str, str, Tone], ...] = (
    (RunState.EVALUATED, "evaluated", "evaluated", "good"),
    (RunState.OPEN, "open", "open", "busy"),
    (RunState.FINISHED, "queued", "waiting for metrics", "busy"),
    (RunState.FAILED, "failed", "failed", "error"),
)


def data_page(name: str, failure: Failure | None = None) -> Response:
    """The data of a dataset; `failure` is about a form for a label version that is gone."""
    database = current_registry().database
    start, notices = read_start(request.args)
    detail = browse_dataset(database, project=requested_project(), dataset=name)
    dataset = detail.dataset
    with database.read() as session:
        size = dataset_size(session, dataset.id)
    address = DatasetAddress(dataset.project, dataset.name)
    html = render_template(
        "datasets/data.html",
        notices=notices,
        failure=failure,
        address=address,
        frame=dataset_frame(dataset, size, current="data"),
        labels_note=_labels_note(detail),
        classes=class_counts(dataset.labels, detail.versions, address, start),
        versions=detail.versions,
        states=tuple(_states(detail.runs, address)),
        behind=_behind(detail.runs),
        slices=detail.slices,
        most_levels=MOST_LEVELS,
        groups=None if dataset.hierarchy is None else group_lines(dataset.hierarchy),
    )
    return make_response(html, 200 if failure is None else failure.status)


def _labels_note(detail: DatasetDetail) -> str:
    dataset = detail.dataset
    known = "Inferred from the data and sorted" if dataset.labels_inferred else "Declared"
    order = ", in a meaningful order" if dataset.labels.ordinal else ""
    by_convention = " by convention" if dataset.positive_by_convention else ""
    positive = (
        f" {quoted_name(dataset.positive_label)} is the positive class{by_convention}."
        if dataset.positive_label is not None
        else ""
    )
    alike = look_alikes_in_words(dataset.labels)
    note = "" if alike is None else f" {alike}"
    return f"{known}{order}.{positive}{note} Digest: {dataset.labels.digest[:12]}."


def _states(runs: DatasetRuns, address: DatasetAddress) -> list[tuple[Chip, str]]:
    return [
        (
            Chip(f"{numbers.count(runs.by_state[state])} {words}", tone),
            runs_of_dataset_url(address, f"state:{word}"),
        )
        for state, word, words, tone in _STATES
        if runs.by_state[state]
    ]


def _behind(runs: DatasetRuns) -> str | None:
    if not runs.n_behind:
        return None
    one = "run still shows", "runs still show"
    return f"{numbers.plural(runs.n_behind, *one)} results of an older label version."

"""The page of a dataset: classes, versions of its ground truth, runs, slices."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from offdiag.domain.look_alikes import look_alikes_in_words
from offdiag.domain.runs import RunState
from offdiag.services.browse_datasets import DatasetDetail
from offdiag.store.dataset_page import DatasetRuns
from offdiag.store.truths import TruthSummary
from offdiag_web.presenters import numbers
from offdiag_web.presenters.chips import Chip, Tone
from offdiag_web.presenters.class_order import quoted_name
from offdiag_web.presenters.dataset_classes import ClassCounts, class_counts
from offdiag_web.presenters.dataset_groups import GroupLines, group_lines
from offdiag_web.presenters.task_words import TASK_WORDS
from offdiag_web.presenters.times import Moment, moment
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.filter_line import parse_filter, quoted
from offdiag_web.urls.run_list import RunListAddress

MOST_LEVELS = 12
"""Values of a slice column that are named on the page."""

_STATES: tuple[tuple[RunState, str, str, Tone], ...] = (
    (RunState.EVALUATED, "evaluated", "evaluated", "good"),
    (RunState.OPEN, "open", "open", "busy"),
    (RunState.FINISHED, "queued", "waiting for metrics", "busy"),
    (RunState.FAILED, "failed", "failed", "error"),
)


@dataclass(frozen=True, slots=True)
class VersionLine:
    """One truth version. `origin` says where it comes from, `labelled` what it covers."""

    name: str
    is_head: bool
    origin: str
    labelled: str
    is_partial: bool
    reason: str | None
    author: str | None
    made: Moment
    n_runs: str
    difference_url: str | None
    impact_url: str | None


@dataclass(frozen=True, slots=True)
class LinkedChip:
    """A chip that leads somewhere."""

    chip: Chip
    url: str


@dataclass(frozen=True, slots=True)
class SliceLine:
    """A slice column; `levels` are its values, cut where there are many."""

    name: str
    of_version: str
    n_levels: str
    levels: tuple[str, ...]
    n_hidden: int


@dataclass(frozen=True, slots=True)
class DatasetView:
    """Everything on the page of a dataset."""

    address: DatasetAddress
    name: str
    project: str | None
    subtitle: str
    labels_note: str
    classes: ClassCounts | None
    versions: tuple[VersionLine, ...]
    n_runs: str
    runs_url: str
    states: tuple[LinkedChip, ...]
    behind: str | None
    slices: tuple[SliceLine, ...]
    groups: GroupLines | None


def dataset_view(detail: DatasetDetail, *, start: int, now: datetime) -> DatasetView:
    """Present a dataset; `start` is the first class that is shown, counted from 0."""
    dataset = detail.dataset
    address = DatasetAddress(dataset.project, dataset.name)
    return DatasetView(
        address=address,
        name=dataset.name,
        project=None if dataset.project == "default" else dataset.project,
        subtitle=_subtitle(detail),
        labels_note=_labels_note(detail),
        classes=class_counts(dataset.labels, detail.versions, address, start),
        versions=tuple(_version(version, address, now) for version in detail.versions),
        n_runs=numbers.plural(detail.runs.total, "run"),
        runs_url=runs_url(address),
        states=tuple(_states(detail.runs, address)),
        behind=_behind(detail.runs),
        slices=tuple(
            SliceLine(
                name=column.name,
                of_version=f"v{column.root}",
                n_levels=numbers.count(len(column.levels)),
                levels=column.levels[:MOST_LEVELS],
                n_hidden=max(len(column.levels) - MOST_LEVELS, 0),
            )
            for column in detail.slices
        ),
        groups=None if dataset.hierarchy is None else group_lines(dataset.hierarchy),
    )


def runs_url(address: DatasetAddress, more: str = "") -> str:
    """The list of the runs on a dataset, narrowed by further terms."""
    terms = f"project:{quoted(address.project)} dataset:{quoted(address.name)} {more}"
    return RunListAddress(parse_filter(terms)).url()


def _subtitle(detail: DatasetDetail) -> str:
    dataset = detail.dataset
    parts = [TASK_WORDS[dataset.task], numbers.plural(len(dataset.labels), "class", "classes")]
    if detail.versions:
        newest = detail.versions[0]
        parts.append(numbers.plural(newest.n_samples, "sample"))
        parts.append(f"truth v{newest.number}")
    else:
        parts.append("no ground truth yet")
    return " · ".join(parts)


def _labels_note(detail: DatasetDetail) -> str:
    dataset = detail.dataset
    known = "Inferred from the data and sorted" if dataset.labels_inferred else "Declared"
    order = ", in a meaningful order" if dataset.labels.ordinal else ""
    by_convention = " by convention" if dataset.positive_by_convention else ""
    positive = (
        f" {quoted_name(dataset.positive_label)} counts as positive{by_convention}."
        if dataset.positive_label is not None
        else ""
    )
    alike = look_alikes_in_words(dataset.labels)
    note = "" if alike is None else f" {alike}"
    return f"{known}{order}.{positive}{note} Their digest is {dataset.labels.digest[:12]}."


def _version(version: TruthSummary, address: DatasetAddress, now: datetime) -> VersionLine:
    parent = version.parent
    return VersionLine(
        name=f"v{version.number}",
        is_head=version.is_head,
        origin="logged" if parent is None else f"corrects v{parent}",
        labelled=numbers.labelled(version.n_labelled, version.n_samples),
        is_partial=version.n_labelled < version.n_samples,
        reason=version.reason,
        author=version.author,
        made=moment(version.created_at, now=now),
        n_runs=numbers.count(version.n_runs),
        difference_url=None if parent is None else address.difference_url(parent, version.number),
        impact_url=None if parent is None else address.impact_url(version.number),
    )


def _states(runs: DatasetRuns, address: DatasetAddress) -> list[LinkedChip]:
    return [
        LinkedChip(
            Chip(f"{numbers.count(runs.by_state[state])} {words}", tone),
            runs_url(address, f"state:{word}"),
        )
        for state, word, words, tone in _STATES
        if runs.by_state[state]
    ]


def _behind(runs: DatasetRuns) -> str | None:
    if not runs.n_behind:
        return None
    one = "run still shows", "runs still show"
    return f"{numbers.plural(runs.n_behind, *one)} results of an older truth version."

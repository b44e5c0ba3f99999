"""The top of every page of a run: what it is, what to beware of, where its results stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from offdiag.domain.look_alikes import look_alikes_in_words
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunState, Task, decision_text
from offdiag.store.run_page import RunDetail, RunHeader
from offdiag_web.presenters import numbers
from offdiag_web.presenters.chips import (
    Caution,
    Chip,
    orientation_chip,
    orientation_warning,
    state_chip,
    tag_text,
)
from offdiag_web.presenters.currency import coverage_chip, stale_caution
from offdiag_web.presenters.flags.on_run import FlagsOnRun, flags_on_run
from offdiag_web.presenters.task_words import class_words
from offdiag_web.presenters.times import Moment, moment
from offdiag_web.urls.datasets import ModelAddress
from offdiag_web.urls.filter_line import parse_filter, quoted
from offdiag_web.urls.run_list import RunListAddress
from offdiag_web.urls.what_if import WhatIfAddress

MOST_TAGS = 6
"""Tags shown in the header; the metadata page has all."""

TABS = (
    ("matrix", "Matrix"),
    ("classes", "Classes"),
    ("curves", "Curves"),
    ("examples", "Examples"),
    ("advice", "Advice"),
    ("history", "History"),
    ("meta", "Metadata"),
)


@dataclass(frozen=True, slots=True)
class Tab:
    """One page of the run."""

    text: str
    url: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class RunHeaderView:
    """`state` is None once the run has results; `is_pending` asks the page to look again."""

    id: str
    name: str
    dataset: str
    dataset_url: str
    compare_url: str
    """The runs of the dataset, with this one ticked."""
    decide_url: str | None
    """What its scores would decide under costs, where it has any."""
    newer_url: str | None
    older_url: str | None
    """The same page of the runs logged right after and right before, where there are any."""
    is_baseline: bool
    can_be_baseline: bool
    scope: str
    chips: tuple[Chip, ...]
    orientation: Chip
    flags: FlagsOnRun
    caution: Caution | None
    stale: Caution | None
    state: Chip | None
    job_url: str | None
    is_pending: bool
    logged: Moment
    author: str | None
    tabs: tuple[Tab, ...]


def run_header(
    detail: RunDetail, *, current: str, now: datetime, tab_url: Callable[[str, str], str]
) -> RunHeaderView:
    """Present a run. `tab_url` makes the address of a page from its name and the id of a run."""
    run, around = detail.run, detail.surroundings
    state = None
    if detail.results is None:
        state = state_chip(run.state, work=detail.work, n_predictions=run.n_predictions, now=now)
    return RunHeaderView(
        id=run.id,
        name=run.name,
        dataset=run.dataset,
        dataset_url=_dataset_runs(run).url(),
        compare_url=replace(_dataset_runs(run), selected=(run.id,)).url(),
        decide_url=WhatIfAddress().decisions_url(run.id) if _can_decide(detail) else None,
        newer_url=around.newer_id and tab_url(current, around.newer_id),
        older_url=around.older_id and tab_url(current, around.older_id),
        is_baseline=around.is_baseline,
        can_be_baseline=run.state in {RunState.FINISHED, RunState.EVALUATED},
        scope=_scope(detail),
        chips=_chips(detail),
        orientation=orientation_chip(
            run.source, run.orientation_verdict, counted_on=run.counted_on
        ),
        flags=flags_on_run(detail, now),
        caution=orientation_warning(run.source, run.orientation_verdict),
        stale=stale_caution(detail, now=now),
        state=state,
        job_url=None if state is None or detail.work is None else f"/jobs/{detail.work.id}",
        is_pending=state is not None and state.tone == "busy",
        logged=moment(run.created_at, now=now),
        author=run.author,
        tabs=tuple(
            Tab(_tab_text(name, text, detail), tab_url(name, run.id), name == current)
            for name, text in TABS
            if name not in _left_out(run)
        ),
    )


def _left_out(run: RunHeader) -> frozenset[str]:
    """Pages that are about single classes alone."""
    return frozenset({"advice"}) if run.task is Task.MULTILABEL else frozenset()


def _tab_text(name: str, text: str, detail: RunDetail) -> str:
    """ "Examples 205 wrong" where that is known, else the plain name."""
    if name == "classes":
        return class_words(detail.run.task).many.capitalize()
    has_examples = detail.run.source is SourceOrientation.PREDICTIONS
    if name != "examples" or detail.results is None or not has_examples:
        return text
    counted = detail.results.counted
    return f"{text} {numbers.count(counted.total - counted.n_right)} wrong"


def _scope(detail: RunDetail) -> str:
    """The dataset with the version of its truth that the results were made with."""
    run, results = detail.run, detail.results
    number = results.facts.truth_number if results is not None else None
    if number is None and run.truth is not None:
        number = run.truth.number
    return run.dataset if number is None else f"{run.dataset} v{number}"


def _dataset_runs(run: RunHeader) -> RunListAddress:
    terms = parse_filter(f"project:{quoted(run.project)} dataset:{quoted(run.dataset)}")
    return RunListAddress(terms)


def _can_decide(detail: RunDetail) -> bool:
    run = detail.run
    return detail.results is not None and run.score_columns > 0 and run.task is not Task.MULTILABEL


def _chips(detail: RunDetail) -> tuple[Chip, ...]:
    run = detail.run
    n_cases = detail.results.facts.n_cases if detail.results else run.n_predictions
    facts = [f"n {numbers.count(n_cases)} · K {numbers.count(len(run.labels))}"]
    if run.project != "default":
        facts.append(f"project {run.project}")
    facts += [tag_text(key, value) for key, value in sorted(run.tags.items())][:MOST_TAGS]
    chips = [Chip(numbers.shortened(fact, longest=48)) for fact in facts]
    if run.model:
        named = numbers.shortened(f"model {run.model}", longest=48)
        chips.insert(0, Chip(named, url=ModelAddress(run.model).url()))
    if run.derivation is not None:
        source = run.derivation.run_id
        chips.append(Chip(f"decided from the scores of {source}", url=f"/runs/{source}"))
    if run.decision is not None:
        chips.append(
            Chip(f"predicted: {numbers.shortened(decision_text(run.decision), longest=80)}")
        )
    if detail.surroundings.is_baseline:
        chips.append(Chip(f"baseline of {numbers.shortened(run.dataset, longest=40)}"))
    alike = look_alikes_in_words(run.labels)
    if alike is not None:
        chips.append(Chip("classes look alike", "warning", alike))
    coverage = coverage_chip(detail.results)
    return tuple([*chips, coverage] if coverage else chips)

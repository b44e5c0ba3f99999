"""The what-if page as a whole, and its start where no runs were named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from offdiag.domain.runs import RunState, Task
from offdiag.domain.texts import DEFAULT_PROJECT
from offdiag.metrics.costs.edits import cost_text
from offdiag.services.what_if.costs import WhatIf
from offdiag.services.what_if.scenario import MOST_RUNS
from offdiag.store.dataset_page import DatasetFacts, LoggedRuns
from offdiag_web.components import numbers
from offdiag_web.components.classes import class_order
from offdiag_web.components.controls import Segment
from offdiag_web.components.costs.form import (
    CostGrid,
    ShareField,
    base_segments,
    base_text,
    cost_grid,
    share_fields,
    warning_texts,
)
from offdiag_web.components.costs.ranking import (
    Ranking,
    constant_sentence,
    rank_sentence,
    ranking,
)
from offdiag_web.components.slices import SliceChoice, slice_choices
from offdiag_web.pages.what_if.choice import (
    ChoiceView,
    LeverChoice,
    SliderView,
    choice_view,
    lever_choices,
    slider_view,
    verdict,
)
from offdiag_web.pages.what_if.heat import BinarySides, HeatView, binary_sides, heat_view
from offdiag_web.urls.costs import CostsAddress, new_costs_url
from offdiag_web.urls.query_string import with_query
from offdiag_web.urls.what_if import LONGEST_URL, WhatIfAddress


@dataclass(frozen=True, slots=True)
class OtherRunChoice:
    """A run that can be added."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class WhatIfView:
    """Everything the page shows."""

    title: str
    address: WhatIfAddress
    base: str
    base_note: str | None
    base_url: str | None
    currency: str | None
    presets: tuple[Segment, ...]
    is_edited: bool
    changes: str
    multiplications: str
    times: str
    reset_url: str
    grid: CostGrid | None
    groups: str
    warnings: tuple[str, ...]
    notices: tuple[str, ...]
    levers: tuple[LeverChoice, ...]
    shares: tuple[ShareField, ...]
    has_shares: bool
    verdict: str | None
    slider: SliderView | None
    standing: str
    loses: str | None
    ranking: Ranking
    sides: BinarySides | None
    choice: ChoiceView | None
    heat: HeatView
    slices: tuple[SliceChoice, ...]
    others: tuple[OtherRunChoice, ...]
    can_add: bool
    save_name: str
    next_version: int | None
    new_url: str
    dataset: str
    project: str


def what_if_view(
    found: WhatIf, address: WhatIfAddress, *, run_url: Callable[[str], str]
) -> WhatIfView:
    """Present an answer. `address` is the canonical one; `run_url` leads to a run."""
    first, scenario = found.frame.runs[0], found.scenario
    record = scenario.base.record
    order = class_order(first.matrix, None)
    labels = scenario.costs.labels
    return WhatIfView(
        title=f"Cost what-if · {first.dataset}",
        address=address,
        base=base_text(scenario.base),
        base_note=None if record is None else record.note,
        base_url=None
        if record is None
        else CostsAddress(record.project, record.name, record.version).url(),
        currency=scenario.costs.currency,
        presets=base_segments(
            scenario.base,
            found.frame.choices,
            is_edited=bool(scenario.edits),
            url_of=lambda reference: address.asking(costs=reference, edits="").url(),
        ),
        is_edited=bool(scenario.edits),
        changes=_changes(found),
        multiplications=_multiplications(found),
        times=replace(scenario.edits, cells={}).text(labels),
        reset_url=address.asking(edits="", shares="", merged="", lever="").url(),
        grid=cost_grid(scenario, order),
        groups=" ".join(",".join(map(str, group)) for group in scenario.groups),
        warnings=warning_texts(found.warnings, labels),
        notices=_notices(found, address),
        levers=lever_choices(found, order),
        shares=share_fields(first.matrix, scenario.shares, order),
        has_shares=scenario.prevalence is not None,
        verdict=verdict(found),
        slider=slider_view(found),
        standing=rank_sentence(found),
        loses=constant_sentence(found),
        ranking=ranking(found, address, run_url=run_url),
        sides=binary_sides(found, address),
        choice=choice_view(found),
        heat=heat_view(found, order, selected=range(len(found.answers))),
        slices=slice_choices(found.frame.levels, found.frame.part or None),
        others=_others(found),
        can_add=len(found.answers) < MOST_RUNS,
        save_name="" if record is None else record.name,
        next_version=_next_version(found),
        new_url=new_costs_url(first.project, first.dataset),
        dataset=first.dataset,
        project=first.project,
    )


def _changes(found: WhatIf) -> str:
    edits = found.scenario.edits
    n_cells = int((found.scenario.costs.weights != found.scenario.base.costs.weights).sum())
    if not edits:
        return ""
    return f"{numbers.plural(n_cells, 'cell')} changed"


def _multiplications(found: WhatIf) -> str:
    return ", ".join(
        f"{each.sides} × {cost_text(each.factor)}" for each in found.scenario.edits.multiplications
    )


def _notices(found: WhatIf, address: WhatIfAddress) -> tuple[str, ...]:
    notices = [f"Run {run_id} is left out: {why}." for run_id, why in found.frame.left_out]
    notices += found.scenario.problems
    length = len(address.url())
    if length > LONGEST_URL:
        notices.append(
            f"These changes make an address of {numbers.count(length)} characters, which not "
            "every program passes on whole. Save them as a version before you send a link."
        )
    return tuple(notices)


def _others(found: WhatIf) -> tuple[OtherRunChoice, ...]:
    return tuple(
        OtherRunChoice(
            other.id,
            " · ".join(filter(None, [numbers.shortened(other.name, longest=40), other.model])),
        )
        for other in found.frame.others
    )


def _next_version(found: WhatIf) -> int | None:
    record = found.scenario.base.record
    if record is None:
        return None
    newest = [c.version for c in found.frame.choices if c.name == record.name]
    return max([record.version, *newest]) + 1


@dataclass(frozen=True, slots=True)
class DatasetChoice:
    """A dataset with evaluated runs."""

    name: str
    project: str | None
    url: str
    facts: str


@dataclass(frozen=True, slots=True)
class StartView:
    """Datasets whose runs can be priced; `notice` says why none is shown yet."""

    datasets: tuple[DatasetChoice, ...]
    notice: str | None


def start_view(
    datasets: Sequence[tuple[DatasetFacts, LoggedRuns]],
    address: WhatIfAddress,
    *,
    without_runs: str | None,
) -> StartView:
    """Present the datasets whose runs have costs, which label sets have not.

    The rest of the address is kept.
    """
    return StartView(
        tuple(
            DatasetChoice(
                facts.name,
                None if facts.project == DEFAULT_PROJECT else facts.project,
                _url(facts, address),
                f"{numbers.plural(logged.by_state[RunState.EVALUATED], 'evaluated run')}, "
                f"{numbers.plural(facts.n_classes, 'class', 'classes')}",
            )
            for facts, logged in datasets
            if logged.by_state[RunState.EVALUATED] and facts.task is not Task.MULTILABEL
        ),
        None if without_runs is None else f"Dataset “{without_runs}” has no evaluated runs here.",
    )


def _url(facts: DatasetFacts, address: WhatIfAddress) -> str:
    return with_query(
        "/whatif",
        {
            "dataset": facts.name,
            "project": None if facts.project == DEFAULT_PROJECT else facts.project,
            "cost": address.question.costs,
        },
    )

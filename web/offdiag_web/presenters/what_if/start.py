"""Where no runs were named: datasets to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from offdiag.domain.runs import RunState
from offdiag.domain.texts import DEFAULT_PROJECT
from offdiag.store.dataset_page import DatasetFacts, LoggedRuns
from offdiag_web.presenters import numbers
from offdiag_web.urls.query_string import with_query
from offdiag_web.urls.what_if import WhatIfAddress


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
    """Present the datasets that have runs. The rest of the address is kept."""
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
            if logged.by_state[RunState.EVALUATED]
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

"""The page of a comparison before there are two runs: where they can be chosen."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag_web.addresses.compare import CompareAddress
from offdiag_web.presenters import numbers
from offdiag_web.presenters.datasets import Overview
from offdiag_web.urls.filter_line import quoted


@dataclass(frozen=True, slots=True)
class DatasetChoice:
    """A dataset whose runs can be compared."""

    name: str
    n_runs: str
    url: str


@dataclass(frozen=True, slots=True)
class ChoosingView:
    """What to choose from; `chosen` is the id of the one run that is chosen already."""

    chosen: str | None
    datasets: tuple[DatasetChoice, ...]


def choosing_view(overview: Overview, address: CompareAddress) -> ChoosingView:
    """Present the datasets that have runs to choose from."""
    names = [dataset.name for dataset, _ in overview]
    return ChoosingView(
        chosen=address.run_ids[0] if address.run_ids else None,
        datasets=tuple(
            DatasetChoice(
                name=dataset.name,
                n_runs=numbers.plural(runs.total, "run"),
                url=address.selection_url(_query(dataset.project, dataset.name, names)),
            )
            for dataset, runs in overview
            if runs.total
        ),
    )


def _query(project: str, name: str, names: list[str]) -> str:
    in_project = "" if names.count(name) == 1 else f"project:{quoted(project)} "
    return f"{in_project}dataset:{quoted(name)}"

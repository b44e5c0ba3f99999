"""What all pages of one dataset have in common: its title, its size and its tabs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flask import url_for

from offdiag.domain.runs import Task
from offdiag.domain.texts import DEFAULT_PROJECT
from offdiag.store.dataset_page import DatasetSize
from offdiag.store.datasets import DatasetRecord
from offdiag_web.components import numbers
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.filter_line import parse_filter, quoted
from offdiag_web.urls.run_list import RunListAddress

Part = Literal["decision", "runs", "problems", "costs", "data"]
"""The tabs, each a page of the dataset."""


@dataclass(frozen=True, slots=True)
class DatasetTab:
    """A page of the dataset, with how much there is on it."""

    text: str
    url: str
    is_current: bool
    count: str = ""


@dataclass(frozen=True, slots=True)
class DatasetFrame:
    """The head of a page of a dataset; `version` is empty while it has no labels."""

    name: str
    project: str | None
    version: str
    facts: str
    tabs: tuple[DatasetTab, ...]


def dataset_frame(
    dataset: DatasetRecord, size: DatasetSize, *, current: Part, n_problems: int = 0
) -> DatasetFrame:
    """The head of the page `current`; `n_problems` are those that are open."""
    address = DatasetAddress(dataset.project, dataset.name)
    project = None if dataset.project == DEFAULT_PROJECT else dataset.project
    pages: tuple[tuple[Part, str, str, int], ...] = (
        ("decision", "Decision", address.url(), 0),
        ("runs", "Runs", runs_url(address), size.n_runs),
        (
            "problems",
            "Problems",
            url_for("problems.page", dataset=dataset.name, project=dataset.project),
            n_problems,
        ),
        ("costs", "Costs", url_for("what_if.page", dataset=dataset.name, project=project), 0),
        ("data", "Data", address.data_url(), 0),
    )
    return DatasetFrame(
        name=dataset.name,
        project=project,
        version="" if size.truth_number is None else f"labels v{size.truth_number}",
        facts=_facts(dataset, size),
        tabs=tuple(
            DatasetTab(text, url, part == current, numbers.count(count) if count else "")
            for part, text, url, count in pages
        ),
    )


def runs_url(address: DatasetAddress, more: str = "") -> str:
    """The list of the runs on a dataset, narrowed by further terms."""
    terms = f"project:{quoted(address.project)} dataset:{quoted(address.name)} {more}"
    return RunListAddress(parse_filter(terms)).url()


def _facts(dataset: DatasetRecord, size: DatasetSize) -> str:
    """ "1,503 examples · 7 classes · largest nv 66.9 %"."""
    classes = numbers.plural(len(dataset.labels), "class", "classes")
    if dataset.task is Task.MULTILABEL:
        classes = numbers.plural(len(dataset.labels), "label")
    if size.truth_number is None:
        return f"{classes} · no labels yet"
    parts = [numbers.plural(size.n_samples, "example"), classes]
    if size.n_labelled < size.n_samples:
        labelled = f"{numbers.count(size.n_labelled)} of {numbers.count(size.n_samples)}"
        parts[0] = f"{labelled} examples labelled"
    # Sets share their labels, so no label's share is what a constant prediction would score.
    if size.n_labelled and dataset.task is not Task.MULTILABEL:
        largest = max(size.class_counts)
        name = numbers.shortened(
            dataset.labels.names[size.class_counts.index(largest)], longest=24
        )
        parts.append(f"largest {name} {numbers.fine_percent(largest, size.n_labelled)}")
    return " · ".join(parts)

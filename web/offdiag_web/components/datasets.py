"""The frame of the pages of a dataset, with its tabs, and what leads to them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from flask import Blueprint, redirect, request, url_for
from werkzeug.wrappers import Response

from offdiag.domain.runs import Task
from offdiag.domain.texts import DEFAULT_PROJECT
from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput, NotFound
from offdiag.flags.problems import Problem
from offdiag.flags.warning import named
from offdiag.metrics.metric_text import difference, spec_of
from offdiag.store.dataset_page import DatasetFacts, DatasetSize, LoggedRuns
from offdiag.store.datasets import DatasetRecord
from offdiag.store.project_access import projects_with_dataset
from offdiag_web.app.context import SAFE_METHODS, current_registry
from offdiag_web.app.dispatch import requested_project
from offdiag_web.app.errors import domain_response
from offdiag_web.app.last_visit import open_problems
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.controls import ClassWords, Tab, class_words
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.filter_line import dataset_terms, runs_where
from offdiag_web.urls.query_string import named_project, with_query

Overview = Sequence[tuple[DatasetFacts, LoggedRuns]]


def runs_url(dataset: DatasetFacts, *, name_is_unique: bool) -> str:
    """The runs list of a dataset, filtered by project too if the name alone is ambiguous."""
    return runs_where(dataset_terms(dataset.name, None if name_is_unique else dataset.project))


METRIC_TITLES = {
    "balanced_accuracy": "Balanced accuracy",
    "mcc": "MCC",
    "macro_f1": "Macro F1",
    "overall_accuracy": "Accuracy",
}
"""The aggregates that are followed over time; the first one ranks runs."""
TITLES_OF_SETS = {
    "macro_f1": "Macro F1",
    "example_jaccard": "Jaccard",
    "subset_accuracy": "Subset accuracy",
    "hamming_loss": "Hamming loss",
}
"""The same for samples with sets of labels."""


def titles_for(task: Task) -> dict[str, str]:
    """The titles of the aggregates, depending on what the labels of a dataset mean."""
    return TITLES_OF_SETS if task is Task.MULTILABEL else METRIC_TITLES


def difference_text(metric: str, before: MetricValue, after: MetricValue) -> str | None:
    """ "+0.4 pp" or, for values that are no shares, "+0.012"; None if either is undefined."""
    if before.value is None or after.value is None:
        return None
    return difference(after.value - before.value, spec_of(metric, of_class=False))


Part = Literal["decision", "runs", "methods", "problems", "suspects", "costs", "data"]
"""The tabs, each a page of the dataset."""
_PARTS_OF_CLASSES = {"methods", "suspects", "costs"}
"""Those of datasets whose examples have one class each, not a set of labels."""


@dataclass(frozen=True, slots=True)
class DatasetFrame:
    """The header of a page of a dataset; `version` is empty as long as it has no labels."""

    name: str
    project: str | None
    version: str
    words: ClassWords
    facts: str
    tabs: tuple[Tab, ...]


def labels_command(project: str, dataset: str) -> str:
    """The command that adds the first labels, quoted for a shell."""
    command = f"offdiag truth revise {shlex.quote(dataset)} labels.csv"
    named = "" if project == DEFAULT_PROJECT else f" --project {shlex.quote(project)}"
    return f'{command} --reason "First labels"{named}'


def log_snippet(project: str, dataset: str) -> str:
    """Code that logs a first run on a dataset; a JSON string is also a Python string."""
    names = {"dataset": dataset}
    if project != DEFAULT_PROJECT:
        names["project"] = project
    given = [f"    {key}={json.dumps(name, ensure_ascii=False)}," for key, name in names.items()]
    call = ["offdiag.log_run(", "    y_true=…, y_pred=…,", *given, '    name="my first run",', ")"]
    return "\n".join(["import offdiag", "", *call])


def open_problems_of(dataset_id: int) -> list[Problem]:
    """Unresolved problems of a dataset except those of low severity, in the order of lists."""
    registry = current_registry()
    problems = open_problems().list(registry.database)
    return [each for each in problems if each.key.dataset_id == dataset_id]


def dataset_frame(dataset: DatasetRecord, size: DatasetSize, *, current: Part) -> DatasetFrame:
    """The header of the page `current`."""
    address = DatasetAddress(dataset.project, dataset.name)
    project = named_project(dataset.project)
    pages: tuple[tuple[Part, str, str, int], ...] = (
        ("decision", "Decision", address.url(), 0),
        ("runs", "Runs", runs_of_dataset_url(address), size.n_runs),
        ("methods", "Methods", address.methods_url(), 0),
        (
            "problems",
            "Problems",
            url_for("problems.page", dataset=dataset.name, project=dataset.project),
            len(open_problems_of(dataset.id)),
        ),
        ("suspects", "Suspect labels", address.suspects_url(), 0),
        ("costs", "Costs", url_for("what_if.page", dataset=dataset.name, project=project), 0),
        ("data", "Data", address.data_url(), 0),
    )
    missing = _PARTS_OF_CLASSES if dataset.task is Task.MULTILABEL else set()
    if size.truth_number is None:
        missing = missing | {"suspects"}
    if not size.has_methods and current != "methods":
        missing = missing | {"methods"}
    return DatasetFrame(
        name=dataset.name,
        project=project,
        version="" if size.truth_number is None else f"labels v{size.truth_number}",
        words=class_words(dataset.task),
        facts=_facts(dataset, size),
        tabs=tuple(
            Tab(text, url, part == current, count=numbers.count(count) if count else "")
            for part, text, url, count in pages
            if part not in missing
        ),
    )


def runs_of_dataset_url(address: DatasetAddress, more: str = "") -> str:
    """The list of the runs on a dataset, filtered by further terms."""
    return runs_where(f"{dataset_terms(address.name, address.project)} {more}".rstrip())


def _facts(dataset: DatasetRecord, size: DatasetSize) -> str:
    """ "1,503 examples · 7 classes · largest nv 66.9 %"."""
    words = class_words(dataset.task)
    classes = numbers.plural(len(dataset.labels), words.one, words.many)
    if size.truth_number is None:
        return f"{classes} · no labels yet"
    parts = [numbers.plural(size.n_samples, "example"), classes]
    if size.n_labelled < size.n_samples:
        labelled = f"{numbers.count(size.n_labelled)} of {numbers.count(size.n_samples)}"
        parts[0] = f"{labelled} examples labelled"
    # Labels of a set overlap, so no label's share is the score of a constant prediction.
    if size.n_labelled and dataset.task is not Task.MULTILABEL:
        largest = max(size.class_counts)
        name = named(dataset.labels.names[size.class_counts.index(largest)])
        parts.append(f"largest {name} {numbers.fine_percent(largest, size.n_labelled)}")
    return " · ".join(parts)


DATASET = "/datasets/<name:name>"
"""Address of a dataset; each page appends its own name."""
VERSION = "int(min=1, max=2147483647)"
"""Converter for the number of a label version."""


def find_in_any_project(blueprint: Blueprint) -> None:
    """Let the pages of a blueprint find a dataset of another project by its name alone.

    This costs a query, and only if the default project has no such dataset. If only one project
    has it, the response redirects to the address with the project; otherwise it offers the
    datasets that the caller may view.
    """

    @blueprint.errorhandler(NotFound)
    def look_elsewhere(error: NotFound) -> Response:
        name = (request.view_args or {}).get("name")
        if error.field != "dataset" or name is None:
            return domain_response(error)
        with current_registry().database.read() as session:
            projects = sorted(projects_with_dataset(session, name))
        path, query = quote(request.path, safe="/~:@,"), request.args.to_dict()
        pages = {each: with_query(path, {**query, "project": each}) for each in projects}
        if len(projects) == 1 and "project" not in query:
            return redirect(pages[projects[0]])
        ways_out = tuple(
            (f"{quoted_name(name)} in project {quoted_name(project)}", url)
            for project, url in pages.items()
            if project != requested_project() and request.method in SAFE_METHODS
        )
        if not projects or "project" in query or DEFAULT_PROJECT in projects:
            return domain_response(error, ways_out)
        return domain_response(
            InvalidInput(
                f"several projects have a dataset {name!r}.",
                field="project",
                hint=f"Add ?project= and one of {', '.join(projects)} to the address.",
            ),
            ways_out,
        )

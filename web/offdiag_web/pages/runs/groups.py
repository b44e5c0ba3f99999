"""The view of the list of runs of all datasets: the first runs of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from flask import render_template

from offdiag.services.champions.dataset_status import DatasetStatus
from offdiag.services.champions.leaders import primary_metric
from offdiag.store.dataset_page import DatasetFacts
from offdiag.store.run_list_by_dataset import RunGroup, RunGroups
from offdiag.store.run_order import RunOrder
from offdiag_web.charts.svg import UNIT
from offdiag_web.components import numbers
from offdiag_web.components.controls import Segment
from offdiag_web.components.metric_values import Notes
from offdiag_web.components.model_marks import ModelMark, model_marks
from offdiag_web.components.runs.rows import column_scale, metric_column
from offdiag_web.pages.runs.columns import Columns, worst_title
from offdiag_web.pages.runs.rows import LONGEST_IN_GROUP, LineContext, ListedRun, listed_run
from offdiag_web.pages.runs.view import Roles, list_frame
from offdiag_web.urls.filter_line import dataset_terms, parse_filter
from offdiag_web.urls.run import run_url
from offdiag_web.urls.run_list import RunListAddress

Models = Mapping[int, Sequence[str | None]]


@dataclass(frozen=True, slots=True)
class GroupView:
    """A dataset with its first runs; `more` leads to all of them."""

    name: str
    short: str
    url: str
    facts: str
    metric: str
    worst_title: str
    ends: tuple[str, str] | None
    rows: tuple[ListedRun, ...]
    n_of_results: int
    more: str


_LONGEST_DATASET = 26
_ORDERS = (("best", None), ("newest", RunOrder("logged")), ("name", RunOrder("name", False)))


def run_groups_view(
    found: RunGroups,
    address: RunListAddress,
    *,
    datasets: Sequence[DatasetFacts],
    models: Models,
    roles: Roles,
    statuses: Mapping[int, DatasetStatus],
    notices: Sequence[str],
    now: datetime,
) -> str:
    """Present the first runs of each dataset, each dataset on its own scale."""
    notes = Notes()
    names = [dataset.name for dataset in datasets]
    groups = tuple(
        _group(
            group,
            address,
            marks=model_marks(models.get(group.dataset.id, ())),
            roles=roles,
            status=statuses.get(group.dataset.id),
            notes=notes,
            now=now,
            name_is_unique=names.count(group.dataset.name) == 1,
        )
        for group in found.groups
    )
    further = ""
    if found.n_further:
        further = f"{numbers.plural(found.n_further, 'more dataset')}: name one in the filter."
    n_datasets = numbers.plural(len(groups) + found.n_further, "dataset")
    return render_template(
        "runs/groups.html",
        frame=list_frame(
            address,
            address,
            scope="all datasets",
            summary=f"{numbers.plural(found.total, 'run')} in {n_datasets}",
            notices=notices,
            without=found.matches_without,
            shown=[row.id for group in groups for row in group.rows],
        ),
        groups=groups,
        further=further,
        orders=tuple(
            Segment(text, replace(address, order=order, cursor=None).url(), address.order == order)
            for text, order in _ORDERS
        ),
        notes=tuple(notes.texts),
    )


def _group(
    group: RunGroup,
    address: RunListAddress,
    *,
    marks: Mapping[str | None, ModelMark],
    roles: Roles,
    status: DatasetStatus | None,
    notes: Notes,
    now: datetime,
    name_is_unique: bool,
) -> GroupView:
    dataset = group.dataset
    column = metric_column(primary_metric(dataset))
    scale = column_scale(column, group.entries, address.scale)
    columns = Columns(
        metrics=((column, scale),),
        worst=UNIT,
        costs=None,
        params=(),
        others=frozenset({"problems", "logged", "by"}),
        worst_title=worst_title(dataset),
    )
    best_set = (status and status.best_set) or ()
    ranked = status.ranked.runs if status else ()
    values = {run.id: run.value.value for run in ranked}
    standings = {run.id: "not tested" for run in ranked if run.is_chosen_here}
    standings |= {
        run_id: "best" if values[run_id] == values[best_set[0]] else "in set"
        for run_id in best_set
    }
    about = LineContext(
        dataset, columns, marks, roles, standings, None, notes, now, LONGEST_IN_GROUP
    )
    facts = [] if dataset.truth_number is None else [f"labels v{dataset.truth_number}"]
    facts.append(numbers.plural(group.total, "run"))
    if best_set:
        facts.append(
            "1 run leads" if len(best_set) == 1 else f"{len(best_set)} runs share the lead"
        )
    of_dataset = dataset_terms(dataset.name, None if name_is_unique else dataset.project)
    terms = (*parse_filter(of_dataset), *address.terms)
    url = replace(address, terms=terms, cursor=None).url()
    n_more = group.total - len(group.entries)
    name = dataset.name if name_is_unique else f"{dataset.project} / {dataset.name}"
    return GroupView(
        name=name,
        short=numbers.shortened(name, longest=_LONGEST_DATASET),
        url=url,
        facts=" · ".join(facts),
        metric=column.title,
        worst_title=columns.worst_title,
        ends=scale.ends,
        rows=tuple(listed_run(entry, about, url=run_url(entry.id)) for entry in group.entries),
        n_of_results=columns.n_of_results,
        more=f"{numbers.count(n_more)} more" if n_more > 0 else "",
    )

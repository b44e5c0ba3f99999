"""The view of the list of runs: the runs of one dataset, or the first runs of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from flask import render_template
from markupsafe import Markup

from offdiag.comparison.rank_status import RankStatus
from offdiag.domain.runs import PromotionRole, Task
from offdiag.services.champions.dataset_status import DatasetStatus
from offdiag.services.champions.leaders import Leaders, primary_metric
from offdiag.store.dataset_page import DatasetFacts
from offdiag.store.run_list import RunOverview
from offdiag.store.run_list_by_dataset import RunGroup, RunGroups
from offdiag.store.run_order import Cursor, RunOrder
from offdiag.store.run_rows import RunEntry
from offdiag_web.charts.svg import UNIT
from offdiag_web.components import numbers
from offdiag_web.components.controls import Segment
from offdiag_web.components.datasets import DatasetFrame
from offdiag_web.components.metric_values import Notes
from offdiag_web.components.model_marks import ModelMark, model_key, model_marks
from offdiag_web.components.runs.rows import column_scale, drawn_together, metric_column
from offdiag_web.pages.runs.charts import chart_note, chart_of
from offdiag_web.pages.runs.columns import (
    Columns,
    best_first,
    column_choices,
    column_heads,
    drawn_columns,
    order_words,
    sortable_head,
    worst_title,
)
from offdiag_web.pages.runs.rows import (
    LONGEST_IN_GROUP,
    LineContext,
    ListedRun,
    group_choices,
    in_groups,
    listed_run,
    other_labels,
    other_weights,
    with_border,
)
from offdiag_web.urls.filter_line import dataset_terms, filter_text, parse_filter
from offdiag_web.urls.query_string import with_query
from offdiag_web.urls.run import run_url
from offdiag_web.urls.run_list import EXACTLY, ListForm, RunListAddress

Models = Mapping[int, Sequence[str | None]]
Roles = Mapping[str, PromotionRole]


@dataclass(frozen=True, slots=True)
class TermChip:
    """A term of the filter with a link that removes it, and its effect if nothing matched."""

    text: str
    problem: str | None
    remove_url: str
    without: str | None


@dataclass(frozen=True, slots=True)
class BaselineNote:
    """The baseline that all other runs are compared with, and a link to undo that choice."""

    name: str
    url: str
    what: str
    drop_url: str | None


@dataclass(frozen=True, slots=True)
class ListFrame:
    """What surrounds the rows, whether they are of one dataset or of several."""

    title: str
    query: str
    kept: tuple[tuple[str, str], ...]
    """Fields the filter form sends along, so that sorting and columns survive a new filter."""
    notices: tuple[str, ...]
    terms: tuple[TermChip, ...]
    summary: str
    json_url: str
    csv_url: str
    all_url: str
    save_url: str
    kept_by_selection: tuple[tuple[str, str], ...]
    selected: frozenset[str]
    selected_elsewhere: tuple[str, ...]
    """Ids of selected runs that are not among the rows."""
    clear_url: str | None


def list_frame(
    address: RunListAddress,
    explicit: RunListAddress,
    *,
    scope: str,
    summary: str,
    notices: Sequence[str],
    without: Sequence[int],
    shown: Sequence[str],
) -> ListFrame:
    """The frame; `without` maps each term to the number of runs without it.

    `explicit` also states defaults, such as the order, for views that are stored.
    """
    words = filter_text(address.terms)
    return ListFrame(
        title=f"Runs where {words} · {scope}" if words else f"Runs · {scope}",
        query=words,
        kept=tuple(field for field in address.kept_by_form if field[0] != "group"),
        notices=tuple(notices),
        terms=_term_chips(address, without),
        summary=summary,
        json_url=explicit.url("json"),
        csv_url=explicit.url("csv"),
        all_url=RunListAddress().url(),
        save_url=with_query("/views", {"of": _without_selection(explicit)}),
        kept_by_selection=_kept(address, without=("base",)),
        selected=frozenset(address.selected),
        selected_elsewhere=tuple(each for each in address.selected if each not in shown),
        clear_url=replace(address, selected=()).url() if address.selected else None,
    )


def _term_chips(address: RunListAddress, without: Sequence[int]) -> tuple[TermChip, ...]:
    """A chip for each term that was ignored, or for all terms if nothing matched."""
    counts = iter(without)
    chips = [
        TermChip(
            text=parsed.text,
            problem=parsed.problem,
            remove_url=address.without(index).url(),
            without=_without_text(next(counts, None)) if parsed.term else None,
        )
        for index, parsed in enumerate(address.terms)
    ]
    return tuple(chip for chip in chips if without or chip.problem)


def _without_text(n_runs: int | None) -> str | None:
    return None if n_runs is None else f"without it: {numbers.count(n_runs)}"


def _without_selection(address: RunListAddress) -> str:
    """The query string of the list without the selection, which is temporary."""
    return replace(address, selected=()).url().partition("?")[2]


def _kept(address: RunListAddress, *, without: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The filter and everything a form keeps, except what it changes itself."""
    kept = [(name, text) for name, text in address.kept_by_form if name not in without]
    query = filter_text(address.terms)
    return tuple([("q", query), *kept] if query else kept)


def run_list_view(
    overview: RunOverview,
    address: RunListAddress,
    scope: DatasetFacts,
    *,
    chosen: Sequence[str],
    charted: Sequence[RunEntry],
    leaders: Leaders | None,
    models: Sequence[str | None],
    roles: Roles,
    notices: Sequence[str],
    dataset: DatasetFrame,
    now: datetime,
) -> str:
    """Present one page of the runs of a dataset.

    `charted` are the runs of the chart, where there is one.
    """
    page, order = overview.page, overview.order
    explicit = replace(address, order=order, columns=tuple(chosen))
    columns = drawn_columns(scope, page.entries, address, chosen)
    drawn, not_drawn = drawn_together(charted)
    marks, notes = model_marks(models), Notes()
    about = LineContext(
        dataset=scope,
        columns=columns,
        marks=marks,
        roles=roles,
        standings=_best_marks(leaders),
        baseline=overview.baseline,
        notes=notes,
        now=now,
    )
    rows = [listed_run(entry, about, url=run_url(entry.id)) for entry in page.entries]
    if address.group:
        rows = in_groups(page.entries, rows, address.group)
    elif order == best_first(scope):
        rows = with_border(rows)
    shown = [row.id for row in rows]
    sorted_so = order_words(order)
    return render_template(
        "runs/page.html",
        dataset=dataset,
        frame=list_frame(
            address,
            explicit,
            scope=scope.name,
            summary=f"{_range_text(overview)}, {sorted_so}",
            notices=[*notices, *other_labels(rows, scope), *other_weights(page)],
            without=overview.matches_without,
            shown=shown,
        ),
        forms=_forms(address),
        groups=group_choices(page.entries, address.group),
        form=address.form,
        chart=chart_of(address.form, drawn, scope, columns, marks),
        chart_note=" ".join(filter(None, (chart_note(overview, charted), not_drawn))),
        run_head=sortable_head("run", "Run", "name", address=address, order=order),
        heads=column_heads(columns, address, order),
        has_best=leaders is not None and len(leaders.runs) > 1,
        is_wide=len(columns.metrics) > 2 or len(columns.params) > 2,
        rows=tuple(rows),
        n_of_results=columns.n_of_results,
        tested=_tested_text(leaders),
        why_not_tested=leaders.why_not_tested if leaders and len(leaders.runs) > 1 else None,
        models=_model_keys(page.entries, marks),
        columns=column_choices(scope, columns, page.entries),
        exactly=EXACTLY,
        left_out=columns.left_out,
        has_largest_class=scope.task is not Task.MULTILABEL,
        only_differences=address.only_differences,
        full_scale=address.scale == "full",
        kept_beside_columns=_kept(address, without=("cols", "diff", "scale")),
        baseline=_baseline_note(overview, address, roles),
        notes=tuple(notes.texts),
        range_text=_range_text(overview),
        first_url=_page_url(explicit, None) if page.position > 1 else None,
        previous_url=_page_url(explicit, page.previous) if page.previous else None,
        next_url=_page_url(explicit, page.following) if page.following else None,
    )


def _best_marks(leaders: Leaders | None) -> dict[str, str]:
    """The marks of the best run, or of equally good ones, of those that cannot be distinguished
    from it, and of those not tested because their threshold was chosen on these examples.
    """
    if leaders is None or len(leaders.runs) < 2:
        return {}
    not_tested = {each.run.id: "not tested" for each in leaders.runs if each.run.is_chosen_here}
    return not_tested | {
        each.run.id: "best" if each.rank.rank_status is RankStatus.BEST else "in set"
        for each in leaders.runs
        if each.is_in_set and each.run.value.value is not None
    }


def _tested_text(leaders: Leaders | None) -> str:
    if leaders is None or leaders.why_not_tested is not None:
        return ""
    n_tested = numbers.count(len(leaders.runs))
    return f"cannot be told apart from the best (95 %, corrected for {n_tested} runs)"


def _model_keys(
    entries: Sequence[RunEntry], marks: Mapping[str | None, ModelMark]
) -> tuple[tuple[Markup, str], ...]:
    """The models of the page with their marks, in the order of their first runs."""
    shown = {entry.model for entry in entries}
    return tuple(
        (model_key(mark), numbers.shortened(name, longest=30))
        for name, mark in marks.items()
        if name is not None and name in shown
    )


def _forms(address: RunListAddress) -> tuple[Segment, ...]:
    words: tuple[tuple[str, ListForm], ...] = (
        ("Table", "table"),
        ("Table and trend", "both"),
        ("Trend", "trend"),
        ("Parallel", "parallel"),
    )
    return tuple(
        Segment(text, replace(address, form=form, cursor=None).url(), address.form == form)
        for text, form in words
    )


def _baseline_note(
    overview: RunOverview, address: RunListAddress, roles: Roles
) -> BaselineNote | None:
    found = overview.baseline
    if found is None:
        return None
    drop, what = None, "the pinned baseline"
    if address.baseline is not None:
        drop, what = replace(address, baseline=None).url(), "chosen as baseline"
    elif roles.get(found.run_id) is PromotionRole.CHAMPION:
        what = "the champion"
    return BaselineNote(found.name, run_url(found.run_id), what, drop)


def _range_text(overview: RunOverview) -> str:
    page = overview.page
    if page.total <= len(page.entries):
        return numbers.plural(page.total, "run")
    last = page.position + len(page.entries) - 1
    first_to_last = f"{numbers.count(page.position)}\N{EN DASH}{numbers.count(last)}"
    more_than = "" if page.counts_all else "more than "
    return f"{first_to_last} of {more_than}{numbers.count(page.total)} runs"


def _page_url(address: RunListAddress, cursor: Cursor | None) -> str:
    return replace(address, cursor=cursor).url()


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
        facts.append("1 run leads" if len(best_set) == 1 else f"best set of {len(best_set)}")
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

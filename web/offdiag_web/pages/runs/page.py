"""The runs list and its twins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from flask import Blueprint, jsonify, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from offdiag.records.run import run_columns
from offdiag.settings.load import hide_password
from offdiag.store.database import Database
from offdiag.store.run_list import RunOverview, listed_metrics, run_overview
from offdiag.store.run_order import Cursor
from offdiag_web.app.context import current_registry
from offdiag_web.app.exports import csv_response
from offdiag_web.app.paths import SENT_BY_FORM
from offdiag_web.components import numbers
from offdiag_web.components.controls import Segment
from offdiag_web.components.datasets import runs_url, scope_sentence
from offdiag_web.components.run_export import run_list_record, run_list_rows
from offdiag_web.components.run_rows import (
    WORST_COLUMN,
    RunRow,
    column_scale,
    metric_column,
    run_row,
)
from offdiag_web.components.tiles import COST_KEY, cost_column
from offdiag_web.components.values import Notes
from offdiag_web.pages.runs.columns import (
    ColumnChoice,
    Head,
    column_choices,
    difference_segments,
    drawn_columns,
    head,
    scale_segments,
    shown_columns,
)
from offdiag_web.urls.filter_line import ParsedTerm, filter_text
from offdiag_web.urls.query_string import with_query
from offdiag_web.urls.run_list import RunListAddress, read_run_list


@dataclass(frozen=True, slots=True)
class TermChip:
    """A term of the filter with the link that removes it and, if nothing matched, its effect."""

    text: str
    problem: str | None
    remove_url: str
    without: str | None


@dataclass(frozen=True, slots=True)
class DatasetLink:
    """A dataset the list could be narrowed to."""

    name: str
    url: str


def title_of(overview: RunOverview, address: RunListAddress) -> str:
    """The filter in words, for bookmarks and tabs."""
    words = filter_text(address.terms)
    scope = overview.scope.name if overview.scope else "all datasets"
    return f"Runs where {words} · {scope}" if words else f"Runs · {scope}"


def scope_text(overview: RunOverview) -> str:
    """What the numbers of the list rest on."""
    if overview.scope is not None:
        return scope_sentence(overview.scope)
    if not overview.datasets:
        return "No dataset yet"
    return f"{numbers.plural(len(overview.datasets), 'dataset')}"


def term_chips(overview: RunOverview, address: RunListAddress) -> tuple[TermChip, ...]:
    """A chip for each term, with what it hides where nothing matched."""
    counts = iter(overview.matches_without)
    return tuple(
        TermChip(
            text=parsed.text,
            problem=parsed.problem,
            remove_url=address.without(index).url(),
            without=_without_text(parsed, next(counts, None)) if parsed.term else None,
        )
        for index, parsed in enumerate(address.terms)
    )


def _without_text(parsed: ParsedTerm, n_runs: int | None) -> str | None:
    return None if n_runs is None else f"{numbers.plural(n_runs, 'run')} without {parsed.text}"


def dataset_links(overview: RunOverview) -> tuple[DatasetLink, ...]:
    """Every dataset with the list of its runs."""
    names = [dataset.name for dataset in overview.datasets]
    return tuple(
        DatasetLink(
            dataset.name,
            runs_url(dataset, name_is_unique=names.count(dataset.name) == 1),
        )
        for dataset in overview.datasets
    )


@dataclass(frozen=True, slots=True)
class BaselineNote:
    """The run that all others are held against, and the way back where it was chosen."""

    name: str
    url: str
    is_pinned: bool
    drop_url: str | None


@dataclass(frozen=True, slots=True)
class RunListView:
    """Everything the page shows."""

    title: str
    scope: str
    is_mixed: bool
    is_empty_registry: bool
    query: str
    kept: tuple[tuple[str, str], ...]
    """Fields the filter form sends along, so that sorting and scale survive a new filter."""
    notices: tuple[str, ...]
    terms: tuple[TermChip, ...]
    datasets: tuple[DatasetLink, ...]
    scales: tuple[Segment, ...]
    run_head: Head
    flags_head: Head
    metric_heads: tuple[Head, ...]
    worst_head: Head
    cost_head: Head | None
    logged_head: Head
    rows: tuple[RunRow, ...]
    notes: tuple[str, ...]
    range_text: str
    first_url: str | None
    previous_url: str | None
    next_url: str | None
    json_url: str
    csv_url: str
    all_url: str
    columns: tuple[ColumnChoice, ...]
    differences: tuple[Segment, ...]
    left_out: str | None
    kept_beside_columns: tuple[tuple[str, str], ...]
    kept_by_selection: tuple[tuple[str, str], ...]
    """What the list is, for what leads back to it."""
    selected: frozenset[str]
    selected_elsewhere: tuple[str, ...]
    """Ids of ticked runs that are not among the rows."""
    clear_url: str | None
    baseline: BaselineNote | None
    save_url: str


def run_list_view(
    overview: RunOverview,
    address: RunListAddress,
    *,
    notices: Sequence[str],
    now: datetime,
    run_url: Callable[[str], str],
) -> RunListView:
    """Present one page of runs. `run_url` makes the address of a run from its id."""
    page = overview.page
    drawn = drawn_columns(overview, address)
    columns = [
        (column, column_scale(column, page.entries, address.scale))
        for column in map(metric_column, drawn.keys)
    ]
    worst_scale = column_scale(WORST_COLUMN, page.entries, "full")
    costs = None if COST_KEY in address.columns else cost_column(overview.scope, page.entries)
    notes = Notes()
    rows = tuple(
        run_row(
            entry,
            columns,
            worst_scale,
            notes=notes,
            now=now,
            url=run_url(entry.id),
            baseline=overview.baseline,
            costs=costs,
        )
        for entry in page.entries
    )
    is_mixed = overview.scope is None and len(overview.datasets) > 1
    return RunListView(
        title=title_of(overview, address),
        scope=scope_text(overview),
        is_mixed=is_mixed,
        is_empty_registry=not address.terms and page.total == 0,
        query=filter_text(address.terms),
        kept=address.kept_by_form,
        notices=tuple(notices),
        terms=term_chips(overview, address),
        datasets=dataset_links(overview) if is_mixed else (),
        scales=scale_segments(address),
        run_head=head("Run", "name", address),
        flags_head=head("Flags", "flags", address),
        metric_heads=tuple(
            head(column.title, column.order, address, scale) for column, scale in columns
        ),
        worst_head=head(WORST_COLUMN.title, WORST_COLUMN.order, address, worst_scale),
        cost_head=None if costs is None else head(costs.title, COST_KEY, address, costs.scale),
        logged_head=head("Logged", "logged", address),
        rows=rows,
        notes=tuple(notes.texts),
        range_text=_range_text(overview),
        first_url=_page_url(address, None) if page.position > 1 else None,
        previous_url=_page_url(address, page.previous) if page.previous else None,
        next_url=_page_url(address, page.following) if page.following else None,
        json_url=address.url("json"),
        csv_url=address.url("csv"),
        all_url=RunListAddress().url(),
        columns=column_choices(overview, shown_columns(overview, address)),
        differences=difference_segments(address),
        left_out=drawn.left_out,
        kept_beside_columns=_kept(address, without="cols"),
        kept_by_selection=_kept(address, without="base"),
        selected=frozenset(address.selected),
        selected_elsewhere=_elsewhere(address, rows),
        clear_url=replace(address, selected=()).url() if address.selected else None,
        baseline=_baseline_note(overview, address, run_url),
        save_url=with_query("/views", {"of": _without_selection(address)}),
    )


def _elsewhere(address: RunListAddress, rows: Sequence[RunRow]) -> tuple[str, ...]:
    shown = {row.run.id for row in rows}
    return tuple(run_id for run_id in address.selected if run_id not in shown)


def _without_selection(address: RunListAddress) -> str:
    """The query string of the list alone: what is ticked belongs to the moment."""
    return replace(address, selected=()).url().partition("?")[2]


def _kept(address: RunListAddress, *, without: str) -> tuple[tuple[str, str], ...]:
    """Filter and all that a form keeps, but for what it changes itself."""
    kept = [(name, text) for name, text in address.kept_by_form if name != without]
    query = filter_text(address.terms)
    return tuple([("q", query), *kept] if query else kept)


def _baseline_note(
    overview: RunOverview, address: RunListAddress, run_url: Callable[[str], str]
) -> BaselineNote | None:
    found = overview.baseline
    if found is None:
        return None
    drop = None if address.baseline is None else replace(address, baseline=None).url()
    return BaselineNote(found.name, run_url(found.run_id), found.is_pinned, drop)


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


blueprint = Blueprint("runs", __name__)


@blueprint.get("/runs")
@blueprint.get("/runs.<any(json, csv):form>")
def runs(form: str = "html") -> Response:
    database = current_registry().database
    address, notices = read_run_list(request.args, now=database.clock())
    if SENT_BY_FORM in request.args and not notices:
        return redirect(address.url())
    with database.read() as session:
        overview = run_overview(
            session,
            terms=address.filter,
            order=address.order,
            cursor=address.cursor,
            metrics=address.columns,
            baseline=address.baseline,
        )
    if form == "json":
        return jsonify(run_list_record(overview, address))
    if form == "csv":
        columns = run_columns(listed_metrics(overview.scope))
        return csv_response("runs", columns, run_list_rows(overview))
    view = run_list_view(
        overview,
        address,
        notices=notices,
        now=database.clock(),
        run_url=lambda run_id: url_for("run_matrix.page", run_id=run_id),
    )
    return make_response(
        render_template("runs/page.html", view=view, database_url=_shown_url(database))
    )


@blueprint.get("/runs/as-baseline")
def as_baseline() -> Response:
    """The same list, with the first ticked run as the baseline of all marks."""
    address, _ = read_run_list(request.args, now=current_registry().database.clock())
    chosen, _ = read_run_list({"base": request.args.get("runs", "")})
    return redirect(replace(address, baseline=chosen.baseline).url())


def _shown_url(database: Database) -> str:
    """The URL to log to, for the example of an empty registry; without any password."""
    if database.path is not None:
        return f"sqlite:///{database.path.absolute()}"
    return hide_password(database.url)

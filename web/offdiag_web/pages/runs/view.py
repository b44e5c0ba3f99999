"""The view of the list of runs of one dataset, and what it has in common with that of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from flask import render_template
from markupsafe import Markup

from offdiag.comparison.many import FEWEST_RUNS
from offdiag.comparison.rank_status import RankStatus
from offdiag.domain.runs import PromotionRole, Task
from offdiag.services.champions.leaders import Leaders
from offdiag.store.dataset_page import DatasetFacts
from offdiag.store.run_list import RunOverview
from offdiag.store.run_order import Cursor
from offdiag.store.run_rows import RunEntry
from offdiag_web.components import numbers
from offdiag_web.components.controls import Segment
from offdiag_web.components.datasets import DatasetFrame
from offdiag_web.components.metric_values import Notes
from offdiag_web.components.model_marks import ModelMark, model_key, model_marks
from offdiag_web.components.runs.rows import drawn_together
from offdiag_web.pages.runs.charts import chart_note, chart_of
from offdiag_web.pages.runs.columns import (
    best_first,
    column_choices,
    column_heads,
    drawn_columns,
    order_words,
    sortable_head,
)
from offdiag_web.pages.runs.rows import (
    LineContext,
    group_choices,
    in_groups,
    listed_run,
    other_labels,
    other_weights,
    with_border,
)
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.filter_line import filter_text
from offdiag_web.urls.query_string import with_query
from offdiag_web.urls.run import run_url
from offdiag_web.urls.run_list import EXACTLY, ListForm, RunListAddress

Roles = Mapping[str, PromotionRole]


@dataclass(frozen=True, slots=True)
class TermChip:
    """A term of the filter with a link that removes it, and its effect if nothing matched."""

    text: str
    problem: str | None
    remove_url: str
    without: str | None


def list_frame(
    address: RunListAddress,
    explicit: RunListAddress,
    *,
    scope: str,
    summary: str,
    notices: Sequence[str],
    without: Sequence[int],
    shown: Sequence[str],
) -> dict[str, object]:
    """What surrounds the rows, whether they are of one dataset or of several.

    `without` maps each term to the number of runs without it, `shown` are ids of the rows.
    `explicit` also states defaults, such as the order, for views that are stored.
    """
    words = filter_text(address.terms)
    return {
        "title": f"Runs where {words} · {scope}" if words else f"Runs · {scope}",
        "query": words,
        "kept": tuple(field for field in address.kept_by_form if field[0] != "group"),
        "notices": tuple(notices),
        "terms": _term_chips(address, without),
        "summary": summary,
        "json_url": explicit.url("json"),
        "csv_url": explicit.url("csv"),
        "all_url": RunListAddress().url(),
        "save_url": with_query("/views", {"of": _without_selection(explicit)}),
        "kept_by_selection": _kept(address, without=("base",)),
        "selected": frozenset(address.selected),
        "selected_elsewhere": tuple(each for each in address.selected if each not in shown),
        "clear_url": replace(address, selected=()).url() if address.selected else None,
    }


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
        n_chosen_among=_n_chosen_among(leaders),
        estimate_url=DatasetAddress(scope.project, scope.name).url(),
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


def _n_chosen_among(leaders: Leaders | None) -> int:
    """How many runs were compared for the best value; 0 if that hardly flatters it."""
    if leaders is None or leaders.why_not_tested is not None:
        return 0
    n_compared = sum(not each.run.is_chosen_here for each in leaders.runs)
    return n_compared if n_compared >= FEWEST_RUNS else 0


def _tested_text(leaders: Leaders | None) -> str:
    if leaders is None or leaders.why_not_tested is not None:
        return ""
    n_tested = numbers.count(len(leaders.runs))
    return f"no significant difference from the best (95 %, corrected for {n_tested} runs)"


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
) -> dict[str, object] | None:
    found = overview.baseline
    if found is None:
        return None
    drop, what = None, "the pinned baseline"
    if address.baseline is not None:
        drop, what = replace(address, baseline=None).url(), "chosen as baseline"
    elif roles.get(found.run_id) is PromotionRole.CHAMPION:
        what = "the champion"
    return {"name": found.name, "url": run_url(found.run_id), "what": what, "drop_url": drop}


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

"""Rows of the list of runs: name, rank status and cells of each run, and groups of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from markupsafe import Markup

from offdiag.domain.runs import PromotionRole, RunState, WorstClass, weighted_here_text
from offdiag.flags.warning import named
from offdiag.store.dataset_page import DatasetFacts
from offdiag.store.run_list import RunListPage
from offdiag.store.run_neighbours import BaselineValues
from offdiag.store.run_order import OF_PARAM
from offdiag.store.run_rows import RunEntry
from offdiag_web.charts.marks import IN_LIST, IN_LIST_SMALL, interval_mark
from offdiag_web.charts.svg import Scale
from offdiag_web.components import numbers
from offdiag_web.components.controls import (
    Chip,
    Option,
    class_words,
    moment,
    orientation_warning,
    tag_text,
)
from offdiag_web.components.metric_values import (
    Notes,
    extent_of,
    interval_name,
    interval_text,
    shown,
)
from offdiag_web.components.model_marks import NO_MODEL, ModelMark
from offdiag_web.components.runs.rows import found_text, run_state
from offdiag_web.components.tiles import cost_cell, majority_scores
from offdiag_web.pages.runs.columns import Columns
from offdiag_web.urls.flags import problems_of_run
from offdiag_web.urls.run_list import BY_MODEL, OF_TAG

LONGEST_NAME, LONGEST_IN_GROUP = 26, 46
"""Characters that fit into the column of names, which is wider if datasets are listed together."""
_TAG = 6
"""Characters of the name that a tag next to it takes up."""
LONGEST_PARAM = 9
LONGEST_CLASS = 9


@dataclass(frozen=True, slots=True)
class Cell:
    """The content of a table cell: text with an optional prefix and mark, or a chip."""

    css: str
    text: str = ""
    before: str = ""
    note: int | None = None
    mark: Markup | None = None
    chip: Chip | None = None
    hint: str = ""
    machine: str = ""


@dataclass(frozen=True, slots=True)
class ListedRun:
    """One line. `state` takes the place of the results of a run that has none."""

    id: str
    name: str
    shown_name: str
    is_weighted: bool
    other_labels: str
    """The labels on which its metrics are based, if those are not the newest of the dataset."""
    hint: str
    url: str
    model: ModelMark
    role: PromotionRole | None
    standing: str
    """ "best", "in set", "not tested" if its threshold was chosen on these examples, or empty."""
    state: Chip | None
    warning: Chip | None
    cells: tuple[Cell, ...]
    ends_best: bool = False
    """Whether the best set ends with this line."""
    group_head: str = ""
    """What this line and the following ones have in common, if it is the first of its group."""


@dataclass(frozen=True, slots=True)
class LineContext:
    """What all lines of a dataset need for their presentation."""

    dataset: DatasetFacts
    columns: Columns
    marks: Mapping[str | None, ModelMark]
    roles: Mapping[str, PromotionRole]
    standings: Mapping[str, str]
    baseline: BaselineValues | None
    notes: Notes
    now: datetime
    longest_name: int = LONGEST_NAME


def listed_run(entry: RunEntry, about: LineContext, *, url: str) -> ListedRun:
    warning = orientation_warning(entry.source, entry.orientation_verdict)
    role = about.roles.get(entry.id)
    state = _state(entry, about)
    longest = about.longest_name - (_TAG if role or warning else 0)
    return ListedRun(
        id=entry.id,
        name=entry.name,
        is_weighted=entry.is_weighted,
        other_labels=f"labels v{entry.truth_version}"
        if entry.is_evaluated and entry.truth_version not in (None, about.dataset.truth_number)
        else "",
        shown_name=numbers.cut_in_the_middle(entry.name, longest=longest),
        hint=_hint(entry),
        url=url,
        model=about.marks.get(entry.model, NO_MODEL),
        role=role,
        standing=about.standings.get(entry.id, ""),
        state=state,
        warning=Chip(warning.short, "warning", warning.headline) if warning else None,
        cells=(*(() if state else _results(entry, about)), *_facts(entry, about)),
    )


def _hint(entry: RunEntry) -> str:
    """The whole name, and what else identifies the run."""
    parts = [entry.name]
    if entry.model:
        parts.append(f"model {entry.model}")
    parts += [tag_text(key, value) for key, value in sorted(entry.tags.items())]
    if entry.derived_from:
        parts.append(f"decision rule on {entry.derived_from[:8]}")
    return " · ".join((*parts, entry.id))


def _state(entry: RunEntry, about: LineContext) -> Chip | None:
    state = run_state(entry, now=about.now)
    waits_for_labels = about.dataset.truth_number is None and entry.state is RunState.FINISHED
    is_unlabelled = entry.n_samples == 0 and entry.n_predictions > 0
    if is_unlabelled or (state is not None and waits_for_labels and entry.work is None):
        return Chip(f"0 of {numbers.count(entry.n_predictions)} labelled")
    return state


def _results(entry: RunEntry, about: LineContext) -> tuple[Cell, ...]:
    """Metrics, the worst class and the cost."""
    css, columns = about.marks.get(entry.model, NO_MODEL).css_class, about.columns
    if about.baseline is None:
        references: Mapping[str, float | None] = majority_scores(entry.metrics)
    elif about.baseline.is_weighted != entry.is_weighted:
        references = {}  # The baseline's values are of another quantity.
    else:
        references = {key: value.value for key, value in about.baseline.metrics.items()}
    cells = []
    for place, (column, scale) in enumerate(columns.metrics):
        value, reference = entry.metrics.get(column.key), references.get(column.key)
        text, extent, mark = shown(value, about.notes), extent_of(value), None
        if value is not None and extent is not None:
            words = [interval_name(interval_text(value))]
            if reference is not None:
                kind = "majority baseline" if about.baseline is None else "baseline"
                words.append(f"{kind} {numbers.metric(reference)}")
            mark = interval_mark(
                extent,
                scale=scale,
                name=f"{column.title}: {', '.join(words)}",
                baseline=reference,
                canvas=IN_LIST if place == 0 else IN_LIST_SMALL,
                css_class=css,
            )
        cells.append(
            Cell(
                "metric" if place else "metric first",
                text.text,
                note=text.note,
                mark=mark,
                hint="" if place else column.title,
            )
        )
    if columns.worst is not None:
        one = class_words(about.dataset.task).one
        cells.append(_worst(entry.worst_class, columns.worst, css, one))
    if columns.costs is not None:
        text, mark = cost_cell(
            entry, columns.costs, about.notes, canvas=IN_LIST_SMALL, css_class=css
        )
        cells.append(Cell("cost", text.text, note=text.note, mark=mark))
    return tuple(cells)


def _worst(worst: WorstClass | None, scale: Scale, css: str, one: str) -> Cell:
    """The class with the lowest recall, which is called `one`, "class" or "label"."""
    if worst is None:
        return Cell("worst", f"no {one} has examples")
    extent, found = extent_of(worst.recall), found_text(worst)
    name, mark = f"Recall of the worst {one} {found}", None
    if interval := interval_text(worst.recall):
        name += f", 95 % interval {interval}"
    if extent is not None:
        mark = interval_mark(extent, scale=scale, name=name, canvas=IN_LIST_SMALL, css_class=css)
    short = named(worst.label, longest=LONGEST_CLASS)
    return Cell("worst", found, short, mark=mark, hint=worst.label)


def _minority_chip(entry: RunEntry) -> Chip | None:
    """The class that the accuracy hides, with a link to the flags that say so."""
    badge = entry.badge
    if badge is None:
        return None
    first = badge.classes[0]
    words = ["all but one" if first is None else numbers.shortened(first, longest=LONGEST_CLASS)]
    if first is not None and badge.n_classes > 1:
        words.append(f"+{numbers.count(badge.n_classes - 1)}")
    every = ", ".join(name or "all but one class" for name in badge.classes)
    return Chip(
        f"{'hides' if badge.is_proved else 'may hide'} {' '.join(words)}",
        "hides" if badge.is_proved else "may-hide",
        detail=f"Hidden minority: accuracy {'hides' if badge.is_proved else 'may hide'} {every}",
        url=problems_of_run(entry.id),
    )


def _facts(entry: RunEntry, about: LineContext) -> tuple[Cell, ...]:
    """Problems, parameters, and when and by whom it was logged."""
    others, cells = about.columns.others, []
    if "problems" in others:
        cells.append(Cell("problems", chip=_minority_chip(entry)))
    for name in about.columns.params:
        value = entry.params.get(name)
        text = "" if value is None else str(value)
        # A number that is cut off would lose its exponent, or the digits that matter.
        is_long = isinstance(value, float) and len(text) > LONGEST_PARAM
        shown = f"{value:.3g}" if is_long else numbers.shortened(text, longest=LONGEST_PARAM)
        css = about.columns.param_css(name)
        cells.append(Cell(f"{css} quiet", shown, hint=text if text != shown else ""))
    if "logged" in others:
        when = moment(entry.created_at, now=about.now)
        cells.append(
            Cell(
                "logged quiet",
                day_text(entry.created_at, now=about.now),
                hint=when.full,
                machine=when.machine,
            )
        )
    if "by" in others:
        author = entry.author or ""
        shown = numbers.shortened(author, longest=6)
        cells.append(Cell("by quiet", shown, hint=author if author != shown else ""))
    return tuple(cells)


def day_text(when: datetime, *, now: datetime) -> str:
    """ "2 Nov", with the year if it is not the current one."""
    here = when.astimezone(now.tzinfo)
    return f"{here.day} {here:%b}" if here.year == now.year else f"{here:%b %Y}"


MOST_GROUPED = 200
"""Most runs of a list that are grouped, the first ones in its order."""
_MOST_OFFERED = 20
_LONGEST = 40


def group_choices(entries: Sequence[RunEntry], chosen: str) -> tuple[Option, ...]:
    """No group, the model, and the parameters and tags of these runs."""
    params = sorted({name for entry in entries for name in entry.params})[:_MOST_OFFERED]
    tags = sorted({name for entry in entries for name in entry.tags})[:_MOST_OFFERED]
    offered = {"": "none", BY_MODEL: "model"}
    offered |= {OF_PARAM + name: f"parameter {name}" for name in params}
    offered |= {OF_TAG + name: f"tag {name}" for name in tags}
    if chosen and chosen not in offered:
        offered[chosen] = chosen
    return tuple(Option(key, text, key == chosen) for key, text in offered.items())


def in_groups(
    entries: Sequence[RunEntry], rows: Sequence[ListedRun], group: str
) -> list[ListedRun]:
    """The lines group by group, in order within each; the group of the first line is first."""
    found: dict[str, list[ListedRun]] = {}
    for entry, row in zip(entries, rows, strict=True):
        found.setdefault(_shared(entry, group), []).append(row)
    return [
        replace(row, group_head=f"{title} · {numbers.plural(len(own), 'run')}" if at == 0 else "")
        for title, own in found.items()
        for at, row in enumerate(own)
    ]


def _shared(entry: RunEntry, group: str) -> str:
    if group == BY_MODEL:
        return numbers.shortened(entry.model or "no model", longest=_LONGEST)
    values = entry.params if group.startswith(OF_PARAM) else entry.tags
    name = group.removeprefix(OF_PARAM if group.startswith(OF_PARAM) else OF_TAG)
    if name not in values:
        return f"without {name}"
    return numbers.shortened(f"{name} {values[name]}", longest=_LONGEST)


def other_labels(rows: Sequence[ListedRun], scope: DatasetFacts) -> Sequence[str]:
    """A note if some of the listed runs are on other labels than the newest version."""
    n_others = sum(bool(row.other_labels) for row in rows)
    if not n_others:
        return ()
    are, their = ("is", "its") if n_others == 1 else ("are", "their")
    said = (
        f"{numbers.plural(n_others, 'run')} here {are} on other labels than "
        f"v{scope.truth_number}, so {their} values do not compare with those on "
        f"v{scope.truth_number}."
    )
    return (said,)


def other_weights(page: RunListPage) -> Sequence[str]:
    """A note if some, but not all, of the listed runs have sample weights."""
    if page.n_weighted:
        alone = page.n_weighted == page.total
        return () if alone else (weighted_here_text(page.n_weighted, are_last=True),)
    n_weighted = sum(entry.is_weighted for entry in page.entries)
    if n_weighted in (0, len(page.entries)):
        return ()
    return (weighted_here_text(n_weighted, are_last=False),)


_IN_SET = frozenset({"best", "in set"})


def with_border(rows: list[ListedRun]) -> list[ListedRun]:
    """Mark the line at which the best set ends, if others follow on the page."""
    members = [place for place, row in enumerate(rows) if row.standing in _IN_SET]
    if len(members) < 1 or members[-1] == len(rows) - 1:
        return rows
    last = members[-1]
    return [*rows[:last], replace(rows[last], ends_best=True), *rows[last + 1 :]]

"""The columns of the runs list: which, in whose order, and on which axes their marks are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from offdiag.domain.runs import Task
from offdiag.store.run_list import RunOverview, listed_metrics
from offdiag.store.run_rows import LISTED_METRICS, RunEntry
from offdiag_web.charts.scale import Scale
from offdiag_web.components import numbers
from offdiag_web.components.controls import AriaSort, Segment, aria_sort
from offdiag_web.components.run_rows import (
    OFFERED,
    ONLY_OF_CLASSES,
    ONLY_OF_SETS,
    metric_column,
)
from offdiag_web.urls.run_list import DEFAULT_COLUMNS, RunListAddress, ScaleChoice


@dataclass(frozen=True, slots=True)
class Head:
    """Head of a sortable column; `ends` are printed over the marks."""

    title: str
    sort_url: str
    aria_sort: AriaSort
    ends: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """A metric that can be a column."""

    key: str
    title: str
    is_shown: bool


@dataclass(frozen=True, slots=True)
class Columns:
    """Keys of the columns that are drawn; `left_out` says which were chosen and are not."""

    keys: tuple[str, ...]
    left_out: str | None = None


def shown_columns(overview: RunOverview, address: RunListAddress) -> tuple[str, ...]:
    """The columns that were chosen; unless any were, those that suit the dataset."""
    suiting = listed_metrics(overview.scope)
    is_chosen = address.columns != DEFAULT_COLUMNS or suiting == LISTED_METRICS
    return address.columns if is_chosen else suiting


def drawn_columns(overview: RunOverview, address: RunListAddress) -> Columns:
    """The columns of the page, on demand without those in which its runs do not differ."""
    chosen = shown_columns(overview, address)
    evaluated = [entry for entry in overview.page.entries if entry.is_evaluated]
    if not address.only_differences or len(evaluated) < 2:
        return Columns(chosen)
    same = [key for key in chosen if not _differs(key, evaluated)]
    if not same:
        return Columns(chosen)
    titles = numbers.listed([metric_column(key).title for key in same])
    return Columns(
        tuple(key for key in chosen if key not in same),
        f"Left out, because it is the same for all runs shown: {titles}."
        if len(same) == 1
        else f"Left out, because they are the same for all runs shown: {titles}.",
    )


def _differs(key: str, entries: Sequence[RunEntry]) -> bool:
    found = [entry.metrics.get(key) for entry in entries]
    return len({None if each is None else (each.value, each.reason) for each in found}) > 1


def column_choices(overview: RunOverview, shown: tuple[str, ...]) -> tuple[ColumnChoice, ...]:
    """What the chooser offers, columns that are shown already first.

    Metrics that no run of the datasets in question can have are left out.
    """
    datasets = overview.datasets if overview.scope is None else (overview.scope,)
    has_sets = {dataset.task is Task.MULTILABEL for dataset in datasets}
    never = frozenset[str]()
    if True not in has_sets:
        never |= ONLY_OF_SETS
    if False not in has_sets:
        never |= ONLY_OF_CLASSES
    others = [key for key in OFFERED if key not in shown and key not in never]
    return tuple(
        ColumnChoice(key, metric_column(key).title, key in shown) for key in (*shown, *others)
    )


def head(title: str, order: str, address: RunListAddress, scale: Scale | None = None) -> Head:
    """A head whose link sorts by its column."""
    sorting = aria_sort(
        is_current=address.order.name == order, descending=address.order.descending
    )
    return Head(title, address.sorted_by(order).url(), sorting, scale.ends if scale else None)


def scale_segments(address: RunListAddress) -> tuple[Segment, ...]:
    """On which axes the marks are drawn."""
    choices: tuple[tuple[str, ScaleChoice], ...] = (("fit", "fit"), ("full range", "full"))
    return tuple(
        Segment(text, replace(address, scale=choice).url(), address.scale == choice)
        for text, choice in choices
    )


def difference_segments(address: RunListAddress) -> tuple[Segment, ...]:
    """Whether columns in which the runs of the page do not differ are drawn too."""
    choices = (("all chosen", False), ("differences only", True))
    return tuple(
        Segment(
            text,
            replace(address, only_differences=choice).url(),
            address.only_differences == choice,
        )
        for text, choice in choices
    )

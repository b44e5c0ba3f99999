"""The first page of a multi-label run, put together from its parts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from offdiag.metrics.counted import CountedSets
from offdiag.store.run_page import RunResults
from offdiag_web.charts.scale import UNIT
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.controls import Segment
from offdiag_web.components.tiles import Headline, Tile, metric_tile, small_classes
from offdiag_web.components.values import Notes
from offdiag_web.pages.run_matrix.sets_address import LabelSetsAddress
from offdiag_web.pages.run_matrix.sets_tables import (
    LabelTable,
    MassTable,
    Window,
    label_codes,
    label_tables,
    mass_table,
    norm_segments,
    order_segments,
    window_of,
    windowed,
)

_TILES = (
    ("subset_accuracy", "Subset accuracy", ", sets exactly right"),
    ("hamming_loss", "Hamming loss", ", less is better"),
    ("example_jaccard", "Jaccard", ", mean over cases"),
    ("micro_f1", "Micro F1", None),
    ("macro_f1", "Macro F1", ", mean of label F1"),
)


@dataclass(frozen=True, slots=True)
class EmptySetLine:
    """A kind of cases whose true or predicted set is empty."""

    text: str
    count: str


@dataclass(frozen=True, slots=True)
class SetsPage:
    """Everything below the header of a multi-label run."""

    headline: Headline
    n_labels: int
    orders: tuple[Segment, ...]
    tables: tuple[LabelTable, ...]
    window: Window | None
    norms: tuple[Segment, ...]
    matrix: MassTable
    empty: tuple[EmptySetLine, ...]
    most_missed: str | None
    most_spurious: str | None
    notes: tuple[str, ...]


def sets_page(results: RunResults, counted: CountedSets, address: LabelSetsAddress) -> SetsPage:
    """Present the results of a run as its address asks for."""
    notes = Notes()
    codes = label_codes(results, counted, address.order)
    shown = windowed(codes, address.start)
    empty = counted.tally.empty_sets
    return SetsPage(
        headline=_headline(results, counted, notes),
        n_labels=counted.n_classes,
        orders=order_segments(address),
        tables=label_tables(results, counted, shown, address.run_id, notes),
        window=window_of(codes, address),
        norms=norm_segments(address),
        matrix=mass_table(counted, shown, address),
        empty=(
            EmptySetLine("Nothing is true", numbers.count(empty.n_true_empty)),
            EmptySetLine("Nothing was predicted", numbers.count(empty.n_pred_empty)),
            EmptySetLine("Both", numbers.count(empty.both_empty)),
        ),
        most_missed=_most(counted, empty.missed_when_pred_empty.tolist()),
        most_spurious=_most(counted, empty.spurious_when_true_empty.tolist()),
        notes=tuple(notes.texts),
    )


def _headline(results: RunResults, counted: CountedSets, notes: Notes) -> Headline:
    tiles = [_tile(title, results, key, notes, detail=detail) for key, title, detail in _TILES]
    worst = _worst_label(results, counted, notes)
    return Headline(
        tiles=tuple([*tiles, worst] if worst else tiles),
        n_cases=numbers.count(results.facts.n_cases),
        caution=_caution(counted),
    )


def _tile(title: str, results: RunResults, key: str, notes: Notes, *, detail: str | None) -> Tile:
    tile = metric_tile(title, results.aggregate.get(key), notes, scale=UNIT, detail=detail)
    return replace(tile, baseline=None)


def _worst_label(results: RunResults, counted: CountedSets, notes: Notes) -> Tile | None:
    recalls = results.per_class["recall"]
    defined = [(each.value, code) for code, each in enumerate(recalls) if each.value is not None]
    if not defined:
        return None
    code = min(defined)[1]
    found = numbers.hits_of(int(counted.correct[code]), int(counted.actual[code]))
    name = quoted_name(counted.labels.names[code])
    tile = metric_tile(
        "Worst label recall", recalls[code], notes, detail=f": {name}, found {found}"
    )
    return replace(tile, baseline=None)


def _caution(counted: CountedSets) -> str | None:
    """Said where a label is too rare for the intervals of averages to be trusted."""
    return small_classes(counted.actual.tolist(), counted.labels.names, one="label", many="labels")


def _most(counted: CountedSets, counts: list[int]) -> str | None:
    """The labels that the empty sets cost most, the most frequent first."""
    order = sorted(range(len(counts)), key=lambda code: -counts[code])
    parts = [
        f"{quoted_name(counted.labels.names[code])} {numbers.count(counts[code])}"
        for code in order
        if counts[code]
    ]
    return numbers.listed(parts) if parts else None

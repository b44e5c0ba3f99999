"""What the headers on both sides of a table are: metrics, averages, classes or models.

Metrics, averages and counts are known by name. Other names beside metrics are classes if the
text or the user says so, and models otherwise; `Roles.names` says which of the two was taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import NamedTuple

from offdiag.audit.reported_values import CLASS_KEYS
from offdiag.audit.table_text.cells import Value
from offdiag.audit.table_text.classes import (
    LONGEST_NAME,
    axis_word,
    class_name,
    count_behind,
    numbered,
    place_of,
)
from offdiag.audit.table_text.headers import (
    NO_MEANING,
    SUPPORT,
    TOTAL,
    Meaning,
    metric_spans,
    read_meaning,
    recognised,
    without_fluff,
)
from offdiag.audit.table_text.tables import Table, is_class_number
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput

_CLASS_WORDS = ("class", "label", "category", "group")
_FLUFF = frozenset({"of", "for", "on", "the", "class", "in", "our", "overall", "score"})
_LONGEST_GROUP = 2
"""Words around a metric that may be the name of a class or a model; more are prose."""
_CITATION = re.compile(r"\[\d[\d, ]{0,20}\]$")
_MEANS = frozenset({"mean", "average", "avg"})
_PAIRS = (
    *({"yes", "no"}, {"positive", "negative"}, {"+", "-"}, {"pos", "neg"}),
    *({"true", "false"}, {"present", "absent"}, {"ill", "well"}),
)

Meanings = Sequence[Meaning | None]


@dataclass(frozen=True, slots=True)
class Roles:
    """The meanings of the columns and the rows of a table, in their order.

    `names` is "classes" or "models" where names beside metrics were taken for these.
    """

    columns: tuple[Meaning, ...]
    rows: tuple[Meaning, ...]
    names: str | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What is known beside the table.

    `classes` are names of classes, `corrected` what the user says of a header by its text, and
    `are_models` says what names beside metrics are, if that was stated.
    """

    classes: Sequence[str]
    corrected: Mapping[str, Meaning]
    are_models: bool | None = None


class _Side(NamedTuple):
    """The headers of one side, and what they say by themselves."""

    heads: Sequence[str]
    meanings: Meanings


def roles_of(table: Table, known: Known) -> Roles:
    """What each header means, given what is known beside the table."""
    labels = [row.label for row in table.rows]
    columns = [_meaning(head, known) for head in table.heads]
    rows = [_meaning(label, known) for label in labels]
    if is_matrix(table):
        twice = _on_both_sides(table) - known.corrected.keys()
        return Roles(
            _with_classes(table.heads, _without(table.heads, columns, twice), known),
            _with_classes(labels, _without(labels, rows, twice), known),
        )
    if _has_metrics(table.heads, columns):
        rows = _without(
            labels, rows, _names_of_rows(table, columns, rows) - known.corrected.keys()
        )
        cells = [[value is not None for value in row.values] for row in table.rows]
        names = _kind_of_names(table, _Side(labels, rows), columns, cells, known)
        return Roles(
            _with_groups(table.heads, columns, known), _named(labels, rows, names, known), names
        )
    if _has_metrics(labels, rows):
        cells = [[row.values[at] is not None for row in table.rows] for at in range(len(columns))]
        names = _kind_of_names(table, _Side(table.heads, columns), rows, cells, known)
        return Roles(
            _named(table.heads, columns, names, known), _with_groups(labels, rows, known), names
        )
    return Roles(tuple(m or NO_MEANING for m in columns), tuple(m or NO_MEANING for m in rows))


def _without(
    heads: Sequence[str], meanings: Meanings, names: AbstractSet[str]
) -> list[Meaning | None]:
    """What headers mean, None for those that are names."""
    pairs = zip(heads, meanings, strict=True)
    return [None if head in names else meaning for head, meaning in pairs]


def _names_of_rows(table: Table, columns: Meanings, rows: Meanings) -> AbstractSet[str]:
    """Rows called like a metric of a class or its support that have values of other metrics: "F"
    beside "M" is a class then, and no F1.
    """
    metrics = [meaning.what if meaning and meaning.is_metric else None for meaning in columns]
    return {
        row.label
        for row, meaning in zip(table.rows, rows, strict=True)
        if meaning is not None and (meaning.what in CLASS_KEYS or meaning.what == SUPPORT)
        if len(
            {what for what, value in zip(metrics, row.values, strict=True) if value}
            - {None, meaning.what}
        )
        > 1
    }


def _meaning(head: str, known: Known) -> Meaning | None:
    """What a header says by itself, None where that depends on the others."""
    if head in known.corrected:
        return known.corrected[head]
    found = recognised(head)
    meaning = _in_short_form(head) if found is None else found.meaning
    if meaning is None or meaning.label is None:
        return meaning
    return replace(meaning, label=_label(meaning.label, known))


def _in_short_form(head: str) -> Meaning | None:
    """ "recall[ill]", as the command line writes it."""
    if "[" not in head or head.startswith("["):
        return None
    try:
        return read_meaning(head)
    except InvalidInput:
        return None


def _has_metrics(heads: Sequence[str], meanings: Meanings) -> bool:
    """Whether one side of a table names metrics, alone or with the name of a group."""
    return any(
        _metric_and_rest(head, meaning) is not None
        if meaning is None
        else meaning.is_metric or meaning.what in {SUPPORT, "tp"}
        for head, meaning in zip(heads, meanings, strict=True)
    )


def _kind_of_names(
    table: Table, side: _Side, metrics: Meanings, cells: Sequence[Sequence[bool]], known: Known
) -> str | None:
    """ "classes" or "models" for headers without a meaning of their own, None if there are none.

    `cells` says for each header of the side beside which of the `metrics` it has a value.
    """
    places = [at for at, head in enumerate(side.heads) if head and side.meanings[at] is None]
    names = [side.heads[at] for at in places]
    if not names:
        return None
    if known.are_models is not None:
        return "models" if known.are_models else "classes"
    are_known = bool(known.classes) and all(place_of(n, known.classes) is not None for n in names)
    of_the_whole = [at for at, m in enumerate(metrics) if m is not None and m.is_aggregate]
    beside = [m for m in (*side.meanings, *metrics) if m is not None]
    by_evidence = (
        (are_known, "classes"),
        (table.names_models, "models"),
        (table.names_classes or _are_called_classes(names), "classes"),
        (any(sum(cells[n][at] for n in places) > 1 for at in of_the_whole), "models"),
        (any(m.average is not None or m.what in {SUPPORT, TOTAL} for m in beside), "classes"),
        (_are_numbers_or_pair(names), "classes"),
    )
    return next((kind for holds, kind in by_evidence if holds), "models")


def _are_called_classes(names: Sequence[str]) -> bool:
    """Whether names say that they are of classes, or have the size of a class behind them."""
    return all(count_behind(name) is not None for name in names) or all(
        name.casefold().startswith(_CLASS_WORDS) or axis_word(name.split()[0]) is not None
        for name in names
    )


def _are_numbers_or_pair(names: Sequence[str]) -> bool:
    """Whether all are numbers, or the two of a question: yes and no."""
    plain = {class_name(name).casefold() for name in names}
    return all(map(is_class_number, plain)) or plain in _PAIRS


def _named(
    heads: Sequence[str], meanings: Meanings, names: str | None, known: Known
) -> tuple[Meaning, ...]:
    """Headers beside metrics, those without a meaning taken as names of classes or models."""
    return tuple(
        _of_name(head, names, known) if meaning is None else _of_average(head, meaning, names)
        for head, meaning in zip(heads, meanings, strict=True)
    )


def _of_name(head: str, names: str | None, known: Known) -> Meaning:
    if not head:
        return NO_MEANING
    if names == "classes":
        return Meaning(label=_label(head, known))
    return Meaning(model=_CITATION.sub("", head[:LONGEST_NAME]).strip(" :"))


def _of_average(head: str, meaning: Meaning, names: str | None) -> Meaning:
    """The mean of several models is no average over classes."""
    is_mean = names == "models" and meaning.average is not None and head.lower() in _MEANS
    return NO_MEANING if is_mean else meaning


def _with_classes(heads: Sequence[str], meanings: Meanings, known: Known) -> tuple[Meaning, ...]:
    return tuple(
        meaning or Meaning(label=_label(head, known)) if head else NO_MEANING
        for head, meaning in zip(heads, meanings, strict=True)
    )


def _label(head: str, known: Known) -> str:
    place = place_of(head, known.classes)
    return class_name(head) if place is None else known.classes[place]


def _with_groups(heads: Sequence[str], meanings: Meanings, known: Known) -> tuple[Meaning, ...]:
    """Headers on the side of the metrics; words around a metric name a class or a model.

    They name models only where each has the same metrics, as in "Old precision, Old recall, New
    precision, New recall"; "Detection prevalence" below "Prevalence" is another metric.
    """
    parted = [
        None if head in known.corrected else _metric_and_rest(head, meaning)
        for head, meaning in zip(heads, meanings, strict=True)
    ]
    groups: dict[str, list[Meaning]] = {}
    for found in parted:
        if found is not None and place_of(found[1], known.classes) is None:
            groups.setdefault(found[1], []).append(found[0])
    is_grid = len(set(map(frozenset, groups.values()))) == 1
    return tuple(
        meaning or NO_MEANING
        if found is None
        else _grouped(found, meaning, known, is_grid=is_grid, n_groups=len(groups))
        for meaning, found in zip(meanings, parted, strict=True)
    )


def _grouped(
    found: tuple[Meaning, str],
    meaning: Meaning | None,
    known: Known,
    *,
    is_grid: bool,
    n_groups: int,
) -> Meaning:
    metric, rest = found
    place = place_of(rest, known.classes) if rest else None
    if place is not None and metric.label is None:
        return replace(metric, label=known.classes[place])
    if is_grid and n_groups > 1 and metric.label is None:
        return replace(metric, model=rest or None)
    return metric if is_grid else meaning or NO_MEANING


def _metric_and_rest(head: str, meaning: Meaning | None) -> tuple[Meaning, str] | None:
    """ "Permuted Precision" as precision and "Permuted"; None for what is not a metric."""
    if meaning is not None:
        return (meaning, without_fluff(head)[0]) if meaning.is_metric else None
    words = head.split()
    spans = metric_spans(words)
    if len(spans) != 1:
        return None
    start, end = spans[0]
    found = recognised(" ".join(words[start:end]))
    rest = [word for word in (*words[:start], *words[end:]) if word.lower() not in _FLUFF]
    if found is None or not found.meaning.is_metric or len(rest) > _LONGEST_GROUP:
        return None
    return found.meaning, " ".join(rest).strip("()[]:,_- ")


Counts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class PrintedMatrix:
    """Counts as they were printed, line by line, with the classes of both axes.

    `orientation` is what words in the text say, None where they say nothing.
    """

    labels: tuple[str, ...]
    counts: Counts
    orientation: SourceOrientation | None


def is_matrix(table: Table) -> bool:
    """Whether the table counts cases: the same classes on both sides, whole numbers inside."""
    twice = _on_both_sides(table)
    columns = [at for at, head in enumerate(table.heads) if head in twice or not _is_known(head)]
    rows = [row for row in table.rows if row.label in twice or not _is_known(row.label)]
    if len(columns) != len(rows) or len(rows) < 2:
        return False
    cells = [row.values[at] for row in rows for at in columns]
    if not all(cell is not None and cell.count is not None for cell in cells):
        return False
    if not any(table.heads):
        return not any(row.label for row in rows)
    heads = [table.heads[at] for at in columns]
    return [place_of(row.label, heads) for row in rows] == list(range(len(rows)))


def _on_both_sides(table: Table) -> frozenset[str]:
    """Headers of columns and rows that name a class of a matrix, though "F" may mean F1, too."""
    heads = {row.label for row in table.rows if row.label}.intersection(table.heads)
    found = {head: recognised(head) for head in heads}
    return frozenset(
        head
        for head, each in found.items()
        if each is not None and (each.meaning.is_metric or each.meaning.what == SUPPORT)
    )


def _is_known(head: str) -> bool:
    found = recognised(head)
    return found is not None and found.meaning.what != SUPPORT


def matrix_of(table: Table, roles: Roles, classes: Sequence[str]) -> PrintedMatrix | None:
    """The matrix that a table is, without totals and metrics at its sides; None if it is none."""
    if not is_matrix(table):
        return None
    if not any(table.heads):
        counts = tuple(_counts(row.values) for row in table.rows)
        names = tuple(classes) if len(classes) == len(counts) else numbered(len(counts))
        return PrintedMatrix(names, counts, _orientation(table))
    columns = [at for at, m in enumerate(roles.columns) if m.label is not None]
    counts = tuple(
        _counts([row.values[at] for at in columns])
        for row, m in zip(table.rows, roles.rows, strict=True)
        if m.label is not None
    )
    labels = tuple(roles.columns[at].label or "" for at in columns)
    return PrintedMatrix(labels, counts, _orientation(table))


def class_heads(table: Table) -> list[str]:
    """The headers that name the classes of a matrix, in its order."""
    rows = [row.label for row in table.rows]
    twice = _on_both_sides(table)
    return [
        head
        for head in table.heads
        if head and (head in twice or recognised(head) is None)
        if place_of(head, rows) is not None
    ]


def _counts(values: Sequence[Value | None]) -> tuple[int, ...]:
    return tuple((value.count or 0) if value is not None else 0 for value in values)


def _orientation(table: Table) -> SourceOrientation | None:
    """What stands along the rows, by the words at either axis."""
    of_rows = _axis([row.label for row in table.rows])
    of_columns = _axis(table.heads) or _axis(table.above)
    corner = _axes(table.above[-1:])
    if of_rows is None and of_columns is None and len(corner) == 1:
        # The name of the columns above, that of the rows beside the headers.
        of_rows = next(iter(corner))
    if of_rows == "actual" or (of_rows is None and of_columns == "predicted"):
        return SourceOrientation.ACTUAL_ROWS
    if of_rows == "predicted" or of_columns == "actual":
        return SourceOrientation.ACTUAL_COLUMNS
    return None  # "True \\ Predicted" in one corner is read in either way.


def _axis(texts: Sequence[str]) -> str | None:
    """The axis that words in these texts name, if it is one only."""
    named = _axes(texts)
    return next(iter(named)) if len(named) == 1 else None


def _axes(texts: Sequence[str]) -> set[str]:
    words = (word for text in texts for word in text.split())
    return {axis for word in words if (axis := axis_word(word)) is not None}

"""The roles of the headers on both sides of a table: metrics, averages, classes or models.

Metrics, averages and counts are known by name. Other names beside metrics are classes if the
text or the user says so, and models otherwise; `Roles.names` says which of the two was assumed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from offdiag.audit.reported_values import CLASS_KEYS
from offdiag.audit.table_text.classes import (
    LONGEST_NAME,
    class_name,
    class_of,
    count_behind,
    matrix_places,
    place_of,
)
from offdiag.audit.table_text.headers import (
    NO_MEANING,
    SUPPORT,
    TOTAL,
    Meaning,
    axis_word,
    metric_spans,
    read_meaning,
    recognised,
    stub_names,
    without_fluff,
)
from offdiag.audit.table_text.tables import Table, is_class_number
from offdiag.errors import InvalidInput

_CALLED_CLASS = re.compile(r"(class|label|category|group)[\s:_]*\w")
_FLUFF = frozenset({"of", "for", "on", "the", "class", "in", "our", "overall", "score"})
_LONGEST_GROUP = 2
"""Words around a metric that may be the name of a class or a model; more are prose."""
_CITATION = re.compile(r"\[\d[\d, ]{0,20}\]$")
_MEANS = frozenset({"mean", "average", "avg"})
_SPREADS = frozenset({"lower", "upper", "std", "sd", "stdev", "ci", "95% ci", "p-value"})
"""Headers beside metrics that are not names of models."""
_PAIRS = (
    *({"yes", "no"}, {"positive", "negative"}, {"+", "-"}, {"pos", "neg"}),
    *({"true", "false"}, {"present", "absent"}, {"ill", "well"}),
)

Meanings = Sequence[Meaning | None]


@dataclass(frozen=True, slots=True)
class Roles:
    """The meanings of the columns and the rows of a table, in their order.

    `names` is "classes" or "models" if names beside metrics were read as such.
    """

    columns: tuple[Meaning, ...]
    rows: tuple[Meaning, ...]
    names: str | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What is known apart from the table.

    `classes` are names of classes, `corrected` is what the user says about a header, by its text,
    and `are_models` says what names beside metrics are, if that was stated.
    """

    classes: Sequence[str]
    corrected: Mapping[str, Meaning]
    are_models: bool | None = None


class _Side(NamedTuple):
    """The headers of one side, and what they mean by themselves."""

    heads: Sequence[str]
    meanings: Meanings


def roles_of(table: Table, known: Known) -> Roles:
    """The meaning of each header, given what is known apart from the table."""
    labels = [row.label for row in table.rows]
    columns = [_meaning(head, known) for head in table.heads]
    rows = [_meaning(label, known) for label in labels]
    places = matrix_places(table)
    if places is not None:
        return Roles(
            _with_classes(table.heads, columns, places[1], known),
            _with_classes(labels, rows, places[0], known),
        )
    if _has_metrics(table.heads, columns):
        if len({m.what for m in columns if m is not None and m.is_metric}) > 1:
            rows = [
                None if _is_name(m, row.label, known) else m
                for m, row in zip(rows, table.rows, strict=True)
            ]
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


def _is_name(meaning: Meaning | None, label: str, known: Known) -> bool:
    """Whether a row named like a class metric, beside several metrics, is a class: "F"."""
    is_metric = meaning is not None and (meaning.what in CLASS_KEYS or meaning.what == SUPPORT)
    return is_metric and label not in known.corrected


def _meaning(head: str, known: Known) -> Meaning | None:
    """The meaning of a header by itself, None if that depends on the others."""
    if head in known.corrected:
        return known.corrected[head]
    meaning = recognised(head) or _in_short_form(head)
    if meaning is None or meaning.label is None:
        return meaning
    return replace(meaning, label=class_of(meaning.label, known.classes))


def _in_short_form(head: str) -> Meaning | None:
    """ "recall[ill]", as written on the command line."""
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

    `cells` says, for each header of the other side, for which of the `metrics` it has a value.
    """
    places = [at for at, head in enumerate(side.heads) if head and side.meanings[at] is None]
    names = [side.heads[at] for at in places]
    if not names:
        return None
    if known.are_models is not None:
        return "models" if known.are_models else "classes"
    are_known = any(place_of(name, known.classes) is not None for name in names)
    of_the_whole = [at for at, m in enumerate(metrics) if m is not None and m.is_aggregate]
    beside = [m for m in (*side.meanings, *metrics) if m is not None]
    by_evidence = (
        (are_known, "classes"),
        (stub_names(table.corner) == "models", "models"),
        (stub_names(table.corner) == "classes" or _are_called_classes(names), "classes"),
        (any(sum(cells[n][at] for n in places) > 1 for at in of_the_whole), "models"),
        (any(m.average is not None or m.what in {SUPPORT, TOTAL} for m in beside), "classes"),
        (_are_numbers_or_pair(names), "classes"),
    )
    return next((kind for holds, kind in by_evidence if holds), "models")


def _are_called_classes(names: Sequence[str]) -> bool:
    """Whether names say that they are of classes, or are followed by the size of a class."""
    first_words = {found[1] for name in names if (found := _CALLED_CLASS.match(name.casefold()))}
    return (
        all(count_behind(name) is not None for name in names)
        or all(axis_word(name.split()[0]) is not None for name in names)
        or (len(first_words) == 1 and all(map(_CALLED_CLASS.match, map(str.casefold, names))))
    )


def _are_numbers_or_pair(names: Sequence[str]) -> bool:
    """Whether all are numbers, or the two answers of a question: yes and no."""
    plain = {class_name(name).casefold() for name in names}
    return all(map(is_class_number, plain)) or plain in _PAIRS


def _named(
    heads: Sequence[str], meanings: Meanings, names: str | None, known: Known
) -> tuple[Meaning, ...]:
    """Headers beside metrics, with those of no other meaning read as classes or models."""
    return tuple(
        _of_name(head, names, known) if meaning is None else _of_average(head, meaning, names)
        for head, meaning in zip(heads, meanings, strict=True)
    )


def _of_name(head: str, names: str | None, known: Known) -> Meaning:
    if not head:
        return NO_MEANING
    if head.lower() in _SPREADS:
        return NO_MEANING
    if names == "classes":
        return Meaning(label=class_of(head, known.classes))
    return Meaning(model=_CITATION.sub("", head[:LONGEST_NAME]).strip(" :"))


def _of_average(head: str, meaning: Meaning, names: str | None) -> Meaning:
    """The mean over several models is not an average over classes."""
    is_mean = names == "models" and meaning.average is not None and head.lower() in _MEANS
    return NO_MEANING if is_mean else meaning


def _with_classes(
    heads: Sequence[str], meanings: Meanings, places: Sequence[int], known: Known
) -> tuple[Meaning, ...]:
    """The headers of a matrix, with those in the `places` of its classes read as classes."""
    return tuple(
        Meaning(label=class_of(head, known.classes))
        if head and at in places and head not in known.corrected
        else meaning or NO_MEANING
        for at, (head, meaning) in enumerate(zip(heads, meanings, strict=True))
    )


def _with_groups(heads: Sequence[str], meanings: Meanings, known: Known) -> tuple[Meaning, ...]:
    """Headers on the side of the metrics; words around a metric name a class or a model.

    They name models only if each has the same metrics, as in "Old precision, Old recall, New
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
    """ "Permuted Precision" as precision and "Permuted"; None if it is not a metric."""
    if meaning is not None:
        return (meaning, without_fluff(head)[0]) if meaning.is_metric else None
    words = head.split()
    spans = metric_spans(words)
    if len(spans) != 1:
        return None
    start, end = spans[0]
    found = recognised(" ".join(words[start:end]))
    rest = [word for word in (*words[:start], *words[end:]) if word.lower() not in _FLUFF]
    if found is None or not found.is_metric or len(rest) > _LONGEST_GROUP:
        return None
    return found, " ".join(rest).strip("()[]:,_- ")

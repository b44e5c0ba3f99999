"""What the heads on both sides of a table are: metrics, averages, classes or models."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from offdiag.errors import InvalidInput
from offdiag.flags.audit.pasted.blocks import Block
from offdiag.flags.audit.pasted.classes import LONGEST_NAME, class_name, place_of
from offdiag.flags.audit.pasted.classes_or_models import are_classes
from offdiag.flags.audit.pasted.meaning import NO_MEANING, SUPPORT, Meaning, read_meaning
from offdiag.flags.audit.pasted.recognition import metric_spans, recognised, without_fluff

_FLUFF = frozenset({"of", "for", "on", "the", "class", "in", "our", "overall", "score"})
_CITATION = re.compile(r"\[\d[\d, ]{0,20}\]$")


@dataclass(frozen=True, slots=True)
class Roles:
    """The meanings of the columns and the rows of a block, in their order."""

    columns: tuple[Meaning, ...]
    rows: tuple[Meaning, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known beside the block.

    `classes` are names of classes, `corrected` what somebody says of a head by its text, and
    `are_models` says what heads are that may be classes as well as models, if somebody said so.
    """

    classes: Sequence[str]
    corrected: Mapping[str, Meaning]
    are_models: bool | None = None


def is_matrix(block: Block) -> bool:
    """Whether the block counts cases: the same classes on both sides, whole numbers inside."""
    columns = [place for place, head in enumerate(block.heads) if not _is_known(head)]
    rows = [row for row in block.rows if not _is_known(row.label)]
    if len(columns) != len(rows) or len(rows) < 2:
        return False
    cells = [row.values[place] for row in rows for place in columns]
    if not all(cell is not None and cell.count is not None for cell in cells):
        return False
    if not any(block.heads) or not any(row.label for row in rows):
        return not any(block.heads) and not any(row.label for row in rows)
    heads = [block.heads[place] for place in columns]
    return [place_of(row.label, heads) for row in rows] == list(range(len(rows)))


def roles_of(block: Block, known: Known) -> Roles:
    """What each head means, given what is known beside the block."""
    columns = [_meaning(head, known) for head in block.heads]
    rows = [_meaning(row.label, known) for row in block.rows]
    if is_matrix(block):
        return Roles(
            _with_classes(block.heads, columns, known),
            _with_classes([row.label for row in block.rows], rows, known),
        )
    if _has_metrics(block.heads, columns):
        labels = [row.label for row in block.rows]
        return Roles(
            _with_groups(block.heads, columns, known), _with_names(labels, rows, columns, known)
        )
    labels = [row.label for row in block.rows]
    if _has_metrics(labels, rows):
        return Roles(
            _with_names(block.heads, columns, rows, known), _with_groups(labels, rows, known)
        )
    return Roles(tuple(m or NO_MEANING for m in columns), tuple(m or NO_MEANING for m in rows))


def _is_known(head: str) -> bool:
    found = recognised(head)
    return found is not None and found.meaning.what != SUPPORT


def _meaning(head: str, known: Known) -> Meaning | None:
    """What a head says by itself, None where that depends on the others."""
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


def _has_metrics(heads: Sequence[str], meanings: Sequence[Meaning | None]) -> bool:
    """Whether one side of a table names metrics, alone or with the name of a group."""
    return any(
        _metric_and_rest(head, meaning) is not None
        if meaning is None
        else meaning.is_metric or meaning.what in {SUPPORT, "tp"}
        for head, meaning in zip(heads, meanings, strict=True)
    )


def _with_classes(
    heads: Sequence[str], meanings: Sequence[Meaning | None], known: Known
) -> tuple[Meaning, ...]:
    return tuple(
        meaning or Meaning(label=_label(head, known)) if head else NO_MEANING
        for head, meaning in zip(heads, meanings, strict=True)
    )


def _label(head: str, known: Known) -> str:
    place = place_of(head, known.classes)
    return class_name(head) if place is None else known.classes[place]


def _with_groups(
    heads: Sequence[str], meanings: Sequence[Meaning | None], known: Known
) -> tuple[Meaning, ...]:
    """Heads on the side of the metrics; words around a metric name a class or a model."""
    parted = [
        None if head in known.corrected else _metric_and_rest(head, meaning)
        for head, meaning in zip(heads, meanings, strict=True)
    ]
    metrics = [found[0] for found in parted if found is not None]
    groups = {found[1] for found in parted if found is not None}
    is_grouped = len(groups) > 1 and any(metrics.count(metric) > 1 for metric in metrics)
    return tuple(
        (meaning or NO_MEANING)
        if found is None
        else _grouped(found, known, is_group=is_grouped and found[0].label is None)
        for meaning, found in zip(meanings, parted, strict=True)
    )


def _metric_and_rest(head: str, meaning: Meaning | None) -> tuple[Meaning, str] | None:
    """ "Permuted Precision" as precision and "Permuted"; None for what is no metric."""
    if meaning is not None:
        return (meaning, without_fluff(head)[0]) if meaning.is_metric else None
    words = head.split()
    spans = metric_spans(words)
    if len(spans) != 1:
        return None
    start, end = spans[0]
    found = recognised(" ".join(words[start:end]))
    if found is None or not found.meaning.is_metric:
        return None
    rest = [word for word in (*words[:start], *words[end:]) if word.lower() not in _FLUFF]
    return found.meaning, " ".join(rest).strip("()[]:,_- ")


def _grouped(found: tuple[Meaning, str], known: Known, *, is_group: bool) -> Meaning:
    meaning, rest = found
    place = place_of(rest, known.classes) if rest else None
    if place is not None and meaning.label is None:
        return replace(meaning, label=known.classes[place])
    return replace(meaning, model=rest if is_group and rest else None)


def _with_names(
    heads: Sequence[str],
    meanings: Sequence[Meaning | None],
    across: Sequence[Meaning | None],
    known: Known,
) -> tuple[Meaning, ...]:
    """Heads on the other side: averages and counts say so, names are of classes or models."""
    names = [head for head, m in zip(heads, meanings, strict=True) if m is None and head]
    of_classes = not known.are_models
    if known.are_models is None:
        beside = [m for m in (*meanings, *across) if m is not None]
        of_classes = are_classes(names, beside, known.classes)
    return tuple(
        meaning or _named(head, known, is_class=of_classes)
        for head, meaning in zip(heads, meanings, strict=True)
    )


def _named(head: str, known: Known, *, is_class: bool) -> Meaning:
    if not head:
        return NO_MEANING
    if is_class:
        return Meaning(label=_label(head, known))
    return Meaning(model=_CITATION.sub("", head[:LONGEST_NAME]).strip(" :"))

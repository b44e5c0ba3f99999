"""The classes a text is about: from what is said, from its matrix, or from its heads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from offdiag.errors import InvalidInput
from offdiag.flags.audit.pasted.blocks import Block
from offdiag.flags.audit.pasted.classes import (
    ClassFacts,
    count_behind,
    distinct,
    numbered,
    place_of,
    read_classes,
)
from offdiag.flags.audit.pasted.matrices import class_heads
from offdiag.flags.audit.pasted.meaning import SUPPORT
from offdiag.flags.audit.pasted.numbers import Count
from offdiag.flags.audit.pasted.roles import Roles, is_matrix

_LISTS_OF_CLASSES = frozenset(
    {"classes", "class counts", "class sizes", "counts", "support", "supports", "cases", "n"}
    | {"samples", "class distribution", "test set", "data"}
)
_POSITIVES = re.compile(r"(\d[\d,]{0,18})\s{1,3}positives?\b", re.IGNORECASE)
_NEGATIVES = re.compile(r"(\d[\d,]{0,18})\s{1,3}negatives?\b", re.IGNORECASE)
_DECIMAL = re.compile(r"\d\.\d")


def listed_in(lines: Sequence[str]) -> tuple[int, ClassFacts] | None:
    """The place of a line such as "Classes: A 80, B 15", or of one that counts positives.

    Prose counts positives and negatives in a sentence; if that has metrics as well, the
    place is that behind the last line.
    """
    for place, line in enumerate(lines):
        head, colon, rest = line.partition(":")
        if colon and head.strip().lower() in _LISTS_OF_CLASSES:
            try:
                found = read_classes(rest)
            except InvalidInput:
                continue
            if found is not None and found.counts is not None:
                return place, found
        sizes = (_POSITIVES.search(line), _NEGATIVES.search(line))
        if sizes[0] is not None and sizes[1] is not None:
            counts = tuple(int(size[1].replace(",", "")) for size in sizes if size is not None)
            has_metrics = "%" in line or _DECIMAL.search(line) is not None
            facts = ClassFacts(("positive", "negative"), counts)
            return (len(lines) if has_metrics else place), facts
    return None


def from_matrix(blocks: Sequence[Block], stated: ClassFacts | None) -> tuple[str, ...]:
    """The classes in the order of a matrix, under the names that were stated for them."""
    matrices = [block for block in blocks if is_matrix(block)]
    # One that names its classes tells more than one that has only cells.
    block = max(matrices, key=lambda block: any(block.heads), default=None)
    if block is None:
        return () if stated is None else stated.names
    heads = distinct(class_heads(block)) or list(numbered(len(block.rows)))
    if stated is None:
        return tuple(heads)
    if len(stated.names) != len(heads):
        raise InvalidInput(
            f"{len(stated.names)} classes are listed, the matrix has {len(heads)}.",
            field="classes",
            hint="List the classes of the matrix, or leave them out.",
        )
    places = [place_of(head, stated.names) for head in heads]
    if None in places or len(set(places)) < len(places):
        # Other names, or none: taken in the order of the matrix.
        return stated.names if stated.names != numbered(len(heads)) else tuple(heads)
    return tuple(stated.names[place] for place in places if place is not None)


def from_labels(
    names: Sequence[str], roles: Iterable[Roles], stated: ClassFacts | None
) -> tuple[str, ...]:
    """The classes known already, else those that heads were taken for.

    Raises `InvalidInput` if a head names a class that is not among those that were stated.
    """
    labels = [m.label for each in roles for m in (*each.columns, *each.rows) if m.label]
    found = distinct(labels)
    if not names or (stated is not None and _are_numbers(stated, found)):
        return tuple(found) or tuple(names)
    unknown = next((label for label in found if place_of(label, names) is None), None)
    if unknown is not None:
        raise InvalidInput(
            f"the text has a class {unknown!r}, listed are {', '.join(names)}.",
            field="classes",
            hint="List every class, or say that the name is a model: @name.",
        )
    return tuple(names)


def _are_numbers(stated: ClassFacts, found: Sequence[str]) -> bool:
    """Whether only sizes were stated, for as many classes as the text names."""
    is_unnamed = stated.names == numbered(len(stated.names))
    return is_unnamed and len(found) == len(stated.names)


def sizes_of(
    names: Sequence[str],
    stated: ClassFacts | None,
    blocks: Sequence[Block],
    counts: Iterable[Count],
) -> tuple[int, ...] | None:
    """Cases of each class: as stated, behind the names in the heads, or in a column of support."""
    if stated is not None and stated.counts is not None:
        places = [place_of(name, stated.names) for name in names]
        if None in places or len(set(places)) < len(places):
            return stated.counts
        return tuple(stated.counts[place] for place in places if place is not None)
    heads = [head for block in blocks for head in (*block.heads, *(r.label for r in block.rows))]
    behind = {
        place: size
        for head in heads
        if (size := count_behind(head)) is not None
        and (place := place_of(head, names)) is not None
    }
    support = {
        place: count.count
        for count in counts
        if count.what == SUPPORT and count.label is not None
        if (place := place_of(count.label, names)) is not None
    }
    for found in (support, behind):
        if names and len(found) == len(names):
            return tuple(found[place] for place in range(len(names)))
    return None

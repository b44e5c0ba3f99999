"""What the headers on both sides of a table are: metrics, averages, classes or models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from offdiag.audit.reported_values import CLASS_KEYS
from offdiag.audit.table_text.blocks import Block, axis_word, is_class_number
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
from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput

MOST_CLASSES = 60
LONGEST_NAME = 80

_COUNT_BEHIND = re.compile(r"[(\[]\s*(?:n\s*=\s*)?(\d{1,9})\s*[)\]]\s*$", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\(([^()]*)\)")
_PREFIX = re.compile(r"(?:class|label|category|group)\s+(?=\S)", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<![\d,])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
_ONLY_NUMBERS = re.compile(r"[\d,]+")
_EQUAL_SIZES = re.compile(r"(\d{1,3})\s*[x×*]\s*(\d{1,15})")
_NAME_AND_COUNT = re.compile(r"(.*[^ ]) ?[ =:(] ?(\d{1,16}) ?\)?")
_COUNT_AND_NAME = re.compile(r"(\d{1,16})\s+(\S.*)")
_SIGNS_OF = {"+": "positive", "-": "negative", "pos": "positive", "neg": "negative"}
_HINT = "Write A 80, B 15, C 5; or 80, 15, 5; or 10 x 1000 for ten classes of a thousand."


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """Classes in their order, with their numbers of samples where these are known."""

    names: tuple[str, ...]
    counts: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if len(self.names) > MOST_CLASSES:
            raise InvalidInput(
                f"{len(self.names)} classes were given.",
                field="classes",
                hint=f"A pasted table may have {MOST_CLASSES}; audit_reported takes more.",
            )
        LabelSet(self.names)

    def written(self) -> str:
        """The text that `read_classes` reads back."""
        if self.counts is None:
            return ", ".join(self.names)
        pairs = zip(self.names, self.counts, strict=True)
        return ", ".join(f"{name} {count}" for name, count in pairs)


def read_classes(text: str) -> ClassFacts | None:
    """Classes as the user lists them, None for an empty text. Raises `InvalidInput`."""
    body = " ".join(text.split())
    if not body:
        return None
    equal = _EQUAL_SIZES.fullmatch(body)
    if equal is not None:
        number = int(equal[1])
        return ClassFacts(numbered(number), (int(equal[2]),) * number)
    if not _ONLY_NUMBERS.fullmatch(body):
        body = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), body)
    entries = [entry.strip() for entry in re.split(r"[,;|]", body) if entry.strip()]
    parsed = [_entry(entry) for entry in entries[: MOST_CLASSES + 1]]
    names = [name for name, _ in parsed]
    counts = [count for _, count in parsed if count is not None]
    if not parsed or len(counts) not in {0, len(parsed)} or (None in names and any(names)):
        raise InvalidInput(
            f"{text[:60]!r} does not list classes with their sizes.", field="classes", hint=_HINT
        )
    known = tuple(name for name in names if name is not None) or numbered(len(parsed))
    return ClassFacts(known, tuple(counts) or None)


def numbered(size: int) -> tuple[str, ...]:
    """Names of classes that have none: "1", "2", …"""
    return tuple(str(number) for number in range(1, size + 1))


def _entry(entry: str) -> tuple[str | None, int | None]:
    if entry.isascii() and entry.isdigit() and len(entry) <= 16:
        return None, int(entry)
    if len(entry) > LONGEST_NAME:
        raise InvalidInput(f"{entry[:40]!r}… is not a class.", field="classes", hint=_HINT)
    behind = _NAME_AND_COUNT.fullmatch(" ".join(entry.split()))
    if behind is not None:
        return behind[1].strip(" =:("), int(behind[2])
    before = _COUNT_AND_NAME.fullmatch(entry)
    return (entry, None) if before is None else (before[2], int(before[1]))


def count_behind(head: str) -> int | None:
    """The 80 of "Class A (80)" and "Class A (n = 80)"."""
    found = _COUNT_BEHIND.search(head[-40:])
    return None if found is None else int(found[1])


def class_name(head: str) -> str:
    """A head without the name of its axis and its number of samples: "A" of "Actual: A (80)"."""
    words = head.split()
    while len(words) > 1 and axis_word(words[0]) is not None:
        words = words[1:]
    name = " ".join(words).strip(" :")
    found = _COUNT_BEHIND.search(name[-40:])
    if found is not None and len(found[0]) < len(name):
        name = name[: -len(found[0])].strip()
    return name[:LONGEST_NAME]


def place_of(head: str, names: Sequence[str]) -> int | None:
    """Which of the classes a head means, if it is clear.

    "0 (Class 1)" and "Class 1 (y = 0)" mean the same, and "Class A" means "A".
    """
    wanted = _aliases(head)
    known = [_aliases(name) for name in names]
    for fits in (
        [place for place, aliases in enumerate(known) if set(aliases) & set(wanted)],
        [place for place, aliases in enumerate(known) if _are_same(aliases, wanted)],
        [place for place, aliases in enumerate(known) if _plain(aliases) & _plain(wanted)],
    ):
        if len(fits) == 1:
            return fits[0]
    return None


def _are_same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two names mean the same but for the word "class" and the order of their parts."""
    if len(one) > 1 and _plain(one) == _plain(other):
        return True
    return _plain(one[:1]) == _plain(other[:1])


def _aliases(head: str) -> tuple[str, ...]:
    """What a class is called: outside brackets first, then in them."""
    name = class_name(head)
    outside = _IN_BRACKETS.sub(" ", name).strip() or name
    inside = [part.rpartition("=")[2] for part in _IN_BRACKETS.findall(name)]
    parts = (" ".join(part.split()).strip(" :").casefold() for part in (outside, *inside))
    return tuple(dict.fromkeys(_SIGNS_OF.get(part, part) for part in parts if part)) or ("",)


def _plain(aliases: tuple[str, ...]) -> frozenset[str]:
    return frozenset(_PREFIX.sub("", alias) for alias in aliases)


def distinct(heads: Iterable[str]) -> list[str]:
    """Names of classes in order of appearance, heads that mean the same taken once."""
    names: list[str] = []
    for head in heads:
        if not any(_are_same(_aliases(name), _aliases(head)) for name in names):
            names.append(class_name(head))
    return names


_CLASS_WORDS = ("class", "label", "category", "group")
_PAIRS = (
    *({"yes", "no"}, {"positive", "negative"}, {"+", "-"}, {"pos", "neg"}),
    *({"true", "false"}, {"present", "absent"}, {"ill", "well"}),
)


def are_classes(names: Sequence[str], beside: Sequence[Meaning], classes: Sequence[str]) -> bool:
    """Whether names beside metrics are those of classes; else they are those of models.

    `beside` is what the other heads of the table mean, `classes` are those known already.
    """
    if classes and all(place_of(name, classes) is not None for name in names):
        return True
    if names and all(name.casefold().startswith(_CLASS_WORDS) for name in names):
        return True
    plain = {class_name(name).casefold() for name in names}
    if len(names) > 1 and (
        all(count_behind(name) is not None for name in names)
        or all(axis_word(name.split()[0]) is not None for name in names)
        or all(map(is_class_number, plain))
        or plain in _PAIRS
    ):
        return True
    says_classes = any(m.average is not None or m.what in {SUPPORT, TOTAL} for m in beside)
    return says_classes and not any(m.is_aggregate and not _is_average(m) for m in beside)


def _is_average(meaning: Meaning) -> bool:
    """Whether it is the average of class values, as reports print them below the classes."""
    return (meaning.what or "").startswith(("macro_", "micro_", "weighted_", "overall_accuracy"))


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

    `classes` are names of classes, `corrected` what the user says of a header by its text, and
    `are_models` says what heads are that may be classes as well as models, if that was stated.
    """

    classes: Sequence[str]
    corrected: Mapping[str, Meaning]
    are_models: bool | None = None


def is_matrix(block: Block) -> bool:
    """Whether the block counts cases: the same classes on both sides, whole numbers inside."""
    twice = on_both_sides(block)
    columns = [
        place for place, head in enumerate(block.heads) if head in twice or not _is_known(head)
    ]
    rows = [row for row in block.rows if row.label in twice or not _is_known(row.label)]
    if len(columns) != len(rows) or len(rows) < 2:
        return False
    cells = [row.values[place] for row in rows for place in columns]
    if not all(cell is not None and cell.count is not None for cell in cells):
        return False
    if not any(block.heads) or not any(row.label for row in rows):
        return not any(block.heads) and not any(row.label for row in rows)
    heads = [block.heads[place] for place in columns]
    return [place_of(row.label, heads) for row in rows] == list(range(len(rows)))


def on_both_sides(block: Block) -> frozenset[str]:
    """Heads of columns and of rows that name a class of a matrix, though "F" may mean F1, too."""
    heads = {row.label for row in block.rows if row.label}.intersection(block.heads)
    found = {head: recognised(head) for head in heads}
    return frozenset(
        head
        for head, each in found.items()
        if each is not None and (each.meaning.is_metric or each.meaning.what == SUPPORT)
    )


def roles_of(block: Block, known: Known) -> Roles:
    """What each head means, given what is known beside the block."""
    labels = [row.label for row in block.rows]
    columns = [_meaning(head, known) for head in block.heads]
    rows = [_meaning(label, known) for label in labels]
    if is_matrix(block):
        twice = on_both_sides(block) - known.corrected.keys()
        return Roles(
            _with_classes(block.heads, _without(block.heads, columns, twice), known),
            _with_classes(labels, _without(labels, rows, twice), known),
        )
    if _has_metrics(block.heads, columns):
        names = _names_of_rows(block, columns, rows) - known.corrected.keys()
        rows = _without(labels, rows, names)
        return Roles(
            _with_groups(block.heads, columns, known), _with_names(labels, rows, columns, known)
        )
    if _has_metrics(labels, rows):
        return Roles(
            _with_names(block.heads, columns, rows, known), _with_groups(labels, rows, known)
        )
    return Roles(tuple(m or NO_MEANING for m in columns), tuple(m or NO_MEANING for m in rows))


def _without(
    heads: Sequence[str], meanings: Sequence[Meaning | None], names: AbstractSet[str]
) -> list[Meaning | None]:
    """What heads mean, None for those that are names."""
    pairs = zip(heads, meanings, strict=True)
    return [None if head in names else meaning for head, meaning in pairs]


def _names_of_rows(
    block: Block, columns: Sequence[Meaning | None], rows: Sequence[Meaning | None]
) -> AbstractSet[str]:
    """Rows called like a metric of a class or its support that have values of other metrics: "F"
    beside "M" is a class then, and no F1.
    """
    metrics = [meaning.what if meaning and meaning.is_metric else None for meaning in columns]
    return {
        row.label
        for row, meaning in zip(block.rows, rows, strict=True)
        if meaning is not None and (meaning.what in CLASS_KEYS or meaning.what == SUPPORT)
        if len(
            {what for what, value in zip(metrics, row.values, strict=True) if value}
            - {None, meaning.what}
        )
        > 1
    }


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
    """ "Permuted Precision" as precision and "Permuted"; None for what is not a metric."""
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

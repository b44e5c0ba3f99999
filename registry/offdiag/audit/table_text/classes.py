"""The classes of a text, as users list them and as headers name them, and their matrix."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from offdiag.audit.table_text.headers import SUPPORT, axis_word, recognised
from offdiag.audit.table_text.tables import Table
from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput

MOST_CLASSES = 60
LONGEST_NAME = 80

_COUNT_BEHIND = re.compile(r"[(\[]\s*(?:n\s*=\s*)?(\d{1,9})\s*[)\]]\s*$", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\(([^()]*)\)")
_PREFIX = re.compile(r"(?:class|label|category|group):?\s+(?=\S)", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<![\d,])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
_ONLY_NUMBERS = re.compile(r"[\d,]+")
_EQUAL_SIZES = re.compile(r"(\d{1,3})\s*[x×*]\s*(\d{1,15})")
_NAME_AND_COUNT = re.compile(r"(.*[^ ]) ?[ =:(] ?(\d{1,16}) ?\)?")
_COUNT_AND_NAME = re.compile(r"(\d{1,16})\s+(\S.*)")
_SIGNS_OF = {"+": "positive", "-": "negative", "pos": "positive", "neg": "negative"}
_HINT = "Write A 80, B 15, C 5; or 80, 15, 5; or 10 x 1000 for ten classes of a thousand."


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """Classes in their order, with their numbers of samples if known."""

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
    """Names for classes that have none: "1", "2", …"""
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
    """The position of the class that a head means, None if it is not clear.

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


def class_of(head: str, names: Sequence[str]) -> str:
    """The class that a head means, by its name in `names` if it is one of these."""
    place = place_of(head, names)
    return class_name(head) if place is None else names[place]


def _are_same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two names mean the same, ignoring the word "class" and the order of their parts."""
    if len(one) > 1 and _plain(one) == _plain(other):
        return True
    return _plain(one[:1]) == _plain(other[:1])


def _aliases(head: str) -> tuple[str, ...]:
    """The names of a class: first those outside brackets, then those inside."""
    name = class_name(head)
    outside = _IN_BRACKETS.sub(" ", name).strip() or name
    inside = [part.rpartition("=")[2] for part in _IN_BRACKETS.findall(name)]
    parts = (" ".join(part.split()).strip(" :").casefold() for part in (outside, *inside))
    return tuple(dict.fromkeys(_SIGNS_OF.get(part, part) for part in parts if part)) or ("",)


def _plain(aliases: tuple[str, ...]) -> frozenset[str]:
    return frozenset(_PREFIX.sub("", alias) for alias in aliases)


def distinct(heads: Iterable[str]) -> list[str]:
    """Names of classes in order of appearance; heads that mean the same count once."""
    names: list[str] = []
    for head in heads:
        if not any(_are_same(_aliases(name), _aliases(head)) for name in names):
            names.append(class_name(head))
    return names


_LISTS_OF_CLASSES = frozenset(
    {"classes", "class counts", "class sizes", "class distribution", "support", "test set"}
)


def listed_in(lines: Sequence[str]) -> tuple[int, ClassFacts] | None:
    """The position of a line such as "Classes: A 80, B 15", and what it lists."""
    for place, line in enumerate(lines):
        head, _, rest = line.partition(":")
        if head.strip().lower() in _LISTS_OF_CLASSES:
            try:
                found = read_classes(rest)
            except InvalidInput:
                continue
            if found is not None and found.counts is not None and len(found.names) > 1:
                return place, found
    return None


Counts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class PrintedMatrix:
    """Counts as they were printed, line by line, with the classes of both axes.

    `orientation` is what words in the text say, None if they say nothing.
    """

    labels: tuple[str, ...]
    counts: Counts
    orientation: SourceOrientation | None


def matrix_places(table: Table) -> tuple[list[int], list[int]] | None:
    """The rows and the columns of the classes, None if the table is not a matrix.

    A matrix has the same classes on both sides and whole numbers inside. Totals and metrics at its
    sides are left out; "F" means F1 there, unless it is on both sides.
    """
    labels = [row.label for row in table.rows]
    rows = [at for at, label in enumerate(labels) if _may_be_class(label, table.heads)]
    columns = [at for at, head in enumerate(table.heads) if _may_be_class(head, labels)]
    if len(columns) != len(rows) or len(rows) < 2:
        return None
    cells = [table.rows[row].values[column] for row in rows for column in columns]
    heads = [table.heads[at] for at in columns]
    are_same = (
        [place_of(labels[at], heads) for at in rows] == list(range(len(rows)))
        if any(table.heads)
        else not any(labels)
    )
    is_whole = all(cell is not None and cell.count is not None for cell in cells)
    return (rows, columns) if is_whole and are_same else None


def _may_be_class(head: str, others: Sequence[str]) -> bool:
    found = recognised(head)
    if found is None:
        return True
    return head in others and (found.is_metric or found.what == SUPPORT)


def matrix_of(table: Table, classes: Sequence[str]) -> PrintedMatrix | None:
    """The matrix that a table holds, None if it is not one; `classes` are already known."""
    places = matrix_places(table)
    if places is None:
        return None
    rows, columns = places
    values = [[table.rows[row].values[column] for column in columns] for row in rows]
    counts = tuple(tuple((cell and cell.count) or 0 for cell in line) for line in values)
    if any(table.heads):
        names = tuple(class_of(table.heads[at], classes) for at in columns)
    else:
        names = tuple(classes) if len(classes) == len(rows) else numbered(len(rows))
    return PrintedMatrix(names, counts, _orientation(table))


def _orientation(table: Table) -> SourceOrientation | None:
    """What is along the rows, according to the words at either axis."""
    of_rows = _axis([row.label for row in table.rows])
    of_columns = _axis(table.heads) or _axis(table.above)
    if of_rows is None and of_columns is None:
        # The name of the columns is above, that of the rows beside the headers.
        of_rows = _axis(table.above[-1:])
    if of_rows == "actual" or (of_rows is None and of_columns == "predicted"):
        return SourceOrientation.ACTUAL_ROWS
    if of_rows == "predicted" or of_columns == "actual":
        return SourceOrientation.ACTUAL_COLUMNS
    return None  # "True \\ Predicted" in one corner can be read either way.


def _axis(texts: Sequence[str]) -> str | None:
    """The axis that words in these texts name, if they name only one."""
    named = {axis_word(word) for text in texts for word in text.split()} - {None}
    return named.pop() if len(named) == 1 else None

"""A pasted text as numbers with a meaning: what was understood, how, and what was not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from offdiag.errors import InvalidInput
from offdiag.flags.audit.claims import AVERAGED
from offdiag.flags.audit.names import CLASS_KEYS
from offdiag.flags.audit.pasted.blocks import Block, blocks_of
from offdiag.flags.audit.pasted.cells import line_of
from offdiag.flags.audit.pasted.classes import ClassFacts, place_of, read_classes
from offdiag.flags.audit.pasted.cleaning import plain_lines
from offdiag.flags.audit.pasted.corrections import Corrections
from offdiag.flags.audit.pasted.head_readings import HeadReading, head_readings
from offdiag.flags.audit.pasted.known_classes import from_labels, from_matrix, listed_in, sizes_of
from offdiag.flags.audit.pasted.lines import Row, Words, rows_and_words
from offdiag.flags.audit.pasted.matrices import PastedMatrix, matrix_of
from offdiag.flags.audit.pasted.meaning import read_meaning
from offdiag.flags.audit.pasted.numbers import Count, Number, counts_of, numbers_of
from offdiag.flags.audit.pasted.remarks import remarks_on
from offdiag.flags.audit.pasted.roles import Known, Roles, roles_of
from offdiag.flags.audit.pasted.run_together import Parts, ways_to_read
from offdiag.flags.audit.pasted.units import with_signs

MOST_NUMBERS = 240
MOST_MODELS = 16


@dataclass(frozen=True)
class Reading:
    """A text as it was understood.

    `heads` are the names in it with what they were taken for. `classes` has the classes in
    the order of the matrix, if there is one. `unread` are lines that hold neither heads nor
    numbers, by their place; `remarks` say in sentences what was changed on the way.
    """

    heads: tuple[HeadReading, ...]
    numbers: tuple[Number, ...]
    counts: tuple[Count, ...]
    classes: ClassFacts | None
    matrix: PastedMatrix | None
    positive: str | None
    unread: tuple[tuple[int, str], ...]
    remarks: tuple[str, ...]

    @property
    def models(self) -> tuple[str, ...]:
        """The models that have numbers, in order of appearance; "" where only one is meant."""
        return tuple(dict.fromkeys(number.model for number in self.numbers))


def read_pasted(text: str, corrections: Corrections | None = None) -> tuple[Reading, ...]:
    """The ways to read a text; more than one only where cells ran together.

    Raises `InvalidInput` for a text that is too long or holds too many numbers, and for
    corrections that cannot be read.
    """
    told = corrections or Corrections()
    lines = plain_lines(text)
    stated = read_classes(told.classes)
    listed = listed_in(lines)
    if stated is None and listed is not None:
        place, facts = listed
        others = [line if at != place else "" for at, line in enumerate(lines)]
        try:
            return _readings(others, told, facts)
        except InvalidInput:
            # It lists something else than the classes of the tables.
            return _readings(lines, told, None)
    return _readings(lines, told, stated)


def _readings(
    lines: Sequence[str], told: Corrections, stated: ClassFacts | None
) -> tuple[Reading, ...]:
    parts = rows_and_words([line_of(number, line) for number, line in enumerate(lines, start=1)])
    return tuple(_reading(way, parts, told, stated) for way in ways_to_read(parts))


def _reading(
    way: Parts, printed: Sequence[Row | Words], told: Corrections, stated: ClassFacts | None
) -> Reading:
    blocks, waiting = blocks_of(way)
    corrected = {head: read_meaning(text) for head, text in told.heads.items() if text.strip()}
    names = from_matrix(blocks, stated)
    roles = _roles(blocks, Known(names, corrected, told.are_models))
    names = from_labels(names, roles, stated)
    # Once the classes are known, heads that come before the table that tells are known, too.
    roles = _roles(blocks, Known(names, corrected, told.are_models))
    counts = tuple(chain.from_iterable(map(counts_of, blocks, roles)))
    sizes = sizes_of(names, stated, blocks, counts)
    classes = ClassFacts(names, sizes) if names else stated
    numbers, left_out = _kept(_numbers(blocks, roles, told), classes)
    matrices = [m for b, r in zip(blocks, roles, strict=True) if (m := matrix_of(b, r, names))]
    return Reading(
        heads=head_readings(blocks, roles, corrected),
        numbers=tuple(numbers),
        counts=counts,
        classes=classes,
        matrix=matrices[0] if matrices else None,
        positive=_positive(told.positive, blocks, classes),
        unread=tuple((words.line.number, words.line.text) for words in waiting),
        remarks=remarks_on(
            way, printed, blocks, numbers, n_matrices=len(matrices), left_out=left_out
        ),
    )


def _roles(blocks: Sequence[Block], known: Known) -> list[Roles]:
    return [roles_of(block, known) for block in blocks]


def _numbers(blocks: Sequence[Block], roles: Sequence[Roles], told: Corrections) -> list[Number]:
    found = [
        number
        for block, each in zip(blocks, roles, strict=True)
        for number in with_signs(numbers_of(block, each), block.above, is_percent=told.is_percent)
    ]
    models = {number.model for number in found}
    if len(found) > MOST_NUMBERS or len(models) > MOST_MODELS:
        raise InvalidInput(
            f"the text has {len(found)} numbers of {len(models)} models.",
            field="table",
            hint=f"Paste at most {MOST_NUMBERS} numbers and {MOST_MODELS} models at once.",
        )
    return found


def _kept(
    numbers: Sequence[Number], classes: ClassFacts | None
) -> tuple[list[Number], list[Number]]:
    """Numbers that can be audited, and those that belong to one of several classes unnamed."""
    several = classes is not None and len(classes.names) > 2
    left_out = [
        number
        for number in numbers
        if several and number.label is None
        if number.key in CLASS_KEYS and number.key not in AVERAGED
    ]
    return [number for number in numbers if number not in left_out], left_out


def _positive(stated: str, blocks: Sequence[Block], classes: ClassFacts | None) -> str | None:
    """The positive class: as stated, or the one whose head says "(positive)"."""
    names = () if classes is None else classes.names
    if stated.strip():
        place = place_of(stated, names)
        if place is None:
            raise InvalidInput(
                f"there is no class {stated.strip()!r}.",
                field="positive",
                hint=f"Name one of {', '.join(names)}." if names else "List the classes, too.",
            )
        return names[place]
    if len(names) != 2:
        return None
    heads = (head for block in blocks for head in (*block.heads, *(r.label for r in block.rows)))
    marked = {place_of(head, names) for head in heads if "(positive)" in head.lower()} - {None}
    return names[marked.pop() or 0] if len(marked) == 1 else None

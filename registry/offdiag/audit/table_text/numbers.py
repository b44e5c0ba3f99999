"""The numbers of the tables with their meaning and unit, and the counts of samples among them.

A unit that follows neither from the text nor from the other numbers is a question, because a wrong
one makes right numbers impossible.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from offdiag.audit.definitions import described
from offdiag.audit.printed import printed
from offdiag.audit.reported_values import AVERAGED, CLASS_KEYS
from offdiag.audit.table_text.cells import Value
from offdiag.audit.table_text.headers import COUNTS, Meaning, combined, says_percent
from offdiag.audit.table_text.roles import Roles
from offdiag.audit.table_text.tables import Table
from offdiag.domain.sentences import listed
from offdiag.errors import InvalidInput

MOST_NUMBERS = 240
MOST_MODELS = 16
CLEARLY_PERCENT = 10
"""No misprinted fraction is above this if none of the numbers beside it is below 1."""
MOST_NAMED = 4
_OF_TABLE = re.compile(r"\bin (?:%|percent)|\bpercentages?\b", re.IGNORECASE)
_LONGEST_HEADING = 400


@dataclass(frozen=True, slots=True)
class Place:
    """A cell of the text: its table, and its row and column in that table, all from 0."""

    table: int
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Number:
    """One published number: its metric, class and model, the name it was printed under, its line.

    `label` is None for aggregates and for class metrics that name no class, `model` is empty
    if there is only one. `has_spread` says that it is a mean over several tests.
    """

    name: str
    key: str
    label: str | None
    model: str
    text: str
    line: int
    place: Place
    has_spread: bool = False


@dataclass(frozen=True, slots=True)
class Count:
    """A whole number of samples: what it counts, and for which class and model."""

    what: str
    label: str | None
    model: str
    count: int


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell with a value, its printed name, and its meaning from row and column.

    `of_class` is the class beside it, even if its metric is of all classes together.
    """

    place: Place
    name: str
    meaning: Meaning
    value: Value
    line: int
    of_class: str | None

    @property
    def metric(self) -> tuple[int, str | None, str | None]:
        """The key it shares with the values of the same metric for other classes."""
        return self.place.table, self.meaning.what, self.meaning.model

    def numbers(self) -> Iterator[Number]:
        """The metrics in it; a chain of equations gives several."""
        key = self.meaning.what or ""
        for text in self.value.numbers if self.meaning.is_metric else ():
            # "1,000" under a metric has a decimal comma.
            number = text.replace(",", ".") if text.count(",") == 1 else text
            label = self.meaning.label if key in CLASS_KEYS else None
            model = self.meaning.model or ""
            spread = self.value.has_spread
            yield Number(self.name, key, label, model, number, self.line, self.place, spread)


def cells_of(tables: Sequence[Table], roles: Sequence[Roles]) -> Iterator[Cell]:
    """Every cell with a value, row by row, except those whose header is to be left out."""
    for at, (table, each) in enumerate(zip(tables, roles, strict=True)):
        for row_at, (row, of_row) in enumerate(zip(table.rows, each.rows, strict=True)):
            for column_at, value in enumerate(row.values):
                of_column = each.columns[column_at]
                is_left_out = (row.label and of_row.is_nothing) or (
                    table.heads[column_at] and of_column.is_nothing
                )
                if value is not None and value.numbers and not is_left_out:
                    name = _name(row.label, of_row, table.heads[column_at], of_column)
                    place, label = Place(at, row_at, column_at), of_row.label or of_column.label
                    yield Cell(place, name, combined(of_row, of_column), value, row.line, label)


def _name(row_head: str, row: Meaning, column_head: str, column: Meaning) -> str:
    """The name a number was published under: the header of its metric, with that of an average."""
    if row.is_metric and (row.is_aggregate or not column.is_metric):
        return row_head if column.average is None else f"{column_head} {row_head}"
    return column_head if row.average is None else f"{row_head} {column_head}"


def counts_in(cells: Iterable[Cell]) -> Iterator[Count]:
    """The numbers of samples that are not cells of a matrix."""
    for cell in cells:
        what, count = cell.meaning.what, cell.value.count
        if what in COUNTS and count is not None:
            yield Count(what, cell.meaning.label, cell.meaning.model or "", count)


def numbers_in(cells: Sequence[Cell], n_classes: int) -> tuple[list[Number], list[str]]:
    """The numbers that can be audited, and remarks on those whose class is not clear.

    Raises `InvalidInput` if there are more than a table has.
    """
    classes: dict[tuple[int, str | None, str | None], set[str]] = {}
    for cell in cells:
        if cell.meaning.is_aggregate and cell.of_class is not None:
            classes.setdefault(cell.metric, set()).add(cell.of_class)
    numbers: list[Number] = []
    remarks: list[str] = []
    for cell in cells:
        key = cell.meaning.what
        of_one = key in CLASS_KEYS and key not in AVERAGED and not cell.meaning.label
        if len(classes.get(cell.metric, ())) > 1:
            what = "is of all classes together and has a value for each; these were left out."
            remarks.append(f"“{cell.name}” {what}")
        elif of_one and n_classes > 2:
            what = "belongs to one class, and which of the classes is not said."
            remarks.append(f"“{cell.name}” {what}")
        else:
            numbers += cell.numbers()
    models = {number.model for number in numbers}
    if len(numbers) > MOST_NUMBERS or len(models) > MOST_MODELS:
        raise InvalidInput(
            f"the text has {len(numbers)} numbers of {len(models)} models.",
            field="table",
            hint=f"Paste at most {MOST_NUMBERS} numbers and {MOST_MODELS} models at once.",
        )
    return numbers, remarks


@dataclass(slots=True)
class Units:
    """Numbers with percent signs where meant, how that was decided, and what is still open."""

    numbers: list[Number] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    question: InvalidInput | None = None


def with_units(
    numbers: Sequence[Number], tables: Sequence[Table], *, is_percent: bool | None
) -> Units:
    """The numbers with percent signs added where these are meant.

    `is_percent` is what the user says about numbers without a sign; otherwise the header or the
    lines above the table may decide. Failing that, the numbers of a metric that cannot exceed 1
    are fractions if all are at most 1, and percentages if all are above 1 and one is above
    `CLEARLY_PERCENT` or others of the table are percentages.
    """
    if is_percent is not None:
        return Units([_signed(n) if is_percent else n for n in numbers])
    units = Units()
    for at, table in enumerate(tables):
        own = [number for number in numbers if number.place.table == at]
        if any(_OF_TABLE.search(line[:_LONGEST_HEADING]) for line in table.above):
            units.numbers += map(_signed, own)
            if any(map(_has_no_unit, own)):
                units.remarks.append("Numbers were read as percentages, as the lines above say.")
        else:
            _decide([_signed(n) if says_percent(n.name) else n for n in own], units)
    return units


def _decide(numbers: Sequence[Number], units: Units) -> None:
    unsigned: dict[str, list[Number]] = {}
    for number in numbers:
        if _has_no_unit(number) and described(number.key).high == 1.0:
            unsigned.setdefault(number.key, []).append(number)
    sizes = {key: [size for n in own if (size := _size(n))] for key, own in unsigned.items()}
    fractions = [key for key, own in sizes.items() if not own or max(own) <= 1]
    above = [key for key, own in sizes.items() if own and min(own) > 1]
    percent = [key for key in above if max(sizes[key]) > CLEARLY_PERCENT]
    if (percent or any("%" in n.text for n in numbers)) and not any(sizes[k] for k in fractions):
        percent = above
    units.numbers += [_signed(n) if n.key in percent else n for n in numbers]
    if percent:
        names = _listed(n.name for key in percent for n in unsigned[key])
        others = [n.name for key in fractions if sizes[key] for n in unsigned[key]]
        behind = f", those of {_listed(others)} as fractions" if others else ""
        units.remarks.append(
            f"Numbers of {names} without a percent sign were read as percentages{behind}."
        )
    unclear = [n for n in numbers if n.key in unsigned and n.key not in (*percent, *fractions)]
    if unclear and units.question is None:
        units.question = _which_unit(list(filter(_has_no_unit, unclear)))


def _which_unit(numbers: Sequence[Number]) -> InvalidInput:
    """The question about numbers of which some are above 1."""
    above = next(n for n in numbers if (_size(n) or 0) > 1)
    below = next((n for n in numbers if n.key == above.key and 0 < (_size(n) or 0) <= 1), None)
    what = f"“{above.name} {above.text}” in line {above.line}"
    return InvalidInput(
        f"{what} can be {above.text} %, or a fraction with a misprint, as these are at most 1."
        if below is None
        else f"{what} is above 1, and {below.text} in line {below.line} is not: these can be "
        "percentages, or fractions with a misprint.",
        field="unit",
        hint="Say whether numbers without a sign are percentages or fractions, or write the "
        "percent sign behind them or in the header.",
    )


def _has_no_unit(number: Number) -> bool:
    return "%" not in number.text and "/" not in number.text and number.text != "undefined"


def _size(number: Number) -> float | None:
    """The size of a number, None if it is 0 or there is none."""
    value = printed(number.text, field="table").value
    return abs(float(value)) if value else None


def _signed(number: Number) -> Number:
    return replace(number, text=f"{number.text}%") if _has_no_unit(number) else number


def _listed(names: Iterable[str]) -> str:
    return listed([f"“{name}”" for name in dict.fromkeys(names)], at_most=MOST_NAMED)

"""One line of text into its cells, whatever separates them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass

from offdiag.flags.audit.names import known_metric
from offdiag.flags.audit.pasted.values import NOTHING, read_value

MOST_CELLS = 60
"""More columns than any table on a page has."""
LONGEST_LINE = 4_000
"""A longer line is prose, even where a whole table was copied as one line."""

_WIDE_GAP = re.compile(r" {2,}| ?\t ?")
_COMMA_BETWEEN_DIGITS = re.compile(r"(?<=\d),(?=\d)")
_COMMA_AND_SPACE = re.compile(r",[ \t]+")
_THOUSANDS = re.compile(r"(?<![\d,])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
_JOINING = frozenset({"=", "≈", "~", "±", "%", "·", "×"})


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the text: its number, from 1, and its cells.

    `is_aligned` tells that each cell stands in its column, as between tabs or bars; between
    single spaces an empty cell leaves no trace.
    """

    number: int
    cells: tuple[str, ...]
    is_aligned: bool

    @property
    def text(self) -> str:
        return " ".join(cell for cell in self.cells if cell)


def line_of(number: int, text: str) -> Line:
    """The cells of a line: by tabs, bars, semicolons, ampersands, commas, or spaces."""
    if len(text) > LONGEST_LINE:
        return Line(number, (text,), is_aligned=False)
    for separator in ("\t", "|", ";", "&"):
        if separator in text:
            return _separated(number, text, separator)
    if _is_comma_separated(text):
        return Line(number, _named_apart(_comma_cells(text)), is_aligned=True)
    if _WIDE_GAP.search(text.strip()):
        cells = [_parts(part) for part in _WIDE_GAP.split(text.strip())]
        return Line(number, _trimmed(part for cell in cells for part in cell), is_aligned=False)
    return Line(number, _trimmed(_words_and_values(_unglued(text).split())), is_aligned=False)


def _separated(number: int, text: str, separator: str) -> Line:
    cells = text.split(separator)
    if separator == "|":
        # Bars may or may not stand at the ends.
        cells = cells[1:] if not cells[0].strip() else cells
        cells = cells[:-1] if cells and not cells[-1].strip() else cells
    return Line(number, _named_apart(cells), is_aligned=True)


def _named_apart(cells: list[str]) -> tuple[str, ...]:
    """Cells such as "recall: 0.8" as two each, if all of them are so."""
    parted = [_name_and_value(cell) for cell in cells if cell.strip()]
    if parted and all(len(parts) > 1 for parts in parted):
        return _trimmed(part for parts in parted for part in parts)
    return _trimmed(cells)


def _trimmed(cells: Iterable[str]) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in cells)[:MOST_CELLS]


def _is_comma_separated(text: str) -> bool:
    """Whether commas part cells here; between digits they may be decimal or part thousands."""
    if "," not in text:
        return False
    if " " not in text.strip():
        return True
    rest = _THOUSANDS.sub("0", text)
    if "." not in rest:
        rest = _COMMA_BETWEEN_DIGITS.sub(".", rest)
    return "," in rest


def _comma_cells(text: str) -> list[str]:
    spaced = len(_COMMA_AND_SPACE.findall(text))
    if '"' not in text and spaced and ("." not in text or spaced == text.count(",")):
        return _COMMA_AND_SPACE.split(text)
    return next(csv.reader([text], skipinitialspace=True))


def _parts(cell: str) -> list[str]:
    """A cell between wide gaps, once more parted if it holds several values."""
    if read_value(cell) is not None:
        return [cell]
    parts = _words_and_values(_unglued(cell).split())
    several = sum(read_value(part) is not None for part in parts) > 1
    return parts if several else _name_and_value(cell)


def _unglued(text: str) -> str:
    """Words of decimals without anything between them, "0.5710.423", parted.

    That is how tables come out of some PDF files. It can be told where every number begins
    with "0." or "1.".
    """
    return " ".join(_unglued_word(word) for word in text.split(" "))


def _unglued_word(word: str) -> str:
    starts = [place - 1 for place, character in enumerate(word) if character == "."]
    if not starts or any(start < 0 or word[start] not in "01" for start in starts):
        return word
    if any(not word[start + 2 : start + 3].isdigit() for start in starts):
        return word
    if len(starts) == 1 and known_metric(word[: starts[0]]) is None:
        return word
    ends = [*starts[1:], len(word)]
    pieces = [word[start:end] for start, end in zip(starts, ends, strict=True)]
    return " ".join(piece for piece in (word[: starts[0]], *pieces) if piece)


def _words_and_values(tokens: list[str]) -> list[str]:
    """Tokens between single spaces, words joined to cells and parts of one value, too."""
    cells: list[str] = []
    for token in _with_brackets_closed(tokens):
        last = cells[-1] if cells else None
        if (
            (last is not None and (token in _JOINING or _ends_open(last)))
            or (last is not None and _is_value(last) and token.startswith("("))
            or (last is not None and not _is_value(token) and not _is_value(last))
        ):
            cells[-1] = f"{last} {token}"
        else:
            cells.append(token)
    return [part for cell in cells for part in _name_and_value(cell)]


def _with_brackets_closed(tokens: list[str]) -> list[str]:
    """Tokens in which "(n", "=", "80)" is one."""
    closed: list[str] = []
    depth = 0
    for token in tokens:
        if depth > 0:
            closed[-1] = f"{closed[-1]} {token}"
        else:
            closed.append(token)
        depth = max(0, depth + token.count("(") - token.count(")"))
    return closed


def _ends_open(cell: str) -> bool:
    """Whether a value goes on behind an equals sign: "72/82 ≈"."""
    return cell[-1] in "=≈~±" and _is_value(cell[:-1].strip())


def _is_value(text: str) -> bool:
    """Whether a cell holds a value; a number in brackets alone belongs to the name before."""
    if text.startswith("(") and "/" not in text:
        return False
    value = read_value(text)
    return value is not None and value is not NOTHING


def _name_and_value(cell: str) -> list[str]:
    """ "Accuracy: 9,780/10,000=97.8%" as a name and a value."""
    for sign in (":", "=", "≈"):
        name, found, rest = cell.partition(sign)
        if found and name.strip() and read_value(name) is None and _is_value(rest):
            return [name.strip(), rest.strip()]
    return [cell]

"""From text to cells: plain lines, the cells of a line, and the number in a cell."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from offdiag.audit.reported_values import known_metric
from offdiag.errors import InvalidInput

MOST_CHARACTERS = 20_000
"""Longer texts are not a table of a paper; each part of the work below is linear in the length."""

_LINE_ENDS = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060\ufeff]")
_SENTENCE_END = re.compile(r"(?<=[\d%])\.[ \t]+(?=[A-Z])")
_RULER = re.compile(r"[-+=|:─━┄│┼╪═ \t&]*")
_BULLET = re.compile(r"^\s*[•·‣◦▪]\s*")
_GLUED_AXIS = re.compile(r"(?<=[^\s(\[|\\])(?=(?:Predicted|Pred|Actual)\b)")
_LATEX_ROOT = re.compile(r"\\sqrt\s*\{([^{}]*)\}")
_LATEX_QUOTIENT = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_LATEX_TEXT = re.compile(r"\\(?:text|math)[a-z]{0,4}\s*\{([^{}]*)\}")
_LATEX_SUBSCRIPT = re.compile(r"_\s*\{([^{}\n]{0,40})\}")
_LATEX_ROW_END = re.compile(r"\\\\(?:\[[^\]\n]{0,20}\])?")
_LATEX_FORMULA_ENDS = re.compile(r"\\[()\[\]]")
_LATEX_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}(?:\{[^{}]*\})?")
_LATEX_COMMAND = re.compile(r"\\[A-Za-z]+\*?|\\[,;:! ]|[{}$]")
_LATEX_SIGNS = (
    ("\\%", "%"),
    ("\\approx", "≈"),
    ("\\pm", "±"),
    ("\\cdots", "…"),
    ("\\cdot", "·"),
    ("&=", "="),
    ("\\times", "×"),
    ("\\&", "and"),
    ("{,}", ","),
)
_SIGNS = (
    ("\N{MINUS SIGN}", "-"),
    ("\N{FRACTION SLASH}", "/"),
    ("│", "|"),
    ("¦", "|"),
    ("≃", "≈"),
    ("≅", "≈"),
    ("+/-", "±"),
)


def plain_lines(text: str) -> list[str]:
    """The lines of a text without mark-up, in order; lines without content are empty.

    Typographic variants become the plain characters they stand for, control characters and
    invisible ones disappear. Raises `InvalidInput` for a text that is too long.
    """
    if len(text) > MOST_CHARACTERS:
        raise InvalidInput(
            f"the text has {len(text)} characters.",
            field="table",
            hint=f"Paste one table, of at most {MOST_CHARACTERS} characters.",
        )
    plain = _LINE_ENDS.sub("\n", text)
    if "\\" in plain or "_{" in plain:
        plain = _without_latex(plain)
    # A compatible form may be eighteen times as long; what is cut off is not a table.
    plain = unicodedata.normalize("NFKC", plain)[: 2 * MOST_CHARACTERS]
    for sign, written in _SIGNS:
        plain = plain.replace(sign, written)
    plain = _SENTENCE_END.sub("\n", _CONTROLS.sub(" ", plain))
    return [_plain_line(line) for line in plain.split("\n")]


def _plain_line(line: str) -> str:
    if _RULER.fullmatch(line):
        return ""
    return _GLUED_AXIS.sub(" ", _BULLET.sub("", line)).replace("**", "").replace("`", "").rstrip()


def _without_latex(text: str) -> str:
    text = _LATEX_ROW_END.sub("\n", _LATEX_ENVIRONMENT.sub(" ", text))
    for command, sign in _LATEX_SIGNS:
        text = text.replace(command, sign)
    text = _LATEX_TEXT.sub(r"\1", text)
    text = _LATEX_SUBSCRIPT.sub(lambda found: f"_{found[1].replace(',', '_')}", text)
    text = _LATEX_QUOTIENT.sub(r"(\1)/(\2)", _LATEX_ROOT.sub(r"√(\1)", text))
    # Two formulas beside each other are two cells, which only a wide gap tells.
    return _LATEX_COMMAND.sub("", _LATEX_FORMULA_ENDS.sub("  ", text))


LONGEST = 120
"""Longer cells hold prose."""
LONGEST_COUNT = 16
"""Digits of the largest number of samples."""

_DECIMAL = re.compile(r"[+-]?(?:\d{1,15}(?:\.\d{0,20})?|\.\d{1,20}) ?%?", re.ASCII)
_COMMA = re.compile(r"([+-]?\d{1,15}),(\d{1,20} ?%?)", re.ASCII)
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3}){1,5}", re.ASCII)
_WHOLE = re.compile(r"\d{1,24}", re.ASCII)
_RUN_TOGETHER = re.compile(r"\d{4,15},\d{3}|\d{16,24}", re.ASCII)
_LETTER = re.compile(r"[A-Za-z]")
_EQUALS = re.compile(r"[=≈~]")
_MARKS = "*†‡§¶#↑↓ \t"
_MISSING = frozenset({"", "-", "–", "—", "--", "---", "n/a", "n.a.", "na", "...", "…", "none"})
_UNDEFINED = frozenset({"undefined", "not defined", "nan", "undef", "undef."})


@dataclass(frozen=True, slots=True)
class Value:
    """What one cell says about one quantity.

    `numbers` are its printed forms in their order, with decimal points, percent signs and
    quotients as they stood; none for a cell that is left empty or says that there is nothing.
    `has_spread` tells of a deviation behind it: then it is a mean over several tests.
    """

    numbers: tuple[str, ...]
    has_spread: bool = False

    @property
    def last(self) -> str | None:
        """The form a chain of equations ends with."""
        return self.numbers[-1] if self.numbers else None

    @property
    def digits(self) -> str | None:
        """The digits of a whole number without a sign, of one or of several run together."""
        plain = (self.last or "").replace(",", "")
        return plain if _WHOLE.fullmatch(plain) else None

    @property
    def count(self) -> int | None:
        """The number of samples it is, if it is a whole number."""
        digits = self.digits
        return int(digits) if digits is not None and len(digits) <= LONGEST_COUNT else None


NOTHING = Value(())


def read_value(text: str) -> Value | None:
    """The value in a cell, `NOTHING` for a cell that was left out, None for words."""
    body = text.strip(_MARKS).rstrip(".;,").strip(_MARKS)
    if not body and text.strip():
        return None
    if body.lower() in _MISSING:
        return NOTHING
    if len(body) > LONGEST:
        return None
    body, spread, _ = body.partition("±")
    body, behind = _parted(body)
    texts = _EQUALS.split(body)
    parts = [_number(part) for part in texts]
    numbers = [number for number in (*parts, *behind) if number is not None]
    if not numbers or parts[-1] is None:
        return None
    if any(part is None and _LETTER.search(t) for part, t in zip(parts, texts, strict=True)):
        return None  # "Accuracy = 0.93" has a name in it.
    single = [number for number in behind if number is not None and "/" not in number]
    return Value(tuple(dict.fromkeys(numbers)), has_spread=bool(spread or single))


def _parted(body: str) -> tuple[str, list[str | None]]:
    """A cell without what stands in brackets behind it, and the numbers in these brackets.

    An interval is dropped, because its ends are not values of the metric.
    """
    body = body.partition("[")[0].strip() or body
    start = body.find("(", 1)
    if start < 0 or not body.endswith(")") or body[start - 1] in "/+=≈":
        return body, []
    inside = body[start + 1 : -1].strip()
    if _number(inside) is None:
        return (body[:start].strip(), []) if inside[:1].isdigit() else (body, [])
    return body[:start].strip(), [_number(inside)]


def _number(text: str) -> str | None:
    """One printed number in the form that the audit reads, None for anything else."""
    body = text.strip(_MARKS)
    if _DECIMAL.fullmatch(body):
        return body
    if body.lower() in _UNDEFINED:
        return "undefined"
    if _GROUPED.fullmatch(body) or _RUN_TOGETHER.fullmatch(body):
        return body
    comma = _COMMA.fullmatch(body)
    if comma is not None:
        return f"{comma[1]}.{comma[2]}"
    return _quotient(body)


def _quotient(body: str) -> str | None:
    """ "(141+31)/239" as "172/239"."""
    part, slash, of = body.partition("/")
    sums = (_sum(part), _sum(of))
    if not slash or None in sums or (sums[1] == 0 and sums[0] != 0):
        return None
    return f"{sums[0]}/{sums[1]}"


def _sum(text: str) -> int | None:
    """A whole number, or a bracket of such with plus signs between them."""
    body = text.strip()
    if body.startswith("(") and body.endswith(")"):
        body = body[1:-1]
    terms = [term.strip().replace(",", "") for term in body.split("+")]
    if not all(_WHOLE.fullmatch(term) and len(term) <= LONGEST_COUNT for term in terms):
        return None
    return sum(int(term) for term in terms)


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

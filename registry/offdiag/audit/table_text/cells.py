"""From text to cells: plain lines, the cells of a line, and the number in a cell."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from offdiag.errors import InvalidInput

MOST_CHARACTERS = 20_000
"""Longest text to be read as a table of a paper; each step below is linear in the length."""

_LINE_ENDS = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060\ufeff]")
_SENTENCE_END = re.compile(r"(?<=[\d%])\.[ \t]+(?=[A-Z])")
_RULER = re.compile(r"[-+=|:\u2500-\u257f \t&]*")
_BULLET = re.compile(r"^\s*[•·‣◦▪]\s*")
_ARRAY = frozenset("[]0123456789, ")
_BOUND, _TO = r"[-+]?\d{0,3}\.\d{1,12} ?%?", r" ?(?:,|;|to|-|–) ?"
_INTERVAL = re.compile(
    rf"[\[(](?:9\d ?% ?)?(?:CI)?[:,=]? ?{_BOUND}{_TO}{_BOUND} ?[\])]|"
    rf"(?<=[\d%]) ?[\[(]\d{{1,3}} ?%?{_TO}\d{{1,3}} ?%?[\])]",
    re.IGNORECASE,
)
_LATEX_ROOT = re.compile(r"\\sqrt\s*\{([^{}]*)\}")
_LATEX_QUOTIENT = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_LATEX_TEXT = re.compile(r"\\(?:text|math|emph)[a-z]{0,4}\s*\{([^{}]*)\}")
_LATEX_SUBSCRIPT = re.compile(r"_\s*\{([^{}\n]{0,40})\}")
_LATEX_ROW_END = re.compile(r"\\\\(?:\[[^\]\n]{0,20}\])?")
_LATEX_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}(?:\{[^{}]*\})?")
_LATEX_DROPPED = re.compile(
    r"\\(?:cite[a-z]{0,8}|label|cline|cmidrule(?:\([a-z]{0,4}\))?|"
    r"multi(?:column|row)\s*\{[^{}]*\})\s*\{[^{}]*\}"
)
_LATEX_FORMULA_ENDS = re.compile(r"\\[()\[\]]")
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
    ("~", " "),
)
_SIGNS = (
    ("\N{MINUS SIGN}", "-"),
    ("\N{FRACTION SLASH}", "/"),
    ("│", "|"),
    ("┆", "|"),
    ("¦", "|"),
    ("≃", "≈"),
    ("≅", "≈"),
    ("+/-", "±"),
    ("_±", " ±"),
    ("**", ""),
    ("`", ""),
)


def plain_lines(text: str) -> list[str]:
    """The lines of a text without markup and intervals, in order; some may be empty.

    Typographic variants become the plain characters they stand for; control characters and
    invisible ones are removed. Raises `InvalidInput` for a text that is too long.
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
    # A compatible form may be eighteen times as long; the part that is cut off is not a table.
    plain = unicodedata.normalize("NFKC", plain)[: 2 * MOST_CHARACTERS]
    for sign, written in _SIGNS:
        plain = plain.replace(sign, written)
    plain = _SENTENCE_END.sub("\n", _CONTROLS.sub(" ", plain))
    return [_plain_line(line) for line in plain.split("\n")]


def _plain_line(line: str) -> str:
    if _RULER.fullmatch(line):
        return ""
    if "[" in line and _ARRAY.issuperset(line):
        # A matrix as printed by numpy.
        return line.translate({ord("["): " ", ord("]"): " "}).strip(" ,")
    return _INTERVAL.sub("", _BULLET.sub("", line)).rstrip()


def _without_latex(text: str) -> str:
    text = _LATEX_ROW_END.sub("\n", _LATEX_ENVIRONMENT.sub(" ", text))
    for command, sign in _LATEX_SIGNS:
        text = text.replace(command, sign)
    text = _LATEX_TEXT.sub(r"\1", _LATEX_DROPPED.sub("", text))
    text = _LATEX_SUBSCRIPT.sub(lambda found: f"_{found[1].replace(',', '_')}", text)
    text = _LATEX_QUOTIENT.sub(r"(\1)/(\2)", _LATEX_ROOT.sub(r"√(\1)", text))
    # Two formulas side by side are two cells, which only a wide gap shows.
    return _LATEX_COMMAND.sub("", _LATEX_FORMULA_ENDS.sub("  ", text))


LONGEST = 120
"""Longest cell; a longer one is prose."""
LONGEST_COUNT = 16
"""Digits of the largest number of samples."""

_DECIMAL = re.compile(r"[+-]?(?:\d{1,15}(?:\.\d{0,20})?|\.\d{1,20}) ?%?", re.ASCII)
_COMMA = re.compile(r"([+-]?\d{1,15}),(\d{1,20} ?%?)", re.ASCII)
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3}){1,5}", re.ASCII)
_WHOLE = re.compile(rf"\d{{1,{LONGEST_COUNT}}}", re.ASCII)
_LETTER = re.compile(r"[A-Za-z]")
_EQUALS = re.compile(r"[=≈~]")
_MARKS = "*†‡§¶#↑↓ \t"
_MISSING = frozenset({"", "-", "–", "—", "--", "---", "n/a", "n.a.", "na", "...", "…", "none"})
_UNDEFINED = frozenset({"undefined", "not defined", "nan", "undef", "undef."})


@dataclass(frozen=True, slots=True)
class Value:
    """What one cell says about one quantity.

    `numbers` are its printed forms in their order, with decimal points, percent signs and
    quotients as they were; none for a cell that is left empty or says that there is no value.
    `has_spread` says that a deviation follows: then it is a mean over several tests.
    """

    numbers: tuple[str, ...]
    has_spread: bool = False

    @property
    def last(self) -> str | None:
        """The form a chain of equations ends with."""
        return self.numbers[-1] if self.numbers else None

    @property
    def count(self) -> int | None:
        """The number of samples that it stands for, if it is a whole number."""
        plain = (self.last or "").replace(",", "")
        return int(plain) if _WHOLE.fullmatch(plain) else None


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
    body, bracket = _parted(body)
    texts = _EQUALS.split(body)
    parts = [_number(part) for part in texts]
    if parts[-1] is None:
        return None
    if any(part is None and _LETTER.search(t) for part, t in zip(parts, texts, strict=True)):
        return None  # "Accuracy = 0.93" contains a name.
    is_quotient = bracket is not None and "/" in bracket
    numbers = [number for number in (*parts, bracket if is_quotient else None) if number]
    has_spread = bool(spread) or (bracket is not None and not is_quotient)
    return Value(tuple(dict.fromkeys(numbers)), has_spread)


def _parted(body: str) -> tuple[str, str | None]:
    """Split a cell into the part before a number in brackets, and that number."""
    start = body.find("(", 1)
    if start < 0 or not body.endswith(")") or body[start - 1] in "/+=≈":
        return body, None
    inside = _number(body[start + 1 : -1])
    return (body, None) if inside is None else (body[:start], inside)


def _number(text: str) -> str | None:
    """One printed number in the form that the audit reads, None for anything else."""
    body = text.strip(_MARKS)
    if _DECIMAL.fullmatch(body) or _GROUPED.fullmatch(body):
        return body
    if body.lower() in _UNDEFINED:
        return "undefined"
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
    """A whole number, or a bracket of whole numbers with plus signs between them."""
    body = text.strip()
    if body.startswith("(") and body.endswith(")"):
        body = body[1:-1]
    terms = [term.strip().replace(",", "") for term in body.split("+")]
    return sum(map(int, terms)) if all(map(_WHOLE.fullmatch, terms)) else None


MOST_CELLS = 60
"""Most columns of a table on a page."""
LONGEST_LINE = 4_000
"""Longest line; a longer one is prose."""

_WIDE_GAP = re.compile(r" {2,}| ?\t ?")
_COMMA_BETWEEN_DIGITS = re.compile(r"(?<=\d),(?=\d)")
_COMMA_AND_SPACE = re.compile(r",[ \t]+")
_THOUSANDS = re.compile(r"(?<![\d,])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
_NUMBERED = re.compile(
    r"(?:class|label|category|group):?\s+[^\s():]{1,40}(?:\s*\([^()]{0,40}\))?", re.IGNORECASE
)
_JOINING = frozenset({"=", "≈", "~", "±", "%", "·", "×"})


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the text: its number, from 1, and its cells.

    `is_aligned` says that each cell is in its column, as between tabs or bars; between
    spaces an empty cell leaves no trace.
    """

    number: int
    cells: tuple[str, ...]
    is_aligned: bool

    @property
    def text(self) -> str:
        return " ".join(cell for cell in self.cells if cell)


def line_of(number: int, text: str) -> Line:
    """The cells of a line, split by tabs, bars, semicolons, ampersands, commas, or spaces."""
    if len(text) > LONGEST_LINE:
        return Line(number, (text,), is_aligned=False)
    for separator in ("\t", "|", ";", "&"):
        if separator in text:
            return _separated(number, text, separator)
    if _is_comma_separated(text):
        return Line(number, _named_apart(_comma_cells(text)), is_aligned=True)
    return Line(number, _trimmed(_cells_between_spaces(text.strip())), is_aligned=False)


def _separated(number: int, text: str, separator: str) -> Line:
    cells = text.split(separator)
    if separator == "|":
        # Bars at the ends are optional.
        cells = cells[1:] if not cells[0].strip() else cells
        cells = cells[:-1] if cells and not cells[-1].strip() else cells
    return Line(number, _named_apart(cells), is_aligned=True)


def _named_apart(cells: list[str]) -> tuple[str, ...]:
    """Cells such as "recall: 0.8" split in two, if all of them are like that."""
    parted = [_name_and_value(cell) for cell in cells if cell.strip()]
    if parted and all(len(parts) > 1 for parts in parted):
        return _trimmed(part for parts in parted for part in parts)
    return _trimmed(cells)


def _trimmed(cells: Iterable[str]) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in cells)[:MOST_CELLS]


def _is_comma_separated(text: str) -> bool:
    """Whether commas separate cells here; in numbers they may mark decimals or thousands."""
    if "," not in text:
        return False
    if " " not in text.strip():
        return not any(sign in text for sign in ":=≈")
    rest = _THOUSANDS.sub("0", text)
    if "." not in rest:
        rest = _COMMA_BETWEEN_DIGITS.sub(".", rest)
    return "," in rest


def _comma_cells(text: str) -> list[str]:
    spaced = len(_COMMA_AND_SPACE.findall(text))
    if '"' not in text and spaced and ("." not in text or spaced == text.count(",")):
        return _COMMA_AND_SPACE.split(text)
    return next(csv.reader([text], skipinitialspace=True))


def _cells_between_spaces(text: str) -> list[str]:
    numbered = _NUMBERED.findall(text)
    before = _NUMBERED.sub("", text).split()
    if len(numbered) > 1 and len(before) < 2:
        return [*before, *numbered]
    if _WIDE_GAP.search(text):
        return [part for cell in _WIDE_GAP.split(text) for part in _parts(cell)]
    return _words_and_values(text.split())


def _parts(cell: str) -> list[str]:
    """A cell between wide gaps, split again if it holds several values."""
    if read_value(cell) is not None:
        return [cell]
    parts = _words_and_values(cell.split())
    several = sum(read_value(part) is not None for part in parts) > 1
    return parts if several else _name_and_value(cell)


def _words_and_values(tokens: list[str]) -> list[str]:
    """Tokens between single spaces, joining words into cells, and the parts of one value."""
    cells: list[str] = []
    pairs = (_name_and_value(token) for token in _with_brackets_closed(tokens))
    for token in (part for pair in pairs for part in pair):
        last = cells[-1] if cells else None
        if last is not None and (
            token in _JOINING
            or _ends_open(last)
            or (_is_value(last) and token.startswith("(") and not _is_value(token))
            or not (_is_value(token) or _is_value(last))
        ):
            cells[-1] = f"{last} {token}"
        else:
            cells.append(token)
    return [part for cell in cells for part in _name_and_value(cell)]


def _with_brackets_closed(tokens: list[str]) -> list[str]:
    """Tokens in which "(n", "=", "80)" is joined into one."""
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
    """Whether a value continues after an equals sign: "72/82 ≈"."""
    return cell[-1] in "=≈~±" and _is_value(cell[:-1].strip())


def _is_value(text: str) -> bool:
    """Whether a cell holds a value; a number in brackets alone belongs to the name before it."""
    if text.startswith("(") and "/" not in text:
        return False
    value = read_value(text)
    return value is not None and value is not NOTHING


def _name_and_value(cell: str) -> list[str]:
    for sign in (":", "=", "≈"):
        name, found, rest = cell.partition(sign)
        if found and name.strip() and read_value(name) is None and _is_value(rest):
            return [name.strip(), rest.strip()]
    return [cell]


_RUN_TOGETHER = re.compile(r"(?:(?<![\d.])|(?<=F1))(?:[01]\.\d{1,15}){2,}|\d ?%\d")
_NAME_AND_NUMBER = re.compile(r"(.*?[^\W\d_)]\)?)(\d{0,3}\.\d{1,15} ?%?|\d{1,3} ?%)")


def run_together(text: str) -> bool:
    """Whether numbers follow each other in a text without anything between them."""
    return _RUN_TOGETHER.search(text) is not None


def name_run_into_number(text: str) -> str | None:
    """The "accuracy" of "accuracy0.93", None for any other text."""
    found = _NAME_AND_NUMBER.fullmatch(text) if len(text) <= LONGEST else None
    return None if found is None else found[1]

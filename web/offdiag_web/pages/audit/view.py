"""Results of an audit of published numbers: verdicts, rounding intervals, matrices that fit.

Pasted tables are shown again, with every cell marked by its verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import count

from offdiag.audit.feasible import FeasibleTables, Run
from offdiag.audit.findings import AuditReport, AuditVerdict, Finding
from offdiag.audit.printed import Interval, Printed, Rounding
from offdiag.audit.table_text.audit import ModelAudit, TableTextAudit
from offdiag.audit.table_text.cells import Value
from offdiag.audit.table_text.numbers import Place
from offdiag.audit.table_text.tables import Table
from offdiag.domain.sentences import typeset
from offdiag.metrics.catalogue import SPECS
from offdiag_web.app.errors import capitalised
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.controls import Chip, Tone
from offdiag_web.urls.metrics import MetricAddress

_LONGEST = 28


@dataclass(frozen=True, slots=True)
class Mark:
    """The verdict on a cell, as a symbol and in words; `css` only colours it."""

    symbol: str
    text: str
    css: str


AGREES = Mark("✓", "agrees", "agrees")
CONTRADICTS = Mark("✕", "contradicts", "contradicts")
OTHER_METRIC = Mark("▲", "another metric", "doubtful")
TRANSPOSED = Mark("▲", "axes exchanged", "doubtful")
GIVEN = Mark("·", "given", "open")
"""A count that the other numbers are checked against."""
NOT_CHECKABLE = Mark("–", "not checkable", "open")
_MARKS = {
    AuditVerdict.CONSISTENT: AGREES,
    AuditVerdict.OTHER_DEFINITION: OTHER_METRIC,
    AuditVerdict.TRANSPOSED: TRANSPOSED,
    AuditVerdict.IMPOSSIBLE: CONTRADICTS,
}


@dataclass(frozen=True, slots=True)
class MarkedTable:
    """One table of the text; `heads` may be empty, and so may the names of its rows."""

    name: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, Mark | None, str | None], ...]], ...]


@dataclass(frozen=True, slots=True)
class MarkedTables:
    """All tables, and how many of their numbers got which mark, most severe first."""

    tables: tuple[MarkedTable, ...]
    counts: tuple[tuple[Mark, str], ...]


def marked_tables(audit: TableTextAudit, reasons: Mapping[tuple[str, int], str]) -> MarkedTables:
    """Present the tables. `reasons` maps a model and the index of one of its findings to the id of
    the element of the page that says why."""
    found: dict[Place, tuple[Finding, str]] = {}
    for each in audit.models:
        own = [number for number in audit.reading.numbers if number.model == each.model]
        for at, (number, finding) in enumerate(zip(own, each.report.findings, strict=True)):
            before = found.get(number.place)
            if before is None or before[0].verdict.rank < finding.verdict.rank:
                found[number.place] = (finding, reasons[each.model, at])
    tables = tuple(
        _table(table, block, found, of=len(audit.reading.tables))
        for table, block in enumerate(audit.reading.tables)
    )
    marks = [mark for table in tables for _, cells in table.rows for _, mark, _ in cells]
    return MarkedTables(
        tables,
        tuple(
            (mark, numbers.count(marks.count(mark)))
            for mark in (CONTRADICTS, TRANSPOSED, OTHER_METRIC, AGREES, NOT_CHECKABLE, GIVEN)
            if mark in marks
        ),
    )


def _table(
    table: int, block: Table, found: Mapping[Place, tuple[Finding, str]], *, of: int
) -> MarkedTable:
    return MarkedTable(
        name="Your table, cell by cell" if of == 1 else f"Table {table + 1} of {of}",
        heads=tuple(numbers.shortened(head, longest=_LONGEST) for head in block.heads)
        if any(block.heads)
        else (),
        rows=tuple(
            (
                numbers.shortened(row.label, longest=_LONGEST),
                tuple(
                    _cell(value, found.get(Place(table, at, column)))
                    for column, value in enumerate(row.values)
                ),
            )
            for at, row in enumerate(block.rows)
        ),
    )


def _cell(
    value: Value | None, found: tuple[Finding, str] | None
) -> tuple[str, Mark | None, str | None]:
    if value is None or not value.numbers:
        return ("", None, None)
    text = f"{' = '.join(value.numbers)}{' ±' if value.has_spread else ''}"
    if found is None:
        return (text, NOT_CHECKABLE if value.count is None else GIVEN, None)
    finding, reason = found
    mark = _MARKS[finding.verdict] if finding.is_checked else NOT_CHECKABLE
    return (text, mark, None if mark in (AGREES, NOT_CHECKABLE) else f"#{reason}")


MOST_LISTED = 60
"""Most lines on the page; each may be a range. The JSON lists single matrices."""
_TO = "\N{EN DASH}"


def fitting_view(tables: FeasibleTables, names: Sequence[str], positive: int) -> dict[str, object]:
    """Present the matrices from the point of view of the class with the code `positive`."""
    sizes = tables.sizes if positive == 0 else (tables.sizes[1], tables.sizes[0])
    runs = (
        tables.runs
        if positive == 0
        else tuple(run.seen_from_the_other_class(tables.sizes) for run in tables.runs)
    )
    name = quoted_name(names[positive])
    lines = tuple(_lines(runs[:MOST_LISTED], sizes))
    hidden = len(runs) - len(lines)
    return {
        "sentence": _sentence(tables, sizes),
        "heads": (
            f"{name} true positives (TP)",
            f"{name} false negatives (FN)",
            f"{name} false positives (FP)",
            f"{name} true negatives (TN)",
        ),
        "lines": lines,
        "n_hidden": (
            f"{numbers.plural(hidden, 'more line')} in the JSON." if hidden > 0 else None
        ),
    }


def _sentence(tables: FeasibleTables, sizes: Sequence[int]) -> str:
    of = f"of {numbers.count(sizes[0])} and {numbers.count(sizes[1])} examples"
    if not tables.is_complete:
        return f"There are too many matrices {of} to check them all."
    if tables.count == 0:
        return f"No matrix {of} gives these numbers."
    if tables.count == 1:
        return f"One matrix {of} gives these numbers, so it must be the source."
    return f"{numbers.count(tables.count)} matrices {of} give these numbers."


def _lines(runs: Sequence[Run], sizes: Sequence[int]) -> Iterator[tuple[str, str, str, str]]:
    first, second = sizes
    for run in runs:
        yield (
            _range(run.fewest_hits, run.most_hits),
            _range(first - run.most_hits, first - run.fewest_hits),
            _range(run.fewest_alarms, run.most_alarms),
            _range(second - run.most_alarms, second - run.fewest_alarms),
        )


def _range(low: int, high: int) -> str:
    if low == high:
        return numbers.count(low)
    return f"{numbers.count(low)} {_TO} {numbers.count(high)}"


_EN_DASH = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"
_ADDED = {
    Rounding.CUT_OFF: ", cut off instead of rounded",
    Rounding.PADDED: ", zeros added",
}


def allowed_text(printed: Printed, rounding: Rounding | None = None) -> str:
    """ "57.25 – 57.35 %" for "57.3 %", "exactly" for a quotient, "no value" for undefined."""
    if printed.value is None:
        return "no value"
    if printed.unit == 0:
        return "exactly this"
    is_percent = "%" in printed.text
    scale = 100 if is_percent else 1
    low, high = (end * scale for end in _ends(printed, rounding))
    decimals = _decimals(printed.unit * scale) + 1
    unit = " %" if is_percent else ""
    text = f"{_fixed(low, decimals)} {_EN_DASH} {_fixed(high, decimals)}{unit}"
    return text + (_ADDED.get(rounding, "") if rounding is not None else "")


def expected_text(expected: Interval | None, printed: Printed) -> str | None:
    """The range that the other numbers imply for a metric, with two more digits than printed."""
    if expected is None or expected.is_empty:
        return None
    scale = 100 if "%" in printed.text else 1
    decimals = min(9, _decimals(printed.unit * scale) + 2) if printed.unit else 6
    unit = " %" if scale == 100 else ""
    ends = [f"{end * scale:.{decimals}f}" for end in (expected.low, expected.high)]
    if ends[0] == ends[1]:
        return f"{_signed(ends[0])}{unit}"
    return f"{_signed(ends[0])} {_EN_DASH} {_signed(ends[1])}{unit}"


def _ends(printed: Printed, rounding: Rounding | None) -> tuple[Fraction, Fraction]:
    value, unit = printed.value or Fraction(0), printed.unit
    if rounding is not Rounding.CUT_OFF:
        return value - unit / 2, value + unit / 2
    return (value if value > 0 else value - unit), (value if value < 0 else value + unit)


def _decimals(unit: Fraction) -> int:
    """Decimal places of a number in steps of `unit`, a power of ten."""
    return max(0, -Decimal(float(unit)).adjusted())


def _fixed(value: Fraction, decimals: int) -> str:
    """The exact number, because half a step always ends with a 5."""
    digits = f"{abs(round(value * 10**decimals)):0{decimals + 1}d}"
    text = f"{digits[:-decimals]}.{digits[-decimals:]}"
    return f"{_MINUS}{text}" if value < 0 else text


def _signed(text: str) -> str:
    return text.replace("-", _MINUS)


_TONES: dict[AuditVerdict, Tone] = {
    AuditVerdict.CONSISTENT: "good",
    AuditVerdict.OTHER_DEFINITION: "warning",
    AuditVerdict.TRANSPOSED: "warning",
    AuditVerdict.IMPOSSIBLE: "error",
}
_WORDS = {
    AuditVerdict.CONSISTENT: "consistent",
    AuditVerdict.OTHER_DEFINITION: "other definition",
    AuditVerdict.TRANSPOSED: "transposed reading",
    AuditVerdict.IMPOSSIBLE: "impossible",
}
_DESCRIBED = frozenset(spec.key for spec in SPECS)


@dataclass(frozen=True, slots=True)
class NumberLine:
    """One published number, in all forms in which it was printed.

    `meant` is the key of the metric it is the value of, if that is another one. `id` is that of
    its row on the page.
    """

    id: str
    name: str
    printed: str
    stands_for: str
    verdict: Chip
    why: str
    expected: str | None
    meant: str | None
    meant_url: str | None


@dataclass(frozen=True, slots=True)
class ModelView:
    """The verdicts on the numbers of one model; `name` is None if there is only one."""

    id: str
    name: str | None
    verdict: Chip
    why: str
    read_as: str | None
    axes: str | None
    lines: tuple[NumberLine, ...]
    fitting: dict[str, object] | None


@dataclass(frozen=True, slots=True)
class VerdictsView:
    """All models, and the tables of the text with a mark on every cell."""

    verdict: Chip
    sentence: str
    marked: MarkedTables
    models: tuple[ModelView, ...]
    proves_nothing: bool


def verdicts_view(audit: TableTextAudit) -> VerdictsView:
    models = tuple(_model(number, each) for number, each in enumerate(audit.models, start=1))
    return VerdictsView(
        verdict=_chip(audit.verdict),
        sentence=typeset(audit.headline),
        marked=marked_tables(audit, dict(_reasons(audit))),
        models=models,
        proves_nothing=audit.verdict is AuditVerdict.CONSISTENT
        and all(each.report.matrix is None for each in audit.models),
    )


def _model(number: int, each: ModelAudit) -> ModelView:
    report = each.report
    positive = None if report.tables is None else _positive(report)
    return ModelView(
        id=f"model-{number}",
        name=each.model or None,
        verdict=_chip(report.verdict),
        why=capitalised(report.why),
        read_as=None if report.reading == "as published" else capitalised(report.reading),
        axes=None if report.matrix is None else capitalised(report.matrix.why),
        lines=tuple(
            _line(forms, report, line_id=_line_id(number, at))
            for at, forms in enumerate(_forms_of_numbers(report), start=1)
        ),
        fitting=None
        if report.tables is None or report.labels is None
        else fitting_view(report.tables, report.labels.names, positive or 0),
    )


def _positive(report: AuditReport) -> int:
    """The class for which the fitting matrices are listed: that of the class metrics."""
    codes = [f.claim.code for f in report.findings if f.claim.code is not None]
    return codes[0] if codes else 0


def _forms_of_numbers(report: AuditReport) -> list[list[Finding]]:
    """Findings in order; adjacent forms of one number with the same verdict are grouped."""
    found: list[list[Finding]] = []
    for finding in report.findings:
        before = found[-1][0] if found else None
        if before is not None and _said(before) == _said(finding):
            found[-1].append(finding)
        else:
            found.append([finding])
    return found


def _said(finding: Finding) -> tuple[object, ...]:
    claim = finding.claim
    return claim.name, claim.key, claim.code, finding.verdict, finding.why


def _line_id(model: int, line: int) -> str:
    return f"m{model}n{line}"


def _reasons(audit: TableTextAudit) -> Iterator[tuple[tuple[str, int], str]]:
    """For each model and index of a finding, the id of the row that says why."""
    for number, each in enumerate(audit.models, start=1):
        places = count()
        for line, forms in enumerate(_forms_of_numbers(each.report), start=1):
            for _ in forms:
                yield (each.model, next(places)), _line_id(number, line)


def _line(forms: list[Finding], report: AuditReport, *, line_id: str) -> NumberLine:
    first, last = forms[0], forms[-1]
    key = first.definition.key
    is_other = first.verdict is AuditVerdict.OTHER_DEFINITION and key != first.claim.key
    return NumberLine(
        id=line_id,
        name=first.claim.place_name(report.labels),
        printed=", ".join(form.claim.printed.text for form in forms),
        stands_for=_stands_for(forms),
        verdict=_chip(first.verdict),
        why=capitalised(first.why),
        expected=expected_text(last.expected, last.claim.printed)
        if first.verdict is not AuditVerdict.CONSISTENT
        else None,
        meant=key if is_other else None,
        meant_url=MetricAddress(key).url() if is_other and key in _DESCRIBED else None,
    )


def _stands_for(forms: list[Finding]) -> str:
    """The ranges of the rounded forms; a quotient printed with them is exact anyway."""
    rounded = [form for form in forms if form.claim.printed.unit]
    texts = (allowed_text(f.claim.printed, f.rounding) for f in rounded or forms[:1])
    return "; ".join(dict.fromkeys(texts))


def _chip(verdict: AuditVerdict) -> Chip:
    return Chip(_WORDS[verdict], _TONES[verdict])

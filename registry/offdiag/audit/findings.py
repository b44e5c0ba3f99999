"""The verdict of an audit on one published number and on the table, and its sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any

from offdiag.audit.checks import Check
from offdiag.audit.definitions import Definition
from offdiag.audit.feasible import FeasibleTables
from offdiag.audit.printed import Interval, Rounding
from offdiag.audit.reported_values import Claim
from offdiag.card import card, cell, column, head, prose, row_name, says, table
from offdiag.domain.labels import LabelSet
from offdiag.domain.sentences import as_sentence, enumerated

MOST_TABLES_LISTED = 1_000


class AuditVerdict(StrEnum):
    """Verdicts, from fine to wrong."""

    CONSISTENT = "consistent"
    """Nothing contradicts it. Without a matrix that is not proof."""
    OTHER_DEFINITION = "other_definition"
    """It is the value of another metric that goes by the same or a similar name."""
    TRANSPOSED = "transposed"
    """It is right once actual and predicted classes trade places."""
    IMPOSSIBLE = "impossible"
    """No reading was found under which it can be true."""

    @property
    def rank(self) -> int:
        return list(AuditVerdict).index(self)


class Orientation(StrEnum):
    """Which classes are along the rows of a matrix as it was printed."""

    ACTUAL_ROWS = "actual_rows"
    ACTUAL_COLUMNS = "actual_columns"


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on one published number.

    `why` names the identity, bound or value that decides. `definition` is the metric whose
    value the number is assumed to be. `exact` is the value of the published metric computed
    from the matrix, if there is one; `expected` the values that the other numbers leave for it,
    if these decide; `rounding` how the exact value was printed. `is_checked` says whether
    anything other than the range of the metric could have contradicted it.
    """

    claim: Claim
    verdict: AuditVerdict
    why: str
    definition: Definition
    exact: float | None = None
    expected: Interval | None = None
    rounding: Rounding | None = None
    is_checked: bool = True

    def to_dict(self, labels: LabelSet | None) -> dict[str, Any]:
        printed = self.claim.printed
        code = self.claim.code
        return {
            "name": self.claim.name,
            "metric": self.claim.key,
            "label": None if code is None or labels is None else labels.names[code],
            "reported": printed.text,
            "allowed": None if printed.interval is None else printed.interval.to_list(),
            "verdict": self.verdict.value,
            "why": self.why,
            "definition": self.definition.to_dict(labels),
            "exact": self.exact,
            "expected": None if self.expected is None else self.expected.to_list(),
            "rounding": None if self.rounding is None else self.rounding.value,
        }


@dataclass(frozen=True)
class Diagnosis:
    """Findings in the order of the claims, and the checks behind them.

    `understood` are the claims as read in the findings.
    """

    findings: tuple[Finding, ...]
    checks: tuple[Check, ...]
    understood: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class MatrixReading:
    """How a printed matrix is to be read.

    `orientation` is None if nothing decides between the two; `decided_by` says what did:
    "class_counts", "numbers", "nothing", or "contradiction" if class counts or numbers rule
    out both. `class_order` lists the classes in the order in which the class values were
    printed, if that is not the order of the labels.
    """

    orientation: Orientation | None
    decided_by: str
    why: str
    class_order: tuple[str, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "orientation": None if self.orientation is None else self.orientation.value,
            "decided_by": self.decided_by,
            "why": self.why,
            "class_order": None if self.class_order is None else list(self.class_order),
        }


@dataclass(frozen=True, repr=False)
class AuditReport:
    """The result of auditing a published table.

    `verdict` is about the table as a whole, `headline` states it in one plain sentence, and `why`
    gives its reason. `reading` says in words how unqualified names were read. `matrix` is set if
    a matrix was given, `tables` if all 2 x 2 matrices that fit were searched, `checks` if numbers
    were compared with each other.
    """

    verdict: AuditVerdict
    why: str
    findings: tuple[Finding, ...]
    labels: LabelSet | None
    reading: str
    matrix: MatrixReading | None = None
    checks: tuple[Check, ...] = ()
    tables: FeasibleTables | None = None
    headline: str = ""

    def __repr__(self) -> str:
        lines = [self.headline]
        for finding in self.findings:
            name = finding.claim.place_name(self.labels)
            lines.append(
                f"  {name} {finding.claim.printed.text}: {finding.verdict.value}, {finding.why}"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = (
            row_name(finding.claim.place_name(self.labels))
            + cell(finding.claim.printed.text)
            + cell(finding.verdict.value.replace("_", " "), left=True)
            + prose(as_sentence(finding.why))
            for finding in self.findings
        )
        columns = (column("Number", left=True), column("Reported"))
        reasons = (column("Verdict", left=True), column("Why", left=True))
        return card(
            head("Audit", f"{len(self.findings)} reported numbers"),
            says(self.headline, is_warning=self.verdict is not AuditVerdict.CONSISTENT),
            table((*columns, *reasons), rows),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps(..., allow_nan=False)`.

        At most 1,000 of the fitting matrices are listed; `count` says how many there are.
        """
        names = [finding.claim.place_name(self.labels) for finding in self.findings]
        return {
            "verdict": self.verdict.value,
            "headline": self.headline,
            "why": self.why,
            "reading": self.reading,
            "labels": None if self.labels is None else list(self.labels.names),
            "numbers": [finding.to_dict(self.labels) for finding in self.findings],
            "matrix": None if self.matrix is None else self.matrix.to_dict(),
            "checks": [check.to_dict(names) for check in self.checks],
            "matrices": None if self.tables is None else _tables_dict(self.tables),
        }


def worst(findings: Iterable[Finding]) -> AuditVerdict:
    """The most severe verdict on any number."""
    return max((finding.verdict for finding in findings), key=lambda verdict: verdict.rank)


def _tables_dict(tables: FeasibleTables) -> dict[str, Any]:
    return {
        "orientation": Orientation.ACTUAL_ROWS.value,
        "is_complete": tables.is_complete,
        "count": tables.count if tables.is_complete else None,
        "listed": [[list(row) for row in table] for table in islice(tables, MOST_TABLES_LISTED)],
    }


MOST_NAMED = 3
"""Most numbers or tables that are named; beyond that they are counted."""

_ONLY_EXCHANGED = "only if actual and predicted classes trade places"
_OF_MANY = {
    AuditVerdict.OTHER_DEFINITION: "{} have numbers that are values of other metrics than named",
    AuditVerdict.TRANSPOSED: f"{{}} have numbers that fit {_ONLY_EXCHANGED}",
    AuditVerdict.IMPOSSIBLE: "{} have numbers that cannot be true together",
}


def headline(report: AuditReport) -> str:
    """The outcome for one table, without capital letter and full stop."""
    grave = [finding for finding in report.findings if finding.verdict is report.verdict]
    match report.verdict:
        case AuditVerdict.CONSISTENT:
            return _consistent(report)
        case AuditVerdict.OTHER_DEFINITION:
            return _other_definition(grave, report)
        case AuditVerdict.TRANSPOSED if not grave:
            return "the numbers fit, and the rows of the matrix are predicted classes"
        case AuditVerdict.TRANSPOSED:
            verb = "fits" if len(grave) == 1 else "fit"
            named = _named(grave, report)
            return f"{named} {verb} {_ONLY_EXCHANGED}"
        case AuditVerdict.IMPOSSIBLE:
            return _impossible(grave, report)


def headline_of_many(tables: Sequence[tuple[str, AuditReport]]) -> str:
    """The outcome for several tables, each with the name of its model, in the same form."""
    verdict = max((report.verdict for _, report in tables), key=lambda verdict: verdict.rank)
    grave = [(name, report) for name, report in tables if report.verdict is verdict]
    if len(grave) == 1:
        ((name, report),) = grave
        return f"{name}: {headline(report)}" if name else headline(report)
    if verdict is AuditVerdict.CONSISTENT:
        how = {_consistent(report) for _, report in tables}
        return how.pop() if len(how) == 1 else "nothing contradicts the numbers"
    if len(grave) > MOST_NAMED:
        return _OF_MANY[verdict].format(_counted(len(grave), len(tables), "models"))
    return _OF_MANY[verdict].format(enumerated([name for name, _ in grave]))


def _consistent(report: AuditReport) -> str:
    cut = [finding for finding in report.findings if finding.rounding is Rounding.CUT_OFF]
    if report.matrix is not None:
        follows = "every number follows from the matrix"
        if not cut:
            return follows
        verb = "was" if len(cut) == 1 else "were"
        return f"{follows}, where {_named(cut, report)} {verb} cut off instead of rounded"
    if not cut:
        return "nothing contradicts the numbers"
    may_be = [finding for finding in report.findings if finding.claim.printed.has_last_digit]
    if len(cut) == len(may_be) > 1:
        which, verb = "they", "were"
    else:
        which, verb = _named(cut, report), "was" if len(cut) == 1 else "were"
    return f"nothing contradicts the numbers if {which} {verb} cut off instead of rounded"


def _other_definition(grave: Sequence[Finding], report: AuditReport) -> str:
    if len(grave) > 1:
        return f"{_named(grave, report)} are values of other metrics than named"
    (finding,) = grave
    meant = finding.definition.name(report.labels)
    return f"{_named(grave, report)} is the value of another metric, {meant}"


def _impossible(grave: Sequence[Finding], report: AuditReport) -> str:
    if report.matrix is not None and not grave:
        return f"the matrix cannot be true: {report.matrix.why}"
    named = _named(grave, report)
    if report.matrix is not None:
        if len(grave) == len(report.findings) > 1:
            return f"none of the {len(grave)} numbers comes from this matrix"
        verb = "does" if len(grave) == 1 else "do"
        return f"{named} {verb} not come from this matrix"
    if len(grave) > MOST_NAMED:
        return f"at least one of {len(grave)} numbers is wrong"
    if len(grave) > 1:
        return f"at least one of {named} is wrong"
    beside = " beside the other numbers" if len(report.findings) > 1 else ""
    return f"{named} cannot be true{beside}"


def _named(findings: Sequence[Finding], report: AuditReport) -> str:
    if len(findings) > MOST_NAMED:
        return _counted(len(findings), len(report.findings), "numbers")
    places = {finding.claim.place_name(report.labels) for finding in findings}
    if len(places) == 1:
        return f"{places.pop()} {enumerated([each.claim.printed.text for each in findings])}"
    return enumerated([_number(finding, report.labels) for finding in findings])


def _number(finding: Finding, labels: LabelSet | None) -> str:
    return f"{finding.claim.place_name(labels)} {finding.claim.printed.text}"


def _counted(n: int, of: int, what: str) -> str:
    return f"all {of} {what}" if n == of else f"{n} of {of} {what}"

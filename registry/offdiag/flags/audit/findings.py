"""What an audit says about one published number, and about the table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any

from offdiag.domain.labels import LabelSet
from offdiag.flags.audit.checks import Check
from offdiag.flags.audit.claims import Claim
from offdiag.flags.audit.definitions import Definition
from offdiag.flags.audit.feasible import FeasibleTables
from offdiag.flags.audit.interval import Interval
from offdiag.flags.audit.printed import Rounding

MOST_TABLES_LISTED = 1_000


class AuditVerdict(StrEnum):
    """From fine to wrong."""

    CONSISTENT = "consistent"
    """Nothing contradicts it. Without a matrix that is no proof."""
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
    """Which classes stand along the rows of a matrix as it was printed."""

    ACTUAL_ROWS = "actual_rows"
    ACTUAL_COLUMNS = "actual_columns"


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on one published number.

    `why` names the identity, bound or value that decides. `definition` is the metric whose
    value the number is taken to be. `exact` is the value of the published metric computed
    from the matrix, if there is one; `expected` what the other numbers leave for it, if that
    is what decides; `rounding` how the exact value was printed.
    """

    claim: Claim
    verdict: AuditVerdict
    why: str
    definition: Definition
    exact: float | None = None
    expected: Interval | None = None
    rounding: Rounding | None = None

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

    `understood` are the claims as the findings read them.
    """

    findings: tuple[Finding, ...]
    checks: tuple[Check, ...]
    understood: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class MatrixReading:
    """How a printed matrix is to be read.

    `orientation` is None where nothing decides between the two; `decided_by` says what did:
    "class_counts", "numbers", "nothing", or "contradiction" where class counts or numbers rule
    out both. `class_order` lists the classes in the order in which the class values were
    printed, where that is not the order of the labels.
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


@dataclass(frozen=True)
class AuditReport:
    """What became of a published table.

    `verdict` is about the table as a whole, `headline` says it in one plain sentence, and `why`
    is its reason. `reading` says in words how
    unqualified names were understood. `matrix` is there if a matrix was given, `tables` if
    all 2 x 2 matrices that fit were searched, `checks` if numbers were held against each other.
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

    def __str__(self) -> str:
        lines = [self.headline]
        for finding in self.findings:
            name = finding.claim.place_name(self.labels)
            lines.append(
                f"  {name} {finding.claim.printed.text}: {finding.verdict.value}, {finding.why}"
            )
        return "\n".join(lines)

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
    """The gravest verdict on any number."""
    return max((finding.verdict for finding in findings), key=lambda verdict: verdict.rank)


def _tables_dict(tables: FeasibleTables) -> dict[str, Any]:
    return {
        "orientation": Orientation.ACTUAL_ROWS.value,
        "is_complete": tables.is_complete,
        "count": tables.count if tables.is_complete else None,
        "listed": [[list(row) for row in table] for table in islice(tables, MOST_TABLES_LISTED)],
    }

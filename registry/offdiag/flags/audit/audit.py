"""The audit of a published table: every number, and the table as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from offdiag.flags.audit.against_matrix import Comparison, compared
from offdiag.flags.audit.blame import MOST_CLAIMS_EXAMINED
from offdiag.flags.audit.claims import Claim
from offdiag.flags.audit.diagnosis import diagnosed
from offdiag.flags.audit.examination import allowed_intervals
from offdiag.flags.audit.facts import Facts
from offdiag.flags.audit.feasible import FeasibleTables
from offdiag.flags.audit.findings import (
    AuditReport,
    AuditVerdict,
    Diagnosis,
    Finding,
    Orientation,
    worst,
)
from offdiag.flags.audit.headline import as_sentence, headline
from offdiag.flags.audit.readings import Reading, readings
from offdiag.flags.audit.whole_numbers import two_class_tables

Trouble: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class AuditedTable:
    """What one audit is about: claims, what is known of the data, and the matrix if printed.

    `counts` (K, K) is as it was printed, its orientation unknown.
    """

    claims: Sequence[Claim]
    facts: Facts
    counts: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class _Attempt:
    """The outcome of one reading of a table."""

    reading: Reading
    outcome: Comparison | Diagnosis

    @property
    def trouble(self) -> Trouble:
        """How many numbers got each verdict, the gravest first."""
        return tuple(
            sum(finding.verdict is verdict for finding in self.outcome.findings)
            for verdict in sorted(AuditVerdict, key=lambda verdict: -verdict.rank)
            if verdict is not AuditVerdict.CONSISTENT
        )


def audited(
    claims: Sequence[Claim], facts: Facts, counts: NDArray[np.int64] | None = None
) -> AuditReport:
    """Audit claims against the matrix `counts` (K, K), or against each other without one.

    The matrix is as it was printed, its orientation unknown. Names that can mean several
    things are understood in the way that leaves the least to explain.
    """
    return audited_together([AuditedTable(claims, facts, counts)])[0]


def audited_together(tables: Sequence[AuditedTable]) -> tuple[AuditReport, ...]:
    """Audit tables of one publication, such as the rows of one table.

    A name means the same in all of them: of the ways to understand it, such as either class as
    the positive one, that is taken which leaves the least to explain altogether. The more
    tables, the less is searched for culprits in each; then more numbers are named together.
    """
    effort = MOST_CLAIMS_EXAMINED // len(tables)
    attempts = [_attempts(table, effort) for table in tables]
    alike: dict[tuple[str, ...], list[int]] = {}
    for place, tried in enumerate(attempts):
        alike.setdefault(tuple(attempt.reading.words for attempt in tried), []).append(place)
    reports: dict[int, AuditReport] = {}
    for places in alike.values():
        best, words = _best([attempts[place] for place in places])
        for place in places:
            reports[place] = _report(attempts[place][best], words, tables[place].facts)
    return tuple(reports[place] for place in range(len(tables)))


def _attempts(table: AuditedTable, effort: int) -> list[_Attempt]:
    return [
        _Attempt(
            reading,
            diagnosed(reading.claims, table.facts, effort)
            if table.counts is None
            else compared(reading.claims, table.counts, table.facts),
        )
        for reading in readings(table.claims, table.facts)
    ]


def _best(tables: Sequence[Sequence[_Attempt]]) -> tuple[int, str]:
    """Place of the reading with the least to explain in all tables, and all as good in words."""
    trouble = [_sum(attempt.trouble for attempt in tried) for tried in zip(*tables, strict=True)]
    least = min(trouble)
    equal = [
        attempt.reading.words
        for attempt, much in zip(tables[0], trouble, strict=True)
        if much == least
    ]
    words = equal[0]
    if len(equal) > 1:
        words += f" (just as well: {'; '.join(equal[1:])})"
    return trouble.index(least), words


def _sum(troubles: Iterable[Trouble]) -> Trouble:
    return tuple(sum(parts) for parts in zip(*troubles, strict=True))


def _report(attempt: _Attempt, words: str, facts: Facts) -> AuditReport:
    report = (
        _report_on_matrix(attempt.outcome, words, facts)
        if isinstance(attempt.outcome, Comparison)
        else _report_on_numbers(attempt.outcome, words, facts)
    )
    return replace(report, headline=as_sentence(headline(report)))


def _report_on_matrix(comparison: Comparison, words: str, facts: Facts) -> AuditReport:
    findings, matrix = comparison.findings, comparison.matrix
    verdict = worst(findings)
    why = _why(findings, facts, "every number follows from the matrix")
    if verdict is not AuditVerdict.IMPOSSIBLE and matrix.decided_by == "contradiction":
        verdict, why = AuditVerdict.IMPOSSIBLE, matrix.why
    elif verdict is AuditVerdict.CONSISTENT and matrix.orientation is Orientation.ACTUAL_COLUMNS:
        verdict, why = AuditVerdict.TRANSPOSED, matrix.why
    return AuditReport(verdict, why, findings, facts.labels, words, matrix=matrix)


def _report_on_numbers(diagnosis: Diagnosis, words: str, facts: Facts) -> AuditReport:
    verdict = worst(diagnosis.findings)
    return AuditReport(
        verdict,
        _why(diagnosis.findings, facts, "nothing contradicts the numbers"),
        diagnosis.findings,
        facts.labels,
        words,
        checks=diagnosis.checks,
        tables=_tables(diagnosis.understood, facts),
    )


def _tables(claims: Sequence[Claim], facts: Facts) -> FeasibleTables | None:
    """All 2 x 2 matrices that fit, if there are two classes of known size."""
    if facts.class_counts is None or len(facts.class_counts) != 2:
        return None
    return two_class_tables(claims, allowed_intervals(claims), facts.class_counts)


def _why(findings: Sequence[Finding], facts: Facts, if_consistent: str) -> str:
    """The reason of the gravest finding, with how many more there are of its kind."""
    verdict = worst(findings)
    if verdict is AuditVerdict.CONSISTENT:
        return if_consistent
    grave = [finding for finding in findings if finding.verdict is verdict]
    more = f" ({len(grave) - 1} more)" if len(grave) > 1 else ""
    return f"{grave[0].claim.place_name(facts.labels)}: {grave[0].why}{more}"

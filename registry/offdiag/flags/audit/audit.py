"""The audit of a published table: every number, and the table as a whole."""

from __future__ import annotations

from collections.abc import Sequence

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
from offdiag.flags.audit.printed import Rounding
from offdiag.flags.audit.readings import Reading, readings
from offdiag.flags.audit.whole_numbers import two_class_tables


def audited(
    claims: Sequence[Claim],
    facts: Facts,
    counts: NDArray[np.int64] | None = None,
    *,
    effort: int = MOST_CLAIMS_EXAMINED,
) -> AuditReport:
    """Audit claims against the matrix `counts` (K, K), or against each other without one.

    The matrix is as it was printed, its orientation unknown. Names that can mean several
    things are understood in the way that leaves the least to explain. `effort` bounds the
    search for culprits; with less of it more numbers are named together.
    """
    candidates = readings(claims, facts)
    if counts is not None:
        comparisons = [compared(reading.claims, counts, facts) for reading in candidates]
        best, words = _best(candidates, [comparison.findings for comparison in comparisons])
        return _report_on_matrix(comparisons[best], words, facts)
    diagnoses = [diagnosed(reading.claims, facts, effort) for reading in candidates]
    best, words = _best(candidates, [diagnosis.findings for diagnosis in diagnoses])
    return _report_on_numbers(candidates[best].claims, diagnoses[best], words, facts)


def _best(
    candidates: Sequence[Reading], findings: Sequence[tuple[Finding, ...]]
) -> tuple[int, str]:
    """Place of the reading with the least to explain, and all equally good ones in words."""
    trouble = [_trouble(found) for found in findings]
    least = min(trouble)
    equal = [c.words for c, much in zip(candidates, trouble, strict=True) if much == least]
    words = equal[0]
    if len(equal) > 1:
        words += f" (just as well: {'; '.join(equal[1:])})"
    return trouble.index(least), words


def _trouble(findings: Sequence[Finding]) -> tuple[int, ...]:
    """How many numbers got each verdict, the gravest first."""
    gravest_first = sorted(AuditVerdict, key=lambda verdict: -verdict.rank)
    return tuple(
        sum(finding.verdict is verdict for finding in findings)
        for verdict in gravest_first
        if verdict is not AuditVerdict.CONSISTENT
    )


def _report_on_matrix(comparison: Comparison, words: str, facts: Facts) -> AuditReport:
    findings, matrix = comparison.findings, comparison.matrix
    verdict = worst(findings)
    why = _why(findings, facts, "every number follows from the matrix")
    if verdict is not AuditVerdict.IMPOSSIBLE and matrix.decided_by == "contradiction":
        verdict, why = AuditVerdict.IMPOSSIBLE, matrix.why
    elif verdict is AuditVerdict.CONSISTENT and matrix.orientation is Orientation.ACTUAL_COLUMNS:
        verdict, why = AuditVerdict.TRANSPOSED, matrix.why
    return AuditReport(verdict, why, findings, facts.labels, words, matrix=matrix)


def _report_on_numbers(
    claims: Sequence[Claim], diagnosis: Diagnosis, words: str, facts: Facts
) -> AuditReport:
    verdict = worst(diagnosis.findings)
    return AuditReport(
        verdict,
        _why(diagnosis.findings, facts, "nothing contradicts the numbers"),
        diagnosis.findings,
        facts.labels,
        words,
        checks=diagnosis.checks,
        tables=_tables(
            claims if verdict is AuditVerdict.IMPOSSIBLE else diagnosis.understood,
            diagnosis.findings,
            facts,
        ),
    )


def _tables(
    claims: Sequence[Claim], findings: Sequence[Finding], facts: Facts
) -> FeasibleTables | None:
    """All 2 x 2 matrices that fit, if there are two classes of known size."""
    if facts.class_counts is None or len(facts.class_counts) != 2:
        return None
    cut = frozenset(
        place for place, finding in enumerate(findings) if finding.rounding is Rounding.CUT_OFF
    )
    return two_class_tables(
        claims, allowed_intervals(claims, with_cut_off=cut), facts.class_counts
    )


def _why(findings: Sequence[Finding], facts: Facts, if_consistent: str) -> str:
    """The reason of the gravest finding, with how many more there are of its kind."""
    verdict = worst(findings)
    if verdict is AuditVerdict.CONSISTENT:
        return if_consistent
    grave = [finding for finding in findings if finding.verdict is verdict]
    more = f" ({len(grave) - 1} more)" if len(grave) > 1 else ""
    return f"{grave[0].claim.place_name(facts.labels)}: {grave[0].why}{more}"

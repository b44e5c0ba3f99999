"""The audit of a published table: every number, the table as a whole, and the likeliest mistake.

Numbers that contradict each other do not show which of them is to blame. The diagnosis looks for
the least severe explanation, in this order: digits of the whole table cut off instead of rounded,
then only those of the fewest numbers, zeros for undefined values, swapped axes, classes in another
order, a few numbers that are other metrics, and finally the fewest that must be wrong.

Numbers that were reported with a logged matrix are tags of its run, audited against the matrix.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from offdiag.audit.checks import Check
from offdiag.audit.definitions import Definition
from offdiag.audit.examination import (
    MOST_CLAIMS_EXAMINED,
    Places,
    allowed_intervals,
    consistent,
    deciding,
    examined,
    expected_by,
    failed_checks,
    smallest_to_blame,
    without,
)
from offdiag.audit.explanations import (
    as_mixed,
    as_other_definitions,
    as_other_order,
    as_transposed,
    as_zero_division,
    cut_off,
)
from offdiag.audit.feasible import FeasibleTables
from offdiag.audit.findings import (
    AuditReport,
    AuditVerdict,
    Diagnosis,
    Finding,
    Orientation,
    headline,
    worst,
)
from offdiag.audit.matrix import Comparison, compared
from offdiag.audit.reported_values import Claim, Facts, Reading, claims_from, readings
from offdiag.audit.whole_numbers import two_class_tables
from offdiag.domain.labels import LabelSet
from offdiag.domain.sentences import as_sentence
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix


def diagnosed(
    claims: Sequence[Claim], facts: Facts, effort: int = MOST_CLAIMS_EXAMINED
) -> Diagnosis:
    """Find the least severe explanation of a list of claims whose classes are all named.

    `effort` is the number of claims that each search for culprits may examine.
    """
    tables = tuple(dict.fromkeys((tuple(claims), cut_off(claims))))
    for table in tables:
        checks = examined(table, facts)
        if not failed_checks(checks):
            findings = tuple(consistent(claim, place, checks) for place, claim in enumerate(table))
            return Diagnosis(findings, checks, table)
    found = as_mixed(claims, facts, effort)
    for table in tables:
        found = (
            found
            or as_zero_division(table, facts)
            or as_transposed(table, facts)
            or as_other_order(table, facts)
        )
    return found or _blaming(tables, facts, effort)


def _blaming(tables: Sequence[tuple[Claim, ...]], facts: Facts, effort: int) -> Diagnosis:
    """Explain single numbers as other metrics or as wrong, by the way of printing with fewer."""
    blamed = [smallest_to_blame(table, facts, effort // len(tables)) for table in tables]
    fewest = [min(map(len, sets)) for sets in blamed]
    place = fewest.index(min(fewest))
    table, checks = tables[place], examined(tables[place], facts)
    return as_other_definitions(table, facts, checks, blamed[place]) or _as_impossible(
        table, facts, checks, blamed[place]
    )


def _as_impossible(
    claims: Sequence[Claim], facts: Facts, checks: Sequence[Check], blamed: Sequence[Places]
) -> Diagnosis:
    """If no reading helps, name the numbers of which the fewest must be wrong."""
    suspects = frozenset[int]().union(*blamed)
    kept = [place for place in range(len(claims)) if place not in suspects]
    after = examined(without(claims, suspects), facts)
    findings = tuple(
        consistent(claim, kept.index(place), after)
        if place in kept
        else _impossible(claims, place, checks, is_certain=all(place in s for s in blamed))
        for place, claim in enumerate(claims)
    )
    return Diagnosis(findings, tuple(checks), tuple(claims))


def _impossible(
    claims: Sequence[Claim], place: int, checks: Sequence[Check], *, is_certain: bool
) -> Finding:
    """The finding on a number that is wrong, or that is one of several that may be."""
    claim, check = claims[place], deciding(place, checks)
    if check is None:
        # It only comes into conflict once another number is removed.
        why = "it cannot be true together with the other numbers"
    else:
        why = f"it contradicts: {check.statement}"
        if not is_certain:
            others = sorted({claims[p].name for p in check.places if p != place})
            why += f" (it or {' or '.join(others)} is wrong)"
    return Finding(
        claim,
        AuditVerdict.IMPOSSIBLE,
        why,
        Definition(claim.key, claim.code),
        expected=expected_by(check, place),
    )


Trouble: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class AuditedTable:
    """The input of one audit: claims, what is known of the data, and the matrix if printed.

    `counts` (K, K) is as it was printed; its orientation is unknown.
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
        """How many numbers got each verdict, the most severe first."""
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
    things are read in the way that leaves the least to explain.
    """
    return audited_together([AuditedTable(claims, facts, counts)])[0]


def audited_together(tables: Sequence[AuditedTable]) -> tuple[AuditReport, ...]:
    """Audit tables of one publication, such as the rows of one table.

    A name means the same in all of them: of the ways to read it, such as either class as
    the positive one, the one that leaves the least to explain overall is used. The more
    tables there are, the less effort goes into finding culprits in each; then more numbers are
    named together.
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
    """Position of the reading with the least to explain in all tables, and its words with ties."""
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
    """The reason of the most severe finding, and how many more of its kind there are."""
    verdict = worst(findings)
    if verdict is AuditVerdict.CONSISTENT:
        return if_consistent
    grave = [finding for finding in findings if finding.verdict is verdict]
    more = f" ({len(grave) - 1} more)" if len(grave) > 1 else ""
    return f"{grave[0].claim.place_name(facts.labels)}: {grave[0].why}{more}"


PREFIX = "reported."


def reported_tags(reported: Mapping[str, object], labels: LabelSet) -> dict[str, str]:
    """The numbers as they were printed, by tag: `reported.accuracy`, `reported.recall[ill]`.

    `reported` is read as in `audit_reported`. Raises `InvalidInput` for unknown metrics
    and labels, and for values that are not numbers.
    """
    found = {}
    claims = claims_from(reported, labels)
    readings(claims, Facts(labels))  # Refuses numbers that would have to name their class.
    for claim in claims:
        of_class = "" if claim.code is None else f"[{labels.names[claim.code]}]"
        found[f"{PREFIX}{claim.name}{of_class}"] = claim.printed.text
    return found


def audit_of_tags(tags: Mapping[str, object], matrix: ConfusionMatrix) -> AuditReport | None:
    """The audit of the numbers among the tags of a run, None if it has none.

    The actual class of each cell is known, so numbers that fit only with the axes swapped are
    detected. Tags that share such a name without being metrics are ignored.
    """
    claims: list[Claim] = []
    facts = Facts(matrix.labels, tuple(matrix.actual.tolist()))
    for tag, value in tags.items():
        if tag.startswith(PREFIX):
            with suppress(InvalidInput):
                printed = by_metric({tag.removeprefix(PREFIX): value})
                reported = claims_from(printed, matrix.labels)
                readings(reported, facts)
                claims += reported
    return audited(tuple(claims), facts, matrix.counts) if claims else None


def by_metric(printed: Mapping[str, object]) -> dict[str, object]:
    """Group numbers of classes by metric: {"recall[ill]": "0.9"} as {"recall": {"ill": "0.9"}}.

    Raises `InvalidInput` if a metric also has a number of its own.
    """
    found: dict[str, object] = {}
    for text, value in printed.items():
        name, bracket, label = text.partition("[")
        of_classes = found.get(name, {}) if bracket else value
        if (bracket and not isinstance(of_classes, dict)) or (not bracket and name in found):
            raise InvalidInput(
                f"{name} is given both as one value and by class.",
                field="reported",
                hint="Give the class of each, as in recall[ill].",
            )
        if isinstance(of_classes, dict):
            of_classes[label.removesuffix("]")] = value
        found[name] = of_classes
    return found

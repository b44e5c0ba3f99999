"""What came out of an audit, in one plain sentence."""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.domain.labels import LabelSet
from offdiag.flags.audit.findings import AuditReport, AuditVerdict, Finding
from offdiag.flags.audit.printed import Rounding

MOST_NAMED = 3
"""More numbers or tables than these are counted, not named."""

_ONLY_EXCHANGED = "only if actual and predicted classes trade places"
_OF_MANY = {
    AuditVerdict.OTHER_DEFINITION: "{} have numbers that are values of other metrics than named",
    AuditVerdict.TRANSPOSED: f"{{}} have numbers that fit {_ONLY_EXCHANGED}",
    AuditVerdict.IMPOSSIBLE: "{} have numbers that cannot be true together",
}


def headline(report: AuditReport) -> str:
    """The outcome for one table, without a capital letter and a full stop."""
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
    """The outcome for several tables, each with the name of its model, as `headline` gives it."""
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
    return _OF_MANY[verdict].format(_listed([name for name, _ in grave]))


def as_sentence(text: str) -> str:
    """With a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


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
    return _listed([_number(finding, report.labels) for finding in findings])


def _number(finding: Finding, labels: LabelSet | None) -> str:
    return f"{finding.claim.place_name(labels)} {finding.claim.printed.text}"


def _counted(n: int, of: int, what: str) -> str:
    return f"all {of} {what}" if n == of else f"{n} of {of} {what}"


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last

"""Verdicts on every number of every model, with what decides."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.audit.findings import AuditReport, AuditVerdict, Finding
from offdiag.audit.table_text.audit import ModelAudit, PastedAudit
from offdiag.metrics.catalogue import SPECS
from offdiag_web.presenters import numbers
from offdiag_web.presenters.audit.fitting import FittingView, fitting_view
from offdiag_web.presenters.audit.rounding import allowed_text, expected_text
from offdiag_web.presenters.chips import Chip, Tone
from offdiag_web.urls.metrics import MetricAddress

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
    """One published number, in all forms it was printed in.

    `meant` is the key of the metric it is the value of, where that is another.
    """

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
    """What became of the numbers of one model; `name` is None where only one is meant."""

    id: str
    name: str | None
    verdict: Chip
    why: str
    read_as: str | None
    axes: str | None
    lines: tuple[NumberLine, ...]
    fitting: FittingView | None


@dataclass(frozen=True, slots=True)
class VerdictsView:
    """All models, and how many got which verdict."""

    verdict: Chip
    sentence: str
    counts: tuple[Chip, ...]
    models: tuple[ModelView, ...]
    proves_nothing: bool


def verdicts_view(audit: PastedAudit) -> VerdictsView:
    """Present an audit."""
    models = tuple(_model(number, each) for number, each in enumerate(audit.models, start=1))
    return VerdictsView(
        verdict=_chip(audit.verdict),
        sentence=audit.headline,
        counts=_counts(audit),
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
        why=_capital(report.why),
        read_as=None if report.reading == "as published" else _capital(report.reading),
        axes=None if report.matrix is None else _capital(report.matrix.why),
        lines=tuple(_line(forms, report) for forms in _forms_of_numbers(report)),
        fitting=None
        if report.tables is None or report.labels is None
        else fitting_view(report.tables, report.labels.names, positive or 0),
    )


def _positive(report: AuditReport) -> int:
    """The class whose hits the fitting matrices are listed by: that of the class metrics."""
    codes = [f.claim.code for f in report.findings if f.claim.code is not None]
    return codes[0] if codes else 0


def _forms_of_numbers(report: AuditReport) -> list[list[Finding]]:
    """Findings one by one, but forms of one number with one verdict together."""
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


def _line(forms: list[Finding], report: AuditReport) -> NumberLine:
    first, last = forms[0], forms[-1]
    key = first.definition.key
    is_other = first.verdict is AuditVerdict.OTHER_DEFINITION and key != first.claim.key
    return NumberLine(
        name=first.claim.place_name(report.labels),
        printed=", ".join(form.claim.printed.text for form in forms),
        stands_for=_stands_for(forms),
        verdict=_chip(first.verdict),
        why=_capital(first.why),
        expected=expected_text(last.expected, last.claim.printed)
        if first.verdict is not AuditVerdict.CONSISTENT
        else None,
        meant=key if is_other else None,
        meant_url=MetricAddress(key).url() if is_other and key in _DESCRIBED else None,
    )


def _stands_for(forms: list[Finding]) -> str:
    """The ranges of the rounded forms; a quotient beside them is exact anyway."""
    rounded = [form for form in forms if form.claim.printed.unit]
    texts = (allowed_text(f.claim.printed, f.rounding) for f in rounded or forms[:1])
    return "; ".join(dict.fromkeys(texts))


def _chip(verdict: AuditVerdict) -> Chip:
    return Chip(_WORDS[verdict], _TONES[verdict])


def _counts(audit: PastedAudit) -> tuple[Chip, ...]:
    findings = [finding for each in audit.models for finding in each.report.findings]
    return tuple(
        Chip(f"{numbers.count(found)} {_WORDS[verdict]}", _TONES[verdict])
        for verdict in reversed(AuditVerdict)
        if (found := sum(finding.verdict is verdict for finding in findings))
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

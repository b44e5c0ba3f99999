"""Sentences about confused labels, with their evidence: "sea is predicted as sky ..."."""

from __future__ import annotations

from offdiag.domain.number_text import p_value, percent
from offdiag.domain.wording import name
from offdiag.metrics.multilabel_runs.confused import ConfusedLabel, Confusion, Evidence


def sentence(found: ConfusedLabel) -> str:
    """What goes wrong: "sea is predicted as sky when sand is present"."""
    one, other = name(found.label), name(found.other)
    match found.kind:
        case Confusion.REPLACED:
            when = "" if found.when is None else f" when {name(found.when)} is present"
            return f"{one} is predicted as {other}{when}"
        case Confusion.MISSED:
            return f"{one} is missed more often when {other} is present"
        case Confusion.ADDED:
            return f"{one} is predicted by mistake when {other} is present"


def evidence_text(found: ConfusedLabel) -> str:
    """The counts behind it, with the adjusted p of each."""
    one, other = name(found.label), name(found.other)
    match found.kind:
        case Confusion.REPLACED:
            said = (
                f"Among examples with {one} and without {other}, {one} is missed in "
                f"{_rates(found.evidence, f'where {other} is added', 'elsewhere')}."
            )
            if found.evidence_when is None or found.when is None:
                return said
            third = name(found.when)
            both = _rates(found.evidence_when, f"with {third}", "without")
            return f"{said} Both happen in {both}."
        case Confusion.MISSED:
            return f"{one} is missed in {_rates(found.evidence, f'with {other}', 'without')}."
        case Confusion.ADDED:
            return f"{one} is added in {_rates(found.evidence, f'with {other}', 'without')}."


def _rates(evidence: Evidence, here: str, there: str) -> str:
    """ "24 of 40 (60 %) with sand, 6 of 80 (8 %) without; p < 0.001"."""
    return (
        f"{evidence.errors_with:,} of {evidence.n_with:,} ({percent(evidence.rate_with)}) {here}, "
        f"{evidence.errors_without:,} of {evidence.n_without:,} "
        f"({percent(evidence.rate_without)}) {there} ({p_value(evidence.p_adjusted)})"
    )

"""Numbers that were reported with a logged matrix: kept as tags, audited against the matrix."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from offdiag.audit.audit import audited
from offdiag.audit.findings import AuditReport
from offdiag.audit.reported_values import Claim, Facts, claims_from, readings
from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix

PREFIX = "reported."


def reported_tags(reported: Mapping[str, object], labels: LabelSet) -> dict[str, str]:
    """The numbers as they were printed, by tag: `reported.accuracy`, `reported.recall[ill]`.

    `reported` is read as `audit_reported` reads it. Raises `InvalidInput` for unknown metrics
    and labels, and for what is no number.
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

    The actual class of each cell is known, so that numbers which fit only once the axes trade
    places are found. Tags that somebody named like this without being metrics count for nothing.
    """
    claims: list[Claim] = []
    facts = Facts(matrix.labels, tuple(matrix.actual.tolist()))
    for tag, value in tags.items():
        if tag.startswith(PREFIX):
            with suppress(InvalidInput):
                printed = by_metric({tag.removeprefix(PREFIX): value})
                told = claims_from(printed, matrix.labels)
                readings(told, facts)
                claims += told
    return audited(tuple(claims), facts, matrix.counts) if claims else None


def by_metric(printed: Mapping[str, object]) -> dict[str, object]:
    """Numbers of classes below their metric: {"recall[ill]": "0.9"} as {"recall": {"ill": "0.9"}}.

    Raises `InvalidInput` where a metric has a number of its own, too.
    """
    found: dict[str, object] = {}
    for text, value in printed.items():
        name, bracket, label = text.partition("[")
        of_classes = found.get(name, {}) if bracket else value
        if (bracket and not isinstance(of_classes, dict)) or (not bracket and name in found):
            raise InvalidInput(
                f"{name} has one value for all classes, and others by class.",
                field="reported",
                hint="Give the class of each, as in recall[ill].",
            )
        if isinstance(of_classes, dict):
            of_classes[label.removesuffix("]")] = value
        found[name] = of_classes
    return found

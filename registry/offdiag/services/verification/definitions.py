"""Checking what results are read by: names of classes, costs, and the files of reports."""

from __future__ import annotations

from collections.abc import Iterator

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.services.verification.findings import Finding, FindingKind
from offdiag.store import cost_matrices, datasets, reports
from offdiag.store.session import Session


def check_definitions(session: Session) -> list[Finding]:
    """Everything that is wrong with label sets, cost matrices and frozen files."""
    return [
        Finding(FindingKind.DAMAGED, subject, sentence)
        for subject, sentence in (
            *_label_sets(session),
            *_costs(session),
            *_files(session),
        )
    ]


def _label_sets(session: Session) -> Iterator[tuple[str, str]]:
    for digest, names, ordinal in datasets.all_label_sets(session):
        try:
            found = LabelSet(tuple(names), ordinal)
        except InvalidInput as error:
            yield f"label set {digest[:12]}", f"it cannot be read: {error}"
            continue
        if found.digest != digest:
            yield f"label set {digest[:12]}", "its names are not those that were logged."


def _costs(session: Session) -> Iterator[tuple[str, str]]:
    for costs_id, name, version in cost_matrices.all_versions(session):
        try:
            cost_matrices.get_costs(session, costs_id)
        except ValueError as error:
            yield f"cost matrix {name} version {version}", f"it cannot be read: {error}"


def _files(session: Session) -> Iterator[tuple[str, str]]:
    for name, number, kind in reports.damaged_files(session):
        yield f"report {name} {number}", f"its {kind} file is not the one that was frozen."

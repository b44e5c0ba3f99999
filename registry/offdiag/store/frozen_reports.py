"""Statements that end an issue: frozen with its files, failed, or given another chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from offdiag.store import codec
from offdiag.store.models import ReportFileRow, ReportIssueRow
from offdiag.store.report_issues import IssueState


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One form of a computed issue."""

    kind: str
    content_type: str
    content: bytes
    sha256: str


def write_computed(
    session: Session,
    issue_id: int,
    *,
    headline: str,
    data_digest: str,
    summary: Mapping[str, Any],
    files: Sequence[StoredFile],
    now: datetime,
) -> bool:
    """Freeze an issue with its files. False if it is not pending any more: nothing is written."""
    frozen = session.scalar(
        update(ReportIssueRow)
        .where(ReportIssueRow.id == issue_id, ReportIssueRow.state == IssueState.PENDING)
        .values(
            state=IssueState.COMPUTED,
            headline=headline,
            data_digest=data_digest,
            summary=dict(summary),
            computed_at=now,
        )
        .returning(ReportIssueRow.id)
    )
    if frozen is None:
        return False
    session.add_all(
        ReportFileRow(
            issue_id=issue_id,
            kind=file.kind,
            content_type=file.content_type,
            content=file.content,
            sha256=file.sha256,
        )
        for file in files
    )
    session.flush()  # A full disk must speak up here.
    return True


def mark_failed(session: Session, issue_id: int, error: str) -> None:
    """Record that an issue could not be computed."""
    session.execute(
        update(ReportIssueRow)
        .where(ReportIssueRow.id == issue_id, ReportIssueRow.state == IssueState.PENDING)
        .values(state=IssueState.FAILED, error=error)
    )


def mark_pending(session: Session, issue_id: int) -> None:
    """Give a failed issue another chance."""
    session.execute(
        update(ReportIssueRow)
        .where(ReportIssueRow.id == issue_id, ReportIssueRow.state == IssueState.FAILED)
        .values(state=IssueState.PENDING, error=None)
    )


def stored_file(content: bytes, *, kind: str, content_type: str) -> StoredFile:
    """A file with its checksum."""
    return StoredFile(kind, content_type, content, codec.sha256_hex(content))


def read_files(session: Session, issue_id: int, kinds: Sequence[str]) -> list[StoredFile]:
    """Files of an issue, in the order of `kinds`; those that are missing are left out."""
    rows = session.scalars(
        select(ReportFileRow).where(
            ReportFileRow.issue_id == issue_id, ReportFileRow.kind.in_(kinds)
        )
    )
    found = {
        row.kind: StoredFile(row.kind, row.content_type, row.content, row.sha256) for row in rows
    }
    return [found[kind] for kind in kinds if kind in found]


def damaged_files(session: Session) -> list[tuple[str, int, str]]:
    """Name and number of the issue, and kind, of every file that is not what was frozen."""
    keys = session.execute(
        select(
            ReportIssueRow.name, ReportIssueRow.number, ReportFileRow.issue_id, ReportFileRow.kind
        )
        .join(ReportFileRow, ReportFileRow.issue_id == ReportIssueRow.id)
        .order_by(ReportFileRow.issue_id, ReportFileRow.kind)
    ).all()
    return [
        (name, number, kind)
        for name, number, issue_id, kind in keys
        for file in read_files(session, issue_id, [kind])
        if codec.sha256_hex(file.content) != file.sha256
    ]

"""Statements on share links: one page each, for anyone with the secret of the link."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session

from offdiag.store.models import ShareLinkRow, UserRow
from offdiag.store.models.base import record_as


@dataclass(frozen=True, slots=True)
class ShareLink:
    """A link without its secret; `address` is the path and query of the page it shows."""

    id: int
    address: str
    owner_id: int
    owner: str
    owner_disabled: bool
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None
    revoked_at: datetime | None

    def is_valid(self, now: datetime) -> bool:
        """Whether it shows its page at a moment."""
        return self.revoked_at is None and not self.owner_disabled and now < self.expires_at


def add_share_link(
    session: Session,
    *,
    digest: str,
    address: str,
    owner_id: int,
    now: datetime,
    expires_at: datetime,
) -> int:
    """Insert a link and return its number."""
    row = ShareLinkRow(
        digest=digest,
        address=address,
        owner_id=owner_id,
        created_at=now,
        expires_at=expires_at,
        used_at=None,
        revoked_at=None,
    )
    session.add(row)
    session.flush()  # The number is part of the answer.
    return row.id


def find_share_link(session: Session, digest: str) -> ShareLink | None:
    """A link by the digest of its secret, valid or not."""
    return _first(session, _links().where(ShareLinkRow.digest == digest))


def get_share_link(session: Session, link_id: int) -> ShareLink | None:
    return _first(session, _links().where(ShareLinkRow.id == link_id))


def list_share_links(session: Session, *, owner_id: int | None = None) -> list[ShareLink]:
    """Links of one user or of all, the newest first."""
    wanted = _links().order_by(ShareLinkRow.id.desc())
    if owner_id is not None:
        wanted = wanted.where(ShareLinkRow.owner_id == owner_id)
    return [_record(*row) for row in session.execute(wanted)]


def note_use(session: Session, link_id: int, now: datetime) -> None:
    """Record when a link was last opened."""
    session.execute(update(ShareLinkRow).where(ShareLinkRow.id == link_id).values(used_at=now))


def revoke(session: Session, link_id: int, now: datetime) -> None:
    """Revoke a link; one that was revoked before keeps its time."""
    session.execute(
        update(ShareLinkRow)
        .where(ShareLinkRow.id == link_id, ShareLinkRow.revoked_at.is_(None))
        .values(revoked_at=now)
    )


def _links() -> Select[ShareLinkRow, UserRow]:
    return select(ShareLinkRow, UserRow).join(UserRow, UserRow.id == ShareLinkRow.owner_id)


def _first(session: Session, wanted: Select[ShareLinkRow, UserRow]) -> ShareLink | None:
    row = session.execute(wanted).one_or_none()
    return None if row is None else _record(*row)


def _record(link: ShareLinkRow, owner: UserRow) -> ShareLink:
    return record_as(
        ShareLink,
        link,
        owner_id=owner.id,
        owner=owner.name,
        owner_disabled=owner.disabled_at is not None,
    )

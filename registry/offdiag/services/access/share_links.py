"""Share links: one page, read-only, for anyone with the link, while its owner may share it.

The secret is only in the link; the registry stores its digest. A link never shows more than its
owner may edit now, and none works while the settings do not allow links.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta

from offdiag.domain.access import Caller, CallerKind, Role, may, may_anywhere
from offdiag.errors import Forbidden, InvalidInput, NotFound
from offdiag.services.access.sessions import TOUCHED_EVERY, digest_of
from offdiag.store import share_links, users
from offdiag.store.audit_log import describe
from offdiag.store.database import Database
from offdiag.store.share_links import ShareLink

_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class NewShareLink:
    """A new link with its secret, which cannot be read again later."""

    link: ShareLink
    secret: str


def may_share(caller: Caller, projects: frozenset[str]) -> bool:
    """Whether a user may share a page about these projects; without projects, one without data."""
    if not projects:
        return may_anywhere(caller, Role.EDITOR)
    return all(may(caller, Role.EDITOR, project) for project in projects)


def create_share_link(
    database: Database,
    *,
    owner: Caller,
    address: str,
    projects: frozenset[str],
    days: int,
    most_days: int,
) -> NewShareLink:
    """Create a link to a page about these projects.

    `most_days` is the longest lifetime that settings allow, 0 if links are off. Raises
    `Forbidden`, and `InvalidInput` for an invalid number of days.
    """
    if not most_days:
        raise Forbidden(
            "share links are turned off.",
            hint="An operator turns them on with the setting access.share_link_days.",
        )
    if not 1 <= days <= most_days:
        raise InvalidInput(
            f"{days} is not a number of days that a link may last.",
            field="days",
            hint=f"Give a number from 1 to {most_days}.",
        )
    if owner.user_id is None or not may_share(owner, projects):
        raise Forbidden(
            "sharing a page needs the role editor in its project.", hint="Ask an admin for it."
        )
    secret, now = secrets.token_urlsafe(_SECRET_BYTES), database.clock()
    with database.write() as session:
        link_id = share_links.add_share_link(
            session,
            digest=digest_of(secret),
            address=address,
            owner_id=owner.user_id,
            now=now,
            expires_at=now + timedelta(days=days),
        )
        describe(
            session,
            action="share_link.create",
            subject=address,
            project=next(iter(projects)) if len(projects) == 1 else None,
            detail={"number": link_id, "days": days},
        )
        link = _existing(share_links.get_share_link(session, link_id), link_id)
    return NewShareLink(link, secret)


@dataclass(frozen=True, slots=True)
class OpenedLink:
    """A valid link, and its owner with the roles they have now."""

    link: ShareLink
    owner: Caller


def open_share_link(database: Database, secret: str, *, most_days: int) -> OpenedLink | None:
    """The valid link with this secret and its owner, None if there is none."""
    now = database.clock()
    with database.read() as session:
        link = share_links.find_share_link(session, digest_of(secret))
        if link is None or not link.is_valid(now):
            return None
        if now >= link.created_at + timedelta(days=most_days):
            return None
        grants = users.grants_of(session, link.owner_id)
    if link.used_at is None or now - link.used_at >= TOUCHED_EVERY:
        with database.write() as session:
            share_links.note_use(session, link.id, now)
    return OpenedLink(link, Caller(CallerKind.USER, link.owner, grants, link.owner_id))


def revoke_share_link(
    database: Database, link_id: int, *, owner_id: int | None = None
) -> ShareLink:
    """Make a link invalid; links of other users than `owner_id` are not found.

    Raises `NotFound`.
    """
    with database.write() as session:
        found = _existing(share_links.get_share_link(session, link_id), link_id)
        if owner_id is not None and found.owner_id != owner_id:
            raise _no_link(link_id)
        share_links.revoke(session, link_id, database.clock())
        describe(
            session,
            action="share_link.revoke",
            subject=found.address,
            detail={"number": link_id},
        )
        return _existing(share_links.get_share_link(session, link_id), link_id)


def _existing(link: ShareLink | None, link_id: int) -> ShareLink:
    if link is None:
        raise _no_link(link_id)
    return link


def _no_link(link_id: int) -> NotFound:
    return NotFound(
        f"there is no share link {link_id}.",
        field="link",
        hint="The list of share links shows yours.",
    )

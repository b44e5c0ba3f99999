"""Sessions of browsers: a random secret in a cookie, whose digest is kept while it counts."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from offdiag.domain.access import Principal, PrincipalKind
from offdiag.errors import InvalidInput, NotSignedIn
from offdiag.services.access import passwords
from offdiag.services.access.users import set_password
from offdiag.store import sessions, users
from offdiag.store.audit_log import describe
from offdiag.store.database import Database

TOUCHED_EVERY = timedelta(minutes=1)
_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class SessionLife:
    """How long a session lasts: unused, and in all."""

    idle: timedelta
    longest: timedelta


def sign_in(database: Database, *, name: str, password: str, life: SessionLife) -> str:
    """Begin a session with a password; returns its secret.

    Raises `NotSignedIn`, which does not say whether the name or the password is wrong, and
    takes as long for either.
    """
    with database.read() as session:
        known = users.password_hash(session, name)
    if not passwords.is_password(password, None if known is None else known[1]) or known is None:
        raise NotSignedIn(
            "name and password do not belong together.",
            field="password",
            hint="Try again, or ask an admin for a new password.",
        )
    user_id, stored = known
    if passwords.is_outdated(stored):
        with database.write() as session:
            users.set_password_hash(session, user_id, passwords.hashed(password))
            describe(session, action="user.rehash", subject=name)
    return begin_session(database, user_id=user_id, name=name, life=life)


def begin_session(database: Database, *, user_id: int, name: str, life: SessionLife) -> str:
    """Begin a session of somebody who was recognised; returns its secret."""
    secret, now = secrets.token_urlsafe(_SECRET_BYTES), database.clock()
    with database.write() as session:
        sessions.end_sessions_before(session, seen=now - life.idle, created=now - life.longest)
        sessions.add_session(session, digest_of(secret), user_id, now)
        users.note_sign_in(session, user_id, now)
        describe(session, action="session.begin", subject=name)
    return secret


def principal_of_session(database: Database, secret: str, life: SessionLife) -> Principal | None:
    """Who is signed in by a secret, None when it is worth nothing any more."""
    digest, now = digest_of(secret), database.clock()
    with database.read() as session:
        found = sessions.find_session(session, digest)
        if found is None or not _lasts(found.seen_at, found.created_at, now, life):
            return None
        grants = users.grants_of(session, found.user_id)
    if now - found.seen_at >= TOUCHED_EVERY:
        with database.write() as session:
            sessions.touch_session(session, digest, now)
    return Principal(PrincipalKind.USER, found.user, grants, found.user_id)


def sign_out(database: Database, secret: str) -> None:
    """End one session."""
    with database.write() as session:
        sessions.end_session(session, digest_of(secret))
        describe(session, action="session.end", subject="")


def sign_out_everywhere(database: Database, *, user_id: int, name: str) -> None:
    """End all sessions of a user."""
    with database.write() as session:
        sessions.end_sessions_of(session, user_id)
        describe(session, action="session.end_all", subject=name)


def change_password(
    database: Database, *, name: str, current: str, wanted: str, secret: str
) -> None:
    """Replace one's own password, which ends one's other sessions.

    Raises `InvalidInput` naming the field that is wrong.
    """
    with database.read() as session:
        known = users.password_hash(session, name)
    if known is None or not passwords.is_password(current, known[1]):
        raise InvalidInput(
            "it is not your password.", field="current", hint="Type the one you signed in with."
        )
    passwords.checked(wanted, user=name, field="wanted")
    set_password(database, name=name, password=wanted, keep_session=digest_of(secret))


def digest_of(secret: str) -> str:
    """What is stored of a random secret, which needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _lasts(seen: datetime, created: datetime, now: datetime, life: SessionLife) -> bool:
    return now - seen < life.idle and now - created < life.longest

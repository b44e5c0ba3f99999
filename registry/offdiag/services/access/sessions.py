"""Browser sessions and API tokens: creating them, finding their caller, ending them.

A session is a random secret in a cookie, whose digest is stored while it is valid. A token is
shown once, stored as a digest, and never allows more than its owner may do.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import timedelta

from offdiag.domain.access import Caller, CallerKind, Grant, may, narrowed
from offdiag.domain.runs import require_name
from offdiag.errors import Forbidden, InvalidInput, NotFound, NotSignedIn
from offdiag.services.access.users import (
    checked,
    hashed,
    is_outdated,
    is_password,
    project_id,
    set_password,
)
from offdiag.store import sessions, users
from offdiag.store.audit_log import describe
from offdiag.store.database import Database
from offdiag.store.sessions import TokenRecord

TOUCHED_EVERY = timedelta(minutes=1)
_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class SessionLife:
    """How long a session lasts: when unused, and in total."""

    idle: timedelta
    longest: timedelta


def sign_in(database: Database, *, name: str, password: str, life: SessionLife) -> str:
    """Start a session with a password; returns its secret.

    Raises `NotSignedIn`, which does not reveal whether the name or the password is wrong, and
    takes the same time for both.
    """
    with database.read() as session:
        known = users.password_hash(session, name)
    if not is_password(password, None if known is None else known[1]) or known is None:
        raise NotSignedIn(
            "name and password do not match.",
            field="password",
            hint="Try again, or ask an admin for a new password.",
        )
    user_id, stored = known
    if is_outdated(stored):
        with database.write() as session:
            users.set_password_hash(session, user_id, hashed(password))
            describe(session, action="user.rehash", subject=name)
    return begin_session(database, user_id=user_id, name=name, life=life)


def begin_session(database: Database, *, user_id: int, name: str, life: SessionLife) -> str:
    """Start a session for a user who has been authenticated; returns its secret."""
    secret, now = secrets.token_urlsafe(_SECRET_BYTES), database.clock()
    with database.write() as session:
        sessions.end_sessions_before(session, seen=now - life.idle, created=now - life.longest)
        sessions.add_session(session, digest_of(secret), user_id, now)
        users.note_sign_in(session, user_id, now)
        describe(session, action="session.begin", subject=name)
    return secret


def caller_of_session(database: Database, secret: str, life: SessionLife) -> Caller | None:
    """The caller whose session has this secret, None if it is no longer valid."""
    digest, now = digest_of(secret), database.clock()
    with database.read() as session:
        found = sessions.find_session(session, digest)
        if found is None or now - found.seen_at >= life.idle:
            return None
        if now - found.created_at >= life.longest:
            return None
        grants = users.grants_of(session, found.user_id)
    if now - found.seen_at >= TOUCHED_EVERY:
        with database.write() as session:
            sessions.touch_session(session, digest, now)
    return Caller(CallerKind.USER, found.user, grants, found.user_id)


def sign_out(database: Database, secret: str) -> None:
    with database.write() as session:
        sessions.end_session(session, digest_of(secret))
        describe(session, action="session.end", subject="")


def sign_out_everywhere(database: Database, *, user_id: int, name: str) -> None:
    with database.write() as session:
        sessions.end_sessions_of(session, user_id)
        describe(session, action="session.end_all", subject=name)


def change_password(
    database: Database, *, name: str, current: str, wanted: str, secret: str
) -> None:
    """Replace the user's own password, which ends their other sessions.

    Raises `InvalidInput` naming the field that is wrong.
    """
    with database.read() as session:
        known = users.password_hash(session, name)
    if known is None or not is_password(current, known[1]):
        raise InvalidInput(
            "it is not your password.", field="current", hint="Type the one you signed in with."
        )
    checked(wanted, user=name, field="wanted")
    set_password(database, name=name, password=wanted, keep_session=digest_of(secret))


def digest_of(secret: str) -> str:
    """The stored digest of a random secret, which needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


PREFIX = "offdiag_"
SHOWN = len(PREFIX) + 6
"""Characters of a token that are stored so that it can be recognised; 222 random bits are not."""
SECRET_BYTES = 32
LONGEST_LIFE = timedelta(days=3_650)


@dataclass(frozen=True, slots=True)
class NewToken:
    """A new token with its secret, which cannot be read again later."""

    record: TokenRecord
    secret: str


def create_token(
    database: Database, *, owner: str, name: str, scope: Grant, lifetime: timedelta | None
) -> NewToken:
    """Create a token for a user. With `lifetime` None it lasts until it is revoked.

    Raises `InvalidInput`, `NotFound` for a user or project that does not exist, and `Forbidden` if
    the owner does not have the role that the token is to have.
    """
    name = require_name(name.strip(), "name")
    if lifetime is not None and not timedelta(0) < lifetime <= LONGEST_LIFE:
        raise InvalidInput(
            "the lifetime is not between 0 and 10 years.",
            field="expires",
            hint="Give a number of days from 1 to 3650, or none.",
        )
    secret = f"{PREFIX}{secrets.token_urlsafe(SECRET_BYTES)}"
    with database.write() as session:
        user = users.find_user(session, owner)
        if user is None:
            raise NotFound(
                f"there is no user {owner!r}.",
                field="user",
                hint=f"`offdiag user add {owner} --role {scope.role.value}` adds one.",
            )
        known = project_id(session, scope.project)
        if not may(Caller(CallerKind.USER, owner, user.grants), scope.role, scope.project):
            raise Forbidden(
                f"{owner!r} has no role {scope.role.value} "
                f"{'in all projects' if scope.project is None else f'in {scope.project!r}'}.",
                field="role",
                hint="A token allows no more than its owner may do.",
            )
        now = database.clock()
        token_id = sessions.add_token(
            session,
            name=name,
            prefix=secret[:SHOWN],
            digest=digest_of(secret),
            owner_id=user.id,
            role=scope.role,
            project_id=known,
            now=now,
            expires_at=None if lifetime is None else now + lifetime,
        )
        describe(
            session,
            action="token.create",
            subject=secret[:SHOWN],
            project=scope.project,
            detail={"name": name, "owner": owner, "role": scope.role},
        )
        return NewToken(_existing(sessions.get_token(session, token_id), token_id), secret)


def caller_of_token(database: Database, secret: str) -> Caller | None:
    """The owner of a token, with what it allows now; None if it is not valid."""
    digest, now = digest_of(secret), database.clock()
    with database.read() as session:
        found = sessions.find_token(session, digest)
        # The index found it by its digest, which reveals nothing about the secret; the comparison
        # that decides takes the same time wherever the two differ.
        if found is None or not hmac.compare_digest(found.digest, digest):
            return None
        if not found.is_valid(now):
            return None
        grants = users.grants_of(session, found.owner_id)
    if found.used_at is None or now - found.used_at >= TOUCHED_EVERY:
        with database.write() as session:
            sessions.note_use(session, found.id, now)
    name = f"{found.owner} ({found.prefix}…)"
    return Caller(CallerKind.TOKEN, name, narrowed(grants, found.scope), found.owner_id)


def revoke_token(database: Database, token_id: int, *, owner_id: int | None = None) -> TokenRecord:
    """Make a token invalid. Raises `NotFound`, also if it does not belong to `owner_id`."""
    with database.write() as session:
        found = _existing(sessions.get_token(session, token_id), token_id)
        if owner_id is not None and found.owner_id != owner_id:
            raise _no_token(token_id)
        sessions.revoke(session, token_id, database.clock())
        describe(session, action="token.revoke", subject=found.prefix, project=found.scope.project)
        return _existing(sessions.get_token(session, token_id), token_id)


def _existing(token: TokenRecord | None, token_id: int) -> TokenRecord:
    if token is None:
        raise _no_token(token_id)
    return token


def _no_token(token_id: int) -> NotFound:
    return NotFound(
        f"there is no token {token_id}.", field="token", hint="The list of tokens shows yours."
    )

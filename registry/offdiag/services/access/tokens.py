"""Tokens of programs: shown once, kept as a digest, never worth more than their owner."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from datetime import timedelta

from offdiag.domain.access import Grant, Principal, PrincipalKind, may, narrowed
from offdiag.domain.runs import require_name
from offdiag.errors import Forbidden, InvalidInput, NotFound
from offdiag.services.access.signing_in import digest_of
from offdiag.services.access.users import project_id
from offdiag.store import sessions, users
from offdiag.store.audit_log import describe
from offdiag.store.database import Database
from offdiag.store.sessions import TokenRecord

PREFIX = "offdiag_"
SHOWN = len(PREFIX) + 6
"""As many characters of a token are kept to recognise it by; 222 random bits are not."""
SECRET_BYTES = 32
MOST_TOKENS = 1_000
LONGEST_LIFE = timedelta(days=3_650)
TOUCHED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token with its secret, which is known to nobody once this is forgotten."""

    record: TokenRecord
    secret: str


def create_token(
    database: Database, *, owner: str, name: str, scope: Grant, lifetime: timedelta | None
) -> NewToken:
    """Make a token for a user. `lifetime` None lets it last until it is revoked.

    Raises `InvalidInput`, `NotFound` for a user or project that does not exist, and
    `Forbidden` where the owner may not do what the token should.
    """
    name = require_name(name.strip(), "name")
    if lifetime is not None and not timedelta(0) < lifetime <= LONGEST_LIFE:
        raise InvalidInput(
            "a token lasts between a moment and ten years.",
            field="expires",
            hint="Give a number of days from 1 to 3650, or none.",
        )
    secret = f"{PREFIX}{secrets.token_urlsafe(SECRET_BYTES)}"
    with database.write() as session:
        user = users.find_user(session, owner)
        if user is None:
            raise NotFound(f"there is no user {owner!r}.", field="user")
        known = project_id(session, scope.project)
        if not may(Principal(PrincipalKind.USER, owner, user.grants), scope.role, scope.project):
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


def principal_of_token(database: Database, secret: str) -> Principal | None:
    """Who a token speaks for and what it may do now, None when it opens nothing."""
    digest, now = digest_of(secret), database.clock()
    with database.read() as session:
        found = sessions.find_token(session, digest)
        # The index found it by its digest, which tells nothing of the secret; the comparison
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
    return Principal(PrincipalKind.TOKEN, name, narrowed(grants, found.scope), found.owner_id)


def list_tokens(database: Database, *, owner_id: int | None = None) -> list[TokenRecord]:
    """The tokens of one user, or of all, the newest first."""
    with database.read() as session:
        return sessions.list_tokens(session, owner_id=owner_id, limit=MOST_TOKENS)


def revoke_token(database: Database, token_id: int, *, owner_id: int | None = None) -> TokenRecord:
    """Let a token open nothing any more; one that belongs to another user than `owner_id` is not
    found. Raises `NotFound`."""
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

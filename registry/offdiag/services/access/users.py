"""User accounts, roles and passwords, as admins and the command line manage them.

Passwords are hashed and checked, and refused if they are easy to guess.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from offdiag.domain.access import Grant, Role
from offdiag.domain.runs import require_name
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.store import datasets, sessions, users
from offdiag.store.audit_log import describe
from offdiag.store.database import Database, Session
from offdiag.store.users import UserRecord

SHORTEST = 10
LONGEST = 1_000
"""Most characters of a password. Longer ones only cost time to hash."""
FEWEST_CHARACTERS = 5

# Argon2id with 19 MiB and two passes, so that eight sign-ins at once fit into a small server.
_HASHER = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)


def hashed(password: str) -> str:
    """The hash of a password as it is stored, including salt, method and parameters."""
    return _HASHER.hash(password)


def is_password(password: str, stored: str | None) -> bool:
    """Whether the password has this hash; without one, refusing takes the same time."""
    try:
        _HASHER.verify(stored or _nobodys(), password)
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None


def is_outdated(stored: str) -> bool:
    """Whether a password was hashed with other parameters than those now in use."""
    return _HASHER.check_needs_rehash(stored)


def checked(password: str, *, user: str, field: str = "password") -> str:
    """Return the password if it is acceptable. Raises `InvalidInput` that does not repeat it."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise InvalidInput(
            f"the password has {len(password)} characters.",
            field=field,
            hint=f"Use {SHORTEST} to {LONGEST:,}; a few words in a row are easy to remember.",
        )
    if len(set(password)) < FEWEST_CHARACTERS or password.casefold() == user.casefold():
        raise InvalidInput(
            "it is easy to guess.",
            field=field,
            hint="Use a few unrelated words.",
        )
    return password


@cache
def _nobodys() -> str:
    return _HASHER.hash("the password of nobody")


LONGEST_NAME = 100
_NAME = re.compile(r"[\w.@+-]+")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")


def add_user(
    database: Database,
    *,
    name: str,
    password: str | None,
    grants: Sequence[Grant] = (),
    display_name: str | None = None,
    email: str | None = None,
) -> UserRecord:
    """Add a user. Without a password they cannot sign in with one.

    Raises `InvalidInput` for an invalid name, password or e-mail address, `Conflict` for a name
    that is in use, and `NotFound` for a project that does not exist.
    """
    name = user_name(name)
    if password is not None:
        checked(password, user=name)
    stored = None if password is None else hashed(password)
    with database.write() as session:
        user_id = users.add_user(
            session,
            name=name,
            display_name=_shown_name(display_name),
            email=_address(email),
            password_hash=stored,
            now=database.clock(),
        )
        if user_id is None:
            raise Conflict(
                f"user {name!r} already exists.",
                field="name",
                hint="Choose another name, or change the roles of this one.",
            )
        for grant in grants:
            users.set_role(
                session, user_id, project_id=project_id(session, grant.project), role=grant.role
            )
        describe(
            session, action="user.add", subject=name, detail={"roles": [_text(g) for g in grants]}
        )
        return _existing(users.get_user(session, user_id), name)


def find_user(database: Database, name: str) -> UserRecord:
    """A user by name. Raises `NotFound`."""
    with database.read() as session:
        return _existing(users.find_user(session, name), name)


def set_role(
    database: Database, *, name: str, project: str | None, role: Role | None
) -> UserRecord:
    """Give a user a role in a project, or in all projects; None removes it.

    Raises `NotFound`, and `Conflict` if no one would be left to manage the registry.
    """
    with database.write() as session:
        users.lock_admins(session)
        user = _existing(users.find_user(session, name), name)
        users.set_role(session, user.id, project_id=project_id(session, project), role=role)
        _require_admin_left(session, user)
        describe(
            session,
            action="user.role",
            subject=name,
            project=project,
            detail={"role": role, "before": [_text(grant) for grant in user.grants]},
        )
        return _existing(users.get_user(session, user.id), name)


def set_disabled(database: Database, *, name: str, disabled: bool) -> UserRecord:
    """Disable a user, which ends their sessions and revokes their tokens, or enable them again.

    Raises `NotFound`, and `Conflict` if no one would be left to manage the registry.
    """
    with database.write() as session:
        users.lock_admins(session)
        user = _existing(users.find_user(session, name), name)
        users.set_disabled(session, user.id, database.clock() if disabled else None)
        if disabled:
            sessions.end_sessions_of(session, user.id)
            _require_admin_left(session, user)
        describe(session, action="user.disable" if disabled else "user.enable", subject=name)
        return _existing(users.get_user(session, user.id), name)


def set_password(
    database: Database, *, name: str, password: str, keep_session: str | None = None
) -> None:
    """Replace a password, which ends all sessions of the user except one (by its digest).

    Raises `NotFound`, and `InvalidInput` for a password that is easy to guess.
    """
    stored = hashed(checked(password, user=name))
    with database.write() as session:
        user = _existing(users.find_user(session, name), name)
        users.set_password_hash(session, user.id, stored)
        sessions.end_sessions_of(session, user.id, but=keep_session)
        describe(session, action="user.password", subject=name)


def user_name(text: str) -> str:
    """A name for signing in: letters, digits and a few signs. Raises `InvalidInput`."""
    name = require_name(text.strip(), "name")
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name[:40]!r} is not a valid user name.",
            field="name",
            hint=f"Use up to {LONGEST_NAME} letters, digits, and any of . _ - @ +",
        )
    return name


def project_id(session: Session, project: str | None) -> int | None:
    """The id of a project, None for all projects. Raises `NotFound`."""
    if project is None:
        return None
    found = datasets.project_id(session, project)
    if found is None:
        raise NotFound(
            f"there is no project {project!r}.",
            field="project",
            hint="A project is made by the first run that is logged in it.",
        )
    return found


def require_admin(database: Database, why: str) -> None:
    """Raise `InvalidInput` if there is no admin; `why` says what one is needed for."""
    with database.read() as session:
        if users.has_admin(session):
            return
    raise InvalidInput(
        f"{why}, and there is no admin.",
        field="access.auth",
        hint="Create one: offdiag user add NAME --role admin",
    )


def _require_admin_left(session: Session, changed: UserRecord) -> None:
    if Grant(Role.ADMIN) in changed.grants and not users.has_admin(session):
        raise Conflict(
            f"{changed.name!r} is the only admin of the registry.",
            field="name",
            hint="Make another user an admin of all projects first.",
        )


def _existing(user: UserRecord | None, name: str) -> UserRecord:
    if user is None:
        raise NotFound(
            f"there is no user {name!r}.", field="user", hint="Check its spelling and case."
        )
    return user


def _shown_name(text: str | None) -> str | None:
    return require_name(text.strip(), "display_name") if text and text.strip() else None


def _address(text: str | None) -> str | None:
    if not text or not text.strip():
        return None
    if len(text) > LONGEST_NAME * 3 or not _EMAIL.fullmatch(text.strip()):
        raise InvalidInput(
            f"{text[:40]!r} is not an address.", field="email", hint="Write name@example.org."
        )
    return text.strip()


def _text(grant: Grant) -> str:
    return grant.role if grant.project is None else f"{grant.role} in {grant.project}"


def mark_news_seen(database: Database, *, user_id: int) -> None:
    """Record that a user has seen everything that has happened up to now."""
    with database.write() as session:
        users.set_news_seen(session, user_id, database.clock())

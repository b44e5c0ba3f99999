"""Users, tokens and roles as their pages show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from offdiag.domain.access import Grant, Role
from offdiag.errors import InvalidInput
from offdiag.store.sessions import TokenRecord
from offdiag.store.users import UserRecord
from offdiag_web.components.controls import Moment, moment

EVERYWHERE = ""
"""How forms name all projects."""

MEANINGS = {
    Role.VIEWER: "view all data",
    Role.LABELER: "propose labels as well",
    Role.LOGGER: "log runs as well",
    Role.EDITOR: "change flags, costs, labels, reports and baselines as well",
    Role.ADMIN: "manage users and read the audit log as well",
}


@dataclass(frozen=True, slots=True)
class RoleLine:
    """A role somebody has: where, and what it lets them do."""

    role: str
    project: str
    meaning: str
    value: str
    """The project as forms name it."""


def role_lines(grants: Sequence[Grant]) -> tuple[RoleLine, ...]:
    """The roles of somebody, that in all projects first."""
    return tuple(
        RoleLine(grant.role, where(grant.project), MEANINGS[grant.role], grant.project or "")
        for grant in grants
    )


def where(project: str | None) -> str:
    """Where a role counts."""
    return "all projects" if project is None else project


def read_role(text: str) -> Role:
    """The role that a form names. Raises `InvalidInput`."""
    if text not in set(Role):
        raise InvalidInput(
            f"{text[:40]!r} is no role.", field="role", hint=f"Roles are {', '.join(Role)}."
        )
    return Role(text)


def read_project(text: str) -> str | None:
    """The project that a form names, None for all of them."""
    return None if text == EVERYWHERE else text


@dataclass(frozen=True, slots=True)
class UserLine:
    """One user with their roles."""

    name: str
    display_name: str | None
    email: str | None
    roles: tuple[RoleLine, ...]
    is_disabled: bool
    signed_in: Moment | None


def user_lines(users: Sequence[UserRecord], *, now: datetime) -> tuple[UserLine, ...]:
    """Users by name."""
    return tuple(
        UserLine(
            user.name,
            user.display_name,
            user.email,
            role_lines(user.grants),
            is_disabled=user.disabled_at is not None,
            signed_in=None if user.signed_in_at is None else moment(user.signed_in_at, now=now),
        )
        for user in users
    )


@dataclass(frozen=True, slots=True)
class TokenLine:
    """One token. `state` says why it opens nothing, empty where it is good."""

    id: int
    name: str
    prefix: str
    owner: str
    role: str
    project: str
    made: Moment
    expires: str
    used: Moment | None
    state: str


def token_lines(tokens: Sequence[TokenRecord], *, now: datetime) -> tuple[TokenLine, ...]:
    """Tokens, the newest first."""
    return tuple(
        TokenLine(
            id=token.id,
            name=token.name,
            prefix=token.prefix,
            owner=token.owner,
            role=token.scope.role,
            project=where(token.scope.project),
            made=moment(token.created_at, now=now),
            expires=f"{token.expires_at:%Y-%m-%d %H:%M} UTC" if token.expires_at else "never",
            used=None if token.used_at is None else moment(token.used_at, now=now),
            state=_state(token, now),
        )
        for token in tokens
    )


def _state(token: TokenRecord, now: datetime) -> str:
    if token.revoked_at is not None:
        return "revoked"
    if token.owner_disabled:
        return "owner disabled"
    return "" if token.is_valid(now) else "expired"

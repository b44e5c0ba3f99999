"""Roles, grants and callers, and who may do what, without any database, request or clock.

Roles are given per project, or for all projects. A request without the role it needs is refused,
so forgetting a role, a project or a grant can only deny access, never allow it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a user may do, each role more than the one before it."""

    VIEWER = "viewer"
    """May look at everything."""
    LABELER = "labeler"
    """May also propose labels of samples."""
    LOGGER = "logger"
    """May also log runs."""
    EDITOR = "editor"
    """May also change what people decide: flags, costs, labels, reports, baselines."""
    ADMIN = "admin"
    """May also decide who may do what, and read the audit log."""

    @property
    def rank(self) -> int:
        return tuple(Role).index(self)

    def suffices_for(self, needed: Role) -> bool:
        """Whether this role may do what `needed` may do."""
        return self.rank >= needed.rank


@dataclass(frozen=True, slots=True)
class Grant:
    """A role in one project, or in all of them where `project` is None."""

    role: Role
    project: str | None = None

    def covers(self, project: str | None) -> bool:
        """Whether the grant applies to a project; None stands for the registry as a whole."""
        return self.project is None or self.project == project


class CallerKind(StrEnum):
    """How a caller was identified."""

    LOCAL = "local"
    """No one was asked to log in: only this machine can reach the registry."""
    USER = "user"
    TOKEN = "token"  # noqa: S105 - a word, not a secret


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a request, as a user or with a token. `name` is the name in the audit log."""

    kind: CallerKind
    name: str
    grants: tuple[Grant, ...] = ()
    user_id: int | None = None

    @property
    def account(self) -> str:
        """The name without the token that may follow it; account names have no spaces."""
        return self.name.partition(" ")[0]


def may(caller: Caller | None, role: Role, project: str | None) -> bool:
    """Whether a caller has the permissions of a role in a project.

    `project` None is the registry as a whole, for which only a grant for all projects counts.
    """
    return caller is not None and any(
        grant.role.suffices_for(role) and grant.covers(project) for grant in caller.grants
    )


def may_anywhere(caller: Caller | None, role: Role) -> bool:
    """Whether there is any project in which a caller has the permissions of a role."""
    return caller is not None and any(grant.role.suffices_for(role) for grant in caller.grants)


def projects_of(caller: Caller, role: Role) -> frozenset[str] | None:
    """The projects in which a caller has the permissions of a role, None for all of them."""
    wide_enough = [grant for grant in caller.grants if grant.role.suffices_for(role)]
    named = frozenset(grant.project for grant in wide_enough if grant.project is not None)
    return None if any(grant.project is None for grant in wide_enough) else named


def narrowed(grants: Iterable[Grant], to: Grant) -> tuple[Grant, ...]:
    """The grants of a user that remain in a token made for the grant `to`.

    A token never allows more than its owner may do now, whatever was written into it.
    """
    return tuple(
        Grant(
            min(grant.role, to.role, key=lambda role: role.rank),
            grant.project if to.project is None else to.project,
        )
        for grant in grants
        if to.project is None or grant.covers(to.project)
    )


EVERYTHING = (Grant(Role.ADMIN),)
"""The grants of the local user of a machine that serves only itself."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who is responsible for the changes of a transaction, and what they are made for.

    `kind` is user, token, cli or system; `action` and `subject` say what is being done to what,
    unless the service that does it knows better.
    """

    kind: str
    name: str
    action: str
    subject: str = ""
    project: str | None = None
    request_id: str | None = None

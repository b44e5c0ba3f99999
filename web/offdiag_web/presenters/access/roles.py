"""Roles in words, and as forms name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from offdiag.domain.access import Grant, Role
from offdiag.errors import InvalidInput

EVERYWHERE = ""
"""How forms name all projects."""

MEANINGS = {
    Role.VIEWER: "look at everything",
    Role.LOGGER: "log runs, too",
    Role.EDITOR: "decide about flags, costs, labels, reports and baselines, too",
    Role.ADMIN: "manage users and read the audit log, too",
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

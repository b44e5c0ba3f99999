"""Users, tokens, and the audit log."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from offdiag.domain.access import Role
from offdiag.records.base import Page, Paged, RequestBody, ResponseBody

if TYPE_CHECKING:
    from offdiag.store.audit_log import AuditEvent

Text = Annotated[str, Field(min_length=1, max_length=1_000)]


class RoleBody(RequestBody):
    """A role in one project or in all projects."""

    role: Role
    project: Text | None = Field(default=None, description="Default: all projects.")


class NewUser(RequestBody):
    """A user of the registry."""

    name: Text = Field(description="Name for sign-in: letters, digits and . _ - @ +")
    password: Text | None = Field(
        default=None,
        description="Without a password, the user signs in with the identity provider.",
        repr=False,
    )
    display_name: Text | None = None
    email: Text | None = None
    roles: list[RoleBody] = Field(default=[], max_length=500)


class RoleChange(RequestBody):
    """A new role in one project or in all projects."""

    role: Role | None = Field(description="Null removes the role.")
    project: Text | None = Field(default=None, description="Default: all projects.")


class GivenRole(ResponseBody):
    """A role of a user; `project` null means all projects."""

    role: str
    project: str | None


class User(ResponseBody):
    """A user of the registry."""

    name: str
    display_name: str | None
    email: str | None
    disabled: bool
    created_at: datetime
    signed_in_at: datetime | None
    roles: list[GivenRole]


class Me(ResponseBody):
    """The caller, and the version of the server."""

    kind: str = Field(description='"user", "token", or "local" without sign-in.')
    name: str
    roles: list[GivenRole]
    version: str = Field(description="Version of offdiag on the server.")

    @property
    def with_roles(self) -> str:
        """The name with all roles, such as "ada (admin)" or "bo (viewer; editor in lesions)"."""
        roles = (
            each.role if each.project is None else f"{each.role} in {each.project}"
            for each in self.roles
        )
        return f"{self.name} ({'; '.join(roles) or 'no role'})"


class UserList(ResponseBody):
    """All users by name."""

    users: list[User]


class WantedToken(RequestBody):
    """A token to create. It never allows more than its owner is allowed to do."""

    name: Text = Field(description="What it is for.")
    role: Role = Role.LOGGER
    project: Text | None = Field(default=None, description="Default: all projects of the owner.")
    days: int | None = Field(
        default=90,
        ge=1,
        le=3_650,
        description="Days until it expires; null: valid until it is revoked.",
    )
    owner: Text | None = Field(default=None, description="Default: the caller.")


class Token(ResponseBody):
    """A token without its secret; `prefix` has its first characters."""

    id: int
    name: str
    prefix: str
    owner: str
    role: str
    project: str | None
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    revoked_at: datetime | None


class MadeToken(Token):
    """A new token. `token` is returned only once."""

    token: str = Field(repr=False)


class TokenList(ResponseBody):
    """The caller's tokens, for an admin those of all users, newest first."""

    tokens: list[Token]


class AuditQuery(Paged):
    """Filters for the audit log."""

    actor: Text | None = Field(default=None, description="Only changes by this user or token.")
    project: Text | None = None
    text: Text | None = Field(default=None, description="Part of the action or of its object.")


class Change(ResponseBody):
    """One change. `detail` has the tables it affected and the comment of its author."""

    number: int
    at: datetime
    actor_kind: str = Field(description='"user", "token", "cli" or "system".')
    actor: str
    action: str
    object: str
    project: str | None
    request_id: str | None
    detail: dict[str, Any]


CHANGE_COLUMNS = tuple(Change.model_fields)


def change_document(event: AuditEvent) -> Change:
    return Change.made_of(event, number=event.id, object=event.subject)


class ChangePage(Page):
    """Changes, newest first."""

    changes: list[Change]

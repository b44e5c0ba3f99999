"""Users who sign in through an OpenID Connect provider, and the roles of their groups."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from offdiag.domain.access import Grant, Role
from offdiag.errors import Conflict, Forbidden, InvalidInput
from offdiag.services.access.users import project_id, user_name
from offdiag.store import users
from offdiag.store.audit_log import describe
from offdiag.store.database import Database
from offdiag.store.users import UserRecord


@dataclass(frozen=True, slots=True)
class ExternalUser:
    """What a provider states about a user."""

    name: str
    groups: frozenset[str]
    display_name: str | None = None
    email: str | None = None


def read_roles(text: str) -> dict[str, list[Grant]]:
    """Roles by group, from `ops=admin, derm=editor@lesions`; a group may have one in each project.

    Raises `InvalidInput`.
    """
    found: dict[str, list[Grant]] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        group, _, given = entry.partition("=")
        role, _, project = given.strip().partition("@")
        if not group.strip() or role not in set(Role):
            raise InvalidInput(
                f"{entry!r} is not a role of a group.",
                field="oidc.roles",
                hint="Write group=role or group=role@project, separated by commas.",
            )
        found.setdefault(group.strip(), []).append(Grant(Role(role), project or None))
    return found


def sign_in_external(
    database: Database, who: ExternalUser, roles: dict[str, list[Grant]] | None
) -> UserRecord:
    """The user for whom a provider vouches, created at the first sign-in.

    With `roles` by group, users have exactly the current roles of their groups; without, those
    that admins gave them.

    Raises `Conflict` if the name belongs to a user who signs in with a password here, because the
    provider may let people choose their names. Raises `Forbidden` for a user who is locked out or
    has no role.
    """
    name = user_name(who.name)
    with database.write() as session:
        known = users.find_user(session, name)
        if known is None:
            users.add_user(
                session,
                name=name,
                display_name=who.display_name,
                email=who.email,
                password_hash=None,
                now=database.clock(),
            )
            # Just added, by this request or by another one at the same moment.
            known = users.find_user(session, name)
        if known is None or known.has_password:
            raise Conflict(
                f"{name!r} signs in with a password here.",
                field="name",
                hint="Use it, or ask an admin to sort out the two accounts.",
            )
        if known.disabled_at is not None:
            raise Forbidden("this account is disabled.", hint="Ask an admin.")
        if roles is not None:
            grants = _strongest(grant for group in who.groups for grant in roles.get(group, ()))
            if set(grants) != set(known.grants):
                pairs = [(project_id(session, grant.project), grant.role) for grant in grants]
                users.replace_roles(session, known.id, pairs)
        describe(session, action="user.recognise", subject=name)
        found = users.get_user(session, known.id)
    if found is None or not found.grants:
        raise Forbidden(f"{name!r} has no role in this registry.", hint="Ask an admin for one.")
    return found


def _strongest(grants: Iterable[Grant]) -> list[Grant]:
    """At most one grant for each project, the strongest: a user may be in several groups."""
    strongest: dict[str | None, Grant] = {}
    for grant in grants:
        known = strongest.get(grant.project)
        if known is None or grant.role.suffices_for(known.role):
            strongest[grant.project] = grant
    return list(strongest.values())

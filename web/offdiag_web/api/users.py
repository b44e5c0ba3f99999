"""Users and their roles."""

from __future__ import annotations

from offdiag.domain.access import Grant, Role
from offdiag.records.access import GivenRole, NewUser, RoleChange, User, UserList
from offdiag.services.access import users
from offdiag.store.users import UserRecord
from offdiag.store.users import list_users as all_users
from offdiag_web.api.operations import operation, resource
from offdiag_web.app.context import current_registry
from offdiag_web.app.permissions import requires

blueprint = resource("users")

_admins = requires(Role.ADMIN, everywhere=True)
_admins_in_person = requires(Role.ADMIN, everywhere=True, in_person=True)


@operation(blueprint, "GET", "/users", answers=UserList)
@_admins
def list_users() -> UserList:
    """List everybody who may use the registry, with their roles."""
    with current_registry().database.read() as session:
        return UserList(users=[_user(each) for each in all_users(session)])


@operation(blueprint, "POST", "/users", answers={201: User})
@_admins_in_person
def add_user(json: NewUser) -> tuple[User, int]:
    """Let somebody use the registry. A token may not do this."""
    added = users.add_user(
        current_registry().database,
        name=json.name,
        password=json.password,
        display_name=json.display_name,
        email=json.email,
        grants=[Grant(given.role, given.project) for given in json.roles],
    )
    return _user(added), 201


@operation(blueprint, "PUT", "/users/<name:name>/role", answers=User)
@_admins_in_person
def set_role(name: str, json: RoleChange) -> User:
    """Give somebody another role, or none. A token may not do this."""
    return _user(
        users.set_role(
            current_registry().database, name=name, project=json.project, role=json.role
        )
    )


@operation(blueprint, "POST", "/users/<name:name>/disable", answers=User)
@_admins_in_person
def disable_user(name: str) -> User:
    """Lock somebody out: sessions end, tokens stop. A token may not do this."""
    return _user(users.set_disabled(current_registry().database, name=name, disabled=True))


@operation(blueprint, "POST", "/users/<name:name>/enable", answers=User)
@_admins_in_person
def enable_user(name: str) -> User:
    """Let somebody in again. A token may not do this."""
    return _user(users.set_disabled(current_registry().database, name=name, disabled=False))


def _user(found: UserRecord) -> User:
    return User(
        name=found.name,
        display_name=found.display_name,
        email=found.email,
        disabled=found.disabled_at is not None,
        created_at=found.created_at,
        signed_in_at=found.signed_in_at,
        roles=[GivenRole(role=grant.role, project=grant.project) for grant in found.grants],
    )

"""Users and their roles, tokens, the caller, and the audit log."""

from __future__ import annotations

from datetime import timedelta

from offdiag.domain.access import CallerKind, Grant, Role, projects_of
from offdiag.errors import Forbidden, InvalidInput, NotSignedIn
from offdiag.records.access import (
    AuditQuery,
    ChangePage,
    GivenRole,
    MadeToken,
    Me,
    NewUser,
    RoleChange,
    Token,
    TokenList,
    User,
    UserList,
    WantedToken,
    change_document,
)
from offdiag.services.access import sessions, users
from offdiag.store.audit_log import AuditFilter, audit_page
from offdiag.store.sessions import TokenRecord
from offdiag.store.sessions import list_tokens as all_tokens
from offdiag.store.users import UserRecord
from offdiag.store.users import list_users as all_users
from offdiag.version import offdiag_version
from offdiag_web.api.operations import operation, resource
from offdiag_web.api.requests import read_token, write_token
from offdiag_web.app.context import current_registry, requires, signed_in_user

blueprint = resource("access")

_admins = requires(Role.ADMIN, everywhere=True)
_admins_in_person = requires(Role.ADMIN, everywhere=True, in_person=True)


@operation(blueprint, "GET", "/users")
@_admins
def list_users() -> UserList:
    """List all users with their roles."""
    with current_registry().database.read() as session:
        return UserList(users=[_user(each) for each in all_users(session)])


@operation(blueprint, "POST", "/users", statuses=(201,))
@_admins_in_person
def add_user(json: NewUser) -> tuple[User, int]:
    """Add a user. A token cannot be used for this."""
    added = users.add_user(
        current_registry().database,
        name=json.name,
        password=json.password,
        display_name=json.display_name,
        email=json.email,
        grants=[Grant(given.role, given.project) for given in json.roles],
    )
    return _user(added), 201


@operation(blueprint, "PUT", "/users/<name:name>/role")
@_admins_in_person
def set_role(name: str, json: RoleChange) -> User:
    """Change or remove a role of a user. A token cannot be used for this."""
    return _user(
        users.set_role(
            current_registry().database, name=name, project=json.project, role=json.role
        )
    )


@operation(blueprint, "POST", "/users/<name:name>/disable")
@_admins_in_person
def disable_user(name: str) -> User:
    """Disable a user, ending sessions and revoking tokens. A token cannot be used for this."""
    return _user(users.set_disabled(current_registry().database, name=name, disabled=True))


@operation(blueprint, "POST", "/users/<name:name>/enable")
@_admins_in_person
def enable_user(name: str) -> User:
    """Enable a user again. A token cannot be used for this."""
    return _user(users.set_disabled(current_registry().database, name=name, disabled=False))


def _user(found: UserRecord) -> User:
    return User.made_of(found, disabled=found.disabled_at is not None, roles=found.grants)


@operation(blueprint, "GET", "/tokens")
def list_tokens() -> TokenList:
    """List the caller's tokens; for an admin, those of all users. A token does not list those for
    projects that it may not see.
    """
    with current_registry().database.read() as session:
        found = all_tokens(session, owner_id=_owner_id())
    caller = signed_in_user().caller
    if caller is not None and caller.kind is CallerKind.TOKEN:
        seen = projects_of(caller, Role.VIEWER)
        found = [each for each in found if seen is None or each.scope.project in {None, *seen}]
    return TokenList(tokens=list(map(_token, found)))


@operation(blueprint, "POST", "/tokens", statuses=(201,))
@requires(Role.VIEWER, in_person=True)
def create_token(json: WantedToken) -> tuple[MadeToken, int]:
    """Create a token, which is returned only once. A token may not do this."""
    made = sessions.create_token(
        current_registry().database,
        owner=_owner(json.owner),
        name=json.name,
        scope=Grant(json.role, json.project),
        lifetime=None if json.days is None else timedelta(days=json.days),
    )
    scope = made.record.scope
    return MadeToken.made_of(
        made.record, role=scope.role.value, project=scope.project, token=made.secret
    ), 201


@operation(blueprint, "DELETE", "/tokens/<number:token_id>")
@requires(Role.VIEWER, in_person=True)
def revoke_token(token_id: int) -> Token:
    """Revoke a token. A token may not do this."""
    revoked = sessions.revoke_token(current_registry().database, token_id, owner_id=_owner_id())
    return _token(revoked)


def _owner(named: str | None) -> str:
    """The name of the user who gets a token: the one named, or the caller.

    Raises `InvalidInput` if there is neither, and `Forbidden` if only an admin may choose.
    """
    who = signed_in_user()
    if not who.is_signed_in:
        if named is None:
            raise InvalidInput(
                "this server has no sign-in.", field="owner", hint="Name the user of the token."
            )
        return named
    if named not in (None, who.name) and not who.manages_users:
        raise Forbidden(
            "only an admin can create tokens for others.", field="owner", hint="Leave it out."
        )
    return named or who.name


def _owner_id() -> int | None:
    """The id of the user whose tokens are concerned; None for all users, which admins manage."""
    who = signed_in_user()
    if who.caller is None or not who.is_signed_in or who.manages_users:
        return None
    return who.caller.user_id


def _token(found: TokenRecord) -> Token:
    return Token.made_of(found, role=found.scope.role.value, project=found.scope.project)


@operation(blueprint, "GET", "/me")
def get_me() -> Me:
    """Read the name and the roles of the caller, and the version of the server."""
    caller = signed_in_user().caller
    if caller is None:
        raise NotSignedIn("the request is not signed in.", hint="Send a token.")
    return Me(
        kind=caller.kind.value,
        name=caller.name,
        roles=[GivenRole(role=grant.role.value, project=grant.project) for grant in caller.grants],
        version=offdiag_version(),
    )


@operation(blueprint, "GET", "/audit")
@requires(Role.ADMIN)
def list_changes(query: AuditQuery) -> ChangePage:
    """List who changed what, newest first, in the projects of which the caller is an admin."""
    place = read_token(query.page_token)
    wanted = AuditFilter(query.actor or "", query.project or "", query.text or "")
    before = None if place is None else int(place[0])
    with current_registry().database.read() as session:
        page = audit_page(session, wanted, before=before, limit=query.limit)
    return ChangePage(
        changes=list(map(change_document, page.events)),
        next_page_token=None if page.following is None else write_token([page.following]),
    )

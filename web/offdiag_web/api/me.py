"""Who asks."""

from __future__ import annotations

from offdiag.errors import NotSignedIn
from offdiag.records.access import GivenRole, Me
from offdiag.version import offdiag_version
from offdiag_web.api.operations import operation, resource
from offdiag_web.app.context import signed_in_user

blueprint = resource("me")


@operation(blueprint, "GET", "/me", answers=Me)
def get_me() -> Me:
    """Read the name and the roles of the caller, and the version of the server."""
    caller = signed_in_user().caller
    if caller is None:
        raise NotSignedIn("nobody is signed in.", hint="Send a token.")
    return Me(
        kind=caller.kind.value,
        name=caller.name,
        roles=[GivenRole(role=grant.role.value, project=grant.project) for grant in caller.grants],
        version=offdiag_version(),
    )

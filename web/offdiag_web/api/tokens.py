"""Tokens that programs sign in with."""

from __future__ import annotations

from datetime import timedelta

from offdiag.domain.access import Grant, Role
from offdiag.errors import Forbidden, InvalidInput
from offdiag.records.access import MadeToken, Token, TokenList, WantedToken
from offdiag.services.access import sessions
from offdiag.store.sessions import TokenRecord
from offdiag.store.sessions import list_tokens as all_tokens
from offdiag_web.api.operations import operation, resource
from offdiag_web.app.context import current_registry, signed_in_user
from offdiag_web.app.permissions import requires

blueprint = resource("tokens")


@operation(blueprint, "GET", "/tokens", answers=TokenList)
def list_tokens() -> TokenList:
    """List one's own tokens, an admin those of all."""
    with current_registry().database.read() as session:
        found = all_tokens(session, owner_id=_own())
    return TokenList(tokens=[Token.model_validate(_facts(each)) for each in found])


@operation(blueprint, "POST", "/tokens", answers={201: MadeToken})
@requires(Role.VIEWER, in_person=True)
def create_token(json: WantedToken) -> tuple[MadeToken, int]:
    """Create a token, which is told this once. A token may not do this."""
    made = sessions.create_token(
        current_registry().database,
        owner=_owner(json.owner),
        name=json.name,
        scope=Grant(json.role, json.project),
        lifetime=None if json.days is None else timedelta(days=json.days),
    )
    return MadeToken.model_validate({**_facts(made.record), "token": made.secret}), 201


@operation(blueprint, "DELETE", "/tokens/<number:token_id>", answers=Token)
@requires(Role.VIEWER, in_person=True)
def revoke_token(token_id: int) -> Token:
    """Let a token open nothing any more. A token may not do this."""
    revoked = sessions.revoke_token(current_registry().database, token_id, owner_id=_own())
    return Token.model_validate(_facts(revoked))


def _owner(named: str | None) -> str:
    who = signed_in_user()
    if not who.is_signed_in:
        if named is None:
            raise InvalidInput(
                "nobody signs in here.", field="owner", hint="Say whom the token speaks for."
            )
        return named
    if named not in (None, who.name) and not who.manages_users:
        raise Forbidden(
            "only an admin makes tokens for others.", field="owner", hint="Leave it out."
        )
    return named or who.name


def _own() -> int | None:
    """Whose tokens are meant: one's own, everybody's for whoever manages users."""
    who = signed_in_user()
    if who.caller is None or not who.is_signed_in or who.manages_users:
        return None
    return who.caller.user_id


def _facts(found: TokenRecord) -> dict[str, object]:
    return {
        "id": found.id,
        "name": found.name,
        "prefix": found.prefix,
        "owner": found.owner,
        "role": found.scope.role.value,
        "project": found.scope.project,
        "created_at": found.created_at,
        "expires_at": found.expires_at,
        "used_at": found.used_at,
        "revoked_at": found.revoked_at,
    }

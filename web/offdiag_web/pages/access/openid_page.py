"""Signing in through a provider."""

from __future__ import annotations

from flask import Blueprint, current_app, redirect, request, session, url_for
from flask_login import login_user
from werkzeug.wrappers import Response

from offdiag.domain.access import Caller, CallerKind
from offdiag.errors import NotFound
from offdiag.services.access.openid import read_roles, sign_in_external
from offdiag.services.access.sessions import begin_session
from offdiag_web.app.auth import SignedIn, acting_as, forget_session, session_life
from offdiag_web.app.context import Rate, current_registry, public
from offdiag_web.app.dispatch import own_path
from offdiag_web.app.openid import KEY, Provider

blueprint = Blueprint("openid", __name__)

_GOAL = "openid goal"


@blueprint.get("/sign-in/openid")
@public(rate=Rate.WRITE)
def begin() -> Response:
    """Lead somebody to the provider."""
    session[_GOAL] = own_path(request.args.get("next", "/"))
    return _provider().redirect_to_provider(url_for("openid.end", _external=True))


@blueprint.get("/sign-in/openid/back")
@public(rate=Rate.WRITE)
def end() -> Response:
    """Let somebody in for whom the provider vouches."""
    who = _provider().returned_user()
    goal = own_path(session.get(_GOAL, "/"))
    acting_as(who.name)
    registry = current_registry()
    roles = read_roles(registry.settings.oidc.roles)
    user = sign_in_external(registry.database, who, roles or None)
    secret = begin_session(
        registry.database,
        user_id=user.id,
        name=user.name,
        life=session_life(registry.settings.access),
    )
    forget_session()
    login_user(SignedIn(secret, Caller(CallerKind.USER, user.name)))
    return redirect(goal, 303)


def _provider() -> Provider:
    found = current_app.extensions.get(KEY)
    if not isinstance(found, Provider):
        raise NotFound("no identity provider is configured.", hint="Sign in with a password.")
    return found

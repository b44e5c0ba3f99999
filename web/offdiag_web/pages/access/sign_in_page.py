"""Signing in, with a password or an identity provider, and signing out."""

from __future__ import annotations

from flask import (
    Blueprint,
    current_app,
    make_response,
    redirect,
    render_template,
    request,
    session,
    url_for,
)
from flask_login import current_user, login_user, logout_user
from werkzeug.wrappers import Response

from offdiag.domain.access import Caller, CallerKind
from offdiag.errors import NotFound, NotSignedIn
from offdiag.services.access.openid import read_roles, sign_in_external
from offdiag.services.access.sessions import begin_session, sign_in, sign_out
from offdiag.settings.model import needs_sign_in
from offdiag_web.app.auth import (
    SignedIn,
    acting_as,
    clear_site_data,
    count_attempt,
    forget_session,
    refuse_attempts,
    session_life,
)
from offdiag_web.app.context import Rate, current_registry, public
from offdiag_web.app.dispatch import own_path
from offdiag_web.app.errors import failure_of
from offdiag_web.app.forms import read_kept
from offdiag_web.app.openid import KEY, Provider

blueprint = Blueprint("signing_in", __name__)


@blueprint.get("/sign-in")
@public()
def page() -> Response:
    if not needs_sign_in(current_registry().settings):
        return redirect("/")
    return make_response(
        render_template("access/sign_in.html", next=own_path(request.args.get("next", "/")))
    )


@blueprint.post("/sign-in")
@public(rate=Rate.SIGN_IN)
def begin() -> Response:
    """Sign a user in and redirect to where they wanted to go."""
    name, goal = request.form.get("name", "").strip(), own_path(request.form.get("next", "/"))
    refuse_attempts(name)
    acting_as(name)
    registry = current_registry()
    try:
        secret = sign_in(
            registry.database,
            name=name,
            password=request.form.get("password", ""),
            life=session_life(registry.settings.access),
        )
    except NotSignedIn as error:
        count_attempt(name)
        failed = render_template(
            "access/sign_in.html",
            failure=failure_of(error),
            next=goal,
            name=name[:100],
            kept=request.form.get("kept", ""),
        )
        return make_response(failed, 401)
    forget_session()
    login_user(SignedIn(secret, Caller(CallerKind.USER, name)))
    form = read_kept(request.form.get("kept", ""))
    if form is not None:
        return make_response(render_template("access/send_again.html", form=form, next=goal))
    return redirect(goal, 303)


@blueprint.post("/sign-out")
@public(rate=Rate.WRITE)
def end() -> Response:
    """End this session; its cookie is invalid from now on."""
    if isinstance(current_user, SignedIn):
        acting_as(current_user.caller.name)
        sign_out(current_registry().database, current_user.secret)
        logout_user()
    forget_session()
    return clear_site_data(redirect(url_for("signing_in.page"), 303))


_GOAL = "openid goal"


@blueprint.get("/sign-in/openid")
@public(rate=Rate.WRITE)
def begin_openid() -> Response:
    """Redirect a user to the identity provider."""
    session[_GOAL] = own_path(request.args.get("next", "/"))
    return _provider().redirect_to_provider(url_for("signing_in.end_openid", _external=True))


@blueprint.get("/sign-in/openid/back")
@public(rate=Rate.WRITE)
def end_openid() -> Response:
    """Sign in a user whom the identity provider confirms."""
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

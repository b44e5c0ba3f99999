"""The tokens that programs sign in with."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from flask import Blueprint, redirect, request, url_for
from werkzeug.wrappers import Response

from offdiag.domain.access import Grant, Role, may_anywhere
from offdiag.errors import InvalidInput, OffdiagError
from offdiag.services.access.sessions import NewToken, create_token, revoke_token
from offdiag.store.project_access import project_names
from offdiag.store.sessions import list_tokens
from offdiag_web.app.context import current_registry, requires, signed_in, signed_in_user
from offdiag_web.app.errors import page_with_form
from offdiag_web.app.forms import new_form
from offdiag_web.pages.access.view import (
    ROLE_MEANINGS,
    made_once,
    read_project,
    read_role,
    sees_all,
    shown_owner_id,
    state_of,
)

blueprint = Blueprint("tokens", __name__)

LIFETIMES = ((30, "30 days"), (90, "90 days"), (365, "1 year"), (0, "until revoked"))


@blueprint.get("/settings/tokens")
@requires(Role.VIEWER, in_person=True)
def page() -> Response:
    return _page()


@blueprint.post("/settings/tokens")
@requires(Role.VIEWER, in_person=True)
def create() -> Response:
    """Create a token and show it once."""
    try:
        made = made_once(lambda: _created(request.form))
    except OffdiagError as error:
        return _page(error=error)
    response = _page(secret=made.secret, name=made.record.name)
    response.cache_control.no_store = True
    return response


def _created(form: Mapping[str, str]) -> NewToken:
    return create_token(
        current_registry().database,
        owner=signed_in().name,
        name=form.get("name", ""),
        scope=Grant(read_role(form.get("role", "")), read_project(form.get("project", ""))),
        lifetime=_lifetime(form.get("days", "")),
    )


@blueprint.post("/settings/tokens/<int:token_id>/revoke")
@requires(Role.VIEWER, in_person=True)
def revoke(token_id: int) -> Response:
    """Revoke a token. Admins can revoke the tokens of others too."""
    revoke_token(current_registry().database, token_id, owner_id=shown_owner_id())
    return redirect(url_for("tokens.page"), 303)


def _page(*, secret: str = "", name: str = "", error: OffdiagError | None = None) -> Response:
    database, who = current_registry().database, signed_in_user()
    roles = [role for role in Role if may_anywhere(who.caller, role)]
    with database.read() as session:
        found = list_tokens(session, owner_id=shown_owner_id())
        projects = project_names(session)
    return page_with_form(
        "access/tokens.html",
        error,
        tokens=found,
        state_of=state_of,
        roles=[(role.value, ROLE_MEANINGS[role]) for role in roles],
        projects=projects,
        lifetimes=LIFETIMES,
        secret=secret,
        made=name,
        typed=request.form,
        new_form=new_form(),
        shows_all=sees_all(),
    )


def _lifetime(text: str) -> timedelta | None:
    if text not in {str(days) for days, _ in LIFETIMES}:
        raise InvalidInput(
            f"{text[:20]!r} is not one of the lifetimes.",
            field="days",
            hint="Choose one from the list; the command line accepts any number of days.",
        )
    return timedelta(days=int(text)) if int(text) else None

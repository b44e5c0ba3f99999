"""The account page of the signed-in user: roles, password, sessions."""

from __future__ import annotations

from flask import Blueprint, redirect, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from offdiag.domain.access import Role
from offdiag.errors import InvalidInput
from offdiag.services.access.sessions import change_password, sign_out_everywhere
from offdiag_web.app.auth import clear_site_data, count_attempt, refuse_attempts
from offdiag_web.app.context import current_registry, requires, signed_in, signed_in_user
from offdiag_web.app.errors import page_with_form
from offdiag_web.pages.access.view import ROLE_MEANINGS

blueprint = Blueprint("account", __name__)


@blueprint.get("/settings/account")
@requires(Role.VIEWER, in_person=True)
def page() -> Response:
    if not signed_in_user().is_signed_in:
        return redirect(url_for("settings.page"))
    return _page()


@blueprint.post("/settings/account/password")
@requires(Role.VIEWER, in_person=True)
def set_password() -> Response:
    """Change the user's own password, which ends all other sessions."""
    name = signed_in().name
    refuse_attempts(name)
    try:
        change_password(
            current_registry().database,
            name=name,
            current=request.form.get("current", ""),
            wanted=request.form.get("wanted", ""),
            secret=current_user.secret,
        )
    except InvalidInput as error:
        if error.field == "current":
            count_attempt(name)
        return _page(error)
    return redirect(url_for("account.page", changed=1), 303)


@blueprint.post("/settings/account/sign-out-everywhere")
@requires(Role.VIEWER, in_person=True)
def end_all() -> Response:
    """End all of the user's own sessions, including this one."""
    who = signed_in()
    sign_out_everywhere(current_registry().database, user_id=who.user_id or 0, name=who.name)
    return clear_site_data(redirect(url_for("signing_in.page"), 303))


def _page(error: InvalidInput | None = None) -> Response:
    who = signed_in()
    return page_with_form(
        "access/account.html",
        error,
        name=who.name,
        grants=who.grants,
        meanings=ROLE_MEANINGS,
        changed="changed" in request.args,
    )

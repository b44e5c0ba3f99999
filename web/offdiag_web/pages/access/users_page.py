"""Users and their roles, for admins."""

from __future__ import annotations

from flask import Blueprint, redirect, request, url_for
from werkzeug.wrappers import Response

from offdiag.domain.access import Grant, Role
from offdiag.errors import OffdiagError
from offdiag.services.access import users
from offdiag.store.project_access import project_names
from offdiag.store.users import list_users
from offdiag_web.app.context import current_registry, requires
from offdiag_web.app.errors import page_with_form
from offdiag_web.pages.access.view import ROLE_MEANINGS, read_project, read_role

blueprint = Blueprint("users", __name__)

NO_ROLE = "none"
_admins_only = requires(Role.ADMIN, everywhere=True, in_person=True)


@blueprint.get("/settings/users")
@_admins_only
def page() -> Response:
    return _page()


@blueprint.post("/settings/users")
@_admins_only
def add() -> Response:
    """Add a user with an initial password, which they should change, and a first role."""
    form = request.form
    try:
        users.add_user(
            current_registry().database,
            name=form.get("name", ""),
            password=form.get("password", ""),
            display_name=form.get("display_name"),
            email=form.get("email"),
            grants=(
                Grant(read_role(form.get("role", "")), read_project(form.get("project", ""))),
            ),
        )
    except OffdiagError as error:
        return _page(error)
    return redirect(url_for("users.page"), 303)


@blueprint.post("/settings/users/<name:user>/role")
@_admins_only
def set_role(user: str) -> Response:
    """Give or remove a role in a project."""
    wanted = request.form.get("role", "")
    try:
        users.set_role(
            current_registry().database,
            name=user,
            project=read_project(request.form.get("project", "")),
            role=None if wanted == NO_ROLE else read_role(wanted),
        )
    except OffdiagError as error:
        return _page(error, user)
    return redirect(url_for("users.page"), 303)


@blueprint.post("/settings/users/<name:user>/password")
@_admins_only
def set_password(user: str) -> Response:
    """Replace a forgotten password."""
    try:
        users.set_password(
            current_registry().database, name=user, password=request.form.get("password", "")
        )
    except OffdiagError as error:
        return _page(error, user)
    return redirect(url_for("users.page"), 303)


@blueprint.post("/settings/users/<name:user>/<any(disable, enable):action>")
@_admins_only
def set_disabled(user: str, action: str) -> Response:
    """Disable a user, or enable them again."""
    try:
        users.set_disabled(current_registry().database, name=user, disabled=action == "disable")
    except OffdiagError as error:
        return _page(error, user)
    return redirect(url_for("users.page"), 303)


def _page(error: OffdiagError | None = None, changed: str = "") -> Response:
    """The users, and errors in the form of a new user or of the one being changed."""
    database = current_registry().database
    with database.read() as session:
        found, projects = list_users(session), project_names(session)
    return page_with_form(
        "access/users.html",
        error,
        users=found,
        projects=projects,
        roles=[(role.value, meaning) for role, meaning in ROLE_MEANINGS.items()],
        changed=changed,
        typed=request.form,
    )

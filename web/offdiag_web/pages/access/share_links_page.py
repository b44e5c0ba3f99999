"""Read-only share links to single pages: creating, listing and revoking them."""

from __future__ import annotations

from urllib.parse import unquote

from flask import Blueprint, redirect, request, url_for
from werkzeug.wrappers import Response

from offdiag.domain.access import Role
from offdiag.errors import InvalidInput, OffdiagError
from offdiag.services.access.share_links import create_share_link, may_share, revoke_share_link
from offdiag.store.share_links import list_share_links
from offdiag_web.app.context import current_registry, requires, signed_in
from offdiag_web.app.errors import page_with_form
from offdiag_web.app.forms import new_form
from offdiag_web.components import numbers
from offdiag_web.pages.access.shareable import projects_of_page, read_page, rendered
from offdiag_web.pages.access.view import made_once, sees_all, shown_owner_id, state_of
from offdiag_web.urls.query_string import whole_number

blueprint = Blueprint("share_links", __name__)

_DAYS = 7
_LONGEST_ADDRESS = 120


@blueprint.get("/settings/links")
@requires(Role.VIEWER, in_person=True)
def page() -> Response:
    return _page()


@blueprint.post("/settings/links")
@requires(Role.EDITOR, in_person=True)
def create() -> Response:
    """Create a link to a page and show it once."""
    try:
        url = made_once(
            lambda: _created(request.form.get("page", ""), request.form.get("days", ""))
        )
    except OffdiagError as error:
        return _page(error=error)
    response = _page(url=url)
    response.cache_control.no_store = True
    return response


@blueprint.post("/settings/links/<int:link_id>/revoke")
@requires(Role.VIEWER, in_person=True)
def revoke(link_id: int) -> Response:
    """Revoke a link. Admins can revoke the links of others too."""
    revoke_share_link(current_registry().database, link_id, owner_id=shown_owner_id())
    return redirect(url_for("share_links.page"), 303)


def _created(address: str, days: str) -> str:
    registry, owner = current_registry(), signed_in()
    shared = read_page(address)
    with registry.database.read() as session:
        projects = projects_of_page(session, shared)
    if may_share(owner, projects):
        rendered(shared, registry, projects)  # A page that cannot be rendered is not shared.
    made = create_share_link(
        registry.database,
        owner=owner,
        address=address,
        projects=projects,
        days=_days(days),
        most_days=registry.settings.access.share_link_days,
    )
    return url_for("shared.page", secret=made.secret, _external=True)


def _days(text: str) -> int:
    days = whole_number(text, most=9_999)
    if days is None:
        raise InvalidInput(
            f"{text[:20]!r} is not a number of days.", field="days", hint="Give a whole number."
        )
    return days


def _page(*, url: str = "", error: OffdiagError | None = None) -> Response:
    registry = current_registry()
    database, most_days = registry.database, registry.settings.access.share_link_days
    with database.read() as session:
        found = list_share_links(session, owner_id=shown_owner_id())
    return page_with_form(
        "access/share_links.html",
        error,
        links=[
            (numbers.shortened(unquote(each.address), longest=_LONGEST_ADDRESS), each)
            for each in found
        ],
        state_of=state_of,
        most_days=most_days,
        days=request.form.get("days", min(_DAYS, most_days)),
        shared=request.values.get("page", ""),
        url=url,
        new_form=new_form(),
        shows_all=sees_all(),
    )

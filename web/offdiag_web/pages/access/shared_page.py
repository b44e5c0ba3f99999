"""One page for whoever has a link to it, and nothing else."""

from __future__ import annotations

from flask import Blueprint, Response, current_app, make_response

from offdiag.errors import Forbidden, InvalidInput, NotFound, OffdiagError
from offdiag.services.access.share_links import OpenedLink, may_share, open_share_link
from offdiag_web.app.context import Registry
from offdiag_web.app.errors import domain_response
from offdiag_web.app.paths import SHARED
from offdiag_web.app.permissions import Rate, public
from offdiag_web.pages.access.read_only import read_only
from offdiag_web.pages.access.shareable import projects_of_page, read_page, rendered

blueprint = Blueprint("shared", __name__)

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
}


@blueprint.get(f"{SHARED}<secret>")
@public(rate=Rate.READ)
def page(secret: str) -> Response:
    try:
        response = _shown(secret)
    except (Forbidden, InvalidInput, NotFound):
        response = domain_response(_nothing())
    except OffdiagError as error:
        response = domain_response(error)
    response.headers.update(_HEADERS)
    return response


def _shown(secret: str) -> Response:
    # What the link shows is decided by its owner, not by whoever opens it.
    registry: Registry = current_app.extensions[Registry.KEY]
    most_days = registry.settings.access.share_link_days
    opened = open_share_link(registry.database, secret, most_days=most_days)
    if opened is None:
        raise _nothing()
    shared = read_page(opened.link.address)
    with registry.database.read() as session:
        projects = projects_of_page(session, shared)
    if not may_share(opened.owner, projects):
        raise _nothing()
    text = rendered(shared, registry, projects)
    return make_response(read_only(text, notice=_notice(opened)))


def _notice(opened: OpenedLink) -> str:
    return (
        f"Read-only page, shared by {opened.link.owner} until "
        f"{opened.link.expires_at:%Y-%m-%d %H:%M} UTC."
    )


def _nothing() -> NotFound:
    """The same for links that never were, have expired, were revoked, or show what is gone."""
    return NotFound(
        "this link shows nothing.",
        hint="It may have expired or been revoked; ask whoever sent it for another one.",
    )

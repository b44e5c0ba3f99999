"""Saved views: lists of runs under a name, for addresses that are too long to share."""

from __future__ import annotations

from urllib.parse import parse_qsl

from flask import Blueprint, redirect, request, url_for
from werkzeug.wrappers import Response

from offdiag.domain.access import Role
from offdiag.errors import Conflict, InvalidInput, OffdiagError
from offdiag.services.saved_views import MOST_VIEWS, remove_view, save_view, saved_view
from offdiag.store.saved_views import views_of
from offdiag_web.app.context import current_registry, requires
from offdiag_web.app.errors import page_with_form
from offdiag_web.app.preferences import user_name_if_given
from offdiag_web.urls.run_list import read_run_list


def query_values(query: str) -> dict[str, str]:
    """The values of a query string, the last one if a name occurs twice."""
    return dict(parse_qsl(query))


blueprint = Blueprint("views", __name__)

_PAGE = "/runs"


@blueprint.get("/views")
def page() -> Response:
    return _page()


def _page(*, refused: OffdiagError | None = None) -> Response:
    database = current_registry().database
    with database.read() as session:
        stored = views_of(session, _PAGE, limit=MOST_VIEWS)
    views = [(each, query_values(each.query).get("q", "all runs")) for each in stored]
    address, _ = read_run_list(query_values(request.values.get("of", "")), now=database.clock())
    return page_with_form(
        "runs/saved_views.html",
        refused,
        views=views,
        url=address.url(),
        of=_query(address.url()),
        name=request.form.get("name", ""),
    )


@blueprint.post("/views")
def save() -> Response:
    database = current_registry().database
    address, _ = read_run_list(query_values(request.form.get("of", "")), now=database.clock())
    try:
        view = save_view(
            database,
            name=request.form.get("name", ""),
            page=_PAGE,
            query=_query(address.url()),
            author=user_name_if_given(),
        )
    except (Conflict, InvalidInput) as error:
        return _page(refused=error)
    return redirect(url_for("views.view", slug=view.slug), 303)


@blueprint.get("/v/<slug>")
def view(slug: str) -> Response:
    found = saved_view(current_registry().database, slug)
    return redirect(f"{found.page}?{found.query}" if found.query else found.page)


@blueprint.post("/v/<slug>/remove")
@requires(Role.EDITOR, everywhere=True)
def remove(slug: str) -> Response:
    remove_view(current_registry().database, slug)
    return redirect(url_for("views.page"), 303)


def _query(url: str) -> str:
    return url.partition("?")[2]

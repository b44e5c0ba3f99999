"""Which pages can be shared, which projects they show, and how a visitor sees them.

A shared page is the page itself, rendered as for a visitor who is not signed in, from a database
that contains nothing but its projects; `shared_page` then removes everything that leads away from
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from flask import Response, current_app, g, make_response, request
from werkzeug.exceptions import HTTPException
from werkzeug.test import EnvironBuilder

from offdiag.domain.texts import DEFAULT_PROJECT
from offdiag.errors import InvalidInput, NotFound
from offdiag.store.database import Session
from offdiag.store.project_access import project_of_problem, project_of_run
from offdiag_web.app.context import CurrentUser, Registry
from offdiag_web.app.dispatch import lazy_views

_MOST_CHARACTERS = 8_000
_FEWEST_RUNS = 2


@dataclass(frozen=True, slots=True)
class SharedPage:
    """A page that can be shared: its address, and the endpoint and values it is routed to."""

    address: str
    endpoint: str
    parts: Mapping[str, Any]
    query: Mapping[str, str]

    @property
    def run_ids(self) -> list[str]:
        """The runs that are compared."""
        return [each for each in self.query.get("runs", "").split(",") if each]


_KINDS = {
    "run_matrix.page": "run",
    "compare.page": "comparison",
    "datasets.dataset": "decision",
    "problem.page": "problem",
    "audit.page": "audit",
}


def read_page(address: str) -> SharedPage:
    """The page at a path and query. Raises `InvalidInput` if it cannot be shared."""
    if not address.startswith("/") or address.startswith("//") or len(address) > _MOST_CHARACTERS:
        raise _not_shareable()
    try:
        parts = urlsplit(address)
        query = {key: ",".join(found) for key, found in parse_qs(parts.query).items()}
        endpoint, values = current_app.url_map.bind("").match(unquote(parts.path), method="GET")
    except (ValueError, HTTPException):
        raise _not_shareable() from None
    page = SharedPage(address, endpoint, values, query)
    is_empty = {
        "compare.page": len(page.run_ids) < _FEWEST_RUNS,
        "audit.page": not (query.get("table") or query.get("example")),
    }
    if endpoint not in _KINDS or is_empty.get(endpoint, False):
        raise _not_shareable()
    return page


def _not_shareable() -> InvalidInput:
    return InvalidInput(
        "this page cannot be shared.",
        field="page",
        hint="Runs, comparisons, decisions, problems and audits can be; open one and choose "
        "“Read-only link…”.",
    )


def projects_of_page(session: Session, page: SharedPage) -> frozenset[str]:
    """The projects that a page shows, none for an audit. Raises `NotFound`."""
    match page.endpoint:
        case "audit.page":
            return frozenset()
        case "datasets.dataset":
            return frozenset({page.query.get("project", DEFAULT_PROJECT)})
        case "problem.page":
            found = [project_of_problem(session, page.parts["number"])]
        case "run_matrix.page":
            found = [project_of_run(session, page.parts["run_id"])]
        case _:
            found = [project_of_run(session, run_id) for run_id in page.run_ids]
    if not all(found):
        raise NotFound("the page is about something that is not there.", field="page")
    return frozenset().union(*found)


def rendered(page: SharedPage, registry: Registry, projects: frozenset[str]) -> str:
    """The page as a visitor who is not signed in would see it, from these projects only.

    Raises `InvalidInput` if the result is not a page, and whatever its view raises.
    """
    confined = replace(registry, database=registry.database.seen_by(projects, None))
    # In a separate context, so that nothing of this request is left in the outer one.
    response = copy_context().run(_answered, page, confined)
    if response.status_code != 200 or response.mimetype != "text/html":
        raise _not_shareable()
    return response.get_data(as_text=True)


def _answered(page: SharedPage, registry: Registry) -> Response:
    environ = EnvironBuilder(path=page.address, base_url=request.url_root).get_environ()
    with current_app.app_context(), current_app.request_context(environ):
        g.current_user, g.registry = CurrentUser(None), registry
        lazy_views().load(request.blueprint)
        view = current_app.view_functions[page.endpoint]
        return make_response(view(**page.parts))

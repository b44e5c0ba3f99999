"""The first page: where every dataset stands, and what happened since the last visit."""

from __future__ import annotations

from flask import Blueprint, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from offdiag.services.champions.dataset_status import statuses
from offdiag.store.home_overview import label_versions_since, read_home, unlabelled_samples
from offdiag.store.promotions import promotions_since
from offdiag_web.app.context import current_registry, kept_best_sets
from offdiag_web.app.last_visit import news_since
from offdiag_web.pages.home.view import MOST_NEWS, HomeView, home_view, news_of

blueprint = Blueprint("home", __name__)


@blueprint.get("/")
def home() -> Response:
    """The overview; of a single dataset without news, its own page."""
    view = _view()
    lines = [line for _, group in view.groups for line in group]
    if not view.wanted:
        if not lines:
            return redirect(url_for("runs.runs"))
        if len(lines) == 1 and not view.news:
            return redirect(lines[0].url)
    return make_response(render_template("home/page.html", view=view))


def _view() -> HomeView:
    database = current_registry().database
    now = database.clock()
    with database.read() as session:
        since = news_since(session, now=now)
        overview = read_home(session)
        return home_view(
            overview,
            statuses(session, [each for each, _ in overview.datasets], kept=kept_best_sets()),
            news_of(
                promotions_since(session, since, limit=MOST_NEWS),
                label_versions_since(session, since, limit=MOST_NEWS),
                overview.failures,
                since=since,
            ),
            unlabelled_samples(session)
            if any(each.truth_number is None for each, _ in overview.datasets)
            else {},
            since=since,
            now=now,
            wanted=request.args.get("q", "").strip()[:200],
        )

"""The first page: the state of every dataset, and what happened since the last visit."""

from __future__ import annotations

from flask import Blueprint, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from offdiag.services.champions.dataset_status import KeptComparisons, statuses
from offdiag.store.home_overview import label_versions_since, read_home, unlabelled_samples
from offdiag.store.promotions import promotions_in_force, promotions_since
from offdiag_web.app.context import current_registry, kept_best_sets, kept_drops
from offdiag_web.app.preferences import news_since, open_problems
from offdiag_web.pages.home.news import MOST_NEWS, label_news, news_view, promotion_news
from offdiag_web.pages.home.view import HomeView, home_view
from offdiag_web.urls.datasets import read_start

blueprint = Blueprint("home", __name__)


@blueprint.get("/")
def home() -> Response:
    """The overview; of a single dataset without news, its own page."""
    view = _view()
    if not view.wanted:
        if not view.n_datasets:
            return redirect(url_for("runs.runs"))
        is_quiet = not view.news.lines and not view.has_new_failures
        if view.n_datasets == 1 and is_quiet:
            return redirect(view.groups[0][1][0].url)
    return make_response(render_template("home/page.html", view=view))


def _view() -> HomeView:
    database = current_registry().database
    now = database.clock()
    start, _ = read_start(request.args)
    problems = open_problems().list(database)
    with database.read() as session:
        since = news_since(session, now=now)
        overview = read_home(session)
        found = statuses(
            session,
            [each for each, _ in overview.datasets],
            promotions_in_force(session),
            kept=KeptComparisons(kept_best_sets(), kept_drops()),
        )
        promotions = promotions_since(session, since, limit=MOST_NEWS)
        labels = label_versions_since(session, since, limit=MOST_NEWS)
        has_unlabelled = any(each.truth_number is None for each, _ in overview.datasets)
        unlabelled = unlabelled_samples(session) if has_unlabelled else {}
    news = news_view(
        overview.datasets,
        found,
        problems,
        [
            [label_news(each) for each in labels],
            [promotion_news(*each) for each in promotions],
        ],
        since=since,
    )
    return home_view(
        overview,
        found,
        problems,
        news,
        unlabelled=unlabelled,
        since=since,
        now=now,
        wanted=request.args.get("q", "").strip()[:200],
        start=start,
    )

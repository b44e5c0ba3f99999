"""The first page: datasets with their best runs and flags, and reports that are due."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from flask import Blueprint, make_response, redirect, render_template, url_for
from werkzeug.wrappers import Response

from offdiag.store.home_overview import (
    MOST_COUNTED_OF_EACH,
    NEWEST_LOOKED_AT,
    Failure,
    HomeOverview,
    OpenFlags,
    read_home,
)
from offdiag_web.app.context import current_registry
from offdiag_web.components import numbers
from offdiag_web.components.controls import Chip, Moment, ahead_text, moment
from offdiag_web.components.datasets import DatasetCard, dataset_cards
from offdiag_web.urls.reports import ReportAddress


@dataclass(frozen=True, slots=True)
class DueLine:
    """A report to come."""

    name: str
    url: str
    when: str
    at: str


@dataclass(frozen=True, slots=True)
class FailureLine:
    """Something that failed, with the first line of its error."""

    name: str
    url: str
    error: str
    at: Moment


@dataclass(frozen=True, slots=True)
class FlagCount:
    """How many flags of a dataset are open, and a chip for each badge that some of them set."""

    text: str
    badges: tuple[Chip, ...]


@dataclass(frozen=True, slots=True)
class HomeView:
    """What the page shows. `flags` has the open flags of each dataset, in order.

    `flags_note` says of which runs, where they are not those of all.
    """

    datasets: tuple[DatasetCard, ...]
    flags: tuple[FlagCount | None, ...]
    flags_note: str | None
    due: tuple[DueLine, ...]
    failures: tuple[FailureLine, ...]


def home_view(overview: HomeOverview, *, now: datetime) -> HomeView:
    """Present the front page."""
    counts = [overview.open_flags.get(dataset.id) for dataset, _ in overview.datasets]
    return HomeView(
        datasets=dataset_cards(overview.datasets, now=now),
        flags=tuple(None if count is None else _counted(count) for count in counts),
        flags_note=_flags_note(overview),
        due=tuple(
            DueLine(
                due.name,
                ReportAddress(due.project, due.name).url(),
                ahead_text((due.due - now).total_seconds()),
                f"{due.due:%Y-%m-%d %H:%M} UTC",
            )
            for due in overview.due
        ),
        failures=tuple(_failure(failure, now) for failure in overview.failures),
    )


def _flags_note(overview: HomeOverview) -> str | None:
    if all(runs.total <= NEWEST_LOOKED_AT for _, runs in overview.datasets):
        return None
    newest = numbers.plural(NEWEST_LOOKED_AT, "run")
    return f"Open flags are those of the newest {newest} of a dataset. The number leads to all."


def _counted(found: OpenFlags) -> FlagCount:
    more = "+" if found.n_open >= MOST_COUNTED_OF_EACH else ""
    badges = []
    if found.n_hides:
        verb = "hides" if found.n_hides == 1 else "hide"
        badges.append(Chip(f"{numbers.count(found.n_hides)} {verb} a class", "hides"))
    if found.n_may_hide:
        badges.append(Chip(f"{numbers.count(found.n_may_hide)} may hide a class", "may-hide"))
    return FlagCount(numbers.count(found.n_open) + more, tuple(badges))


def _failure(failure: Failure, now: datetime) -> FailureLine:
    if failure.is_report:
        name = f"report {failure.name}, edition {failure.number}"
        url = ReportAddress(failure.project, failure.name).edition_url(failure.number)
    else:
        name, url = f"{failure.name}, job {failure.number}", f"/jobs/{failure.number}"
    lines = failure.error.strip().splitlines()
    error = numbers.shortened(lines[-1], longest=120) if lines else "no reason recorded"
    return FailureLine(name, url, error, moment(failure.at, now=now))


blueprint = Blueprint("home", __name__)


@blueprint.get("/")
def home() -> Response:
    database = current_registry().database
    with database.read() as session:
        overview = read_home(session)
    if len(overview.datasets) < 2:
        return redirect(url_for("runs.runs"))
    view = home_view(overview, now=database.clock())
    return make_response(render_template("home/page.html", view=view))

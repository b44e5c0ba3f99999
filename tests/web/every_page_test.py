"""Counts that every page keeps to, whichever is added: bytes, nodes, requests, statements."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest
from flask import Flask

from offdiag.services.jobs.page import jobs_page
from support.compared import ComparedRegistry
from support.dashboard import LesionRegistry, counted_statements
from support.pages import Element, Page, PageClient, client_for
from support.registries import dashboard
from support.reported import ReportedRegistry
from support.revised import RevisedRegistry
from support.routes import spelled
from support.scored_runs import ScoredRegistry

KIB = 1024
MOST_BYTES, MOST_COMPRESSED, MOST_NODES = 150 * KIB, 20 * KIB, 3_000
MOST_REQUESTS, MOST_STATEMENTS = 8, 6
COUNTS_FLAGS = 1
"""The page of a report also counts the open flags of its runs."""


@dataclass(frozen=True)
class Registries:
    """Shared registries with something for every page, by the names of clients over them."""

    lesions: LesionRegistry
    scored: ScoredRegistry
    compared: ComparedRegistry
    reported: ReportedRegistry
    revised: RevisedRegistry
    clients: Mapping[str, PageClient]


Place = Callable[[Registries], str]


def _of_run(end: str) -> tuple[str, Place]:
    return "lesions", lambda found: f"/runs/{found.lesions.plain}{end}"


def _of_scored_run(end: str) -> tuple[str, Place]:
    return "scored", lambda found: f"/runs/{found.scored.several}{end}"


def _at(client: str, path: str) -> tuple[str, Place]:
    return client, lambda _: path


PAGES: dict[str, tuple[str, Place]] = {
    "/": _at("lesions", "/"),
    "/_gallery": _at("lesions", "/_gallery"),
    "/_gallery/charts": _at("lesions", "/_gallery/charts"),
    "/_gallery/matrices": _at("lesions", "/_gallery/matrices"),
    "/audit": _at("lesions", "/audit?example=constant-answer"),
    "/compare": ("compared", lambda found: f"/compare?{found.compared.pair}"),
    "/compare/examples": (
        "compared",
        lambda found: f"/compare/examples?{found.compared.pair}&which=both_right",
    ),
    "/costs": _at("lesions", "/costs"),
    "/costs/<name:name>": _at("lesions", "/costs/triage"),
    "/costs/<name:name>/new": _at("lesions", "/costs/triage/new"),
    "/costs/new": _at("lesions", "/costs/new?dataset=derm-7"),
    "/datasets": _at("lesions", "/datasets"),
    "/datasets/<name:name>": _at("lesions", "/datasets/derm-7"),
    "/flags": _at("lesions", "/flags"),
    "/flags/<int(max=9223372036854775807):number>": _at("lesions", "/flags/1"),
    "/glossary": _at("lesions", "/glossary"),
    "/glossary/<key>": _at("lesions", "/glossary/f1"),
    "/datasets/<name:name>/truth/<int(min=1,max=2147483647):before>.."
    "<int(min=1,max=2147483647):after>": _at("revised", "/datasets/pets/truth/1..2"),
    "/datasets/<name:name>/truth/<int(min=1,max=2147483647):number>/impact": _at(
        "revised", "/datasets/pets/truth/2/impact"
    ),
    "/jobs": _at("lesions", "/jobs"),
    "/jobs/<int(max=9223372036854775807):job_id>": ("lesions", lambda found: _job(found.lesions)),
    "/models/<name:name>": _at("lesions", "/models/effnet-b3"),
    "/reports": _at("reported", "/reports"),
    "/reports/<name:name>": ("reported", lambda found: found.reported.weekly.url()),
    "/reports/<name:name>/<int(min=1,max=2147483647):number>": (
        "reported",
        lambda found: found.reported.weekly.issue_url(1),
    ),
    "/reports/<name:name>/edit": ("reported", lambda found: f"{found.reported.weekly.url()}/edit"),
    "/reports/new": _at("reported", "/reports/new"),
    "/runs": _at("lesions", "/runs"),
    "/runs/<run:run_id>": _of_run(""),
    "/runs/<run:run_id>/advice": _of_run("/advice"),
    "/runs/<run:run_id>/classes": _of_run("/classes"),
    "/runs/<run:run_id>/curves": _of_scored_run("/curves"),
    "/runs/<run:run_id>/examples": _of_scored_run("/examples?show=all"),
    "/runs/<run:run_id>/history": _of_run("/history"),
    "/runs/<run:run_id>/meta": _of_run("/meta"),
    "/search": _at("lesions", "/search?q=a"),
    "/settings": _at("lesions", "/settings"),
    "/settings/audit": _at("lesions", "/settings/audit"),
    "/settings/tokens": _at("lesions", "/settings/tokens"),
    "/settings/users": _at("lesions", "/settings/users"),
    "/settings/rules": _at("lesions", "/settings/rules"),
    "/views": _at("lesions", "/views?of=q%3Dflag:open"),
    "/whatif": (
        "lesions",
        lambda found: f"/whatif?runs={found.lesions.plain},{found.lesions.majority}&cost=@0-1",
    ),
    "/whatif/decisions": (
        "scored",
        lambda found: f"/whatif/decisions?run={found.scored.event}&cost=@0-1",
    ),
}

NO_PAGES = frozenset(
    {
        # Files and answers to programs.
        *("/assets/<digest>/<name>", "/healthz", "/readyz", "/metrics", "/compare.md"),
        *(f"/runs/<run:run_id>/matrix.{kind}" for kind in ("md", "tex", "svg", "png")),
        "/reports/<name:name>/<int(min=1,max=2147483647):number>/<string:file>",
        # They lead on to a page.
        *("/runs/as-baseline", "/v/<slug>", "/runs/<run:run_id>/matrix/at"),
        "/runs/<run:run_id>/cells/<actual>-<predicted>",
        # Where nobody signs in they lead on, too; their own tests look at them.
        *("/settings/account", "/sign-in", "/sign-in/openid", "/sign-in/openid/back"),
    }
)


def _job(registry: LesionRegistry) -> str:
    return f"/jobs/{jobs_page(registry.database).jobs.entries[0].id}"


@pytest.fixture(scope="session")
def registries(
    registry: LesionRegistry,
    scored: ScoredRegistry,
    compared: ComparedRegistry,
    reported: ReportedRegistry,
    revised: RevisedRegistry,
) -> Registries:
    clients = {
        "lesions": client_for(dashboard(registry.database)),
        "scored": client_for(dashboard(scored.database)),
        "compared": client_for(dashboard(compared.database)),
        "reported": client_for(dashboard(reported.database)),
        "revised": client_for(dashboard(revised.database)),
    }
    return Registries(registry, scored, compared, reported, revised, clients)


def test_every_page_has_a_budget(app: Flask) -> None:
    rules = {
        spelled(rule)
        for rule in app.url_map.iter_rules()
        if "GET" in (rule.methods or ())
        and not rule.rule.startswith("/api/")
        and not rule.rule.endswith((":form>", ".json", ".csv"))
    }

    assert rules - NO_PAGES == set(PAGES)


@pytest.mark.both_databases
@pytest.mark.parametrize("rule", PAGES)
def test_a_page_is_small_and_asks_little(registries: Registries, rule: str) -> None:
    which, place = PAGES[rule]
    client, path = registries.clients[which], place(registries)
    response = client.get(path)
    assert response.status_code == 200, f"{path}: {response.status}"

    with counted_statements() as statements:
        body = client.get(path).data

    page = Page(body.decode())
    loaded = {
        *(link.attributes["href"] for link in page.all("link") if _is_loaded(link)),
        *(script.attributes["src"] for script in page.all("script")),
        *(image.attributes["src"] for image in page.all("img")),
    }
    assert len(body) <= MOST_BYTES
    assert len(gzip.compress(body)) <= MOST_COMPRESSED
    assert len(page.elements) <= MOST_NODES
    assert 1 + len(loaded) <= MOST_REQUESTS, loaded
    assert all(path.startswith("/") for path in loaded)
    others = COUNTS_FLAGS if rule.startswith("/reports/") else 0
    assert len(statements) <= MOST_STATEMENTS + others, statements


def _is_loaded(link: Element) -> bool:
    return link.attributes["rel"] in {"stylesheet", "icon"}

"""Every route answers on PostgreSQL, and every page keeps to the same few counts.

Whether a route answers rightly is asked on SQLite, by the tests of its own.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from flask import Flask
from sqlalchemy import func, select, update

from offdiag.domain.access import Grant, Role
from offdiag.inputs.content.given_images import image_file
from offdiag.inputs.content.given_samples import GivenSample
from offdiag.services.access import sessions
from offdiag.services.jobs.page import jobs_page
from offdiag.services.samples.content import log_samples
from offdiag.store.database import Database
from offdiag.store.models import DeliveryRow, ReportEditionRow, WorkRow
from offdiag_web.app import auth, last_visit
from offdiag_web.routes import ROUTES
from support.access import PASSWORD, add_person, client_of, guarded
from support.compared import ComparedRegistry, fill_compared
from support.dashboard import LESIONS, LesionRegistry, counted_statements, fill
from support.kinds import Kind
from support.logging_runs import evaluate
from support.pages import Element, Page, PageClient, client_for
from support.registries import dashboard, names_of
from support.reported import ReportedRegistry, fill_reports
from support.revised import IDS, RevisedRegistry, fill_revised
from support.routes import path_of, route_table, spelled
from support.scored_runs import ScoredRegistry, fill_scored
from support.set_runs import log_sets
from support.sound import assert_harmless, small_page

MOST_REQUESTS, MOST_STATEMENTS = 8, 6
NEWS = 2
"""Decisions and corrections since the last visit, on the home page."""
HAS_DISCUSSION = 1
"""Comments on the decision of a dataset."""
HAS_SLICES = 1
"""The decision of a dataset and the page of slices also look for counts of slices."""
COUNTS_FLAGS = 1
"""The page of a report also counts the open flags of its runs."""
SHOWS_BEST_RUN = 1
"""The page of a problem names the best run on it."""
SELECTS_SLICES = frozenset(f"/runs/<run:run_id>{tab}" for tab in ("", "/slices", "/examples"))
LOOKS_AT_SAMPLES = 1
"""Examples and suspect labels also show what the samples look like."""
SHOWS_EXAMPLES = 5
"""A flag and an edition of a report also read a few examples, as a page of examples does."""
WITH_EXAMPLES = frozenset(
    (
        "/flags/<int(max=9223372036854775807):number>",
        "/reports/<name:name>/<int(min=1,max=2147483647):number>",
    )
)
READS_SETS = 9
"""Costs of labels read the sets of a run, its labels and the curves of its scores."""
CHOOSES_MODELS = 1
"""Suspect labels read the accuracy of runs, so as not to read the predictions of all."""
KEEPS_TO_A_DRAFT = 2
"""They also ask which samples an open draft is about, and which were published for these."""
KNOWS_MODELS = 2
"""The runs list also knows models, and who is champion."""


def of(which: str, paths: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Paths by rule, with the registry that has something for them."""
    return {rule: (which, path) for rule, path in paths.items()}


PAGES = {
    **of(
        "lesions",
        {
            **{
                path: path
                for path in (
                    *("/", "/_gallery", "/_gallery/charts", "/_gallery/matrices", "/costs"),
                    *("/datasets", "/problems", "/glossary", "/jobs", "/runs", "/settings"),
                    *("/settings/audit", "/settings/links", "/settings/tokens"),
                    *("/settings/users", "/settings/rules"),
                )
            },
            **{
                f"/datasets/<name:name>{tab}": f"/datasets/derm-7{tab}"
                for tab in (
                    *("", "/approve", "/data", "/content", "/methods", "/suspects", "/noise"),
                    "/draft",
                )
            },
            **{
                f"/runs/<run:run_id>{tab}": f"/runs/{{plain}}{tab}"
                for tab in ("", "/advice", "/classes", "/history", "/meta")
            },
            "/audit": "/audit?example=wine-averages",
            "/costs/<name:name>": "/costs/triage",
            "/costs/<name:name>/new": "/costs/triage/new",
            "/costs/new": "/costs/new?dataset=derm-7",
            "/problems/<int(max=9223372036854775807):number>": "/problems/1",
            "/flags/<int(max=9223372036854775807):number>": "/flags/1",
            "/glossary/<key>": "/glossary/mcc?share=0.01",
            "/jobs/<int(max=9223372036854775807):job_id>": "/jobs/{job}",
            "/models/<name:name>": "/models/effnet-b3",
            "/runs/tag": "/runs/tag?runs={plain}",
            "/search": "/search?q=a",
            "/views": "/views?of=q%3Dflag:open",
            "/whatif": "/whatif?runs={plain},{majority}&cost=@0-1",
        },
    ),
    **of(
        "scored",
        {
            "/runs/<run:run_id>/curves": "/runs/{several}/curves",
            "/runs/<run:run_id>/examples": "/runs/{several}/examples?show=all",
            "/runs/<run:run_id>/slices": "/runs/{several}/slices",
            "/whatif/decisions": "/whatif/decisions?run={event}&cost=@0-1",
        },
    ),
    **of(
        "compared",
        {
            "/compare": "/compare?runs={plain},{focal}",
            "/compare/examples": "/compare/examples?runs={plain},{focal}&which=both_right",
        },
    ),
    **of(
        "reported",
        {
            "/reports": "/reports",
            "/reports/<name:name>": "/reports/weekly",
            "/reports/<name:name>/<int(min=1,max=2147483647):number>": "/reports/weekly/2",
            "/reports/<name:name>/edit": "/reports/weekly/edit",
            "/reports/new": "/reports/new",
        },
    ),
    **of(
        "revised",
        {
            "/datasets/<name:name>/truth/<int(min=1,max=2147483647):before>.."
            "<int(min=1,max=2147483647):after>": "/datasets/pets/truth/1..2",
            "/datasets/<name:name>/truth/<int(min=1,max=2147483647):number>/impact": (
                "/datasets/pets/truth/2/impact"
            ),
        },
    ),
    **of(
        "sets",
        {"/runs/<run:run_id>/label-costs": "/runs/{labels}/label-costs?costs=sea=5:1"},
    ),
}
"""A page by each rule; names in braces are those of runs in the registry."""

NO_PAGES = frozenset(
    {
        # Files and answers to programs.
        *("/s/<secret>", "/audit/card.svg", "/compare/card.svg", "/runs/<run:run_id>/card.svg"),
        *("/assets/<digest>/<name>", "/healthz", "/readyz", "/metrics", "/compare.md"),
        *(f"/runs/<run:run_id>/matrix.{kind}" for kind in ("md", "tex", "svg", "png")),
        "/reports/<name:name>/<int(min=1,max=2147483647):number>/<string:file>",
        # They lead on to a page.
        *("/runs/as-baseline", "/runs/as-champion", "/v/<slug>", "/runs/<run:run_id>/matrix/at"),
        *("/flags", "/datasets/<name:name>/image"),
        "/runs/<run:run_id>/cells/<actual>-<predicted>",
        # Where nobody signs in they lead on, too; their own tests look at them.
        *("/settings/account", "/sign-in", "/sign-in/openid", "/sign-in/openid/back"),
    }
)


def names_in(
    lesions: LesionRegistry, scored: ScoredRegistry, compared: ComparedRegistry, of_sets: str
) -> dict[str, dict[str, str]]:
    """What the names in the addresses of pages are, by registry."""
    job = jobs_page(lesions.database).jobs.entries[0].id
    return {
        "lesions": {**names_of(lesions), "job": str(job)},
        "scored": names_of(scored),
        "compared": names_of(compared),
        "reported": {},
        "revised": {},
        "sets": {"labels": of_sets},
    }


def log_evaluated_sets(database: Database) -> str:
    """A multi-label run, by its id."""
    run_id = log_sets(database).id
    evaluate(database, run_id)
    return run_id


@pytest.fixture(scope="session")
def labelled_sets(
    databases: Kind, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Database, str]]:
    """A registry with a multi-label run."""
    with databases.new(tmp_path_factory.mktemp("sets")) as database:
        yield database, log_evaluated_sets(database)


@pytest.fixture(scope="session")
def clients(
    registry: LesionRegistry,
    scored: ScoredRegistry,
    compared: ComparedRegistry,
    reported: ReportedRegistry,
    revised: RevisedRegistry,
    labelled_sets: tuple[Database, str],
) -> dict[str, PageClient]:
    """Clients of the registries that tests read."""
    databases = {
        "lesions": registry.database,
        "scored": scored.database,
        "compared": compared.database,
        "reported": reported.database,
        "revised": revised.database,
        "sets": labelled_sets[0],
    }
    names = names_in(registry, scored, compared, labelled_sets[1])
    return {
        which: client_for(dashboard(database), **names[which])
        for which, database in databases.items()
    }


def test_every_page_has_a_budget(app: Flask) -> None:
    rules = {
        spelled(rule)
        for rule in app.url_map.iter_rules()
        if "GET" in (rule.methods or ())
        and not rule.rule.startswith("/api/")
        and not rule.rule.endswith((":form>", ".json", ".csv"))
    }

    assert sorted(rules - NO_PAGES - {*PAGES}) == [], "add an address of the page to PAGES"
    assert sorted({*PAGES} - (rules - NO_PAGES)) == [], "take the page out of PAGES"


@pytest.mark.parametrize("rule", PAGES)
def test_a_page_is_small_and_asks_little(clients: dict[str, PageClient], rule: str) -> None:
    which, path = PAGES[rule]
    client = clients[which]
    response = client.get(path)
    assert response.status_code == 200, f"{path}: {response.status}"

    with counted_statements() as statements:
        body = client.get(path).data

    page = small_page(body)
    loaded = {
        *(link["href"] for link in page.all("link") if _is_loaded(link)),
        *(script["src"] for script in page.all("script")),
        *(image["src"] for image in page.all("img")),
    }
    assert_harmless(page)
    assert 1 + len(loaded) <= MOST_REQUESTS, loaded
    assert all(path.startswith("/") for path in loaded)
    others = NEWS if rule == "/" else COUNTS_FLAGS if rule.startswith("/reports/") else 0
    others += HAS_DISCUSSION + HAS_SLICES if rule == "/datasets/<name:name>" else 0
    others += HAS_SLICES if rule in SELECTS_SLICES else 0
    others += SHOWS_BEST_RUN if rule.startswith("/problems/") else 0
    others += SHOWS_EXAMPLES if rule in WITH_EXAMPLES else 0
    others += KNOWS_MODELS if rule == "/runs" else 0
    others += CHOOSES_MODELS + KEEPS_TO_A_DRAFT if rule.endswith("/suspects") else 0
    others += READS_SETS if rule.endswith("/label-costs") else 0
    others += LOOKS_AT_SAMPLES if rule.endswith(("/suspects", "/examples")) else 0
    assert len(statements) <= MOST_STATEMENTS + others, statements


FORM_PAGES = ("/approve", "/content", "/edit", "/new", "/tag")
"""Ends of the addresses of pages that are a form and nothing else."""


@pytest.mark.parametrize("rule", PAGES)
def test_a_page_offers_viewers_no_form_that_is_refused(
    clients: dict[str, PageClient], rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    which, path = PAGES[rule]
    client = clients[which]
    monkeypatch.setattr(auth, "EVERYTHING", (Grant(Role.VIEWER),))
    client.set_cookie("reader", "ana")

    answer = client.get(path)
    page = Page(answer.text)
    forms = page.all("form", method="post")
    buttons = [button for form in forms for button in form.inside("button")]
    addresses = {
        *(form["action"] for form in forms),
        *(each["formaction"] for each in buttons if "formaction" in each.attributes),
    }
    # Without the token of a form, all others are refused for that.
    refused = [each for each in addresses if "needs the role" in client.post(each).text]
    leads_to = {link.attributes.get("href", "").partition("?")[0] for link in page.all("a")}

    needed = route_table().get(("GET", rule))
    assert answer.status_code == (200 if needed is None or needed.role == "viewer" else 403)
    assert refused == []
    assert [each for each in leads_to if each.endswith(FORM_PAGES)] == []


def _is_loaded(link: Element) -> bool:
    return link["rel"] in {"stylesheet", "icon"}


@pytest.mark.parametrize(
    ("path", "notice"),
    [
        ("/flags?state=odd", "There is no state “odd”"),
        ("/flags?severity=high", "Problems cannot be filtered by severity"),
        ("/datasets/derm-7/approve?run=r_odd", "Run “r_odd” cannot be approved here."),
        ("/datasets/derm-7/suspects?class=odd", "There is no label “odd”"),
        ("/costs/triage/new?v=odd", "“odd” is not a number of a version."),
        ("/glossary/mcc?dataset=odd", "“odd” is not the number of a dataset."),
        ("/glossary/mcc?dataset=99", "There is no dataset 99 with two classes."),
        ("/?from=odd", "The position in the list is invalid"),
    ],
)
def test_an_unknown_value_of_a_parameter_is_told(
    clients: dict[str, PageClient], path: str, notice: str
) -> None:
    answer = clients["lesions"].get(path, follow_redirects=True)

    assert answer.status_code == 200
    notices = [each.text for each in Page(answer.text).all("p", "callout")]
    assert [each for each in notices if each.startswith(notice)], notices


MOST_STATEMENTS_ON_POSTGRESQL = 30
"""Files, answers to programs and changes may ask more than a page, but not endlessly.

How little a page asks is counted on SQLite, where it asks the same.
"""

BROUGHT_BY_OTHERS = frozenset({"GET /sign-in/openid", "GET /sign-in/openid/back"})
"""They need a provider of identities; `access/openid_test.py` has one, for both databases."""

API, FORMS = "/api/v1", ("json", "csv")
NEW = {"dataset": "new", "labels": ["a", "b"]}
SCOPE = {"dataset": "derm-7"}
ANSWER = {"samples": [989], "labels": ["bkl"], "author": "ana"}
ZERO_ONE = {a: {p: float(a != p) for p in LESIONS} for a in LESIONS}
TYPED_COSTS = {"table": "\n".join(",".join(map(str, row)) for row in 1 - np.eye(7, dtype=int))}
TYPED_PLAN = {"dataset": "1", "metrics": "mcc", "cron": "0 6 * * 1", "zone": "UTC"}
PIXEL = base64.b64encode(image_file([[0, 255]])).decode()
TABLE = {"table": "Model,Accuracy,Error rate\nA,90,10\n"}

OTHER_THINGS: dict[str, dict[str, str]] = {
    "GET /reports/<name:name>/<int(min=1,max=2147483647):number>/<string:file>": {
        "file": "report.html"
    },
    "GET /runs/<run:run_id>/cells/<actual>-<predicted>": {"run_id": "scored", "predicted": "0"},
    f"GET {API}/runs/<run:run_id>/confused-labels": {"run_id": "sets"},
    f"POST {API}/runs/<run:run_id>/label-costs": {"run_id": "sets"},
    "GET /runs/<run:run_id>/label-costs.json": {"run_id": "sets"},
    f"GET {API}/runs/<run:run_id>/curves": {"run_id": "scored"},
    f"GET {API}/runs/<run:run_id>/examples": {"run_id": "scored"},
    f"GET {API}/runs/<run:run_id>/fairness": {"run_id": "scored"},
    f"PUT {API}/runs/<run:run_id>/chunks/<int:seq>": {"run_id": "opened", "seq": "0"},
    f"POST {API}/runs/<run:run_id>/finish": {"run_id": "opened"},
    f"POST {API}/runs/<run:run_id>/decisions": {"run_id": "event"},
    f"POST {API}/runs/<run:run_id>/rules": {"run_id": "event"},
    f"DELETE {API}/runs/<run:run_id>": {"run_id": "waiting"},
    f"POST {API}/runs/<run:run_id>/restore": {"run_id": "waiting"},
    f"POST {API}/reports/<name:name>/editions/<number:number>/retry": {"number": "3"},
    "POST /reports/<name:name>/<int(min=1,max=2147483647):number>/retry": {"number": "3"},
    "POST /settings/tokens/<int:token_id>/revoke": {"token_id": "2"},
    "POST /settings/links/<int:link_id>/revoke": {"link_id": "1"},
    f"GET {API}/datasets/<name:name>/truth/<number:number>/impact": {"datasets/name": "pets"},
    f"GET {API}/datasets/<name:name>/truth/difference": {"datasets/name": "pets"},
    f"POST {API}/datasets/<name:name>/slices": {"datasets/name": "pets"},
    f"POST {API}/datasets/<name:name>/truth/<number:number>/undo": {"number": "3"},
    "POST /datasets/<name:name>/truth/<int(min=1,max=2147483647):number>/undo": {"number": "2"},
}
"""What a route is asked about, where that is not what the others of its kind are asked about."""

QUERIES: dict[str, str] = {
    "GET /audit/card.svg": "table=Accuracy 0.9",
    "GET /compare/card.svg": "runs={pair}",
    f"GET {API}/compare": "runs={pair}",
    f"GET {API}/compare/examples": "runs={pair}&which=only_a",
    f"GET {API}/costs": "dataset=derm-7&costs=@0-1",
    f"GET {API}/datasets/<name:name>/truth/difference": "before=1&after=2",
    f"GET {API}/runs/<run:run_id>/fairness": "by=country",
    "GET /runs/<run:run_id>/matrix/at": "at.x=1&at.y=25",
    "GET /runs/as-baseline": "q=dataset:derm-7&runs={run_id}",
    "GET /runs/as-champion": "q=dataset:derm-7&runs={run_id}",
    "POST /costs/new": "dataset=derm-7",
    "GET /datasets/<name:name>/image": "sample=0",
    f"GET {API}/datasets/<name:name>/samples/image": "sample=0",
}

WRITES: dict[str, Any] = {
    f"POST {API}/runs": {**NEW, "name": "opened"},
    f"PUT {API}/runs/<run:run_id>/chunks/<int:seq>": b"y_pred,y_true\r\nb,a\r\n",
    f"POST {API}/runs/<run:run_id>/finish": {"n_chunks": 1},
    f"POST {API}/matrices": {**NEW, "name": "m", "matrix": [[3, 1], [1, 3]]}
    | {"orientation": "actual_rows"},
    f"POST {API}/counts": {**NEW, "name": "c", "actual": ["a"], "predicted": ["b"]}
    | {"sizes": [2], "counted_on": "duckdb"},
    f"POST {API}/paired-counts": {
        **NEW,
        "runs": [{"name": "one"}, {"name": "other"}],
        "tables": [{"actual": ["a"], "predicted": {"one": ["b"], "other": ["a"]}, "sizes": [2]}],
        "counted_on": "duckdb",
    },
    f"POST {API}/runs/<run:run_id>/decisions": {"threshold": "cheapest"}
    | {"weights": [[0, 1], [9, 0]], "labels": ["fine", "fraud"]},
    f"POST {API}/runs/<run:run_id>/gate": {"conditions": ["mcc>=0"]},
    f"POST {API}/runs/<run:run_id>/rules": {"threshold": "cheapest", "costs": "@0-1"},
    f"POST {API}/runs/<run:run_id>/label-costs": {"costs": {"sea": {"miss": 5}}},
    f"DELETE {API}/runs/<run:run_id>": None,
    f"POST {API}/runs/<run:run_id>/restore": None,
    "POST /runs/<run:run_id>/baseline/pin": {},
    "POST /runs/<run:run_id>/baseline/unpin": {},
    f"POST {API}/datasets": {"name": "pairs", "labels": ["no", "yes"]},
    f"PUT {API}/datasets/<name:name>/hierarchy": {"hierarchy": {"malignant": ["mel", "bcc"]}},
    f"PUT {API}/datasets/<name:name>/cost-matrix": {"cost_matrix": "triage@1"},
    f"PUT {API}/datasets/<name:name>/baseline": {"run": "{run_id}"},
    f"PUT {API}/datasets/<name:name>/primary-metric": {"metric": "mcc"},
    f"PUT {API}/datasets/<name:name>/candidate": {"run": "{run_id}", "reason": "best"},
    f"PUT {API}/datasets/<name:name>/champion": {"run": "{run_id}", "reason": "best"},
    "POST /datasets/<name:name>/approve": {"run": "{run_id}", "reason": "best so far"},
    "POST /datasets/<name:name>/comments": {"comment": "wait"},
    "POST /datasets/<name:name>/content": {"hidden": "on"},
    f"POST {API}/datasets/<name:name>/samples": {"samples": [{"sample": 0, "image": PIXEL}]},
    f"POST {API}/datasets/<name:name>/samples/remove": {"samples": [7]},
    f"PUT {API}/datasets/<name:name>/content": {"is_hidden": False},
    "POST /runs/<run:run_id>/comments": {"comment": "look"},
    f"POST {API}/datasets/<name:name>/comments": {"text": "wait"},
    f"POST {API}/runs/<run:run_id>/comments": {"text": "look"},
    "POST /datasets/<name:name>/suspects": {"sample": "987", "version": "1", "reader": "ana"},
    "POST /runs/<run:run_id>/examples": {"sample": "988", "label": "nv", "reader": "ana"},
    "POST /datasets/<name:name>/draft": {"sample": "988", "label": "nv", "reader": "ana"},
    "POST /datasets/<name:name>/draft/decide": {"sample": "988", "label": "bkl", "reader": "ana"},
    "POST /datasets/<name:name>/draft/publish": {"reason": "seen"},
    "POST /datasets/<name:name>/truth/<int(min=1,max=2147483647):number>/undo": {"reason": "no"},
    f"POST {API}/datasets/<name:name>/draft": ANSWER,
    f"POST {API}/datasets/<name:name>/draft/withdraw": {"samples": [989], "author": "ana"},
    f"POST {API}/datasets/<name:name>/draft/decide": ANSWER,
    f"POST {API}/datasets/<name:name>/draft/publish": {"reason": "seen again"},
    f"POST {API}/datasets/<name:name>/truth/<number:number>/undo": {"reason": "no"},
    f"POST {API}/datasets/<name:name>/draft/tasks": {"tasks": [{"data": {}}]},
    f"POST {API}/datasets/<name:name>/slices": {"ids": [IDS[0]], "columns": {"site": ["x"]}},
    f"POST {API}/datasets/<name:name>/truth": {"samples": [0], "labels": ["mel"]}
    | {"reason": "second look"},
    f"PATCH {API}/runs/<run:run_id>": {"tags": {"team": "skin"}},
    "POST /runs/tag": {"runs": "{run_id}", "tag": "team=skin"},
    "POST /runs/<run:run_id>/tags": {"tags": "team=skin", "review": ""},
    f"POST {API}/cost-matrices": {**SCOPE, "name": "visits", "weights": ZERO_ONE},
    "POST /costs/new": {**TYPED_COSTS, "name": "typed", "action": "save"},
    "POST /costs/<name:name>/new": {"table": "0,1\n2,0", "action": "save"},
    "POST /costs/<name:name>/default": {"dataset": "derm-7", "v": "1"},
    f"POST {API}/whatif": {"runs": ["{run_id}"]},
    "POST /whatif": {"runs": "{run_id}", "cost": "@0-1", "name": "kept"},
    "POST /whatif/decisions": {"run": "{scored}", "cost": "@0-1", "rule": "expected"}
    | {"name": "by cost"},
    f"POST {API}/flags/<number:number>/decisions": {"action": "comment", "text": "look"},
    f"POST {API}/flags/decisions": {"action": "acknowledge", "flags": [{"id": 1}]},
    "POST /flags/<int(max=9223372036854775807):number>/"
    "<any(acknowledge,snooze,dismiss,reopen,assign,comment):action>": {"seen": "{revision_1}"},
    f"POST {API}/problems/<number:number>/decisions": {"action": "acknowledge"},
    "POST /problems": {"action": "dismiss", "problem": "1", "reason": "known"},
    "POST /problems/<int(max=9223372036854775807):number>/"
    "<any(acknowledge,snooze,dismiss,reopen,assign,comment):action>": {"comment": "look"},
    f"POST {API}/schedules": {"name": "daily", "cron": "0 7 * * 1", "scope": SCOPE},
    f"PUT {API}/schedules/<name:name>": {"cron": "0 8 * * 1", "scope": SCOPE},
    f"POST {API}/schedules/<name:name>/pause": None,
    f"POST {API}/schedules/<name:name>/resume": None,
    f"POST {API}/schedules/<name:name>/run": None,
    f"DELETE {API}/schedules/<name:name>": None,
    f"POST {API}/reports": {"name": "once", "scope": SCOPE},
    f"POST {API}/reports/<name:name>/run": None,
    f"POST {API}/reports/<name:name>/editions/<number:number>/retry": None,
    f"POST {API}/reports/<name:name>/editions/<number:number>/deliveries/"
    "<number:delivery_id>/retry": None,
    "POST /reports/<name:name>/<int(min=1,max=2147483647):number>/retry": {},
    "POST /reports/<name:name>/<int(min=1,max=2147483647):number>/deliveries/"
    "<int(min=1,max=9223372036854775807):delivery_id>/retry": {},
    "POST /reports/new": {**TYPED_PLAN, "name": "typed", "action": "save"},
    "POST /reports/<name:name>/edit": {**TYPED_PLAN, "action": "save"},
    "POST /reports/<name:name>/run": {},
    "POST /reports/<name:name>/pause": {},
    "POST /reports/<name:name>/resume": {},
    "POST /reports/<name:name>/delete": {},
    f"POST {API}/jobs/<number:job_id>/retry": None,
    f"POST {API}/jobs/retry": None,
    "POST /jobs/<int(max=9223372036854775807):job_id>/retry": {},
    "POST /jobs/retry": {},
    "POST /audit": TABLE,
    "POST /audit.json": TABLE,
    "POST /views": {"name": "mine", "of": "q=model:x"},
    "POST /v/<slug>/remove": {},
    f"POST {API}/tokens": {"name": "cluster"},
    f"DELETE {API}/tokens/<number:token_id>": None,
    "POST /settings/links": {"page": "/runs/{run_id}", "days": "7"},
    "POST /settings/links/<int:link_id>/revoke": {},
    "POST /settings/tokens": {"name": "laptop", "role": "viewer", "days": "30"},
    "POST /settings/tokens/<int:token_id>/revoke": {},
    f"POST {API}/users": {"name": "cy", "password": PASSWORD, "roles": [{"role": "viewer"}]},
    f"PUT {API}/users/<name:name>/role": {"role": "editor"},
    f"POST {API}/users/<name:name>/disable": None,
    f"POST {API}/users/<name:name>/enable": None,
    "POST /settings/users": {"name": "di", "password": PASSWORD, "role": "viewer"},
    "POST /settings/users/<name:user>/role": {"role": "editor"},
    "POST /settings/users/<name:user>/password": {"password": f"{PASSWORD}, forgotten"},
    "POST /settings/users/<name:user>/<any(disable,enable):action>": {},
    "POST /settings/account/password": {"current": PASSWORD, "wanted": f"{PASSWORD}, new"},
    "POST /sign-in": {"name": "ana", "password": f"{PASSWORD}, new"},
    "POST /settings/account/sign-out-everywhere": {},
    "POST /sign-out": {},
}
"""One change by each route, as JSON for programs and as a form else; in this order."""


@dataclass(frozen=True)
class Full:
    """A registry with everything, an admin who is signed in, and what addresses name."""

    database: Database
    names: dict[str, dict[str, str]]
    client: PageClient
    things: dict[str, str]

    def address(self, route: str) -> str:
        """Where a route is asked."""
        _, rule = route.split(" ", 1)
        things = dict(self.things)
        for part, thing in OTHER_THINGS.get(route, {}).items():
            things[part] = self.things.get(thing, thing)
        query = QUERIES.get(route, "").format(**self.things)
        return path_of(rule, things) + (query and f"?{query}")


@pytest.fixture(scope="module")
def full(databases: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Full]:
    with databases.new(tmp_path_factory.mktemp("full")) as database:
        lesions, scored, compared = fill(database), fill_scored(database), fill_compared(database)
        fill_reports(database)
        fill_revised(database)
        of_sets = log_evaluated_sets(database)
        names = names_in(lesions, scored, compared, of_sets)
        look = [GivenSample("0", image=image_file([[0, 255]]))]
        log_samples(database, project="default", dataset="derm-7", given=look)
        often = "1000000 per second"
        app = guarded(
            database,
            api_limit=often,
            write_limit=often,
            sign_in_limit=often,
            share_link_days=30,
        )
        app.config["WTF_CSRF_ENABLED"] = False
        client = client_of(app, database, add_person(database, "ana", Grant(Role.ADMIN)), "ana")
        add_person(database, "bo", Grant(Role.VIEWER))
        fields = client.page("/settings/tokens").all("input")
        token = next(f for f in fields if f.attributes.get("name") == "csrf_token")
        client.environ_base["HTTP_X_CSRFTOKEN"] = token["value"]
        shared = client.post(
            "/settings/links", data={"page": f"/runs/{lesions.plain}", "days": "7"}
        )
        view = client.post("/views", data={"name": "first", "of": "q=model:x"})
        with database.read() as session:
            job = session.scalar(select(WorkRow.id).where(WorkRow.state == "dead"))
            refused = select(DeliveryRow.id).where(DeliveryRow.state == "refused")
            delivery = session.scalar(refused)
        things = {
            "run_id": lesions.plain,
            "scored": scored.several,
            "sets": of_sets,
            "event": scored.event,
            "waiting": lesions.waiting,
            "pair": f"{compared.plain},{compared.focal}",
            "flags/number": "1",
            "number": "2",
            "file": "html",
            "datasets/name": "derm-7",
            "models/name": "effnet-b3",
            "costs/name": "triage",
            "cost-matrices/name": "triage",
            "reports/name": "weekly",
            "schedules/name": "weekly",
            "delivery_id": str(delivery),
            "jobs/job_id": str(job),
            "key": "mcc",
            "secret": re.findall(r"/s/([\w-]{43})<", shared.text)[0],
            "slug": view.headers["Location"].rpartition("/")[2],
            "users/name": "bo",
            "user": "bo",
        }
        yield Full(database, names, client, things)


def routes() -> set[str]:
    """Every method and rule of the table, spelled without spaces; no former path."""
    return {
        f"{method} {rule.replace(' ', '')}"
        for of_module in ROUTES.values()
        for rules in of_module.values()
        for method, rule in (each.split(" ", 1) for each in rules)
        if "/issues/" not in rule
    } - BROUGHT_BY_OTHERS


def reads() -> list[str]:
    """Those that only read, each form of an export for itself."""
    found = [route for route in routes() if route.startswith("GET ")]
    forms = [route.replace("<any(json,csv):form>", form) for route in found for form in FORMS]
    return sorted(set(forms))


@pytest.fixture(scope="module")
def without_renewals() -> Iterator[None]:
    """What is done again after a while, such as noting that somebody is still there.

    On a slow machine it would fall on any of the routes, with a statement of its own.
    """
    with (
        patch.object(sessions, "TOUCHED_EVERY", timedelta(days=1)),
        patch.object(last_visit, "COUNT_KEPT_FOR_S", math.inf),
    ):
        yield


@pytest.mark.on_postgresql
@pytest.mark.usefixtures("without_renewals")
def test_every_route_answers_in_few_statements(full: Full) -> None:
    """Those that only read first, as the others change what is read."""
    assert set(WRITES) == {route for route in routes() if not route.startswith("GET ")}

    wrong = [*wrong_reads(full), *wrong_changes(full)]

    assert not wrong, "\n".join(wrong)


def wrong_reads(full: Full) -> list[str]:
    """What is wrong with the routes that only read."""
    wrong = []
    for route in reads():
        rule = route.removeprefix("GET ")
        page, _, form = rule.rpartition(".")
        which, path = PAGES.get(rule) or PAGES.get(page) or ("lesions", "")
        full.client.names = full.names[which]
        if rule not in PAGES and form in {*FORMS, "md"} and page in PAGES:
            path = path.replace("?", f".{form}?", 1)
            path = path if "?" in path else f"{path}.{form}"
        elif rule not in PAGES:
            path = full.address(route)
        with counted_statements() as statements:
            answer = full.client.get(path)
        is_answered = answer.status_code in {200, 302, 303}
        if not is_answered or len(statements) > MOST_STATEMENTS_ON_POSTGRESQL:
            wrong.append(f"{path}: {answer.status}, {len(statements)} statements")
    return wrong


def wrong_changes(full: Full) -> list[str]:
    """What is wrong with the routes that change something."""
    wrong = []
    for route, body in WRITES.items():
        if route.endswith("/retry"):
            fail_again(full)
        for number in (1, 2):
            flag = full.client.json(f"{API}/flags/{number}") if "/flags" in route else {}
            full.things[f"revision_{number}"] = str(flag.get("revision"))
        method, path, sent = route.partition(" ")[0], full.address(route), named(body, full.things)
        how = (
            {"data": sent, "content_type": "text/csv"}
            if isinstance(sent, bytes)
            else {"json" if API in route else "data": sent}
        )
        with counted_statements() as statements:
            answer = full.client.open(path, method=method, **how)
        if answer.status_code >= 400 or len(statements) > MOST_STATEMENTS_ON_POSTGRESQL:
            wrong.append(f"{route}: {answer.status}, {len(statements)} statements")
        if route == f"POST {API}/runs":
            full.things["opened"] = answer.get_json()["id"]
    return wrong


def test_no_form_is_taken_without_its_token(client: PageClient) -> None:
    wrong = []
    for route in (route for route in WRITES if API not in route):
        for sent in ({}, {"csrf_token": "made up"}):
            with counted_statements() as statements:
                answer = client.post(
                    path_of(route.removeprefix("POST "), {"run_id": "r_none"}), data=sent
                )
            refused = answer.status_code == 403 and "This form has expired" in answer.text
            if not refused or any(not each.startswith("SELECT") for each in statements):
                wrong.append(f"{route}: {answer.status}, {statements}")

    assert not wrong, "\n".join(wrong)


def named(body: Any, things: dict[str, str]) -> Any:
    """A body with the names of things in place of what stands for them."""
    if isinstance(body, str):
        return body.format(**things)
    if isinstance(body, list):
        return [named(each, things) for each in body]
    if isinstance(body, dict):
        return {key: named(value, things) for key, value in body.items()}
    return body


def fail_again(full: Full) -> None:
    """Leave an edition, its way to a target and a job as they are when nobody tries any more."""
    ended = {"attempts": 5, "error": "boom"}
    with full.database.write() as session:
        session.execute(
            update(ReportEditionRow)
            .where(ReportEditionRow.number == 3)
            .values(state="failed", error="boom")
        )
        job = session.scalar(select(func.max(WorkRow.id)).where(WorkRow.task == "evaluate"))
        full.things["jobs/job_id"] = str(job)
        for table, number, state in (
            (DeliveryRow, int(full.things["delivery_id"]), "refused"),
            (WorkRow, job, "dead"),
        ):
            session.execute(update(table).where(table.id == number).values(state=state, **ended))

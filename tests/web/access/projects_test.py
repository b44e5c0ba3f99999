"""Whoever has a role in one project finds nothing of another one, wherever they look."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from werkzeug.test import TestResponse

from offdiag.domain.access import Grant, Role
from offdiag.reports.scope import ReportScope
from offdiag.services.cost_matrices import add_costs
from offdiag.services.datasets import pin_baseline
from offdiag.services.saved_views import save_view
from offdiag.store.database import Database
from support.access import add_person, bearer, guarded, token_of
from support.dashboard import LESION_COUNTS, LESIONS, fail_evaluation, log_counts
from support.kinds import Kind
from support.pages import PageClient, client_for
from support.reporting import weekly
from support.routes import path_of, route_table

HIDDEN = "unmentionable"
WEIGHTS = {a: {p: float(a != p) for p in LESIONS} for a in LESIONS}


@dataclass(frozen=True)
class TwoProjects:
    """A dashboard over `alpha` and `beta`; everything in `beta` has a name with `HIDDEN` in it."""

    database: Database
    client: PageClient
    shown: str
    hidden: str
    headers: dict[str, str]
    everywhere: dict[str, str]


@pytest.fixture(scope="module")
def two(databases: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoProjects]:
    with databases.new(tmp_path_factory.mktemp("two")) as database:
        shown = fill_project(database, "alpha", "plain")
        hidden = fill_project(database, f"{HIDDEN} beta", HIDDEN)
        add_person(database, "bo", Grant(Role.ADMIN, "alpha"))
        add_person(database, "ana", Grant(Role.ADMIN))
        yield TwoProjects(
            database,
            client_for(guarded(database, read_limit="100000 per second")),
            shown,
            hidden,
            bearer(token_of(database, "bo", Role.ADMIN, project="alpha")),
            bearer(token_of(database, "ana", Role.ADMIN)),
        )


def fill_project(database: Database, project: str, word: str) -> str:
    """Things of every kind, each with the word in its name; returns the id of a run."""
    dataset = f"{word} set"
    run_id = log_counts(
        database, LESION_COUNTS, LESIONS, name=f"{word} run", model=f"{word} net",
        author=f"{word} author", tags={"team": f"{word} team"}, dataset=dataset, project=project,
    )  # fmt: skip
    better = [[line[i] + (30 if i == j else 0) for i in range(7)] for j, line in
              enumerate(LESION_COUNTS)]  # fmt: skip
    log_counts(
        database,
        better,
        LESIONS,
        name=f"{word} second",
        model=f"{word} net",
        dataset=dataset,
        project=project,
    )
    failed = log_counts(
        database,
        LESION_COUNTS,
        LESIONS,
        name=f"{word} sad",
        evaluated=False,
        dataset=dataset,
        project=project,
    )
    fail_evaluation(database, failed, error=f"ValueError: {word} broke")
    add_costs(
        database, project=project, dataset=dataset, name=f"{word} costs",
        weights=WEIGHTS, author=word,
    )  # fmt: skip
    weekly(
        database,
        name=f"{word} report",
        scope=ReportScope(project=project, dataset=dataset),
    )
    pin_baseline(database, run_id, author=word)
    return run_id


def pages(two: TwoProjects) -> list[str]:
    """Every page there is to get, as it is and with everything hidden asked for by name."""
    shown = {
        "run_id": two.shown,
        "datasets/name": "plain set",
        "costs/name": "plain costs",
        "reports/name": "plain report",
        "models/name": "plain net",
        "key": "mcc",
        "after": "2",
    }
    asked = (
        f"?project=alpha&runs={two.shown},{two.hidden}&base={two.hidden}&baseline={two.hidden}"
        f"&dataset={HIDDEN}+set&cost={HIDDEN}+costs&run={two.hidden}&costs={HIDDEN}+costs"
    )
    to_get = [route for route in route_table().values() if route.method == "GET"]
    lists = [path_of(route.rule, shown) for route in to_get if route.about == "any"]
    things = [path_of(route.rule, shown) for route in to_get if route.about == "project"]
    return [
        *(path for path in lists if "." not in path),
        *(f"{path}{asked}" for path in (*lists, *things)),
        *("/runs?q=flag:any", "/problems?show=all&low=1", "/search?q=un", "/search.json?q=un"),
        *("/runs?sort=-mcc", "/runs?cols=log_loss", "/runs.json?q=name:run"),
        f"/whatif?runs={two.shown}",
    ]


def test_no_page_tells_anything_of_another_project(two: TwoProjects) -> None:
    told = []
    for path in pages(two):
        answer = two.client.get(path, headers=two.headers)
        # A page repeats what it was asked for; what it adds to that is what it tells.
        text = answer.get_data().decode(errors="replace")
        if f"{HIDDEN} " in text.replace(f"{HIDDEN} set", "").replace(f"{HIDDEN} costs", ""):
            told.append(path)
        assert answer.status_code < 500 or answer.status_code == 503, path

    assert told == []


def test_forms_are_offered_in_the_project_whose_runs_a_reader_may_change(
    two: TwoProjects,
) -> None:
    add_person(two.database, "cy", Grant(Role.VIEWER, "alpha"), Grant(Role.EDITOR))
    headers = bearer(token_of(two.database, "cy", Role.EDITOR, project=f"{HIDDEN} beta"))
    seen = bearer(token_of(two.database, "cy", Role.VIEWER))

    assert 'name="tags"' in two.client.get(f"/runs/{two.hidden}/meta", headers=headers).text
    assert 'name="tags"' not in two.client.get(f"/runs/{two.hidden}/meta", headers=seen).text


def test_the_same_pages_tell_of_it_to_whoever_may_see_it(two: TwoProjects) -> None:
    telling = [
        path
        for path in (
            "/runs",
            "/datasets",
            "/costs",
            "/reports",
            "/problems?low=1",
            "/search.json?q=un",
            "/",
            "/runs.json",
            "/runs.csv",
            "/flags.json",
            f"/runs/{two.hidden}",
            "/api/v1/runs",
        )
        if HIDDEN in two.client.get(path, headers=two.everywhere).text
    ]

    assert len(telling) == 12


@pytest.mark.parametrize("end", ["", ".json", ".csv", "/classes", "/meta", "/examples"])
def test_a_run_elsewhere_is_refused_like_one_that_does_not_exist(
    two: TwoProjects, end: str
) -> None:
    answers = [
        two.client.get(f"/runs/{run}{end}", headers=two.headers)
        for run in (two.hidden, "r_nosuchrun")
    ]

    assert [answer.status_code for answer in answers] == [403, 403]
    assert len({_without_what_always_differs(answer, two.hidden) for answer in answers}) == 1


def _without_what_always_differs(answer: TestResponse, hidden: str) -> str:
    """The text without the ids that were asked for and the token of its form, which has a time."""
    text = answer.text.replace(hidden, "").replace("r_nosuchrun", "")
    return re.sub(r'name="csrf_token" value="[^"]*"', "", text)


def test_what_one_finds_and_counts_follows_from_what_one_may_see(two: TwoProjects) -> None:
    named = two.client.get("/datasets/plain%20set", headers=two.headers)
    mine, every = (
        two.client.page("/runs", headers=headers).one("span", "count").text
        for headers in (two.headers, two.everywhere)
    )

    assert named.status_code == 302
    assert "project=alpha" in named.headers["Location"]
    assert two.client.get("/runs/r_nosuchrun", headers=two.everywhere).status_code == 404
    # The open flags of the navigation.
    assert mine != every


@pytest.mark.parametrize("thing", ["datasets/plain%20set", "cost-matrices/plain%20costs"])
def test_a_name_that_only_another_project_has_is_told_to_whoever_may_see_it(
    two: TwoProjects, thing: str
) -> None:
    def hint(path: str, headers: dict[str, str]) -> str:
        answer = two.client.get(f"/api/v1/{path}", headers=headers)
        return str(answer.get_json()["error"]["hint"])

    told = hint(f"{thing}?project={HIDDEN}%20beta", two.everywhere)
    assert told == "Project 'alpha' has one of that name."
    hidden = f"{thing.replace('plain', HIDDEN)}?project=alpha"
    assert "roject" not in hint(hidden, two.headers)
    if thing.startswith("datasets"):
        pages = [two.client.get(f"/{hidden}", headers=h) for h in (two.headers, two.everywhere)]
        assert [f"in project “{HIDDEN} beta”" in each.text for each in pages] == [False, True]


def test_whoever_may_log_into_one_project_makes_no_other(two: TwoProjects) -> None:
    for project, status in (("alpha", 201), (f"{HIDDEN} beta", 403), ("third", 403)):
        answer = two.client.post(
            "/api/v1/runs",
            headers=two.headers,
            json={"name": "x", "project": project, "dataset": "fresh",
                  "labels": ["a", "b"]},
        )  # fmt: skip
        assert answer.status_code == status, answer.text


RUN, FLAG, PROJECT = "a run", 10**17, "a project"
PLAIN = "/api/v1/datasets/plain%20set"
BASED = {"project": "alpha", "name": "new", "scope": {"dataset": "plain set", "baseline": RUN}}
NAMING: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/api/v1/flags/decisions", {"action": "acknowledge", "flags": [{"id": FLAG}]}),
    ("POST", "/api/v1/whatif", {"runs": [RUN]}),
    ("PUT", f"{PLAIN}/baseline", {"project": "alpha", "run": RUN}),
    ("PUT", f"{PLAIN}/champion", {"project": "alpha", "run": RUN, "reason": "best"}),
    ("PUT", f"{PLAIN}/candidate", {"project": "alpha", "run": RUN}),
    ("POST", "/api/v1/reports", BASED),
    ("POST", "/api/v1/schedules", BASED | {"cron": "0 6 * * 1"}),
    ("PUT", "/api/v1/schedules/plain%20report", {**BASED, "cron": "0 6 * * 1", "name": None}),
    ("POST", "/api/v1/datasets", {"project": PROJECT, "name": "new", "labels": ["a", "b"]}),
    (
        "POST",
        "/api/v1/cost-matrices",
        {"project": PROJECT, "dataset": f"{HIDDEN} set", "name": "new", "weights": WEIGHTS},
    ),
    ("PUT", f"{PLAIN}/primary-metric", {"project": PROJECT, "metric": "mcc"}),
    ("POST", f"{PLAIN}/comments", {"project": PROJECT, "text": "look"}),
]
"""Changes whose bodies name something: a run, a flag or a project."""


def test_a_change_that_names_something_elsewhere_is_refused_as_if_it_were_not_there(
    two: TwoProjects,
) -> None:
    there = hidden_documents(two)
    flags = two.client.get(f"/api/v1/runs/{two.hidden}/flags", headers=two.everywhere)
    flag = flags.get_json()["flags"][0]["id"]
    for method, path, body in NAMING:
        refused = []
        for run, number, project in (
            (two.hidden, flag, f"{HIDDEN} beta"),
            ("r_nosuchrun", FLAG, "third"),
        ):
            sent = json.dumps({key: each for key, each in body.items() if each is not None})
            sent = sent.replace(RUN, run).replace(str(FLAG), str(number))
            answer = two.client.open(
                path,
                method=method,
                headers=two.headers,
                data=sent.replace(PROJECT, project),
                content_type="application/json",
            )
            said = answer.text.replace(run, RUN).replace(str(number), str(FLAG))
            refused.append((answer.status_code, said.replace(project, PROJECT)))
        hidden, absent = refused

        assert hidden == absent, path
        assert hidden[0] in {403, 404}, path
    assert hidden_documents(two) == there


def hidden_documents(two: TwoProjects) -> list[str]:
    """What programs are told of the things in `beta`."""
    beta = f"project={HIDDEN}%20beta"
    paths = (
        *(f"runs/{two.hidden}", f"runs/{two.hidden}/flags", f"schedules?{beta}"),
        *(f"datasets/{HIDDEN}%20set{end}?{beta}" for end in ("", "/promotions", "/comments")),
        f"cost-matrices?{beta}",
    )
    answers = [two.client.get(f"/api/v1/{path}", headers=two.everywhere) for path in paths]
    assert {answer.status_code for answer in answers} == {200}
    return [answer.text for answer in answers]


def test_names_of_views_are_seen_by_everybody(two: TwoProjects) -> None:
    save_view(two.database, name="for all", page="/runs", query="", author="ana")

    assert "for all" in two.client.get("/views", headers=two.headers).text


def test_a_schedule_is_changed_in_the_project_that_its_body_names(two: TwoProjects) -> None:
    for scope, path, status in (
        ("alpha", "/api/v1/schedules/plain%20report", 200),
        (f"{HIDDEN} beta", f"/api/v1/schedules/{HIDDEN}%20report", 403),
        (f"{HIDDEN} beta", "/api/v1/schedules/plain%20report", 404),
    ):
        answer = two.client.put(
            path,
            headers=two.headers,
            json={"project": scope, "cron": "0 6 * * 1", "scope": {"dataset": "plain set"}},
        )
        assert answer.status_code == status, answer.text

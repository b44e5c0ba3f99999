"""The pages on which users and tokens are managed, and the log of what was changed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import pytest
from flask import Flask

from offdiag.domain.access import Actor, Grant, Role
from offdiag.services.access.users import find_user, set_role
from offdiag.store.audit_log import AuditFilter, audit_page
from offdiag.store.cost_matrices import versions_of
from offdiag.store.database import Database
from offdiag.store.datasets import create_project
from offdiag_web.pages.access import audit_log_page
from support.access import GUARDED, PASSWORD, add_person, bearer, client_of, sign_in, token_of
from support.dashboard import HOSTILE_NAMES, LESIONS, log_lesions
from support.forms import form_to, forms_of, send
from support.logging_runs import log, work_off
from support.pages import Page, PageClient, client_for
from support.reads import read


@pytest.fixture
def app(database: Database) -> Iterator[Flask]:
    with GUARDED.over(database) as app:
        yield app


@pytest.fixture
def ana(app: Flask, database: Database) -> PageClient:
    """An admin who is signed in."""
    return client_of(app, database, add_person(database, "ana", Grant(Role.ADMIN)),
                     "ana")  # fmt: skip


def make_token(client: PageClient, **typed: str) -> tuple[int, Page]:
    form = form_to(client, "/settings/tokens", "/settings/tokens")
    answer = send(
        client, form, {"name": "cluster", "role": "logger", "project": "", "days": "90", **typed}
    )
    return answer.status_code, Page(answer.text)


def test_a_token_is_shown_once_and_works_until_it_is_revoked(app: Flask, ana: PageClient) -> None:
    status, page = make_token(ana)
    secret = page.one("code", "secret").text

    assert status == 200
    assert secret not in ana.get("/settings/tokens").text
    assert client_for(app).get("/runs", headers=bearer(secret)).status_code == 200
    (line,) = ana.page("/settings/tokens").table("data")
    assert line[0] == "cluster"
    assert line[1] == f"{secret[:14]}…"
    assert line[3] == "logger in all projects"

    send(ana, form_to(ana, "/settings/tokens", "/revoke"))

    answer = client_for(app).get("/runs.json", headers=bearer(secret))
    assert answer.status_code == 401
    assert answer.get_json()["error"]["field"] == "Authorization"
    assert ana.page("/settings/tokens").table("data")[0][-1] == "revoked"


def test_a_form_that_is_sent_again_makes_no_second_token(ana: PageClient) -> None:
    typed = {"name": "cluster", "role": "logger", "project": "", "days": "90"}
    form = form_to(ana, "/settings/tokens", "/settings/tokens")
    first, again = send(ana, form, typed), send(ana, form, typed)

    assert (first.status_code, again.status_code) == (200, 409)
    assert "shown only once" in Page(again.text).one("div", "callout-warning").text
    assert not Page(again.text).all("code", "secret")
    assert len(ana.page("/settings/tokens").table("data")) == 1
    # Another form may ask for the same.
    assert make_token(ana)[0] == 200


def test_a_token_that_cannot_be_is_refused_in_words(ana: PageClient) -> None:
    for typed in [{"name": " "}, {"role": "king"}, {"days": "-1"}, {"project": "none such"}]:
        status, page = make_token(ana, **typed)

        assert status in {400, 404}, typed
        assert "Nothing was changed." in page.one("div", "callout-warning").text, typed


def test_nobody_makes_a_token_that_may_more_than_they(app: Flask, database: Database) -> None:
    user_id = add_person(database, "bo", Grant(Role.VIEWER))
    bo = client_of(app, database, user_id, "bo")

    status, page = make_token(bo, role="admin")

    assert status == 403
    assert "may do" in page.one("div", "callout-warning").text


def test_others_see_only_their_own_tokens_and_revoke_no_other(
    app: Flask, ana: PageClient, database: Database
) -> None:
    make_token(ana)
    user_id = add_person(database, "bo", Grant(Role.VIEWER))
    bo = client_of(app, database, user_id, "bo")
    form = form_to(ana, "/settings/tokens", "/revoke")
    own = form_to(bo, "/settings/tokens", "/settings/tokens")
    token = own.inside("input")[0]["value"]

    answer = bo.post(form["action"], data={"csrf_token": token})

    assert "cluster" not in bo.get("/settings/tokens").text
    assert answer.status_code == 404


def test_a_token_for_a_project_that_one_has_left_is_not_said_to_be_for_all(
    app: Flask, database: Database
) -> None:
    with database.write() as session:
        for project in ("alpha", "beta"):
            create_project(session, project, database.clock())
    user_id = add_person(database, "bo", Grant(Role.VIEWER, "alpha"), Grant(Role.EDITOR, "beta"))
    program = bearer(token_of(database, "bo", Role.VIEWER, project="alpha"))
    token_of(database, "bo", Role.EDITOR, project="beta")
    set_role(database, name="bo", project="beta", role=None)

    told = client_of(app, database, user_id, "bo").page("/settings/tokens")
    listed = client_for(app).get("/api/v1/tokens", headers=program).get_json()["tokens"]

    assert [row[2] for row in told.table("data")] == ["editor in beta", "viewer in alpha"]
    assert [each["project"] for each in listed] == ["alpha"]


def test_an_admin_adds_somebody_gives_them_a_role_and_locks_them_out(
    app: Flask, ana: PageClient, database: Database
) -> None:
    log_lesions(database)
    add = forms_of(ana, "/settings/users")[-1]
    typed = {"name": "bo", "password": PASSWORD, "role": "viewer", "project": ""}
    assert send(ana, add, typed).status_code == 303
    bo = client_for(app)
    assert sign_in(bo, "bo").status_code == 303

    forms = {form["action"]: form for form in forms_of(ana, "/settings/users")}
    send(ana, forms["/settings/users/bo/role"], {"role": "editor", "project": "default"})
    assert set(find_user(database, "bo").grants) == {
        Grant(Role.VIEWER),
        Grant(Role.EDITOR, "default"),
    }
    send(ana, forms["/settings/users/bo/role"], {"role": "none", "project": ""})
    assert find_user(database, "bo").grants == (Grant(Role.EDITOR, "default"),)
    form = form_to(ana, "/settings/users", "/bo/role")
    chosen = [each for each in form.inside("option") if "selected" in each.attributes]
    assert [each["value"] for each in chosen] == ["editor", "default"]
    send(ana, forms["/settings/users/bo/disable"])

    assert bo.get("/runs").status_code == 401
    assert "disabled" in ana.get("/settings/users").text


def test_the_last_admin_stays(ana: PageClient, database: Database) -> None:
    forms = {form["action"]: form for form in forms_of(ana, "/settings/users")}

    answers = [
        send(ana, forms["/settings/users/ana/disable"]),
        send(ana, forms["/settings/users/ana/role"], {"role": "editor", "project": ""}),
    ]

    assert [answer.status_code for answer in answers] == [409, 409]
    page = Page(answers[1].text)
    [opened] = [each for each in page.all("details", "more") if "open" in each.attributes]
    add = page.one("form", action="/settings/users")
    chosen = [
        next(e for e in form.inside("option") if "selected" in e.attributes)["value"]
        for form in (opened, add)
    ]
    assert chosen == ["editor", "viewer"]
    assert find_user(database, "ana").grants == (Grant(Role.ADMIN),)
    assert find_user(database, "ana").disabled_at is None


def test_a_password_anybody_could_guess_is_refused_and_not_repeated(ana: PageClient) -> None:
    for password in ["short", "aaaaaaaaaaaa", "x" * 1001, ""]:
        add = forms_of(ana, "/settings/users")[-1]

        answer = send(ana, add, {"name": "bo", "password": password, "role": "viewer"})

        assert answer.status_code == 400, password
        assert not password or password not in answer.text.replace("shortcuts", ""), password


def test_names_to_sign_in_with_are_plain(ana: PageClient) -> None:
    for name in [*HOSTILE_NAMES[:3], "two words", "", "a/b"]:
        add = forms_of(ana, "/settings/users")[-1]

        answer = send(ana, add, {"name": name, "password": PASSWORD, "role": "viewer"})

        assert answer.status_code == 400, name
        assert "<script>alert" not in answer.text, name


def test_what_a_page_changes_is_in_the_log_and_what_fails_is_not(
    ana: PageClient, database: Database
) -> None:
    form = form_to(ana, "/views", "/views")
    answer, refused = (send(ana, form, {"name": name}) for name in ("mine", "x" * 1000))

    (event,) = read(database, audit_page, AuditFilter(text="views.save")).events

    assert refused.status_code == 400
    assert (event.actor_kind, event.actor, event.subject) == ("user", "ana", "/views")
    assert event.detail == {"added": ["saved_view"]}
    assert event.request_id == answer.headers["X-Request-Id"]


def test_what_a_program_changes_is_in_the_log_with_its_token(
    app: Flask, ana: PageClient, database: Database
) -> None:
    secret = token_of(database, "ana", Role.LOGGER)

    answer = client_for(app).post(
        "/api/v1/runs",
        headers=bearer(secret),
        json={"name": "x", "project": "lesions", "dataset": "fresh", "labels": ["a", "b"]},
    )

    (event,) = read(database, audit_page, AuditFilter(text="/api/v1/runs")).events
    assert answer.status_code == 201, answer.text
    assert event.project == "lesions"
    assert event.actor_kind == "token"
    assert event.actor == f"ana ({secret[:14]}…)"
    assert "run" in event.detail["added"]


def test_a_decision_about_problems_is_in_the_log_of_each_project(
    ana: PageClient, database: Database
) -> None:
    for project in ("eyes", "skin"):
        log_lesions(database, project=project)
    problems = [each["id"] for each in ana.json("/problems.json")["problems"]]
    form = form_to(ana, "/problems", "/problems")

    answer = send(ana, form, {"action": "acknowledge", "problem": ",".join(map(str, problems))})

    events = read(database, audit_page, AuditFilter(text="problems.decide")).events
    assert answer.status_code == 303, answer.text
    assert sorted(event.project or "" for event in events) == ["eyes", "skin"]


def test_looking_leaves_nothing_in_the_log(ana: PageClient, database: Database) -> None:
    run = log(database, y_true=["a", "b"] * 20, y_pred=["a"] * 40, sample_ids=range(40),
              slices={"site": ["x", "y"] * 20})  # fmt: skip
    work_off(database)
    before = read(database, audit_page, AuditFilter()).events

    for path in ("/runs", f"/runs/{run.id}?slice=site%3Dx", "/flags", "/settings/tokens"):
        assert ana.open(path, follow_redirects=True).status_code == 200

    assert read(database, audit_page, AuditFilter()).events == before


def test_no_secret_is_in_the_log(ana: PageClient, database: Database) -> None:
    _, page = make_token(ana)
    secret = page.one("code", "secret").text
    add = forms_of(ana, "/settings/users")[-1]
    send(ana, add, {"name": "bo", "password": "a password like no other", "role": "viewer"})

    text = ana.get("/settings/audit.json").text

    assert "token.create" in text
    assert "user.add" in text
    assert secret not in text
    assert "like no other" not in text
    assert "argon2" not in text


def test_the_log_is_filtered_paged_and_exported(
    ana: PageClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(53):
        with database.seen_by(None, cli_actor(f"thing {number}")).write() as session:
            create_project(session, f"project {number}", database.clock())

    page = ana.page("/settings/audit?actor=operator")
    following = page.all("a", rel="next")[0]
    rest = ana.page(following["href"])
    monkeypatch.setattr(audit_log_page, "MOST_EVENTS", 20)
    text = ana.get("/settings/audit.csv?actor=operator").text
    rows = list(csv.DictReader(io.StringIO(text, newline="")))

    assert len(page.table("data")) == 50
    assert len(rest.table("data")) == 3
    assert len(rows) == 53
    assert [row["object"] for row in rows] == [f"thing {number}" for number in range(53)][::-1]
    assert ana.get("/settings/audit?actor=nobody&before=x&q=%00").status_code == 200


def cli_actor(subject: str) -> Actor:
    return Actor("cli", "operator", "offdiag log", subject)


def test_hostile_text_in_the_log_is_text(ana: PageClient, database: Database) -> None:
    from offdiag.services.saved_views import save_view

    for name in HOSTILE_NAMES:
        database = database.seen_by(None, Actor("cli", name, name, name, name))
        save_view(database, name=name, page="/runs", query="", author=name)

    text = ana.get("/settings/audit").text
    exported = ana.get("/settings/audit.csv").text

    assert "<script>alert(1)" not in text
    assert "<img src=x" not in text
    assert ",=1+1" not in exported


def test_costs_are_saved_under_the_name_of_the_user_who_is_signed_in(
    ana: PageClient, database: Database
) -> None:
    run_id = log_lesions(database)
    work_off(database)
    rows = [",".join([a, *(str(int(a != p)) for p in LESIONS)]) for a in LESIONS]
    table = "\n".join([",".join(["", *LESIONS]), *rows])
    claimed = {"name": "visits", "author": "bo", "action": "save", "table": table}

    new = send(ana, form_to(ana, "/costs/new?dataset=derm-7", "/costs/new"), claimed)
    changed = f"/whatif?runs={run_id}&cost=visits@1&set=mel>nv:7"
    saves = [form for form in forms_of(ana, changed) if form.attributes.get("id") == "save"]
    again = send(ana, saves[0], claimed)

    assert (new.status_code, again.status_code) == (303, 303)
    with database.read() as session:
        versions = versions_of(session, project="default", name="visits")
    assert [each.author for each in versions] == ["ana", "ana"]
    assert 'name="author"' not in ana.get(changed).text
    events = read(database, audit_page, AuditFilter()).events
    assert {event.project for event in events if "cost_matrix" in str(event.detail)} == {"default"}

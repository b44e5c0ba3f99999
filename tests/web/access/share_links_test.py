"""A share link shows one page, read-only, while its owner may share it; and nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from html.parser import HTMLParser

import pytest
from werkzeug.test import TestResponse

from offdiag.domain.access import Grant, Role
from offdiag.services.access.users import set_disabled, set_role
from offdiag.services.run_notes import comment_on_run
from offdiag.store.audit_log import AuditFilter, audit_page
from offdiag.store.database import Database
from offdiag.store.models import ShareLinkRow
from offdiag_web.app.dispatch import PREFIX
from support.access import add_person, client_of, guarded
from support.dashboard import LESION_COUNTS, LESIONS, log_counts
from support.filled_once import filled_once
from support.forms import forms_of, send
from support.pages import PageClient, client_for

AUDIT = "/audit?table=Accuracy+0.9%0AMacro+F1+0.8"


@dataclass
class Shared:
    """A guarded dashboard over two projects, an editor of the first, and a stranger."""

    database: Database
    editor: PageClient
    stranger: PageClient
    run: str
    other: str
    hidden: str

    def link_to(self, page: str, *, days: str = "7") -> str:
        """The path of a new link."""
        made = self.asked(page, days=days)
        assert made.status_code == 200, made.text[-500:]
        found = re.search(r'<code class="secret">http://localhost(/s/[\w-]{43})<', made.text)
        assert found
        return found[1]

    def asked(self, page: str, *, days: str = "7") -> TestResponse:
        links = self.editor.page("/settings/links?page=%2Fruns%2Fx")
        form = links.one("form", action="/settings/links")
        return send(self.editor, form, {"page": page, "days": days})


@filled_once
def log_three(database: Database) -> list[str]:
    return [
        log_counts(database, LESION_COUNTS, LESIONS, name=name, dataset="lesions", project=project)
        for name, project in (("one", "alpha"), ("two", "alpha"), ("unmentionable", "beta"))
    ]


@pytest.fixture
def shared(database: Database) -> Shared:
    run, other, hidden = log_three(database)
    app = guarded(database, share_link_days=30)
    user_id = add_person(database, "ana", Grant(Role.EDITOR, "alpha"))
    return Shared(
        database,
        client_of(app, database, user_id, "ana"),
        client_for(app),
        run,
        other,
        hidden,
    )


class _Nesting(HTMLParser):
    """Fails where an end tag closes another element than the one that is open."""

    open: list[str]
    addresses: list[str]

    def reset(self) -> None:
        super().reset()
        self.open, self.addresses = [], []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = ("href", "src", "srcset", "action", "formaction", "hx-get", "data-map")
        self.addresses += [value or "" for name, value in attrs if name in names]
        if tag not in {"meta", "link", "img", "br", "hr", "input", "col", "wbr"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def pages_of(shared: Shared) -> list[str]:
    problem = shared.editor.json("/problems.json")["problems"][0]["id"]
    return [
        f"/runs/{shared.run}",
        f"/runs/{shared.run}?norm=col",
        f"/compare?runs={shared.run},{shared.other}",
        "/datasets/lesions?project=alpha",
        f"/problems/{problem}",
        AUDIT,
    ]


def test_a_link_shows_its_page_and_leads_nowhere(shared: Shared) -> None:
    for page in pages_of(shared):
        path = shared.link_to(page)

        answer = shared.stranger.get(path)

        title = re.search("<h1[^>]*>(.*?)<", shared.editor.get(page).text, re.DOTALL)
        assert answer.status_code == 200, page
        assert title
        assert title[1] in answer.text
        assert "lesions" in answer.text or page == AUDIT
        reader = _Nesting()
        reader.feed(answer.text)
        assert reader.open == []
        away = [at for at in reader.addresses if not at.startswith(("#", "/assets/"))]
        assert away == [], page
        for tag in ("<script", "<form", "<button", "<nav", "<textarea"):
            assert tag not in answer.text, page
        assert "Read-only page, shared by ana until" in answer.text
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert "noindex" in answer.headers["X-Robots-Tag"]
        assert answer.headers["Cache-Control"] == "no-store"
        assert "form-action 'none'" in answer.headers["Content-Security-Policy"]
        assert "Set-Cookie" not in answer.headers


def test_a_link_opens_no_other_page_no_export_and_no_method(shared: Shared) -> None:
    path = shared.link_to(f"/runs/{shared.run}")

    for other in (f"/runs/{shared.run}", f"/runs/{shared.run}.json", "/runs", "/"):
        assert shared.stranger.get(other).status_code in {302, 401}
    secret = path.removeprefix("/s/")
    bearer = {"Authorization": f"Bearer {secret}"}
    assert shared.stranger.get(f"{PREFIX}/runs/{shared.run}", headers=bearer).status_code == 401
    for further in (".json", ".csv", "/meta", f"/../runs/{shared.other}"):
        assert shared.stranger.get(path + further).status_code in {401, 404}
    query = {"runs": shared.hidden, "project": "beta", "norm": "col"}
    # The page tells how long ago its run was logged.
    now = shared.database.clock()
    shared.database.clock = lambda: now
    assert shared.stranger.get(path, query_string=query).text == shared.stranger.get(path).text
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert shared.stranger.open(path, method=method).status_code in {400, 401, 403, 405}


def test_a_link_ends_by_time_revocation_settings_and_the_rights_of_its_owner(
    shared: Shared,
) -> None:
    page, now = f"/runs/{shared.run}", shared.database.clock()
    path = shared.link_to(page, days="2")
    shared.database.clock = lambda: now + timedelta(days=2, seconds=-5)
    assert shared.stranger.get(path).status_code == 200
    shared.database.clock = lambda: now + timedelta(days=2, seconds=5)
    expired = shared.stranger.get(path)
    shared.database.clock = lambda: now
    links = forms_of(shared.editor, "/settings/links")
    (form,) = [form for form in links if form["action"].endswith("/revoke")]
    never = shared.stranger.get("/s/" + "x" * 43)
    assert send(shared.editor, form).status_code == 303
    revoked = shared.stranger.get(path)
    assert {each.status_code for each in (expired, revoked, never)} == {404}
    assert expired.headers["Referrer-Policy"] == "no-referrer"
    assert "This link shows nothing" in revoked.text

    path = shared.link_to(page, days="20")
    for most, status in ((0, 404), (30, 200)):
        other = client_for(guarded(shared.database, share_link_days=most))
        assert other.get(path).status_code == status
    shared.database.clock = lambda: now + timedelta(days=10)
    assert client_for(guarded(shared.database, share_link_days=9)).get(path).status_code == 404
    shared.database.clock = lambda: now
    set_role(shared.database, name="ana", project="alpha", role=Role.VIEWER)
    assert shared.stranger.get(path).status_code == 404
    set_role(shared.database, name="ana", project="alpha", role=Role.EDITOR)
    assert shared.stranger.get(path).status_code == 200
    add_person(shared.database, "root", Grant(Role.ADMIN))
    set_disabled(shared.database, name="ana", disabled=True)
    assert shared.stranger.get(path).status_code == 404


def test_only_pages_of_ones_own_projects_can_be_shared(shared: Shared) -> None:
    for page in (
        f"/runs/{shared.hidden}",
        f"/compare?runs={shared.run},{shared.hidden}",
        "/datasets/lesions?project=beta",
    ):
        assert shared.asked(page).status_code in {403, 404}, page
    assert shared.asked("/datasets/missing?project=alpha").status_code == 404
    for page in (
        *("/runs", "/settings/tokens", "//evil.example/runs", "/compare"),
        *(f"/runs/{shared.run}.json", f"/runs/{shared.run}/examples"),
        f"{PREFIX}/runs/{shared.run}",
    ):
        assert shared.asked(page).status_code == 400, page
    for days in ("0", "31", "-1", "x"):
        assert shared.asked(f"/runs/{shared.run}", days=days).status_code == 400
    with shared.database.read() as session:
        assert session.query(ShareLinkRow).count() == 0


def test_links_are_kept_as_digests_audited_and_leave_out_the_discussion(
    shared: Shared, capsys: pytest.CaptureFixture[str]
) -> None:
    page = f"/runs/{shared.run}"
    comment_on_run(shared.database, shared.run, text="between us", author="ana")
    path = shared.link_to(page)
    secret = path.removeprefix("/s/")
    capsys.readouterr()
    shown = shared.stranger.get(path).text
    logged = capsys.readouterr()

    assert "between us" in shared.editor.get(page).text
    assert "between us" not in shown
    assert secret not in logged.out + logged.err
    with shared.database.read() as session:
        (row,) = session.query(ShareLinkRow).all()
        assert secret not in (row.digest, row.address)
        assert row.used_at is not None
        events = audit_page(session, AuditFilter(text="share_link")).events
    assert [(e.action, e.subject, e.actor, e.project) for e in events] == [
        ("share_link.create", page, "ana", "alpha")
    ]
    assert secret not in shared.editor.get("/settings/links").text


def test_a_form_that_is_sent_again_makes_no_second_link(shared: Shared) -> None:
    links = shared.editor.page("/settings/links?page=%2Fruns")
    form = links.one("form", action="/settings/links")
    typed = {"page": f"/runs/{shared.run}", "days": "7"}

    assert [send(shared.editor, form, typed).status_code for _ in range(2)] == [200, 409]
    with shared.database.read() as session:
        assert len(session.query(ShareLinkRow).all()) == 1


def test_viewers_cannot_share(shared: Shared) -> None:
    app = guarded(shared.database, share_link_days=30)
    user_id = add_person(shared.database, "bo", Grant(Role.VIEWER))
    viewer = client_of(app, shared.database, user_id, "bo")

    assert "needs the role editor" in viewer.post("/settings/links").text
    offered = forms_of(viewer, "/settings/links?page=%2Fruns%2Fx")
    assert {form["action"] for form in offered} <= {"/sign-out"}
    assert "Read-only link" not in viewer.get(f"/runs/{shared.run}").text
    assert "Read-only link" in shared.editor.get(f"/runs/{shared.run}").text

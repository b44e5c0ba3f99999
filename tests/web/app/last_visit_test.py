"""What is new to a reader: by account, by browser, and for whoever comes first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask

from offdiag.domain.access import Grant, Role
from offdiag.store.database import Database
from offdiag.store.users import news_seen_at
from offdiag_web.app.last_visit import NEWS_AT_FIRST, news_since
from support.access import add_person, client_of, guarded
from support.pages import PageClient

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("cookie", "expected"),
    [
        ("", NOW - NEWS_AT_FIRST),
        ("12x", NOW - NEWS_AT_FIRST),
        (str(int((NOW - timedelta(days=2)).timestamp() * 1e6)), NOW - timedelta(days=2)),
        ("9999999999999999", NOW),
    ],
)
def test_a_browser_keeps_when_news_were_seen(
    app: Flask, database: Database, cookie: str, expected: datetime
) -> None:
    headers = {"Cookie": f"news-seen={cookie}"}
    with app.test_request_context("/", headers=headers), database.read() as session:
        assert news_since(session, now=NOW) == expected


def mark_seen(client: PageClient) -> None:
    token = client.page("/audit").value("csrf_token")
    answer = client.post("/seen", data={"csrf_token": token, "back": "/costs"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/costs")


def test_without_sign_in_marking_sets_a_cookie(client: PageClient) -> None:
    mark_seen(client)

    assert client.get_cookie("news-seen") is not None


def test_an_account_keeps_it_for_every_browser(database: Database) -> None:
    ana = add_person(database, "ana", Grant(Role.EDITOR))
    client = client_of(guarded(database), database, ana, "ana")

    mark_seen(client)

    assert client.get_cookie("news-seen") is None
    with database.read() as session:
        assert news_seen_at(session, ana) is not None

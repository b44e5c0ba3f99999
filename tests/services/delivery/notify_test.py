"""Notifications through Apprise: to places that the settings name, with its URLs kept there."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import pytest

from offdiag.errors import InvalidInput
from offdiag.services.delivery.message import (
    DeliveryFailed,
    DeliveryRefused,
    NotifyTarget,
    read_target,
    target_documents,
)
from offdiag.services.delivery.targets import notify
from offdiag.services.delivery.task import target_problems
from offdiag.settings import NotifySettings, Settings
from support.listeners import Listener, answering, listening
from support.messages import parcel

MISSING = "apprise is not installed (pip install 'offdiag[notify]')"


@pytest.fixture
def listener() -> Iterator[Listener]:
    pytest.importorskip("apprise", reason=MISSING)
    with listening(answering("200 OK")) as server:
        yield server


def places(listener: Listener) -> NotifySettings:
    url = f"json://user:secret@{listener.host}:{listener.port}/hook"
    twice = f"twice={url} twice={url}/other"
    return NotifySettings(
        targets=f"ops=slack://a/b/c\n  team={url}?x=1=2 odd=nonsense://x {twice}"
    )


def test_title_headline_and_address_are_sent_to_the_named_place(listener: Listener) -> None:
    notify(parcel(), "team", places(listener))

    head, _, body = listener.received[0].partition(b"\r\n\r\n")
    sent = json.loads(body)
    assert head.startswith(b"POST /hook")
    assert sent["title"] == "derm-7 weekly #41"
    assert sent["message"] == (
        "No change exceeds its interval.\n"
        "https://registry.example/reports/derm-7%20weekly/41?project=skin"
    )


def test_a_service_that_refuses_is_tried_again_later() -> None:
    pytest.importorskip("apprise", reason=MISSING)
    with (
        listening(answering("500 Internal Server Error")) as server,
        pytest.raises(DeliveryFailed, match="team did not take the message") as failed,
    ):
        notify(parcel(), "team", places(server))

    assert "secret" not in str(failed.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nobody", r"notify\.targets has no target 'nobody'\. Add nobody=URL to it\."),
        ("odd", r"Apprise cannot read the URL of 'odd' in notify\.targets\."),
        ("twice", r"notify\.targets has 2 targets named 'twice'\. Keep one\."),
    ],
)
def test_what_cannot_be_sent_is_refused_when_a_report_is_saved(
    listener: Listener, name: str, message: str
) -> None:
    (problem,) = target_problems([NotifyTarget(name)], Settings(notify=places(listener)))

    assert problem.startswith(f"notification {name}: ")
    with pytest.raises(DeliveryRefused, match=message):
        notify(parcel(), name, places(listener))
    assert listener.connections == 0


def test_without_apprise_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)

    with pytest.raises(DeliveryRefused, match=r"pip install 'offdiag\[notify\]'"):
        notify(parcel(), "team", NotifySettings(targets="team=json://x"))


def test_a_target_is_stored_by_its_name() -> None:
    (stored,) = target_documents([NotifyTarget("team")])

    assert stored == {"kind": "notify", "name": "team"}
    assert read_target(stored) == NotifyTarget("team")


@pytest.mark.parametrize("name", ["slack://a/b/c", "", "a b", "-x", "x" * 101])
def test_an_address_is_no_name(name: str) -> None:
    with pytest.raises(InvalidInput, match="cannot name a target"):
        NotifyTarget(name)

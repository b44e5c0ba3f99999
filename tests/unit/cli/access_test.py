"""`offdiag user` and `offdiag token`."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from offdiag.domain.access import Role

Command = Callable[..., Any]
PASSWORD = "correct horse battery"


@pytest.fixture
def add(offdiag: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Add a user with a password from standard input."""

    def command(name: str, role: str, *more: str, password: str = PASSWORD) -> Any:
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{password}\n"))
        return offdiag("user", "add", name, "--role", role, "--password-stdin", *more)

    return command


def test_a_user_is_added_listed_changed_and_locked_out(offdiag: Command, add: Command) -> None:
    assert add("ana", "admin").code == 0
    assert add("bo", "viewer").code == 0

    offdiag("user", "role", "bo", "editor")
    offdiag("user", "disable", "bo")
    users = offdiag("user", "list", "--json").json["users"]

    assert [user["name"] for user in users] == ["ana", "bo"]
    assert users[1]["roles"] == [{"role": "editor", "project": None}]
    assert users[1]["disabled"] is True
    assert offdiag("user", "disable", "bo", "--undo", "--json").json["disabled"] is False
    assert "admin" in offdiag("user", "list").out


def test_every_role_can_be_given(add: Command) -> None:
    answers = [add(f"a-{role}", role.value) for role in Role]

    assert [each.err for each in answers] == [""] * len(Role)


def test_a_password_is_never_an_argument(offdiag: Command, add: Command) -> None:
    add("ana", "admin")

    for line in (("add", "bo", "--role", "viewer"), ("password", "ana")):
        assert offdiag("user", *line, "--password", PASSWORD).code == 2


def test_a_weak_password_is_refused_and_not_repeated(offdiag: Command, add: Command) -> None:
    answer = add("ana", "admin", password="hunter2")

    assert answer.code == 2
    assert "7 characters" in answer.err
    assert "hunter2" not in answer.err
    assert offdiag("user", "list", "--json").json == {"users": []}


def test_a_replaced_password_counts_from_then_on(
    offdiag: Command, add: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("ana", "admin")
    monkeypatch.setattr("sys.stdin", io.StringIO("another fine password\n"))

    assert offdiag("user", "password", "ana", "--password-stdin").code == 0
    assert offdiag("user", "password", "nobody", "--password-stdin").code == 2


def test_the_last_admin_keeps_the_role(offdiag: Command, add: Command) -> None:
    add("ana", "admin")

    answer = offdiag("user", "role", "ana", "viewer")

    assert answer.code == 2
    assert "only admin" in answer.err


def test_a_token_of_an_unknown_user_says_how_to_add_one(offdiag: Command) -> None:
    answer = offdiag("token", "create", "ci", "--user", "ana", "--role", "logger")

    assert answer.code == 2
    assert "`offdiag user add ana --role logger` adds one." in answer.err


def test_a_token_is_printed_once_and_listed_without_its_secret(
    offdiag: Command, add: Command
) -> None:
    add("ana", "admin")

    secret = offdiag("token", "create", "cluster", "--user", "ana").out.strip()
    listed = offdiag("token", "list", "--json")

    assert secret.startswith("offdiag_")
    assert len(secret) == len("offdiag_") + 43
    assert secret not in listed.out
    (token,) = listed.json["tokens"]
    assert (token["role"], token["user"], token["name"]) == ("logger", "ana", "cluster")
    assert token["expires_at"] is not None
    assert offdiag("token", "revoke", str(token["number"]), "--json").json["revoked_at"]
    assert "revoked" in offdiag("token", "list").out


def test_what_the_command_line_changes_is_in_the_log(
    offdiag: Command, add: Command, folder: Path
) -> None:
    add("ana", "admin")
    predictions = folder / "p.csv"
    predictions.write_text("true,pred\na,a\nb,a\n")
    offdiag("log", str(predictions), "--true", "true", "--pred", "pred", "--dataset", "d",
            "--name", "first")  # fmt: skip

    events = offdiag("user", "audit", "--json").json["events"]

    assert [event["action"] for event in events][-1] == "user.add"
    assert events[0]["action"] == "offdiag log"
    assert events[0]["actor_kind"] == "cli"
    assert PASSWORD not in str(events)
    whole, cut = offdiag("user", "audit"), offdiag("user", "audit", "--limit", "1")
    assert "user.add" in whole.out
    assert whole.err == ""
    assert cut.err == "There are more changes; these are the newest 1. --limit shows more.\n"


def test_reading_commands_leave_nothing_in_the_log(offdiag: Command, add: Command) -> None:
    add("ana", "admin")
    for line in (("runs", "list"), ("user", "list"), ("token", "list"), ("jobs", "list")):
        assert offdiag(*line).code == 0

    assert len(offdiag("user", "audit", "--json").json["events"]) == 1

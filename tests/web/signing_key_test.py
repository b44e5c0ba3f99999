"""The key of forms: shared by processes, kept over restarts, never one that others know."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from offdiag.errors import InvalidInput
from offdiag.settings import ServerSettings, Settings
from offdiag.store.database import Database
from offdiag_web import create_app
from offdiag_web.signing_key import PUBLISHED, signing_key, weakness_of
from support.dashboard import fail_evaluation, log_lesions
from support.forms import forms_of
from support.pages import client_for

GOOD = "0123456789abcdef0123456789abcdef-a-good-one"


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(f"sqlite:///{tmp_path / 'forms.db'}")


def test_the_key_beside_an_embedded_registry_is_made_once_and_for_this_user_alone(
    database: Database, tmp_path: Path
) -> None:
    first = signing_key(ServerSettings(), database)
    second = signing_key(ServerSettings(), database)

    assert first == second
    assert [path.name for path in tmp_path.iterdir()] == ["forms.db.key"]
    assert (tmp_path / "forms.db.key").stat().st_mode & 0o777 == 0o600


def test_two_registries_have_two_keys(database: Database, tmp_path: Path) -> None:
    other = Database(f"sqlite:///{tmp_path / 'other.db'}")

    keys = {signing_key(ServerSettings(), each) for each in (database, other)}

    assert len(keys) == 2


def test_of_processes_that_start_at_once_all_take_the_key_of_the_first(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = signing_key(ServerSettings(), database)
    # The second process looked before the key of the first was there.
    monkeypatch.setattr(Path, "exists", lambda _: False)

    assert signing_key(ServerSettings(), database) == first
    assert [path.name for path in tmp_path.iterdir()] == ["forms.db.key"]


def test_a_form_of_one_process_is_taken_by_another(sqlite_database: Database) -> None:
    run_id = log_lesions(sqlite_database, evaluated=False)
    fail_evaluation(sqlite_database, run_id, error="x")
    before = create_app(Settings(), sqlite_database)
    after = create_app(Settings(), sqlite_database)
    reader = client_for(before)
    (form,) = forms_of(reader, "/jobs/1")
    token = form.inside("input")[0]["value"]
    name = before.config["SESSION_COOKIE_NAME"]
    cookie = reader.get_cookie(name)
    other = client_for(after)

    assert cookie is not None
    other.set_cookie(name, cookie.value)
    response = other.post("/jobs/1/retry", data={"csrf_token": token})

    assert response.status_code == 303


def test_registries_on_one_machine_do_not_spoil_each_others_forms(
    sqlite_database: Database, database: Database
) -> None:
    names = {
        create_app(Settings(), each).config["SESSION_COOKIE_NAME"]
        for each in (sqlite_database, database)
    }

    assert len(names) == 2


def test_the_setting_wins_over_the_file_and_no_file_is_made(
    database: Database, tmp_path: Path
) -> None:
    settings = ServerSettings(secret_key=GOOD, secret_key_file=str(tmp_path / "named"))

    assert signing_key(settings, database) == GOOD
    assert list(tmp_path.iterdir()) == []


def test_a_named_file_is_used_for_any_registry(database: Database, tmp_path: Path) -> None:
    (tmp_path / "named").write_text(f"{GOOD}\n", encoding="utf-8")
    settings = ServerSettings(secret_key_file=str(tmp_path / "named"))
    team = Database("postgresql://nobody@127.0.0.1:1/none")

    assert signing_key(settings, database) == signing_key(settings, team) == GOOD


def test_a_registry_on_postgresql_needs_a_setting() -> None:
    team = Database("postgresql://nobody@127.0.0.1:1/none")

    with pytest.raises(InvalidInput, match="have to share a key") as caught:
        create_app(Settings(), team)

    assert "OFFDIAG_SERVER__SECRET_KEY" in str(caught.value.hint)


def test_beside_a_registry_for_reading_only_nothing_is_written(tmp_path: Path) -> None:
    shown = Database(f"sqlite:///file:{tmp_path / 'forms.db'}?mode=ro&uri=true")

    assert weakness_of(signing_key(ServerSettings(), shown)) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("key", "weakness"),
    [
        ("", "is empty"),
        ("changeme", "others know"),
        ("Change-Me-Change-Me-Change-Me-Change-Me", "others know"),
        ("your_secret_key_goes_in_here_0123456789", "others know"),
        (*PUBLISHED, "others know"),
        ("0123456789abcdef", "16 characters, fewer than 32"),
        ("0" * 64, "made of 1 characters only"),
        ("abcdefg" * 9, "made of 7 characters only"),
    ],
)
def test_keys_that_protect_nothing_are_told_from_good_ones(key: str, weakness: str) -> None:
    assert weakness in str(weakness_of(key))


def test_a_weak_setting_is_refused_with_a_way_out(database: Database) -> None:
    with pytest.raises(InvalidInput, match=r"server.secret_key is one that others know") as caught:
        signing_key(ServerSettings(secret_key="changeme" * 5), database)

    assert "token_hex" in str(caught.value.hint)
    assert "changeme" not in str(caught.value)


def test_an_emptied_file_is_refused_and_not_filled_again(
    database: Database, tmp_path: Path
) -> None:
    path = tmp_path / "forms.db.key"
    path.write_text("\n", encoding="utf-8")

    with pytest.raises(InvalidInput, match=r"forms\.db\.key is empty") as caught:
        signing_key(ServerSettings(), database)

    assert caught.value.hint == (
        f"Remove {path}: the next start makes a new one, and people sign in again."
    )


def test_a_file_that_cannot_be_made_is_told_with_another_way(
    database: Database, tmp_path: Path
) -> None:
    settings = ServerSettings(secret_key_file=str(tmp_path / "no" / "such" / "folder" / "key"))

    with pytest.raises(InvalidInput, match="No such file or directory") as caught:
        signing_key(settings, database)

    assert "OFFDIAG_SERVER__SECRET_KEY" in str(caught.value.hint)


def test_a_file_that_everybody_can_read_is_warned_of(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "forms.db.key").write_text(GOOD, encoding="utf-8")
    (tmp_path / "forms.db.key").chmod(0o644)

    with caplog.at_level(logging.WARNING):
        signing_key(ServerSettings(), database)

    assert "chmod 600" in caplog.text
    assert GOOD not in caplog.text

"""`offdiag doctor`: what is wrong, and what to do about it."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from offdiag import log_run
from offdiag.cli.operate.doctor import Finding, clock_finding, examine, queue_finding
from offdiag.errors import Conflict
from offdiag.sdk.remote.spool import spooled_runs
from offdiag.settings import ClientSettings, DatabaseSettings, ServerSettings, Settings
from offdiag.store.database import Database
from offdiag.store.health import QueueState, registry_health
from offdiag.store.models import WorkRow
from support.reads import read

pytestmark = pytest.mark.usefixtures("no_registry")

Command = Callable[..., Any]


def settings_of(folder: Path, **sections: Any) -> Settings:
    url = f"sqlite:///{folder / 'offdiag.db'}"
    return Settings(database=DatabaseSettings(url=url), **sections)


def by_name(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


def test_a_fresh_folder_is_healthy_and_stays_empty(folder: Path, offdiag: Command) -> None:
    answer = offdiag("doctor", "--json")

    assert answer.code == 0
    assert answer.json["healthy"]
    assert answer.json["versions"]["offdiag"] != "not installed"
    assert list(folder.iterdir()) == []


def test_an_installation_without_a_server_is_examined(
    folder: Path, offdiag: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "argon2", None)
    for module in ("openid", "users"):
        monkeypatch.delitem(sys.modules, f"offdiag.services.access.{module}", raising=False)

    answer = offdiag("doctor", "--json")

    assert answer.code == 0
    extras = next(each for each in answer.json["findings"] if each["name"] == "extras")
    assert "server" in extras["text"].split("not installed: ")[1].split(", ")


def test_settings_are_told_with_their_source_and_without_passwords(
    offdiag: Command, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    (folder / "offdiag.toml").write_text('project = "fraud"\n', encoding="utf-8")
    monkeypatch.setenv("OFFDIAG_URL", "postgresql+psycopg://a:hunter2@127.0.0.1:1/r")

    answer = offdiag("doctor", "--json")

    assert answer.json["settings"]["project"]["value"] == "fraud"
    assert answer.json["settings"]["project"]["source"].endswith("offdiag.toml")
    assert answer.json["settings"]["database.url"]["source"] == "OFFDIAG_URL"
    assert "hunter2" not in answer.out + answer.err


def test_runs_in_the_offline_queue_are_problems_until_they_are_sent(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(**client: Any) -> Finding:
        return by_name(examine(settings_of(folder, client=ClientSettings(**client))))[
            "offline queue"
        ]

    spool = folder / "offdiag-spool"
    assert (found().text, found().hint) == (f"{spool} is empty", None)
    monkeypatch.setenv("OFFDIAG_MODE", "offline")
    for name in ("kept", "bad"):
        log_run(y_true=["a", "b"], y_pred=["a", "a"], dataset="d", name=name)

    assert found().text == f"2 waiting, 0 refused in {spool}."
    assert "offdiag sync" in str(found().hint)
    assert not found(mode="offline").is_problem
    assert "offdiag sync sends them" in found(mode="offline").text
    next(spooled_runs(spool)).explain(Conflict("the name is taken", field="name", hint="Choose."))
    assert found().text == f"1 waiting, 1 refused in {spool}."
    assert "offdiag sync --retry" in str(found(mode="offline").hint)


def test_only_changed_settings_are_in_the_table(
    folder: Path, offdiag: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFDIAG_PROJECT", "fraud")

    shown = offdiag("doctor").out

    assert "fraud  (OFFDIAG_PROJECT)" in shown
    assert "(default)" not in shown
    assert shown.index("Findings") < shown.index("Versions") < shown.index("Settings")


def test_a_server_that_cannot_be_reached_is_a_problem(offdiag: Command) -> None:
    answer = offdiag("doctor", "--url", "http://127.0.0.1:9")

    assert answer.code == 1
    assert "PROBLEM: http://127.0.0.1:9 cannot be reached" in answer.out


def test_a_database_in_use_is_examined(folder: Path, offdiag: Command) -> None:
    (folder / "p.csv").write_text("y_true,y_pred\na,a\n", encoding="utf-8")
    offdiag("log", "p.csv", "--name", "n", "--dataset", "d")

    findings = by_name(examine(settings_of(folder)))

    assert findings["engine"].text.endswith("journal wal")
    assert findings["runs"].text == "1 finished"
    assert findings["queue"].text == "1 queued, 0 running, 0 failed"
    assert not any(finding.is_problem for finding in findings.values())


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        ('[jobs]\nengine = "celery"\n', "jobs.engine", "Installed are: local, procrastinate."),
        ('[oidc]\nroles = "ops=boss"\n', "oidc.roles", "Write group=role"),
        ('[webhook]\nsecret = "whsec_!"\n', "webhook.secret", "is not base64 after whsec_"),
    ],
)
def test_a_setting_that_would_fail_later_is_a_problem(
    folder: Path, offdiag: Command, text: str, name: str, says: str
) -> None:
    (folder / "offdiag.toml").write_text(text, encoding="utf-8")

    answer = offdiag("doctor", "--json")

    assert answer.code == 1
    problems = [each for each in answer.json["findings"] if not each["ok"]]
    assert [each["name"] for each in problems] == [name]
    assert says in problems[0]["hint"]


def test_a_file_of_another_program_is_a_problem_with_exit_code_1(
    folder: Path, offdiag: Command
) -> None:
    (folder / "offdiag.db").write_text("no database\n" * 100, encoding="utf-8")

    answer = offdiag("doctor")

    assert answer.code == 1
    assert "PROBLEM" in answer.out
    assert "not an SQLite database" in answer.out


def test_a_place_where_no_registry_can_be_is_a_problem(
    folder: Path, offdiag: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every other command would fail there, so a probe must not call it healthy."""
    nowhere = offdiag("doctor", "--url", "sqlite:///none/offdiag.db", "--json")
    (folder / "offdiag.db").touch()
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    locked = offdiag("doctor", "--json")

    for answer, says in (
        (nowhere, f"the folder {folder / 'none'} does not exist."),
        (locked, f"{folder / 'offdiag.db'} cannot be written by this user."),
    ):
        assert answer.code == 1
        (problem,) = [each for each in answer.json["findings"] if not each["ok"]]
        assert problem["name"] == "database"
        assert says in problem["text"]


def test_a_full_disk_is_a_problem(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage(NamedTuple):
        free: int

    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(free=1 << 20))

    finding = by_name(examine(settings_of(folder)))["disk"]

    assert finding.is_problem
    assert finding.text.startswith("0.0 GiB free")


@pytest.mark.parametrize(
    ("queue", "problem"),
    [
        (QueueState(waiting=3, doing=0, dead=0, oldest_waiting_s=5.0), False),
        (QueueState(waiting=3, doing=1, dead=0, oldest_waiting_s=500.0), False),
        (QueueState(waiting=3, doing=0, dead=0, oldest_waiting_s=500.0), True),
        (QueueState(waiting=0, doing=0, dead=1, oldest_waiting_s=None), True),
        (QueueState(waiting=0, doing=1, dead=0, oldest_waiting_s=None, abandoned=1), True),
    ],
)
def test_work_that_nobody_does_or_that_was_given_up_is_a_problem(
    queue: QueueState, problem: bool
) -> None:
    assert queue_finding(queue).is_problem is problem


def test_backups_are_looked_at_once_somebody_wants_them(
    folder: Path, offdiag: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "p.csv").write_text("y_true,y_pred\na,a\n", encoding="utf-8")
    offdiag("log", "p.csv", "--name", "n", "--dataset", "d")
    monkeypatch.setenv("OFFDIAG_BACKUP__FOLDER", "kept")

    before = offdiag("doctor", "--json")
    now = datetime.now(UTC).strftime("%Y%m%dT%H00Z")
    (folder / "kept").mkdir(mode=0o700)
    (folder / "kept" / f"offdiag-{now}.zip").touch()
    after = offdiag("doctor", "--json")

    found = {finding["name"]: finding for finding in before.json["findings"]}["backups"]
    assert (before.code, found["ok"]) == (1, False)
    assert found["text"] == "none yet in kept; one is due every hour."
    found = {finding["name"]: finding for finding in after.json["findings"]}["backups"]
    assert (after.code, found["ok"]) == (0, True)
    assert found["text"] == f"the newest of 1 is offdiag-{now}.zip in kept"


@pytest.mark.parametrize(("ahead_s", "problem"), [(0.2, False), (-4.0, False), (9.0, True)])
def test_clocks_that_disagree_are_a_problem(ahead_s: float, problem: bool) -> None:
    assert clock_finding(ahead_s).is_problem is problem


def test_work_of_a_worker_that_died_is_found(sqlite_database: Database) -> None:
    with sqlite_database.write() as session:
        for key, lease_until in {"lost": 1.0, "held": 1e12}.items():
            session.add(
                WorkRow(
                    task="t",
                    args={},
                    key=key,
                    state="doing",
                    due=0.0,
                    lease="l",
                    lease_until=lease_until,
                    created_at=0.0,
                )
            )

    assert read(sqlite_database, registry_health).queue.abandoned == 1


@pytest.mark.parametrize(
    ("text", "mode", "says"),
    [
        ("0123456789abcdef" * 4, 0o600, None),
        ("0123456789abcdef" * 4, 0o644, "every user of this machine can read"),
        ("changeme", 0o600, "is one that others know"),
    ],
)
def test_the_key_that_signs_forms_is_looked_at_and_never_shown(
    folder: Path, text: str, mode: int, says: str | None
) -> None:
    key = folder / "offdiag.db.key"
    key.write_text(text, encoding="utf-8")
    key.chmod(mode)

    finding = by_name(examine(settings_of(folder)))["signing key"]

    assert finding.is_problem is (says is not None)
    assert (says or "is a strong key") in finding.sentence
    assert text not in finding.sentence


def test_a_key_file_that_a_server_could_not_make_is_a_problem(folder: Path) -> None:
    link = folder / "offdiag.db.key"
    named = ServerSettings(secret_key_file=str(folder / "none" / "key"))

    without_folder = by_name(examine(settings_of(folder, server=named)))["signing key"]
    link.symlink_to(folder / "nothing")
    dangling = by_name(examine(settings_of(folder)))["signing key"]

    assert without_folder.is_problem
    assert str(folder / "none") in without_folder.sentence
    assert dangling.is_problem
    assert str(link) in dangling.sentence


def test_python_and_extras_are_told(folder: Path) -> None:
    found = by_name(examine(settings_of(folder)))

    assert platform.python_version() in found["python"].text
    assert found["extras"].text.startswith("installed: local, server, postgres, sql")
    assert found["signing key"].text.endswith("is created by offdiag serve")
    assert not (folder / "offdiag.db.key").exists()


def test_files_that_everybody_can_read_are_named_with_the_command_that_closes_them(
    folder: Path,
) -> None:
    for path in (folder / "offdiag.db", folder / "offdiag-spool"):
        path.touch(mode=0o644) if path.suffix else path.mkdir(mode=0o755)
    settings = settings_of(folder, client=ClientSettings(spool=str(folder / "offdiag-spool")))

    before = by_name(examine(settings))["permissions"]
    (folder / "offdiag.db").chmod(0o600)
    (folder / "offdiag-spool").chmod(0o700)
    after = by_name(examine(settings))["permissions"]

    named = f"chmod -R o-rwx {folder / 'offdiag-spool'} {folder / 'offdiag.db'}"
    assert before.hint is not None
    assert before.hint.startswith(named)
    assert not after.is_problem

"""A server that asks who is there: a job shows its token."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import offdiag
from offdiag.domain.access import Grant, Role
from offdiag.errors import Forbidden, NotSignedIn
from offdiag.store.database import Database
from support.access import add_person, token_of
from support.servers import serving


@pytest.fixture
def server(
    sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    monkeypatch.setenv("OFFDIAG_SPOOL", str(tmp_path / "spool"))
    add_person(sqlite_database, "ana", Grant(Role.ADMIN, None))
    with serving(sqlite_database, is_guarded=True) as url:
        yield url


def logged(url: str) -> offdiag.Run:
    return offdiag.log_run(
        y_true=["a", "b"], y_pred=["a", "a"], labels=["a", "b"], name="run", dataset="d", url=url
    )


def test_a_token_lets_a_job_log_and_read(
    server: str, sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFDIAG_TOKEN", token_of(sqlite_database, "ana", Role.LOGGER))

    evaluation = logged(server).evaluation(timeout=30)

    assert evaluation.aggregate["overall_accuracy"].value == 0.5


def test_without_a_token_nothing_is_logged(server: str) -> None:
    with pytest.raises(NotSignedIn) as refused:
        logged(server)
    assert refused.value.field == "token"
    assert f"offdiag login {server} (or set OFFDIAG_TOKEN)" in str(refused.value.hint)


def test_a_token_that_may_only_read_logs_nothing(
    server: str, sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFDIAG_TOKEN", token_of(sqlite_database, "ana", Role.VIEWER))

    with pytest.raises(Forbidden):
        logged(server)

    assert len(offdiag.search_runs(url=server)) == 0


def test_a_token_is_in_no_word_of_an_error(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "odt_" + "s" * 40
    monkeypatch.setenv("OFFDIAG_TOKEN", secret)

    with pytest.raises(offdiag.OffdiagError) as caught:
        logged(server)

    assert secret not in str(caught.value)


def test_a_token_read_from_a_file_may_end_with_a_line_break(
    server: str, sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = token_of(sqlite_database, "ana", Role.LOGGER)
    monkeypatch.setenv("OFFDIAG_TOKEN", f" {token}\r\n")

    assert logged(server).state in {"finished", "evaluated"}


@pytest.mark.parametrize("odd", ["{}\nX-Other: 1", "{}\u00e9", "\u200b{}"])
def test_a_token_that_no_request_can_have_is_refused_without_repeating_it(
    server: str, monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    secret = "odt_" + "s" * 40
    monkeypatch.setenv("OFFDIAG_TOKEN", odd.format(secret))

    with pytest.raises(offdiag.InvalidInput, match="OFFDIAG_TOKEN") as caught:
        logged(server)

    assert "ssss" not in str(caught.value)

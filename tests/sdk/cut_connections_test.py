"""Runs are logged although the server has ended the connections that a client trusts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import text

import offdiag
from offdiag.store import postgres
from offdiag.store.database import Database

pytestmark = pytest.mark.postgres


def log_predictions(url: str) -> offdiag.Run:
    return offdiag.log_run(y_true=["a"], y_pred=["a"], name="n", dataset="d", url=url)


def log_matrix(url: str) -> offdiag.Run:
    return offdiag.log_matrix(
        [[1]], labels=["a"], orientation="actual_rows", name="n", dataset="d", url=url
    )


@pytest.mark.parametrize("log", [log_predictions, log_matrix])
def test_what_is_logged_after_a_restart_arrives_once(
    postgres_database: Database, monkeypatch: pytest.MonkeyPatch, log: Callable[[str], offdiag.Run]
) -> None:
    monkeypatch.setattr(postgres, "TRUSTED_S", 3_600.0)
    url = postgres_database.url
    log(url)
    with postgres_database.write() as session:
        session.execute(
            text(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )

    log(url)

    assert len(offdiag.search_runs(url=url)) == 2

"""What a monitoring system reads at /metrics."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from offdiag.services.health import beat, heart_of_this_process
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import create_app
from support.logging_runs import log, work_off
from support.pages import PageClient, client_for
from support.registries import serving


@pytest.fixture
def client(database: Database) -> PageClient:
    return client_of(database)


def client_of(database: Database) -> PageClient:
    return client_for(create_app(Settings(server=serving()), database))


def read(client: PageClient) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer.content_type.startswith("text/plain; version=")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_runs_and_work_are_counted_by_state(database: Database, client: PageClient) -> None:
    log(database)
    work_off(database)
    log(database)
    beat(database, heart_of_this_process("worker", database))

    found = read(client)

    assert found["offdiag_database_up", ()] == 1
    assert found["offdiag_runs", (("state", "evaluated"),)] == 1
    assert found["offdiag_runs", (("state", "finished"),)] == 1
    assert found["offdiag_runs", (("state", "failed"),)] == 0
    assert found["offdiag_work", (("state", "waiting"),)] == 1
    assert found["offdiag_work", (("state", "dead"),)] == 0
    assert found["offdiag_work_oldest_seconds", ()] > 0
    assert 0 <= found["offdiag_silence_seconds", (("kind", "worker"),)] < 30


def test_requests_are_counted_by_rule_and_not_by_address(client: PageClient) -> None:
    for path in ("/runs/r_0123456789abcdef", "/runs/r_fedcba9876543210", "/nowhere/at/all"):
        client.get(path)

    found = read(client)

    rules = {
        dict(labels)["rule"]: number
        for (name, labels), number in found.items()
        if name == "offdiag_requests_total"
    }
    assert rules == {"/runs/<run:run_id>": 2, "none": 1}
    assert found["offdiag_request_seconds_count", (("rule", "none"),)] == 1


def test_made_up_methods_are_one_series(client: PageClient) -> None:
    for method in ("BREW", "WHEN"):
        client.open("/runs", method=method)

    methods = {
        dict(labels)["method"]
        for (name, labels) in read(client)
        if name.endswith("requests_total")
    }
    assert methods == {"other"}


@pytest.mark.both_databases
def test_a_database_that_is_away_is_a_figure_and_no_failure(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'nowhere' / 'registry.db'}")
    client = client_of(database)

    found = read(client)

    assert found["offdiag_database_up", ()] == 0
    assert not any(re.match("offdiag_(runs|work)", name) for name, _ in found)

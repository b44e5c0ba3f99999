"""Ten labels are corrected: runs are re-evaluated, ranks move, tomorrow's report says so first.

Through the command line, real worker processes and the dashboard.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from offdiag.cli.commands import run as offdiag
from offdiag.domain.runs import RunFacts
from offdiag.services.schedules.due import run_due_schedules
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, WorkRow
from offdiag_web import create_app
from offdiag_web.urls.datasets import DatasetAddress
from support.contents import count_rows
from support.logging_runs import log, work_off
from support.pages import Page
from support.reporting import editions
from support.worker_processes import Workers, wait_until, workers

pytestmark = pytest.mark.processes

N_CORRECTED = 10
REPORT = "daily"
PROJECT, DATASET = "wildlife", "camera traps, north"
IMPACT = DatasetAddress(PROJECT, DATASET)
ROSE = "logistic regression, strong penalty, balanced"
FELL = "25 nearest neighbours"
TRUTH = ["fox", "hare", "owl"] * 40
WRONG = {"random forest": range(9), FELL: range(9, 24), ROSE: range(24, 45)}
"""Where the answer of each run is another than the truth."""


def answers(name: str) -> list[str]:
    """What a run says of each sample; where it is wrong, it takes a fox for a hare and so on."""
    mistaken = {"fox": "hare", "hare": "owl", "owl": "fox"}
    return [mistaken[true] if at in WRONG[name] else true for at, true in enumerate(TRUTH)]


@pytest.fixture
def database(sqlite_database: Database) -> Database:
    """A registry with these runs, evaluated."""
    for name in WRONG:
        log(
            sqlite_database,
            y_true=TRUTH,
            y_pred=answers(name),
            sample_ids=list(range(len(TRUTH))),
            dataset=DATASET,
            facts=RunFacts(name=name, project=PROJECT),
        )
    work_off(sqlite_database)
    return sqlite_database


@pytest.fixture
def crew(database: Database, tmp_path: Path) -> Iterator[Workers]:
    with workers(database.url, tmp_path / "log", number=2, lease_s=30) as crew:
        yield crew


@pytest.fixture
def client(database: Database) -> FlaskClient:
    return create_app(Settings(), database).test_client()


def call(database: Database, *arguments: str) -> None:
    """A command line of offdiag that succeeds."""
    assert offdiag([*arguments, "--project", PROJECT, "--url", database.url]) == 0


def settle(database: Database, crew: Workers) -> None:
    wait_until(lambda: count_rows(database, WorkRow) == 0, crew)


def revise(database: Database, labels: Mapping[int, str], folder: Path) -> None:
    file = folder / "corrected.csv"
    with file.open("w", newline="", encoding="utf-8") as opened:
        table = csv.writer(opened)
        table.writerow(["id", "label"])
        table.writerows(labels.items())
    call(database, "truth", "revise", DATASET, str(file), "--reason", "second look")


def issued_today(database: Database) -> None:
    plan = ("--cron", "0 6 * * *", "--zone", "Europe/Ljubljana", "--dataset", DATASET)
    call(database, "schedule", "add", REPORT, *plan)
    call(database, "schedule", "run", REPORT)


def issued_tomorrow(database: Database, crew: Workers) -> str:
    """First sentence of the planned edition of tomorrow; it is computed by the workers."""
    (fired,) = run_due_schedules(database, database.clock() + timedelta(days=1)).fired
    assert fired.covers_missed == 0
    settle(database, crew)
    newest = editions(database)[-1]
    assert newest.fire_time == fired.fire_time
    return newest.headline or ""


def places(client: FlaskClient) -> dict[str, tuple[int, int]]:
    """Ranks by balanced accuracy before and after, by the name of the run."""
    answer = client.get(IMPACT.impact_url(2, "json"))
    assert answer.status_code == 200
    record: dict[str, Any] = json.loads(answer.data)
    values = {each["name"]: each["metrics"]["balanced_accuracy"] for each in record["runs"]}
    return {name: (each["rank_before"], each["rank_after"]) for name, each in values.items()}


def test_ten_corrected_labels_move_runs_and_tomorrows_report_says_so_first(
    database: Database,
    crew: Workers,
    client: FlaskClient,
    tmp_path: Path,
) -> None:
    issued_today(database)

    taken_over = {at: answers(ROSE)[at] for at in WRONG[ROSE][:N_CORRECTED]}
    revise(database, taken_over, tmp_path)
    settle(database, crew)

    assert count_rows(database, EvaluationRow) == 2 * len(WRONG)
    moved = {name: ranks for name, ranks in places(client).items() if ranks[0] != ranks[1]}
    assert {ROSE, FELL} <= moved.keys()
    page = Page(client.get(IMPACT.impact_url(2)).get_data(as_text=True))
    sentence = page.one("p", "callout").text
    assert sentence.startswith("With 10 labels corrected, ")
    for name, (before, after) in moved.items():
        verb = "rises" if after < before else "falls"
        assert f"“{name}” {verb} from rank {before} to {after}" in sentence
    first = issued_tomorrow(database, crew)
    assert first.startswith(
        f"Label version 2 of “{DATASET}” (10 labels corrected) changed the ranking by balanced"
    )
    for name, (before, after) in moved.items():
        quoted = f"“{name}”" if "," in name else name
        assert f"{quoted} from {before} to {after}" in first

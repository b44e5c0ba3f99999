"""Ten labels are corrected: runs are scored again, ranks move, tomorrow's report says so first.

With the runs that the demo makes of the digits, through the command line, real worker processes
and the dashboard.
"""

from __future__ import annotations

import csv
import json
import pickle
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient
from numpy.typing import NDArray

from offdiag.cli.commands import run as offdiag
from offdiag.demo.experiments import PROJECT, digits, log_trial
from offdiag.services.schedules.due import run_due_schedules
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, WorkRow
from offdiag_web import create_app
from offdiag_web.urls.datasets import DatasetAddress
from support.contents import count_rows
from support.logging_runs import work_off
from support.once_for_all import made_once
from support.pages import Page
from support.registries import copy_open_file
from support.reporting import editions
from support.worker_processes import Workers, wait_until, workers

pytestmark = pytest.mark.processes

N_CORRECTED = 10
REPORT = "daily"
DATASET = "digits, 3 and 8 rare"
IMPACT = DatasetAddress(PROJECT, DATASET)
ROSE = "logistic regression, strong penalty, balanced"
FELL = "25 nearest neighbours"
MODELS = ("logistic regression", ROSE, FELL)

Labels = NDArray[np.str_]


@dataclass(frozen=True)
class Digits:
    """What the models of the demo answered; `answers` by the name of the run."""

    ids: NDArray[np.int64]
    truth: Labels
    answers: Mapping[str, Labels]


@pytest.fixture(scope="module")
def demo(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Digits]:
    """A registry with runs of the digits, and their predictions."""

    def make(folder: Path) -> None:
        file = Path(shutil.copy(migrated_file, folder / "registry.db"))
        experiment = digits(42)
        names = np.array(experiment.labels)
        answers = {}
        for trial in (trial for trial in experiment.trials if trial.name in MODELS):
            log_trial(experiment, trial, url=f"sqlite:///{file}")
            answers[trial.name] = names[trial.model.predict(experiment.data[experiment.test])]
        truth = names[experiment.target[experiment.test]]
        database = Database(f"sqlite:///{file}", synchronous="normal")
        work_off(database)
        copy_open_file(file, folder / "evaluated.db")
        database.close()
        (folder / "facts").write_bytes(pickle.dumps((experiment.test, truth, answers)))

    folder = made_once(tmp_path_factory, "digits", make)
    return folder / "evaluated.db", Digits(*pickle.loads((folder / "facts").read_bytes()))


@pytest.fixture
def database(demo: tuple[Path, Digits], tmp_path: Path) -> Iterator[Database]:
    file = shutil.copy(demo[0], tmp_path / "offdiag.db")
    database = Database(f"sqlite:///{file}", synchronous="normal")
    yield database
    database.close()


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


def answer_like(digits: Digits, name: str, *, unlike: str) -> dict[int, str]:
    """Ten labels that make one run right where it was wrong and another wrong."""
    one, other = digits.answers[name], digits.answers[unlike]
    places = np.flatnonzero((one != digits.truth) & (other == digits.truth))[:N_CORRECTED]
    return {int(digits.ids[place]): str(one[place]) for place in places}


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
    demo: tuple[Path, Digits],
    database: Database,
    crew: Workers,
    client: FlaskClient,
    tmp_path: Path,
) -> None:
    issued_today(database)

    revise(database, answer_like(demo[1], ROSE, unlike=FELL), tmp_path)
    settle(database, crew)

    assert count_rows(database, EvaluationRow) == 2 * len(demo[1].answers)
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
        f"Truth version 2 of “{DATASET}” (10 labels revised) changed the ranking by balanced"
    )
    for name, (before, after) in moved.items():
        quoted = f"“{name}”" if "," in name else name
        assert f"{quoted} from {before} to {after}" in first

"""Confused labels of stored runs, in Python, over HTTP, on the command line and on the page."""

from __future__ import annotations

import json

import numpy as np
import pytest

import offdiag
from offdiag.cli.commands import run as offdiag_command
from offdiag.domain.runs import RunFacts
from offdiag.errors import Conflict
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag.store.runs import RunRecord
from offdiag_web import create_app
from support.logging_runs import evaluate, log
from support.set_runs import log_sets

SENTENCE = "sea is predicted as sky when sand is present"


def log_planted(database: Database) -> RunRecord:
    rng = np.random.default_rng(2)
    actual = rng.random((500, 4)) < (0.5, 0.4, 0.4, 0.2)
    predicted = actual ^ (rng.random(actual.shape) < 0.03)
    hit = actual[:, 0] & ~actual[:, 1] & actual[:, 2] & (rng.random(500) < 0.6)
    predicted[hit, 0], predicted[hit, 1] = False, True
    names = ["sea", "sky", "sand", "boat"]
    return log_sets(database, y_true=actual, y_pred=predicted, labels=names)


def test_the_sentences_are_the_same_everywhere(
    sqlite_database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    run = log_planted(sqlite_database)
    evaluate(sqlite_database, run.id)
    url = sqlite_database.url

    frame = offdiag.confused_labels(run.id, url=url)
    client = create_app(Settings(), sqlite_database).test_client()
    answer = client.get(f"/api/v1/runs/{run.id}/confused-labels").get_json()
    page = client.get(f"/runs/{run.id}").get_data(as_text=True)
    capsys.readouterr()
    assert offdiag_command(["runs", "confused", run.id, "--url", url, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)

    assert frame["sentence"].iloc[0] == SENTENCE
    assert answer == printed
    assert [each["sentence"] for each in answer["found"]] == frame["sentence"].tolist()
    assert answer["found"][0]["evidence_when"]["errors_with"] > 20
    assert SENTENCE in page


def test_a_run_of_classes_has_none(sqlite_database: Database) -> None:
    run = log(sqlite_database, y_true=["a", "b"], y_pred=["a", "a"], facts=RunFacts(name="x"))

    with pytest.raises(Conflict, match="one class each"):
        offdiag.confused_labels(run.id, url=sqlite_database.url)

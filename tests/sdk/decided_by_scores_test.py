"""Scores that come without predictions predict by a rule, which the run keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import offdiag
from offdiag.cli.commands import offdiag as command
from offdiag.sdk.run import Run
from offdiag.sdk.target import target
from offdiag.store.database import Database
from support.kinds import Files
from support.servers import serving

TRUTH = ["a", "b", "c", "a", "b"]
TABLE = [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.4, 0.2, 0.4], [0.25, 0.375, 0.375], [0.1, 0.9, 0.0]]
FOUND = ["a", "b", "a", "b", "b"]
"""Of equal scores the first class in label order."""
CLASSES = ["a", "b", "c"]
ARG_MAX = {"rule": "arg_max", "ties": "first_in_label_order"}
AT_HALF = {"rule": "threshold", "positive": "ill", "threshold": 0.5}
BINARY: dict[str, Any] = {
    "y_true": ["ill", "well", "ill"],
    "y_score": [0.5, 0.499, 0.9],
    "positive_label": "ill",
}

Entry = Callable[[str, str], Run]


@pytest.fixture(scope="module")
def registry(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with files.new(tmp_path_factory.mktemp("decided")) as database:
        yield database


@pytest.fixture(scope="module")
def url(registry: Database) -> str:
    return registry.url


@pytest.fixture(scope="module")
def server(registry: Database) -> Iterator[str]:
    with serving(registry) as address:
        yield address


def frame() -> dict[str, Any]:
    return {"y": TRUTH, **dict(zip(CLASSES, zip(*TABLE, strict=True), strict=True))}


def in_one_call(url: str, server: str) -> Run:
    return offdiag.log_run(y_true=TRUTH, y_score=TABLE, name="run", dataset="d", url=url)


def to_server(url: str, server: str) -> Run:
    return offdiag.log_run(y_true=TRUTH, y_score=TABLE, name="run", dataset="d", url=server)


def in_batches(url: str, server: str) -> Run:
    with offdiag.start_run(name="run", dataset="d", labels=CLASSES, url=url) as run:
        run.log(y_true=TRUTH[:2], y_score=TABLE[:2])
        run.log(y_true=TRUTH[2:], y_score=TABLE[2:])
    return run


def of_frame(make: Callable[[dict[str, Any]], object]) -> Entry:
    return lambda url, _: offdiag.log_frame(
        make(frame()), predicted=None, score=CLASSES, name="run", dataset="d", url=url
    )


def over_http(url: str, server: str) -> Run:
    with httpx.Client(base_url=f"{server}/api/v1") as client:
        body = {"name": "run", "dataset": "d", "labels": CLASSES}
        run_id = client.post("/runs", json=body).json()["id"]
        chunk = {"y_true": TRUTH, "y_score": TABLE}
        client.put(f"/runs/{run_id}/chunks/0", json=chunk).raise_for_status()
        client.post(f"/runs/{run_id}/finish", json={}).raise_for_status()
    return Run(target(url), run_id)


def from_file(url: str, server: str) -> Run:
    file = Path("cases.csv").absolute()
    pd.DataFrame(frame()).to_csv(file, index=False)
    scores = [part for name in CLASSES for part in ("--score", name)]
    arguments = ["log", str(file), "--true", "y", "--no-pred", *scores]
    facts = ["--name", "run", "--dataset", "d", "--url", url]
    done = CliRunner().invoke(command, [*arguments, *facts], catch_exceptions=False)
    assert done.exit_code == 0
    return Run(target(url), done.stdout.split()[0])


@pytest.mark.parametrize(
    "entry",
    [
        in_one_call,
        to_server,
        in_batches,
        of_frame(pd.DataFrame),
        of_frame(pl.LazyFrame),
        over_http,
        from_file,
    ],
)
def test_the_class_with_the_highest_score_is_predicted(
    entry: Entry, url: str, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    run = entry(url, server)

    assert run.examples(kind="all").sort_index()["predicted"].tolist() == FOUND
    assert run.decision_rule() == ARG_MAX
    assert run.derivation() is None


def test_one_score_predicts_the_positive_class_from_a_half_on(url: str) -> None:
    run = offdiag.log_run(**BINARY, name="run", dataset="wards", url=url)

    assert run.examples(kind="all").sort_index()["predicted"].tolist() == ["ill", "well", "ill"]
    assert run.decision_rule() == AT_HALF


def test_predictions_that_were_logged_follow_no_rule(url: str) -> None:
    run = offdiag.log_run(y_pred=["ill"] * 3, **BINARY, name="run", dataset="wards", url=url)

    assert run.decision_rule() is None


def test_the_rule_is_told_wherever_the_run_is(url: str, server: str) -> None:
    run = offdiag.log_run(**BINARY, name="run", dataset="wards", url=url)

    shown = CliRunner().invoke(command, ["runs", "show", run.id, "--url", url]).stdout
    with httpx.Client(base_url=server) as client:
        page = client.get(f"/runs/{run.id}/meta").text
        told = client.get(f"/api/v1/runs/{run.id}").json()["decision_rule"]
        exported = client.get(f"/runs/{run.id}.json").json()

    assert told == AT_HALF
    assert exported["decision_rule"] == AT_HALF
    assert Run(target(server), run.id).decision_rule() == AT_HALF
    for text in (page, shown):
        assert "where its score is at least 0.5" in text


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"y_true": TRUTH}, "neither predictions nor scores"),
        ({**BINARY, "y_score": [0.5, -2.0, 3.0]}, "index 1 is -2.0, which is not a probability"),
        ({"y_true": [{"a"}], "y_score": [[0.2, 0.8]], "labels": ["a", "b"]}, "labels of a set"),
    ],
)
def test_what_predicts_nothing_is_refused(url: str, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(offdiag.InvalidInput, match=sentence):
        offdiag.log_run(**given, name="run", dataset="refused", url=url)


@pytest.mark.parametrize("first", [None, FOUND])
def test_batches_have_predictions_all_or_none(url: str, first: list[str] | None) -> None:
    run = offdiag.start_run(name="run", dataset="d", labels=CLASSES, url=url)
    run.log(y_true=TRUTH, y_score=np.array(TABLE), y_pred=first)

    with pytest.raises(offdiag.InvalidInput, match="some batches"):
        run.log(y_true=TRUTH, y_score=TABLE, y_pred=None if first else FOUND)

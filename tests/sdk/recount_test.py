"""Runs of counts are counted again by their query, once labels changed where the rows lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import offdiag
from offdiag.errors import Conflict, InvalidInput
from offdiag.sdk.run import Run
from offdiag.store.database import Database
from support.servers import serving
from support.warehouses import CORRECTED, change, log, make_warehouse, rows_of

BOTH = {"old model": "old", "new model": "new"}


def values(run: Run) -> dict[str, float | None]:
    parts = (None, "site=site 1")
    return {
        f"{part}: {key}": value.value
        for part in parts
        for key, value in run.evaluation(slice=part).aggregate.items()
    }


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return make_warehouse(tmp_path)


@pytest.fixture
def url(registry_url: str) -> str:
    return registry_url


def test_a_recounted_run_equals_one_that_is_counted_afresh(warehouse: Path, url: str) -> None:
    given: dict[str, Any] = {"predicted": "old", "score": "p", "model": "trees"}
    old = log(warehouse, url, name="nightly", params={"depth": 3}, tags={"a": "b"}, **given)
    before = values(old)
    change(warehouse, CORRECTED)
    new = offdiag.recount(old, rows_of(warehouse, old.params["counted.query"]), url=url)
    fresh = log(warehouse, url, name="fresh", **given)
    assert values(new) == pytest.approx(values(fresh), nan_ok=True)
    assert new.evaluation().aggregate["overall_accuracy"].value == 1.0
    assert values(old) == before
    assert (new.name, new.model, new.tags) == ("nightly", "trees", {"a": "b"})
    assert old.tags == {"a": "b", "recounted_as": new.id}
    assert new.params == {**old.params, "counted.from": old.id}
    again = offdiag.recount(new, rows_of(warehouse), url=url)
    assert again.params["counted.from"] == new.id


def test_runs_counted_together_are_recounted_together(warehouse: Path, url: str) -> None:
    runs = log(warehouse, url, predicted=BOTH)
    log(warehouse, url, predicted=BOTH)  # Of another call, and of the same names.
    change(warehouse, CORRECTED)
    frame = rows_of(warehouse)
    new = offdiag.recount(runs["new model"], frame, url=url)
    partner = offdiag.get_run(runs["old model"].tags["recounted_as"], url=url)
    fresh = log(warehouse, url, predicted=BOTH)
    found = offdiag.compare(partner, new, url=url)
    wanted = offdiag.compare(fresh["old model"], fresh["new model"], url=url)
    assert found.counts == wanted.counts
    pd.testing.assert_frame_equal(found.metrics, wanted.metrics)
    runs["old model"].delete()
    with pytest.raises(Conflict, match=r"counted together with 'old model'.*runs restore"):
        offdiag.recount(runs["new model"], frame, url=url)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DELETE FROM answers WHERE i = 3", "1,599 rows are predicted as 'False', but 1,600 were"),
        ("UPDATE answers SET old = NOT old WHERE i = 3", "1,599 rows are predicted as 'False'"),
    ],
)
def test_other_predictions_are_no_correction_of_labels(
    warehouse: Path, url: str, statement: str, message: str
) -> None:
    run = log(warehouse, url, name="nightly", predicted="old")
    change(warehouse, statement)
    with pytest.raises(Conflict, match=message):
        offdiag.recount(run, rows_of(warehouse), url=url)
    assert len(offdiag.search_runs(url=url)) == 1
    assert run.tags == {}


def test_a_frame_that_lacks_a_column_is_refused(warehouse: Path, url: str) -> None:
    run = log(warehouse, url, name="nightly", predicted="old")
    with pytest.raises(InvalidInput, match=r"actual.*no column 'y'"):
        offdiag.recount(run, rows_of(warehouse).rename(columns={"y": "label"}), url=url)


def test_a_run_without_a_query_says_what_to_do(warehouse: Path, url: str) -> None:
    run = log(warehouse, url, name="nightly", predicted="old", query=None)
    with pytest.raises(Conflict, match=r"no query is stored.*log_frame"):
        offdiag.recount(run, rows_of(warehouse), url=url)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"keep_predictions": True}, "query: predictions that are kept"),
        ({"query": "x" * 5_001}, "query: .* has 5001 characters"),
        ({"query": " "}, "query: the query is empty"),
        ({"params": {"counted": {"x": 1}}}, "params: 'counted' is reserved"),
    ],
)
def test_a_query_that_cannot_be_kept_is_refused(
    warehouse: Path, url: str, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        log(warehouse, url, name="nightly", predicted="old", **given)


def test_runs_of_a_server_are_recounted_where_the_rows_are(
    warehouse: Path, sqlite_database: Database
) -> None:
    with serving(sqlite_database) as server:
        run = log(warehouse, server, predicted=BOTH)["old model"]
        change(warehouse, CORRECTED)
        new = offdiag.recount(run, rows_of(warehouse), url=server)
        assert new.evaluation().aggregate["overall_accuracy"].value == 1.0

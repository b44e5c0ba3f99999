"""Scores counted where they lie say what the scores themselves do, within a bound that is kept."""

from __future__ import annotations

import json
import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np
import pandas as pd
import pytest

import offdiag
from offdiag import Evaluation
from offdiag.store.database import Database
from support.frames import FRAMES, Columns
from support.servers import serving

N_ROWS = 3_000
"""Enough that no bound is wide."""


def rows() -> Columns:
    """Saturated, rounded and fine scores of two classes, of which "ill" is rare."""
    rng = np.random.default_rng(5)
    ill = rng.random(N_ROWS) < 0.2
    p = 1 / (1 + np.exp(2 - 3 * ill - rng.normal(size=N_ROWS)))
    p[:40], p[40:80], p[80:400] = 0, 1, np.round(p[80:400], 1)
    p[400:410], p[410:420] = 1e-60, 1 - 1e-12
    return {
        "y": np.where(ill, "ill", "well").tolist(),
        "yhat": np.where(p > 0.5, "ill", "well").tolist(),
        "site": rng.choice(["a", "b"], N_ROWS).tolist(),
        "p": p.tolist(),
    }


ROWS = rows()


def log(frame: object, url: str, dataset: str, **given: Any) -> offdiag.Run:
    arguments: dict[str, Any] = {"score": "p", "positive_label": "ill", "keep_predictions": False}
    arguments |= given
    return offdiag.log_frame(frame, name="model", dataset=dataset, url=url, **arguments)


@pytest.fixture(scope="module")
def kept(url: str) -> offdiag.Run:
    return log(pd.DataFrame(ROWS), url, "kept", slices=["site"], keep_predictions=True)


def test_counts_of_every_library_say_what_the_scores_do(url: str, kept: offdiag.Run) -> None:
    # Other counts under a key would be refused.
    runs = [
        log(make(ROWS), url, "counted", slices=["site"], client_key="one")
        for make in FRAMES.values()
    ]

    run = runs[0]
    assert {each.id for each in runs} == {run.id}
    require_within_bounds(run.evaluation(), kept.evaluation())
    for part in ("site=a", "site=b"):
        require_within_bounds(run.evaluation(slice=part), kept.evaluation(slice=part))


def require_within_bounds(counted: Evaluation, exact: Evaluation) -> None:
    assert counted.aggregate.keys() == exact.aggregate.keys()
    bounded = set()
    for key, value in exact.aggregate.items():
        found = counted.aggregate[key]
        if key in ("brier_reliability", "brier_resolution"):
            assert found.reason == "forecasts_in_cells"
            continue
        assert (found.reason, found.limit) == (value.reason, value.limit), key
        if value.value is not None:
            assert abs(float(found) - value.value) <= (found.error_bound or 0) + 1e-12, key
        if found.error_bound is not None:
            bounded.add(key)
            assert found.error_bound < 0.02, key
    assert {"roc_auc", "average_precision"} <= bounded
    for key in ("roc_auc", "average_precision"):
        for label, area in exact.per_class[key].items():
            near = counted.per_class[key][label]
            assert abs(float(near) - float(area)) <= (near.error_bound or 0) + 1e-12


def test_bounds_stand_in_json_and_read_back(url: str) -> None:
    value = log(pd.DataFrame(ROWS), url, "json").evaluation().aggregate["roc_auc"]

    written = json.loads(json.dumps(value.to_dict()))
    assert written["error_bound"] == value.error_bound
    assert offdiag.MetricValue.of_dict(written) == value
    assert f"off by at most {value.error_bound:.2e}" in str(value.remark)


@pytest.mark.parametrize("library", sorted(FRAMES.keys() - {"dask"}))
def test_what_is_no_probability_is_counted_and_refused(url: str, library: str) -> None:
    refused: list[tuple[list[float | None], str]] = [
        ([0.1, None, float("nan"), None], "score='p': 3 of 4 rows have no score"),
        ([1.5, float("inf"), -2.0, 0.4], "score='p': 3 of 4 rows have a score outside of 0 to 1"),
    ]
    for scores, message in refused:
        columns: Columns = {"y": ["a", "b"] * 2, "yhat": ["a", "a", "b", "b"], "p": scores}
        with pytest.raises(offdiag.InvalidInput, match=message):
            log(FRAMES[library](columns), url, "refused", positive_label="b")


@pytest.mark.parametrize(
    ("columns", "positive", "message"),
    [
        ({"y": ["a", "b"], "yhat": ["a", "a"]}, None, "not whether it is for 'a' or 'b'"),
        ({"y": ["a", "b", "c"], "yhat": ["a", "a", "c"]}, None, "there are 3 classes"),
    ],
)
def test_scores_without_a_class_of_their_own_are_refused(
    url: str, columns: Columns, positive: str | None, message: str
) -> None:
    scored = columns | {"p": [0.5] * len(columns["y"])}

    with pytest.raises(offdiag.InvalidInput, match=message):
        log(pd.DataFrame(scored), url, "classes", positive_label=positive)


def test_scores_of_large_runs_are_counted_chunk_by_chunk(
    url: str, kept: offdiag.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact, of_part = kept.evaluation(), kept.evaluation(slice="site=a")
    monkeypatch.setenv("OFFDIAG_EVALUATION__EXACT_SCORES_UP_TO", str(N_ROWS - 1))

    large = log(pd.DataFrame(ROWS), url, "large", slices=["site"], keep_predictions=True)

    require_within_bounds(large.evaluation(), exact)
    require_within_bounds(large.evaluation(slice="site=a"), of_part)
    monkeypatch.setenv("OFFDIAG_EVALUATION__EXACT_SCORES_UP_TO", str(N_ROWS))
    again = log(pd.DataFrame(ROWS), url, "exact again", keep_predictions=True)
    assert again.evaluation().aggregate["roc_auc"] == exact.aggregate["roc_auc"]


def test_large_runs_of_other_scores_than_probabilities_are_evaluated_exactly(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFDIAG_EVALUATION__EXACT_SCORES_UP_TO", "0")
    margins = ROWS | {"p": [4 * p - 2 for p in ROWS["p"]]}

    found = log(pd.DataFrame(margins), url, "margins", keep_predictions=True).evaluation()

    assert found.aggregate["roc_auc"].error_bound is None
    assert found.aggregate["brier_half"].reason == "scores_not_probabilities"


@pytest.mark.parametrize("is_served", [False, True])
def test_a_score_of_the_other_class_is_noted_once(
    sqlite_database: Database, *, is_served: bool
) -> None:
    site = ["A" if at < 5 else name for at, name in enumerate(ROWS["site"])]
    frame = pd.DataFrame({**ROWS, "p": [1 - p for p in ROWS["p"]], "site": site})
    with serving(sqlite_database) if is_served else nullcontext(sqlite_database.url) as url:
        # The positive class is that of the dataset, which a client need not know.
        log(pd.DataFrame(ROWS), url, "noted", slices=["site"])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            log(frame, url, "noted", slices=["site"], positive_label=None)

    told = sorted(str(each.message) for each in caught)
    assert len(told) == 2
    assert "'A' and 'a'" in told[0]
    assert told[1].startswith("y_score is lower where y_pred is 'ill' than where it is 'well'")


def test_scores_that_fit_or_say_nothing_are_not_noted(url: str) -> None:
    few = {"y": ["ill", "well"], "yhat": ["ill", "well"], "p": [0.1, 0.9]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log(pd.DataFrame(ROWS), url, "fits")
        log(pd.DataFrame(few), url, "few")

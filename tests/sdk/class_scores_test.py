"""Scores of three classes counted where they lie say what the scores do, within their bounds."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import offdiag
from offdiag.errors import InvalidInput
from offdiag.inputs import counted_samples
from offdiag.services.retention.project_archives import export_project, import_project
from offdiag.services.verification.verify import verify
from offdiag.store.database import Database
from support.frames import FRAMES, Columns
from support.quick_schemas import remember_schemas

CLASSES = ("bird", "cat", "dog")
SCORES = [f"p_{name}" for name in CLASSES]
UNDEFINED = {
    "roc_auc_ovo_macro",
    "roc_auc_ovo_weighted",
    "top_2_accuracy",
    "brier_reliability",
    "brier_resolution",
}


def rows(n: int = 900) -> Columns:
    """Saturated, rounded, tied and fine probabilities, of which "dog" is rare."""
    rng = np.random.default_rng(8)
    code = rng.choice(3, n, p=[0.5, 0.4, 0.1])
    logit = rng.normal(size=(n, 3)) + 2 * np.eye(3)[code]
    p = np.exp(logit) / np.exp(logit).sum(axis=1, keepdims=True)
    p[:20] = np.eye(3)[code[:20]]
    p[20:60] = [0.4, 0.4, 0.2]
    p[60:300] = np.round(p[60:300], 1)
    p[60:300, 2] = 1 - p[60:300, 0] - p[60:300, 1]
    columns: Columns = {
        "y": [CLASSES[each] for each in code],
        "yhat": [CLASSES[each] for each in p.argmax(axis=1)],
    }
    return columns | {name: np.clip(p[:, at], 0, 1).tolist() for at, name in enumerate(SCORES)}


ROWS = rows()


def log(frame: object, url: str, dataset: str, **given: Any) -> offdiag.Run:
    arguments: dict[str, Any] = {"score": SCORES, "keep_predictions": False} | given
    return offdiag.log_frame(frame, name="model", dataset=dataset, url=url, **arguments)


@pytest.fixture(scope="module")
def kept(url: str) -> offdiag.Run:
    return log(pd.DataFrame(ROWS), url, "kept", keep_predictions=True)


@pytest.fixture(scope="module")
def counted(url: str) -> offdiag.Run:
    return log(pd.DataFrame(ROWS), url, "counted", client_key="one")


def test_counts_say_what_the_scores_do(counted: offdiag.Run, kept: offdiag.Run) -> None:
    require_within_bounds(counted.evaluation(), kept.evaluation())


def test_every_library_counts_the_same(url: str, counted: offdiag.Run) -> None:
    # Dask, which takes seconds, counts the scores of one class elsewhere.
    for library in FRAMES.keys() - {"pandas", "dask"}:
        same = log(FRAMES[library](ROWS), url, "counted", client_key="one")

        assert same.id == counted.id, library  # Or it would be refused.


def test_counts_move_with_their_project(
    url: str,
    kept: offdiag.Run,
    migrated_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    remember_schemas(monkeypatch)
    score = dict(zip(CLASSES[::-1], SCORES[::-1], strict=True))
    run = log(pd.DataFrame(ROWS), url, "moved", project="moved", score=score)
    before = run.evaluation()
    with closing(Database(url)) as database:
        assert verify(database).is_clean
        export_project(database, "moved", tmp_path / "project.offdiag")
    other = f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'other.db')}"
    with closing(Database(other)) as database:
        import_project(database, tmp_path / "project.offdiag")

    moved = offdiag.get_run(run.id, url=other).evaluation()

    assert moved.aggregate == before.aggregate
    require_within_bounds(moved, kept.evaluation())


def require_within_bounds(counted: offdiag.Evaluation, exact: offdiag.Evaluation) -> None:
    assert counted.aggregate.keys() == exact.aggregate.keys()
    for key, value in exact.aggregate.items():
        found = counted.aggregate[key]
        if key in UNDEFINED:
            assert found.reason == "forecasts_in_cells", key
            continue
        assert (found.reason, found.limit) == (value.reason, value.limit), key
        if value.value is not None:
            bound = found.error_bound or 0
            assert abs(float(found) - value.value) <= bound + 1e-9, key
            assert bound < 0.1, key
    assert counted.aggregate["roc_auc_ovr_macro"].error_bound is not None
    assert counted.aggregate["roc_auc_ovr_macro"].ci_low is None
    for key in ("roc_auc", "average_precision"):
        for label, area in exact.per_class[key].items():
            near = counted.per_class[key][label]
            assert abs(float(near) - float(area)) <= (near.error_bound or 0) + 1e-9
            assert near.ci_low is not None


@pytest.mark.parametrize(
    ("changed", "given", "message"),
    [
        (
            {"p_cat": [0.9] * 3},
            {},
            "score: the scores of a row add up to a number that is 0.7 away",
        ),
        ({"p_cat": [0.3, None, 0.3]}, {}, "score='p_cat': 1 of 3 rows have no score"),
        ({}, {"score": SCORES[:2]}, "for two classes one column of scores is counted"),
        ({}, {"slices": ["yhat"]}, "slices: per-class scores are counted over all rows"),
        ({}, {"score": [*SCORES[:2], "yhat"]}, "score: "),
        ({}, {"query": "SELECT 1"}, "query: scores of 3 classes .* Log without query="),
        ({}, {"labels": ["cat", "dog", "fox"]}, "score: "),
    ],
)
def test_what_cannot_be_counted_is_refused(
    url: str, changed: Columns, given: dict[str, Any], message: str
) -> None:
    columns: Columns = {
        "y": list(CLASSES),
        "yhat": list(CLASSES),
        "p_bird": [0.5, 0.3, 0.2],
        "p_cat": [0.3, 0.4, 0.2],
        "p_dog": [0.2, 0.3, 0.6],
    }

    with pytest.raises(InvalidInput, match=message):
        log(pd.DataFrame(columns | changed), url, "refused", **given)


def test_too_many_bins_are_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted_samples, "MAX_KINDS", 1_000)  # Fewer than the bins of all.

    with pytest.raises(InvalidInput, match="score: the scores of all classes are in more than"):
        log(pd.DataFrame(ROWS), url, "refused")

"""Searching runs from Python, into a frame."""

from __future__ import annotations

import pytest

import offdiag


@pytest.fixture(scope="module", autouse=True)
def _runs(url: str) -> None:
    for name, matrix in {"good": [[9, 1], [1, 9]], "majority": [[10, 0], [10, 0]]}.items():
        run = offdiag.log_matrix(
            matrix,
            orientation="actual_rows",
            labels=["a", "b"],
            name=name,
            dataset="d",
            params={"lr": 0.1},
            tags={"kind": name},
            url=url,
        )
        run.evaluation()


def test_runs_come_as_a_frame_with_facts_metrics_parameters_and_tags(url: str) -> None:
    found = offdiag.search_runs(order_by="metrics.mcc desc", url=url)

    assert list(found["name"]) == ["good", "majority"]
    assert list(found["state"]) == ["evaluated", "evaluated"]
    assert found["metrics.overall_accuracy"].tolist() == [0.9, 0.5]
    assert found["metrics.mcc"].isna().tolist() == [False, True]
    assert found["params.lr"].tolist() == [0.1, 0.1]
    assert found["tags.kind"].tolist() == ["good", "majority"]
    assert list(found.columns[:3]) == ["run_id", "name", "model"]


def test_a_filter_narrows_the_frame(url: str) -> None:
    found = offdiag.search_runs("metrics.recall[b] > 0.5 and tags.kind = 'good'", url=url)

    assert found["name"].tolist() == ["good"]


def test_nothing_found_is_a_frame_with_the_same_first_columns(url: str) -> None:
    found = offdiag.search_runs(project="nobody", url=url)

    assert len(found) == 0
    assert list(found.columns[:2]) == ["run_id", "name"]


def test_a_filter_that_cannot_be_read_is_refused_in_words(url: str) -> None:
    with pytest.raises(offdiag.InvalidInput, match="filter: 'depth' stands where a metric or"):
        offdiag.search_runs(filter="depth > 0.5", url=url)

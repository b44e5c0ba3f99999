"""Searching runs from Python, into a frame."""

from __future__ import annotations

import pytest

import offdiag
from offdiag.errors import OutOfRange, UnknownName


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
    found = offdiag.search_runs("attributes.name = 'nobody'", url=url)  # Warnings are errors.

    assert len(found) == 0
    assert list(found.columns[:2]) == ["run_id", "name"]


@pytest.mark.parametrize(
    ("condition", "project", "sentence"),
    [
        ("", "defalt", "Project 'defalt' has no datasets. Did you mean 'default'?"),
        ("attributes.dataset = 'dd'", None, "There is no dataset 'dd'. Did you mean 'd'?"),
        (
            "metrics.mcc > 0 and (attributes.dataset = 'dd')",
            "default",
            "There is no dataset 'dd' in project 'default'. Did you mean 'd'?",
        ),
    ],
)
def test_unknown_names_are_warned_of_with_near_ones(
    url: str, condition: str, project: str | None, sentence: str
) -> None:
    with pytest.warns(UnknownName) as caught:
        found = offdiag.search_runs(condition, project=project, url=url)

    assert [str(each.message) for each in caught] == [sentence]
    assert caught[0].filename == __file__
    assert len(found) == 0


@pytest.mark.parametrize(
    "condition",
    ["attributes.dataset like 'dd%'", "attributes.dataset = 'dd' or metrics.mcc > 0.9"],
)
def test_patterns_and_alternatives_name_nothing_that_must_be_there(
    url: str, condition: str
) -> None:
    assert offdiag.search_runs(condition, url=url).empty  # Warnings are errors.


def test_a_number_that_a_metric_cannot_have_is_warned_of_and_compared(url: str) -> None:
    with pytest.warns(OutOfRange, match=r"Write 80 % as 0\.8\.") as caught:
        found = offdiag.search_runs("metrics.accuracy < 80", url=url)

    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert len(found) == 2


def test_a_filter_that_cannot_be_read_is_refused_in_words(url: str) -> None:
    with pytest.raises(offdiag.InvalidInput, match="filter: 'depth' stands where a metric or"):
        offdiag.search_runs(filter="depth > 0.5", url=url)

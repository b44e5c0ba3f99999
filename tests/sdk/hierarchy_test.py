"""Groups of classes are given with a log or later, and an evaluation can be seen through them."""

from __future__ import annotations

import json
from typing import Any

import pytest

import offdiag
from offdiag.sdk.run import Run

LABELS = ["cat", "dog", "car", "plane"]
GROUPS = {"animal": ["cat", "dog"], "vehicle": {"road": ["car"], "air": ["plane"]}}
ACTUAL = ["cat", "cat", "dog", "car", "plane", "plane"]
PREDICTED = ["dog", "cat", "dog", "plane", "plane", "cat"]


@pytest.fixture(scope="module")
def run(url: str) -> Run:
    return log(url, "things")


def log(url: str, dataset: str, **changes: Any) -> Run:
    given: dict[str, Any] = {
        "y_true": ACTUAL,
        "y_pred": PREDICTED,
        "labels": LABELS,
        "hierarchy": GROUPS,
        "sample_ids": [1, 2, 3, 4, 5, 6],
        "slices": {"site": ["A", "B"] * 3},
        "name": "run",
    }
    return offdiag.log_run(**given | changes, dataset=dataset, url=url)


def test_a_collapsed_evaluation_is_that_of_mapped_labels(run: Run) -> None:
    found = run.evaluation(collapse=["vehicle", "animal"])

    group_of = dict.fromkeys(["cat", "dog"], "animal") | dict.fromkeys(["car", "plane"], "vehicle")
    mapped = offdiag.evaluate_labels(
        y_true=[group_of[name] for name in ACTUAL],
        y_pred=[group_of[name] for name in PREDICTED],
        labels=["animal", "vehicle"],
    )
    assert found.labels == ("animal", "vehicle")
    assert found.confusion_matrix.equals(mapped.confusion_matrix)
    for key, value in mapped.aggregate.items():
        assert found.aggregate[key].value == value.value, key
    accuracy = found.aggregate["overall_accuracy"]
    assert accuracy.ci_low is not None
    assert accuracy.ci_low < 5 / 6 < (accuracy.ci_high or 0)


def test_it_says_what_was_collapsed(run: Run) -> None:
    found = run.evaluation(collapse="*")

    assert found.collapse is not None
    assert found.collapse.words == (
        "collapsed to 2 classes: animal (2 classes), vehicle (2 classes)"
    )
    assert found.collapse.words in found._repr_html_()
    assert found.to_dict()["groups"] == {"animal": ["cat", "dog"], "vehicle": ["car", "plane"]}
    json.dumps(found.to_dict(), allow_nan=False)
    whole = run.evaluation()
    assert (whole.collapse, whole.labels) == (None, tuple(LABELS))
    assert "groups" not in whole.to_dict()


def test_unknown_groups_and_datasets_without_groups_are_refused(run: Run, url: str) -> None:
    with pytest.raises(offdiag.InvalidInput, match="there is no group 'plant'"):
        run.evaluation(collapse=["plant"])
    plain = offdiag.log_run(y_true=["a"], y_pred=["a"], labels=["a", "b"], name="run", url=url)
    with pytest.raises(offdiag.InvalidInput, match="are in no groups"):
        plain.evaluation(collapse="*")


def test_groups_are_changed_with_one_call(url: str) -> None:
    run = log(url, "changed")

    changed = offdiag.set_hierarchy(dataset="changed", hierarchy={"pets": ["dog", "cat"]}, url=url)

    assert changed == {"pets": ["dog", "cat"]}
    assert run.evaluation(collapse="*").labels == ("pets", "car", "plane")
    assert offdiag.set_hierarchy(dataset="changed", hierarchy=None, url=url) is None


def test_batches_and_matrices_come_with_groups_too(url: str) -> None:
    with offdiag.start_run(
        name="batches", dataset="streamed", labels=LABELS, hierarchy=GROUPS, url=url
    ) as streamed:
        streamed.log(y_true=ACTUAL, y_pred=PREDICTED)
    matrix = offdiag.log_matrix(
        [[1, 2], [3, 4]],
        orientation="actual_rows",
        name="matrix",
        dataset="counted",
        labels=["a", "b"],
        hierarchy={"all": ["a", "b"]},
        url=url,
    )

    assert streamed.evaluation(collapse="*").labels == ("animal", "vehicle")
    assert matrix.evaluation(collapse="*").aggregate["overall_accuracy"].value == 1


def test_a_log_with_other_groups_stores_nothing(run: Run, url: str) -> None:
    with pytest.raises(offdiag.Conflict, match="grouped in another way"):
        log(url, "things", name="second", hierarchy={"pets": ["cat", "dog"]})

    assert len(offdiag.search_runs("attributes.dataset = 'things'", url=url)) == 1

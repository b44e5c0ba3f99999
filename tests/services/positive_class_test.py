"""Which class counts as positive: the named one, or the conventional one of two truth values."""

from __future__ import annotations

from typing import Any

import pytest

from offdiag.domain.runs import RunFacts
from offdiag.errors import Conflict, InvalidInput
from offdiag.services.ingest.dataset import declare_dataset
from offdiag.services.ingest.log_predictions import open_run
from offdiag.services.verification.verify import verify
from offdiag.store import datasets
from offdiag.store.database import Database
from offdiag.store.datasets import DatasetRecord
from support.logging_runs import evaluate, log, work_off

SCORES = [0.9, 0.8, 0.6, 0.3]
BOTH = [[1 - score, score] for score in SCORES]
ACTUAL = [1, 0, 1, 0]


def log_scored(database: Database, name: str = "run", **given: Any) -> str:
    facts = {"y_true": ACTUAL, "y_pred": [1, 1, 1, 0], "dataset": "d", "y_score": SCORES}
    return log(database, facts=RunFacts(name=name), **{**facts, **given}).id


def dataset(database: Database) -> DatasetRecord:
    with database.read() as session:
        found = datasets.find_dataset(session, project="default", name="d")
    assert found is not None
    return found


def positive(database: Database) -> tuple[str | None, bool]:
    found = dataset(database)
    return found.positive_label, found.positive_by_convention


def forget_positive(database: Database) -> None:
    """As a dataset of an earlier release, which nobody named a positive class for."""
    with database.write() as session:
        datasets.set_positive_label(session, dataset(database).id, None)


def auc(database: Database, run_id: str) -> float | None:
    value = evaluate(database, run_id).aggregate.get("roc_auc")
    return None if value is None else value.value


@pytest.mark.parametrize(
    ("y_true", "label"),
    [([1, -1, 1, -1], "1"), ([True, False, True, False], "True")],
)
def test_truth_values_have_a_positive_class_by_convention(
    database: Database, y_true: list[object], label: str
) -> None:
    run_id = log_scored(database, y_true=y_true, y_pred=y_true)

    assert positive(database) == (label, True)
    assert auc(database, run_id) == 0.75


def test_other_labels_have_to_name_it(database: Database) -> None:
    with pytest.raises(InvalidInput, match="positive_label: one score for each sample is given"):
        log_scored(database, y_true=["n", "y", "n", "y"], y_pred=["n", "y", "n", "y"])


def test_a_named_class_is_not_by_convention(database: Database) -> None:
    log_scored(database, positive_label=True)

    assert positive(database) == ("1", False)


def test_naming_the_conventional_class_makes_it_named(database: Database) -> None:
    log_scored(database)
    declare_dataset(database, project="default", name="d", labels=["0", "1"], positive_label="1")

    assert positive(database) == ("1", False)
    with pytest.raises(Conflict, match="counts '1' as positive, not '0'"):
        log_scored(database, "other", positive_label=0)


def test_the_conventional_class_does_not_give_way_once_scores_were_logged_for_it(
    database: Database,
) -> None:
    log_scored(database)

    with pytest.raises(Conflict, match="positive by convention, and has scores"):
        log_scored(database, "other", positive_label=0)

    assert positive(database) == ("1", True)


def test_the_conventional_class_does_not_give_way_while_a_run_is_open(database: Database) -> None:
    log_scored(database, y_score=BOTH)
    open_run(database, facts=RunFacts(name="o"), dataset="d", labels=None, positive_label=None)

    with pytest.raises(Conflict, match="open runs"):
        log_scored(database, "other", y_score=BOTH, positive_label=0)


@pytest.mark.both_databases
def test_another_class_that_is_named_late_evaluates_runs_with_scores_again(
    database: Database,
) -> None:
    scored = log_scored(database, y_score=BOTH)
    plain = log_scored(database, "plain", y_score=None)
    key = "ece_positive_15"
    error = evaluate(database, scored).aggregate[key].value
    before = evaluate(database, plain)

    declare_dataset(database, project="default", name="d", labels=["0", "1"], positive_label="0")
    work_off(database)

    assert positive(database) == ("0", False)
    assert evaluate(database, scored).aggregate[key].value != error
    assert evaluate(database, plain).computed_at == before.computed_at
    assert not verify(database).findings


@pytest.mark.parametrize("stated", [None, "1"])
def test_a_dataset_of_before_gets_its_positive_class_with_the_next_run(
    database: Database, stated: str | None
) -> None:
    old = log_scored(database, y_score=BOTH)
    forget_positive(database)
    work_off(database)
    # Until somebody logs to it nothing changes it.
    assert positive(database) == (None, False)
    assert auc(database, old) is None
    assert not verify(database).findings

    log_scored(database, "new", positive_label=stated)

    assert positive(database) == ("1", stated is None)
    assert auc(database, old) == 0.75
    assert not verify(database).findings


def test_sets_of_labels_have_no_positive_one(database: Database) -> None:
    log(database, y_true=[{"1"}, {"0"}], y_pred=[{"1"}, {"0", "1"}], dataset="d")

    assert positive(database) == (None, False)

"""Logging predictions stores all of a run or nothing, and truth once for each content."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select

from offdiag.domain.runs import RunFacts, RunState
from offdiag.errors import Conflict, InvalidInput, LabelNote
from offdiag.store.database import Database
from offdiag.store.models import (
    Base,
    DatasetRow,
    PredictionChunkRow,
    TruthVersionRow,
    WorkRow,
)
from support.contents import count_rows
from support.logging_runs import ACTUAL, PREDICTED, evaluate, log


def rows_everywhere(database: Database) -> int:
    with database.read() as session:
        return sum(
            session.scalar(select(func.count()).select_from(table)) or 0
            for table in Base.metadata.sorted_tables
        )


def test_a_logged_run_is_finished_evaluated_and_shares_its_truth(database: Database) -> None:
    run = log(database)

    assert run.state is RunState.FINISHED
    assert run.n_predictions == 6
    assert count_rows(database, WorkRow) == 1
    alone = log(database, y_true=None)
    assert alone.truth_version_id == run.truth_version_id
    for each in (run, alone):
        stored = evaluate(database, each.id)
        assert stored.matrix.labels.names == ("a", "b", "c")
        assert stored.matrix.counts.tolist() == [[1, 1, 0], [0, 2, 0], [1, 0, 1]]


def test_equal_truth_is_stored_once_and_other_truth_is_another_version(
    database: Database,
) -> None:
    first, second = log(database), log(database, y_pred=ACTUAL)
    assert first.truth_version_id == second.truth_version_id
    assert count_rows(database, TruthVersionRow) == 1

    other = log(database, y_true=PREDICTED)
    assert first.truth_version_id != other.truth_version_id
    assert first.dataset_id == other.dataset_id

    unnamed = [log(database, dataset=None, y_pred=each).dataset_id for each in (PREDICTED, ACTUAL)]
    assert len(set(unnamed)) == 1


def test_with_sample_ids_a_shuffled_loader_gives_the_same_truth(database: Database) -> None:
    order = [5, 0, 3, 1, 4, 2]
    ids = [f"case-{number}" for number in range(6)]

    straight = log(database, sample_ids=ids)
    shuffled = log(
        database,
        y_true=[ACTUAL[i] for i in order],
        y_pred=[PREDICTED[i] for i in order],
        sample_ids=[ids[i] for i in order],
    )

    assert straight.truth_version_id == shuffled.truth_version_id
    assert straight.content_digest == shuffled.content_digest


def test_without_sample_ids_order_counts(database: Database) -> None:
    straight = log(database)
    with pytest.warns(LabelNote, match="in another order"):
        reversed_order = log(database, y_true=ACTUAL[::-1], y_pred=PREDICTED[::-1])

    assert straight.truth_version_id != reversed_order.truth_version_id


def test_a_client_key_finds_its_run_and_takes_no_other_predictions(database: Database) -> None:
    facts = RunFacts(name="run", client_key="job-17")

    first, second = log(database, facts=facts), log(database, facts=facts)

    assert first.id == second.id
    assert count_rows(database, PredictionChunkRow) == 1
    with pytest.raises(Conflict, match="client_key: client key 'job-17' belongs to run"):
        log(database, facts=facts, y_pred=ACTUAL)


def test_large_runs_are_cut_into_chunks_and_counted_as_a_whole(database: Database) -> None:
    rng = np.random.default_rng(3)
    actual, predicted = rng.integers(0, 4, (2, 150_000))

    run = log(database, y_true=actual, y_pred=predicted, dataset="large")

    assert count_rows(database, PredictionChunkRow) == 3
    expected = np.zeros((4, 4), dtype=np.int64)
    np.add.at(expected, (actual, predicted), 1)
    assert (evaluate(database, run.id).matrix.counts == expected).all()


@pytest.mark.both_databases
def test_the_positive_label_is_remembered_with_the_dataset(database: Database) -> None:
    truth = ["ill", "well", "well"]
    log(database, y_true=truth, y_pred=truth, dataset="d", positive_label="ill")

    run = log(database, y_true=truth, y_pred=truth, dataset="d", y_score=[0.9, 0.2, 0.1])

    assert run.score_columns == 1
    with database.read() as session:
        assert session.scalar(select(DatasetRow.positive_label)) == "ill"


def test_bad_input_names_the_field_and_leaves_nothing_behind(database: Database) -> None:
    before = rows_everywhere(database)
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"y_score": np.zeros((6, 2))}, "y_score", "2 columns of scores for 3 classes"),
        ({"sample_ids": [1, 2]}, "sample_ids", "y_pred has 6 values, sample_ids has 2"),
        ({"positive_label": "a"}, "positive_label", "3 classes"),
        ({"positive_label": "x"}, "positive_label", "'x' is not one of"),
        ({"y_true": None}, "dataset", "does not exist"),
        ({"y_true": None, "dataset": None}, "y_true", "neither ground truth nor the name"),
        ({"ordinal": True}, "ordinal", "no labels were declared"),
        ({"dataset": ""}, "dataset", "the name is empty"),
        ({"dataset": "\u200b \u202e"}, "dataset", "the name is empty"),
    ]
    for given, field, sentence in cases:
        with pytest.raises(InvalidInput, match=sentence) as caught:
            log(database, **given)

        assert caught.value.field == field
        assert caught.value.hint
        assert rows_everywhere(database) == before


def test_runs_that_do_not_fit_their_dataset_are_refused(database: Database) -> None:
    log(database)
    before = rows_everywhere(database)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"y_true": None, "y_pred": ["a"] * 5}, "5 predictions, but label version 1 .* has 6"),
        ({"y_true": None, "sample_ids": range(6)}, "was logged without sample_ids"),
        ({"y_pred": ["a", "b", "b", "b", "c", "d"]}, "'d' at index 5"),
    ]
    for given, sentence in cases:
        with pytest.raises(InvalidInput, match=sentence):
            log(database, **given)

        assert rows_everywhere(database) == before


def test_an_identifier_the_truth_does_not_have_is_named(database: Database) -> None:
    log(database, sample_ids=[1, 2, 3, 4, 5, 6])

    with pytest.raises(InvalidInput, match="7 is not a sample"):
        log(database, y_true=None, sample_ids=[1, 2, 3, 4, 5, 7])


def test_other_labels_than_the_datasets_are_a_conflict(database: Database) -> None:
    log(database, labels=["a", "b", "c"])

    with pytest.raises(Conflict, match="in another order"):
        log(database, labels=["c", "b", "a"])


def test_another_positive_class_than_the_datasets_is_a_conflict(database: Database) -> None:
    truth = ["ill", "well"]
    log(database, y_true=truth, y_pred=truth, dataset="d", positive_label="ill")

    with pytest.raises(Conflict, match="counts 'ill' as positive, not 'well'"):
        log(database, y_true=truth, y_pred=truth, dataset="d", positive_label="well")

"""Slice columns are kept with the samples, and every metric can be asked for a part of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import select

from offdiag.domain.labels import LabelSet
from offdiag.errors import Conflict, InvalidInput
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.store import slices, truths
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, TruthSliceRow
from offdiag.store.runs import RunRecord
from support.contents import count_rows
from support.logging_runs import ACTUAL, PREDICTED, correct_labels, evaluate, log, stream, work_off

IDS = [1, 2, 3, 4, 5, 6]
COUNTRY = ["DE", "DE", "FR", "FR", "DE", "DE"]
MOBILE = [True, False, True, False, True, False]


def log_sliced(database: Database, **given: Any) -> RunRecord:
    facts: dict[str, Any] = {
        "sample_ids": IDS,
        "slices": {"country": COUNTRY, "mobile": MOBILE},
    }
    return log(database, **(facts | given))


def log_parts(database: Database, parts: list[dict[str, Any]]) -> RunRecord:
    return stream(database, parts, labels=LabelSet.declared(["a", "b", "c"]))


def columns_of(database: Database, run: RunRecord) -> dict[str, list[str]]:
    assert run.truth_version_id is not None
    with database.read() as session:
        root = truths.get_truth(session, run.truth_version_id).root_id
        found = slices.slice_columns(session, root)
    return {
        name: [column.levels[code] for code in column.codes.tolist()]
        for name, column in found.items()
    }


def test_columns_are_kept_with_the_samples_in_the_order_of_the_truth(database: Database) -> None:
    backwards = slice(None, None, -1)

    run = log_sliced(
        database,
        y_true=ACTUAL[backwards],
        y_pred=PREDICTED[backwards],
        sample_ids=IDS[backwards],
        slices=pd.DataFrame({"country": COUNTRY[backwards], "mobile": MOBILE[backwards]}),
    )

    assert columns_of(database, run) == {
        "country": COUNTRY,
        "mobile": ["True", "False", "True", "False", "True", "False"],
    }


def test_another_run_may_repeat_columns_and_add_new_ones_but_no_other_values(
    database: Database,
) -> None:
    log_sliced(database)

    run = log_sliced(database, y_pred=ACTUAL, slices={"mobile": MOBILE, "age": [1, 2, 3, 4, 5, 6]})

    assert set(columns_of(database, run)) == {"country", "mobile", "age"}
    assert columns_of(database, run)["age"] == ["1", "2", "3", "4", "5", "6"]
    with pytest.raises(Conflict, match="sample 4 has country 'FR', not 'AT'"):
        log_sliced(
            database, y_pred=ACTUAL, slices={"country": ["DE", "DE", "FR", "AT", "DE", "DE"]}
        )
    assert count_rows(database, TruthSliceRow) == 3


def test_columns_that_cannot_be_used_are_refused(database: Database) -> None:
    cases: list[tuple[object, str]] = [
        ({"country": COUNTRY[:5]}, r"y_pred has 6 values, slices\['country'\] has 5"),
        ({"country": [*COUNTRY[:5], None]}, "the value at index 5 is missing"),
        ({"country": [1.5, float("nan")] * 3}, "the value at index 1 is nan"),
        ({"": COUNTRY}, "the name is empty"),
        (COUNTRY, "list holds no named columns"),
        ({f"c{number}": COUNTRY for number in range(101)}, "there are 101 columns"),
    ]
    for given, sentence in cases:
        with pytest.raises(InvalidInput, match=sentence):
            log_sliced(database, slices=given)


def test_streamed_columns_are_put_together_when_the_run_is_finished(database: Database) -> None:
    run = log_parts(
        database,
        [
            {
                "y_true": ACTUAL[part],
                "y_pred": PREDICTED[part],
                "ids": IDS[part],
                "slices": {"country": COUNTRY[part], "mobile": MOBILE[part]},
            }
            for part in (slice(4, 6), slice(0, 4))
        ],
    )

    assert columns_of(database, run)["country"] == COUNTRY
    found = evaluation_of_slice(database, run.id, "country=FR & mobile=True")
    assert found.matrix.counts.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_columns_come_with_all_chunks_or_with_none(database: Database) -> None:
    country, age = {"country": ["DE"]}, {"age": [7]}
    for first, second, said in (
        (country, None, r"the column 'country'\."),
        (None, country, r"the column 'country'\."),
        (country, age, r"the columns 'age' and 'country'\."),
    ):
        with pytest.raises(InvalidInput, match=f"some batches of this run have {said}"):
            log_parts(
                database,
                [
                    {"y_true": ["a"], "y_pred": ["a"], "slices": first},
                    {"y_true": ["b"], "y_pred": ["b"], "slices": second},
                ],
            )


def test_a_slice_is_evaluated_once_with_every_metric_and_interval(database: Database) -> None:
    run = log_sliced(database)

    found = evaluation_of_slice(database, run.id, "country=DE")

    assert found.slice == "country=DE"
    assert found.matrix.counts.tolist() == [[1, 1, 0], [0, 0, 0], [1, 0, 1]]
    assert (found.n_cases, found.matrix.total) == (4, 4)
    accuracy = found.aggregate["overall_accuracy"]
    assert accuracy.value == 0.5
    assert accuracy.ci_low is not None
    assert found.per_class["recall"][1].reason == "no_actual_positives"
    whole, rest = evaluate(database, run.id), evaluation_of_slice(database, run.id, "country=FR")
    assert set(found.aggregate) == set(whole.aggregate)
    assert np.array_equal(found.matrix.counts + rest.matrix.counts, whole.matrix.counts)
    first, again = (
        evaluation_of_slice(database, run.id, text)
        for text in ("country=DE & mobile=True", ' "mobile"=True&country = DE')
    )
    assert again.id == first.id
    assert again.slice == "country=DE & mobile=True"


def test_the_evaluation_of_the_whole_run_stays_the_current_one(database: Database) -> None:
    run = log_sliced(database)
    whole = evaluate(database, run.id)

    evaluation_of_slice(database, run.id, "country=DE")

    assert evaluate(database, run.id).id == whole.id
    with database.read() as session:
        current = session.execute(
            select(EvaluationRow.slice, EvaluationRow.is_current).order_by(EvaluationRow.id)
        ).all()
    assert current == [(None, True), ("country=DE", True)]


def test_scores_of_a_slice_are_those_of_its_cases(database: Database) -> None:
    run = log_sliced(
        database,
        y_true=["n", "y", "n", "y", "n", "y"],
        y_pred=["n", "y", "y", "y", "n", "y"],
        y_score=[0.1, 0.9, 0.8, 0.7, 0.2, 0.6],
        positive_label="y",
    )

    germans = evaluation_of_slice(database, run.id, "country=DE")
    french = evaluation_of_slice(database, run.id, "country=FR")

    assert germans.aggregate["roc_auc"].value == 1.0
    assert french.aggregate["roc_auc"].value == 0.0


def test_a_slice_the_dataset_does_not_have_is_refused(database: Database) -> None:
    run = log_sliced(database)
    cases: list[tuple[str, str]] = [
        ("city=Ulm", "no slice column 'city'. It has country, mobile"),
        ("country=AT", "no sample has country 'AT'. Its values are 'DE', 'FR'."),
        ("country", "'=' is missing at its end"),
    ]
    for text, sentence in cases:
        with pytest.raises(InvalidInput) as refusal:
            evaluation_of_slice(database, run.id, text)

        assert sentence in str(refusal.value)


@pytest.mark.both_databases
def test_slices_survive_a_revision_and_are_counted_with_the_new_labels(
    database: Database,
) -> None:
    run = log_sliced(database)
    before = evaluation_of_slice(database, run.id, "country=DE")

    correct_labels(database, {6: "a", 5: None})
    after = evaluation_of_slice(database, run.id, "country=DE")
    work_off(database)

    assert before.matrix.counts.tolist() == [[1, 1, 0], [0, 0, 0], [1, 0, 1]]
    assert after.matrix.counts.tolist() == [[2, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert (after.n_cases, after.matrix.total) == (4, 3)
    with database.read() as session:
        current = session.scalars(
            select(EvaluationRow.id).where(
                EvaluationRow.is_current, EvaluationRow.slice.is_not(None)
            )
        ).all()
    assert current == [after.id]

"""Curves are drawn with the evaluation, and read for one class or for the worst of many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete

from offdiag.errors import InvalidInput
from offdiag.metrics.scores.score_curves import TOP_LABEL
from offdiag.services.curves import (
    CLASSES_PER_PAGE,
    NoCurves,
    RankedBy,
    all_curves,
    browse_curves,
    measured_values,
    values_at_prevalence,
)
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.store.database import Database
from offdiag.store.models import ScoreCurveRow
from support.dashboard import counted_statements
from support.logging_runs import correct_labels, evaluate, log, upload_matrix
from support.optional import present
from support.scored_runs import DATASET, log_scored, scored_cases

EVENT: dict[str, Any] = {
    "y_true": ["n", "y", "n", "y", "n"],
    "y_pred": ["n", "y", "y", "y", "n"],
    "y_score": [0.1, 0.9, 0.8, 0.7, 0.2],
    "positive_label": "y",
}


def test_a_run_has_the_curve_of_its_positive_class_or_of_the_other_one(
    database: Database,
) -> None:
    run = log(database, **EVENT)
    evaluate(database, run.id)

    found = browse_curves(database, run.id)

    (curve,) = found.shown
    assert (found.positive, curve.code, found.top_label) == (1, 1, None)
    assert curve.points.true_positives.tolist() == [0, 1, 1, 2, 2, 2]
    assert curve.points.false_positives.tolist() == [0, 0, 1, 1, 2, 3]
    assert curve.points.thresholds[1:].tolist() == [
        float(np.float32(score)) for score in (0.9, 0.8, 0.7, 0.2, 0.1)
    ]

    found = browse_curves(database, run.id, positive="n")

    (curve,) = found.shown
    assert (found.positive, curve.code) == (0, 0)
    assert curve.points.reports_below
    assert curve.points.true_positives.tolist() == [0, 1, 2, 2, 3, 3]
    assert present(curve.bins).score_sum.sum() == pytest.approx(0.9 + 0.1 + 0.2 + 0.3 + 0.8)
    assert present(curve.bins).happened.sum() == 3
    assert (int(curve.histogram.positive.sum()), int(curve.histogram.negative.sum())) == (3, 2)

    with pytest.raises(InvalidInput) as raised:
        browse_curves(database, run.id, positive="maybe")
    assert raised.value.field == "positive"


def test_without_a_positive_class_the_worst_classes_come_first(
    database: Database,
) -> None:
    cases = scored_cases(labels=[f"class {code:02d}" for code in range(15)])
    run_id = log_scored(database, cases)
    per_class = evaluate(database, run_id).per_class

    for by in RankedBy:
        pages = [
            browse_curves(database, run_id, ranked_by=by, start=start)
            for start in (0, CLASSES_PER_PAGE)
        ]
        codes = [curve.code for page in pages for curve in page.shown]
        areas = [per_class[by.value][code].value or 0.0 for code in codes]
        assert [len(page.shown) for page in pages] == [12, 3]
        assert sorted(codes) == list(range(15))
        assert areas == sorted(areas)
        assert present(pages[0].top_label).histogram.positive.sum() == np.sum(
            np.array(cases.actual) == np.array(cases.predicted)
        )


def test_rare_classes_are_ranked_by_precision_and_recall(database: Database) -> None:
    many = log_scored(database, scored_cases(labels=[f"class {code:02d}" for code in range(15)]))
    few = log_scored(database, scored_cases(), dataset="few")
    evaluate(database, few)

    assert browse_curves(database, many).ranked_by is RankedBy.PRECISION_RECALL
    assert browse_curves(database, few).ranked_by is RankedBy.ROC


def test_a_class_without_cases_comes_last(database: Database) -> None:
    run = log(
        database,
        y_true=["b", "b", "c"],
        y_pred=["b", "b", "c"],
        y_score=np.full((3, 3), 1 / 3),
        labels=["a", "b", "c"],
    )
    evaluate(database, run.id)

    shown = browse_curves(database, run.id).shown

    assert [curve.code for curve in shown] == [1, 2, 0]
    assert shown[-1].points.n_positive == 0


def test_curves_are_of_the_labelled_cases_and_follow_the_truth(
    database: Database,
) -> None:
    cases = scored_cases(100, n_unlabelled=40)
    run_id = log_scored(database, cases)
    evaluate(database, run_id)
    before = browse_curves(database, run_id, positive="cat").shown[0].points
    correct_labels(database, {present(cases.ids)[0]: "cat"}, dataset=DATASET)
    evaluate(database, run_id)

    after = browse_curves(database, run_id, positive="cat").shown[0].points

    assert before.n_positive + before.n_negative == 60
    assert (after.n_positive, after.n_negative) == (before.n_positive + 1, before.n_negative)


def test_what_cannot_be_drawn_says_why(database: Database) -> None:
    without = log(database)
    waiting = log(database, **EVENT, dataset="events")
    matrix = upload_matrix(database, [[3, 1], [0, 2]], ["a", "b"])
    late = scored_cases(20, n_unlabelled=20)
    unlabelled = log(
        database,
        y_true=None,
        y_pred=late.predicted,
        y_score=late.scores,
        sample_ids=late.ids,
        labels=list(late.labels),
        dataset="late",
    )
    assert browse_curves(database, waiting.id).missing is NoCurves.NOT_EVALUATED
    evaluate(database, unlabelled.id)
    undrawn = waiting.id
    with database.write() as session:
        session.execute(delete(ScoreCurveRow))

    for run_id, why in (
        (without.id, NoCurves.NO_SCORES),
        (matrix.id, NoCurves.NO_SCORES),
        (undrawn, NoCurves.NOT_DRAWN),
        (unlabelled.id, NoCurves.NO_SAMPLES),
    ):
        assert browse_curves(database, run_id).missing is why
        assert all_curves(database, run_id).missing is why


def test_an_export_holds_every_class_and_a_slice_leaves_it_alone(database: Database) -> None:
    run_id = log_scored(database, scored_cases(60))
    evaluate(database, run_id)
    before = browse_curves(database, run_id, positive="cat").shown[0].points

    evaluation_of_slice(database, run_id, "country=DE")

    after = browse_curves(database, run_id, positive="cat").shown[0].points
    assert after.true_positives.tolist() == before.true_positives.tolist()
    found = all_curves(database, run_id)
    assert [curve.code for curve in found.shown] == [0, 1, 2, 3]
    assert present(found.top_label).code == TOP_LABEL


@pytest.mark.both_databases
def test_a_page_takes_five_statements_however_many_classes_there_are(
    database: Database,
) -> None:
    few = log_scored(database, scored_cases(60))
    evaluate(database, few)
    many = log_scored(
        database, scored_cases(100, labels=[str(code) for code in range(40)]), dataset="many"
    )
    evaluate(database, many)

    for run_id in (few, many):
        with counted_statements() as statements:
            browse_curves(database, run_id)
        assert len(statements) == 5


def test_values_of_a_class_are_those_of_the_suite_and_move_with_the_prevalence(
    database: Database,
) -> None:
    stored = evaluate(database, log_scored(database, scored_cases()))
    matrix = stored.matrix

    for code in range(4):
        share = int(matrix.actual[code]) / matrix.total
        again = values_at_prevalence(matrix, code, share)
        for key, value in measured_values(matrix, code).items():
            assert value.value == pytest.approx(stored.per_class[key][code].value), key
            assert again[key].value == pytest.approx(value.value), key

    measured, rare = measured_values(matrix, 0), values_at_prevalence(matrix, 0, 0.01)
    recall, specificity = measured["recall"].value, measured["specificity"].value
    assert recall is not None
    expected = recall * 0.01 / (recall * 0.01 + (1 - present(specificity)) * 0.99)
    assert rare["precision"].value == pytest.approx(expected)
    assert rare["recall"].value == pytest.approx(recall)
    assert rare["specificity"].value == pytest.approx(present(specificity))

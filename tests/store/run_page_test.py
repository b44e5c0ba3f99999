"""One run with everything that is known of it, on both databases."""

from __future__ import annotations

from offdiag.domain.runs import RunState
from offdiag.store.database import Database
from offdiag.store.dataset_page import dataset_list, dataset_overview
from offdiag.store.run_page import RunDetail, run_detail
from support.dashboard import (
    LESION_COUNTS,
    LESIONS,
    counted_statements,
    fail_evaluation,
    log_lesions,
    open_lesions,
    upload_lesions,
)


def test_an_evaluated_run_comes_with_its_matrix_and_all_its_values(database: Database) -> None:
    run_id = log_lesions(database, model="net", tags={"team": "x"}, params={"lr": 0.1})

    detail = _detail(database, run_id)

    assert (detail.run.dataset, detail.run.model) == ("derm-7", "net")
    assert detail.run.labels.names == LESIONS
    assert detail.run.truth is not None
    assert detail.run.truth.n_samples == 1503
    assert detail.results is not None
    assert detail.results.matrix.counts.tolist() == [list(line) for line in LESION_COUNTS]
    assert detail.results.aggregate["overall_accuracy"].ci_low is not None
    assert len(detail.results.per_class["recall"]) == len(LESIONS)
    assert detail.work is None


def test_an_open_run_knows_how_much_was_logged_so_far(database: Database) -> None:
    detail = _detail(database, open_lesions(database))

    assert (detail.run.state, detail.run.n_predictions) == (RunState.OPEN, 2)
    assert (detail.run.truth, detail.results) == (None, None)


def test_an_uploaded_matrix_comes_with_the_evidence_of_its_orientation(
    database: Database,
) -> None:
    log_lesions(database)
    run_id = upload_lesions(database, orientation="actual_rows", counts=LESION_COUNTS)

    run = _detail(database, run_id).run

    assert run.orientation_verdict == "canonical"
    assert run.orientation_evidence is not None
    assert run.orientation_evidence["class_counts"] == [sum(line) for line in LESION_COUNTS]


def test_a_run_needs_two_statements_and_one_without_its_values(database: Database) -> None:
    run_id = log_lesions(database)

    with counted_statements() as statements:
        _detail(database, run_id)
    with database.read() as session, counted_statements() as fewer:
        detail = run_detail(session, run_id, aggregates=False)

    assert (len(statements), len(fewer)) == (2, 1)
    assert detail.results is not None
    assert detail.results.aggregate == {}
    assert detail.results.matrix.total == 1503


def test_datasets_are_listed_with_their_runs_by_state(database: Database) -> None:
    log_lesions(database)
    fail_evaluation(database, log_lesions(database, evaluated=False), error="boom")
    open_lesions(database)

    with database.read() as session, counted_statements() as statements:
        ((facts, runs),) = dataset_overview(session)

    assert (facts.name, facts.n_classes, facts.n_samples) == ("derm-7", 7, 1503)
    assert facts.class_counts == tuple(sum(line) for line in LESION_COUNTS)
    assert runs.by_state == {
        RunState.OPEN: 1,
        RunState.FINISHED: 0,
        RunState.EVALUATED: 1,
        RunState.FAILED: 1,
    }
    assert runs.total == 3
    assert runs.last_logged_at is not None
    assert len(statements) == 1


def test_a_dataset_whose_first_run_is_open_has_no_truth_yet(database: Database) -> None:
    open_lesions(database)

    with database.read() as session:
        (facts,) = dataset_list(session)

    assert (facts.truth_number, facts.n_samples, facts.class_counts) == (None, None, None)


def _detail(database: Database, run_id: str) -> RunDetail:
    with database.read() as session:
        return run_detail(session, run_id)

"""Runs whose cases carry sets of labels are stored, evaluated, corrected and kept as others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select, update

import offdiag
from offdiag.domain.runs import RunFacts, Task
from offdiag.errors import Conflict, InvalidInput
from offdiag.metrics.counted import CountedSets
from offdiag.reports.scope import METRICS_OF_SETS
from offdiag.sdk.evaluations.intervals import multilabel_intervals
from offdiag.services.cost_matrices import add_costs
from offdiag.services.evaluation.history import run_history
from offdiag.services.evaluation.recompute import recompute_all
from offdiag.services.examples.page import browse_examples
from offdiag.services.examples.selection import ExampleQuestion, Kind
from offdiag.services.flags.page import browse_flag, raised_flags
from offdiag.services.ingest.derive_run import derive_run
from offdiag.services.retention.project_archives import export_project, import_project
from offdiag.services.samples.drafts import undo_version
from offdiag.services.truth.impact import truth_impact
from offdiag.services.truth.revise import revise_truth
from offdiag.services.truth.versions import compare_truths
from offdiag.services.verification.checks import FindingKind
from offdiag.services.verification.verify import verify
from offdiag.services.what_if.runs import Question, read_frame
from offdiag.store import datasets, truths
from offdiag.store.database import Database
from offdiag.store.datasets import DatasetRecord
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.models import PredictionChunkRow, TruthChunkRow
from offdiag.store.truths import TruthRecord
from support.logging_runs import correct_labels, evaluate, log, stream, upload_matrix
from support.optional import present
from support.set_runs import IDS, LABELS, PREDICTED_SETS, TRUE_SETS, log_sets, random_sets


def dataset_of(database: Database, name: str = "photos") -> DatasetRecord:
    with database.read() as session:
        found = datasets.find_dataset(session, project="default", name=name)
    return present(found)


def truths_of(database: Database) -> list[TruthRecord]:
    with database.read() as session:
        return truths.all_truths(session)


def counted_of(stored: StoredEvaluation) -> CountedSets:
    assert isinstance(stored.counted, CountedSets)
    return stored.counted


def test_a_stored_run_has_the_numbers_of_an_evaluation_in_memory(database: Database) -> None:
    true, predicted = random_sets(400, 11)
    names = [f"label {code}" for code in range(11)]
    scores = np.random.default_rng(2).random((400, 11)).astype(np.float32)
    run = log_sets(database, y_true=true, y_pred=predicted, labels=names, y_score=scores)

    stored = evaluate(database, run.id)

    here = multilabel_intervals(
        offdiag.evaluate_multilabel(y_true=true, y_pred=predicted, labels=names, y_score=scores)
    )
    assert stored.aggregate == dict(here.aggregate)
    assert stored.per_class.keys() == here.per_label.keys()
    for key, values in here.per_label.items():
        assert stored.per_class[key] == tuple(values.values()), key
    assert np.array_equal(counted_of(stored).matrix.cells, here.matrix.cells)
    assert stored.n_labelled == stored.n_cases == 400
    assert dataset_of(database).task is Task.MULTILABEL


def test_tables_lists_and_sets_are_the_same_truth(database: Database) -> None:
    table = np.array([[label in each for label in LABELS] for each in TRUE_SETS])
    forms = (TRUE_SETS, [sorted(each) for each in TRUE_SETS], table, table.astype(np.int8))
    runs = [
        log_sets(database, y_true=form, facts=RunFacts(name=f"run {number}"))
        for number, form in enumerate(forms)
    ]

    assert len({run.truth_version_id for run in runs}) == 1
    assert len({run.content_digest for run in runs}) == 1


@pytest.mark.parametrize("n_labels", [8, 9])
def test_batches_in_any_order_give_the_result_of_one_call(
    database: Database, n_labels: int
) -> None:
    true, predicted = random_sets(90, n_labels)
    names = [f"l{code}" for code in range(n_labels)]
    ids = np.arange(90)
    whole = log_sets(database, y_true=true, y_pred=predicted, labels=names, sample_ids=ids)
    order = np.random.default_rng(3).permutation(90)
    parts = [
        {"y_pred": predicted[part], "y_true": true[part], "ids": ids[part]}
        for part in np.array_split(order, 4)
    ]

    in_parts = stream(database, parts, "photos")

    assert in_parts.truth_version_id == whole.truth_version_id
    assert counted_of(evaluate(database, in_parts.id)).digest == (
        counted_of(evaluate(database, whole.id)).digest
    )
    assert verify(database).findings == ()


def test_sets_are_stored_a_bit_a_label(database: Database) -> None:
    true, predicted = random_sets(100, 17)
    log_sets(database, y_true=true, y_pred=predicted, labels=[f"l{code}" for code in range(17)])

    with database.read() as session:
        chunk = session.scalars(select(PredictionChunkRow)).one()
        truth = session.scalars(select(TruthChunkRow)).one()
    assert (chunk.dtype, chunk.codec, len(chunk.codes)) == ("u1x3", "bits", 300)
    assert (truth.dtype, truth.codec, len(truth.codes)) == ("u1x3", "bits", 300)


def test_what_cannot_be_meant_is_refused_and_leaves_nothing(database: Database) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"y_pred": [["sea", "sea"], *PREDICTED_SETS[1:]]}, "index 0 names 'sea' twice"),
        ({"y_true": [["dune"], *TRUE_SETS[1:]]}, "'dune' in the set at index 0"),
        ({"y_score": np.zeros((7, 3))}, "3 columns of scores for 4 classes"),
        ({"ordinal": True}, "no meaningful order"),
    ]
    for given, sentence in cases:
        with pytest.raises(InvalidInput, match=sentence):
            log_sets(database, **given)

        with database.read() as session:
            assert datasets.find_dataset(session, project="default", name="photos") is None


def test_a_dataset_keeps_the_kind_of_its_first_run(database: Database) -> None:
    log_sets(database)
    log(database, dataset="plain", labels=LABELS, y_true=["sea"], y_pred=["sky"])

    with pytest.raises(Conflict, match="have sets of labels; this run comes with one class"):
        log(database, dataset="photos", labels=None, y_true=["sea"], y_pred=["sky"])
    with pytest.raises(Conflict, match="have one class each; this run comes with sets"):
        log_sets(database, dataset="plain")
    with pytest.raises(Conflict, match="have sets of labels"):
        upload_matrix(database, np.eye(4, dtype=int), LABELS, dataset="photos")


def test_labels_may_come_after_the_predictions(database: Database) -> None:
    log_sets(database)  # Says that the dataset holds sets.
    run = log_sets(database, dataset="late", y_true=None, sample_ids=IDS)
    waiting = evaluate(database, run.id)
    assert (waiting.n_cases, waiting.n_labelled) == (7, 0)
    assert waiting.aggregate["subset_accuracy"].reason == "no_cases"

    labels = dict(zip(IDS, TRUE_SETS, strict=True))
    some = {sample: labels[sample] for sample in IDS[:3]}
    revise_truth(
        database, project="default", dataset="late", labels=some, reason="first", author=None
    )
    assert evaluate(database, run.id).n_labelled == 3
    complete = log_sets(database, dataset="late", sample_ids=IDS, facts=RunFacts(name="complete"))

    assert evaluate(database, run.id).n_labelled == 7
    assert counted_of(evaluate(database, run.id)).digest == (
        counted_of(evaluate(database, complete.id)).digest
    )
    assert [truth.n_labelled for truth in truths_of(database)] == [7, 0, 3, 7]
    assert verify(database).findings == ()


def test_corrected_sets_are_scored_again(database: Database) -> None:
    run = log_sets(database, sample_ids=IDS)
    before = evaluate(database, run.id)

    made = correct_labels(
        database,
        {11: {"sea"}, 12: None, 13: ["sky"]},
        dataset="photos",
        reason="looked again",
        author="ada",
    )

    after = evaluate(database, run.id)
    assert (made.difference.n_corrected, made.difference.n_unlabelled) == (2, 1)
    assert before.aggregate["subset_accuracy"].value == pytest.approx(2 / 7)
    assert after.aggregate["subset_accuracy"].value == pytest.approx(4 / 6)
    assert after.n_labelled == 6
    difference = compare_truths(
        database, project="default", dataset="photos", before=1, after=2
    ).difference
    assert [(each.sample, each.before, each.after) for each in difference.samples()] == [
        (11, "{sea, sky}", "{sea}"),
        (12, "{sea}", None),
        (13, "{}", "{sky}"),
    ]
    assert verify(database).findings == ()


def test_sets_have_no_price_and_decide_no_other_run_and_are_corrected_once(
    database: Database,
) -> None:
    run = log_sets(database, y_score=np.zeros((7, 4)))
    evaluate(database, run.id)
    weights = 1 - np.eye(4)

    with pytest.raises(Conflict, match="have sets of labels, and a cost matrix"):
        add_costs(database, project="default", dataset="photos", name="errors", weights=weights)
    with pytest.raises(Conflict, match="carry sets of labels"):
        read_frame(database, [run.id], Question())
    with pytest.raises(Conflict, match="carry sets of labels"):
        derive_run(database, source_id=run.id, rule=None, recipe={}, name="x")  # type: ignore[arg-type]
    again: dict[str, Any] = {"project": "default", "dataset": "photos", "author": None}
    change: dict[str, Any] = {"labels": {0: ["boat"]}, "reason": "typing error"}
    first, second = (revise_truth(database, **again, **change) for _ in range(2))
    assert (first.was_there, second.was_there) == (False, True)
    assert second.version.id == first.version.id


@pytest.mark.both_databases
def test_counts_that_were_dropped_are_counted_again(database: Database) -> None:
    run = log_sets(database)
    before = evaluate(database, run.id)

    recompute_all(database)
    after = evaluate(database, run.id)

    assert after.id != before.id
    assert counted_of(after).digest == counted_of(before).digest
    assert after.aggregate == before.aggregate
    with database.read() as session:
        assert session.scalars(select(PredictionChunkRow.counts)).one() is not None


def test_flipped_bits_are_found(database: Database) -> None:
    run = log_sets(database)
    evaluate(database, run.id)
    with database.write() as session:
        session.execute(update(PredictionChunkRow).values(codes=bytes(7)))

    found = verify(database).findings

    assert {finding.kind for finding in found} == {FindingKind.DAMAGED, FindingKind.DRIFT}
    assert run.id in {finding.subject for finding in found}


def test_labels_that_are_never_found_raise_flags(database: Database) -> None:
    true, _ = random_sets(300, 3)
    predicted = true.copy()
    predicted[:, 1] = False
    run = log_sets(database, y_true=true, y_pred=predicted, labels=["a", "b", "c"])

    stored = evaluate(database, run.id)

    raised = {(flag.content.rule, flag.content.class_label) for flag in _flags(database, run.id)}
    assert {("F2", "b"), ("F3", "b"), ("F10", "b")} <= raised
    assert not {rule for rule, _ in raised} - {"F2", "F3", "F4", "F10", "F12"}
    assert stored.hides_minority


def _flags(database: Database, run_id: str) -> Any:
    return raised_flags(database, run_id)


def test_a_project_of_sets_moves_with_its_results(
    database: Database, sqlite_database: Database, tmp_path: Path
) -> None:
    run = log_sets(database, sample_ids=IDS, y_score=np.eye(7, 4))
    stored = evaluate(database, run.id)
    export_project(database, "default", tmp_path / "project.zip")
    # The dataset is known there, with a run of its own.
    log_sets(sqlite_database, sample_ids=IDS, y_pred=TRUE_SETS, facts=RunFacts(name="there"))

    import_project(sqlite_database, tmp_path / "project.zip")

    moved = evaluate(sqlite_database, run.id)
    assert (moved.aggregate, moved.per_class) == (stored.aggregate, stored.per_class)
    assert len(truths_of(sqlite_database)) == 1
    assert dataset_of(sqlite_database).task is Task.MULTILABEL
    assert verify(sqlite_database).findings == ()


def sets_found(database: Database, run_id: str, question: ExampleQuestion) -> list[int | str]:
    return [each.sample for each in browse_examples(database, run_id, question).examples]


def test_examples_of_sets_are_found_by_label_and_kind(database: Database) -> None:
    run = log_sets(database, sample_ids=IDS)
    evaluate(database, run.id)
    cases: list[tuple[ExampleQuestion, list[int]]] = [
        (ExampleQuestion(), [11, 12, 13, 14, 16]),
        (ExampleQuestion(kind=Kind.RIGHT), [15, 17]),
        (ExampleQuestion(kind=Kind.ALL), IDS),
        (ExampleQuestion(actual="sky"), [11, 16]),
        (ExampleQuestion(predicted="sky"), [12, 13]),
        (ExampleQuestion(actual="sea", kind=Kind.RIGHT), [11, 12, 15]),
        (ExampleQuestion(actual="sky", predicted="sand"), [16]),
    ]
    for question, samples in cases:
        assert sets_found(database, run.id, question) == samples


def test_examples_of_a_label_are_sorted_by_its_score(database: Database) -> None:
    scores = np.arange(28).reshape(7, 4)[::-1] / 28
    run = log_sets(database, sample_ids=IDS, y_score=scores)
    evaluate(database, run.id)

    page = browse_examples(database, run.id, ExampleQuestion(actual="sky"))

    assert [each.sample for each in page.examples] == [11, 16]
    assert [each.confidence for each in page.examples] == pytest.approx([25 / 28, 5 / 28])
    assert present(page.examples[0].sets).missed == ("sky",)
    assert [each.label for each in page.examples[0].top] == ["boat", "sand", "sky"]


def test_sets_that_wait_for_labels_are_examples_too(database: Database) -> None:
    log_sets(database)
    run = log_sets(database, dataset="late", y_true=None, sample_ids=IDS)
    evaluate(database, run.id)

    question = ExampleQuestion(predicted="sea", kind=Kind.UNLABELLED)
    page = browse_examples(database, run.id, question)

    assert [(each.sample, each.actual) for each in page.examples] == [
        (11, None),
        (12, None),
        (15, None),
    ]


@pytest.mark.both_databases
def test_a_correction_of_sets_says_what_it_moved(database: Database) -> None:
    run = log_sets(database, sample_ids=IDS)
    evaluate(database, run.id)
    correct_labels(database, {11: {"sea"}}, dataset="photos", reason="looked again")
    evaluate(database, run.id)

    impact = truth_impact(database, project="default", dataset="photos", number=2)

    (moved,) = impact.moved
    assert moved.difference_of("subset_accuracy") == pytest.approx(1 / 7)
    assert impact.metrics == METRICS_OF_SETS
    history = run_history(database, run.id)
    assert [entry.evaluation.metrics["subset_accuracy"].value for entry in history] == (
        pytest.approx([2 / 7, 3 / 7])
    )


def test_runs_that_find_more_of_a_label_are_compared_case_by_case(
    database: Database,
) -> None:
    true, predicted = random_sets(200, 3)
    predicted[:, 1] = False
    better = predicted.copy()
    better[:, 1] = true[:, 1]
    names = ["a", "b", "c"]
    blind = log_sets(database, y_true=true, y_pred=predicted, labels=names)
    seeing = log_sets(
        database,
        y_true=true,
        y_pred=better,
        labels=names,
        facts=RunFacts(name="seeing"),
    )
    for run in (blind, seeing):
        evaluate(database, run.id)
    flag = next(
        flag
        for flag in _flags(database, blind.id)
        if (flag.content.rule, flag.content.class_label) == ("F3", "b")
    )

    detail = browse_flag(database, flag.id)

    (found,) = detail.better.runs
    n_label = int(true[:, 1].sum())
    assert found.run.run_id == seeing.id
    assert found.recall is not None
    assert (found.recall.won, found.recall.lost) == (n_label, 0)
    same = (true == predicted).all(axis=1), (true == better).all(axis=1)
    assert present(found.accuracy).won == int((same[1] & ~same[0]).sum())
    assert {check.rule for check in detail.checks} == {"F2", "F3", "F4", "F10", "F12"}


def test_a_version_of_sets_is_undone_unless_its_samples_were_changed_again(
    database: Database,
) -> None:
    names = [f"l{n}" for n in range(8)]
    sets = np.eye(8, dtype=bool)
    log_sets(database, y_true=sets, y_pred=~sets, labels=names, sample_ids=None)
    where: dict[str, Any] = {"project": "default", "dataset": "photos", "author": "ana"}
    revise_truth(database, **where, labels={0: ["l1"], 1: ["l0", "l2"]}, reason="look")
    revise_truth(database, **where, labels={7: None, 0: ["l3", "l4", "l5"]}, reason="gone")

    with pytest.raises(Conflict, match=r"1 of 2 labels of version 2 were changed again\."):
        undo_version(database, **where, number=2, reason="no")
    made = undo_version(database, **where, number=3, reason="no")

    assert [(each.sample, each.after) for each in made.difference.samples()] == [
        (0, "{l1}"),
        (7, "{l7}"),
    ]

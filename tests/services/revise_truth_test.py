"""Correcting labels makes a new version, keeps the old one, and scores every run again."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from sqlalchemy import select

from offdiag.domain.runs import RunState
from offdiag.errors import Conflict, InvalidInput, LabelNote, NotFound
from offdiag.services.truth.revise import Revision, revise_truth
from offdiag.services.truth.versions import compare_truths
from offdiag.store import truths
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, WorkRow
from support.logging_runs import ACTUAL, PREDICTED, evaluate, log, upload_matrix, work_off

IDS = ["s1", "s2", "s3", "s4", "s5", "s6"]


def revise(database: Database, labels: object, **changes: Any) -> Revision:
    facts: dict[str, Any] = {
        "project": "default",
        "dataset": "holdout",
        "reason": "second look",
        "author": "ada",
    }
    return revise_truth(database, labels=labels, **(facts | changes))


def labels_of(database: Database, truth_id: int) -> list[str | None]:
    names = ("a", "b", "c", None)
    with database.read() as session:
        return [names[code] for code in truths.truth_codes(session, truth_id).tolist()]


def matrix_of(database: Database, run_id: str) -> list[list[int]]:
    counts: list[list[int]] = evaluate(database, run_id).matrix.counts.tolist()
    return counts


def test_a_revision_is_a_new_version_and_the_old_one_stays(database: Database) -> None:
    run = log(database, sample_ids=IDS)

    revision = revise(database, {"s1": "b", "s6": "a"})

    assert labels_of(database, revision.version.id) == ["b", "a", "b", "b", "c", "a"]
    assert labels_of(database, revision.parent.id) == ACTUAL
    assert revision.parent.id == run.truth_version_id
    assert (revision.version.number, revision.version.root_id) == (2, revision.parent.id)
    assert (revision.version.reason, revision.version.author) == ("second look", "ada")
    assert revision.version.class_counts == (2, 3, 1)


def test_every_run_of_the_lineage_is_scored_with_the_new_version(database: Database) -> None:
    first = log(database, sample_ids=IDS)
    second = log(database, y_true=None, y_pred=ACTUAL, sample_ids=IDS)
    work_off(database)

    revision = revise(database, {"s6": "a"})

    assert revision.n_runs == 2
    assert matrix_of(database, first.id) == [[2, 1, 0], [0, 2, 0], [0, 0, 1]]
    assert matrix_of(database, second.id) == [[2, 0, 1], [0, 2, 0], [0, 0, 1]]
    assert evaluate(database, first.id).truth_version_id == revision.version.id


def test_runs_on_other_truth_of_the_dataset_and_matrices_are_left_alone(
    database: Database,
) -> None:
    other = log(database, y_true=ACTUAL[::-1], sample_ids=IDS)
    with pytest.warns(LabelNote, match="4 of its 6 samples"):
        log(database, sample_ids=IDS)
    matrix = upload_matrix(
        database, [[2, 0, 0], [0, 2, 0], [0, 0, 2]], None, name="uploaded", dataset="holdout"
    )
    work_off(database)
    before = [evaluate(database, run.id).id for run in (other, matrix)]

    assert revise(database, {"s6": "a"}).n_runs == 1

    work_off(database)
    assert [evaluate(database, run.id).id for run in (other, matrix)] == before


def test_the_lineage_to_revise_can_be_named_by_any_of_its_versions(database: Database) -> None:
    first = log(database, sample_ids=IDS)
    with pytest.warns(LabelNote, match="4 of its 6 samples"):
        log(database, y_true=ACTUAL[::-1], sample_ids=IDS)

    revise(database, {"s1": "b"}, version=1)
    again = revise(database, {"s2": "b"}, version=1)

    assert labels_of(database, again.version.id) == ["b", "b", "b", "b", "c", "c"]
    assert again.version.root_id == first.truth_version_id
    assert [again.parent.number, again.version.number] == [3, 4]


def test_a_correction_can_be_taken_back(database: Database) -> None:
    run = log(database, sample_ids=IDS)
    original = evaluate(database, run.id)
    revise(database, {"s6": "a"})
    work_off(database)

    back = revise(database, {"s6": "c"}, reason="the first look was right")

    assert back.version.digest == original_digest(database, back.parent.root_id)
    again = evaluate(database, run.id)
    assert again.matrix.counts.tolist() == original.matrix.counts.tolist()
    assert again.truth_version_id == back.version.id
    assert again.id != original.id


def original_digest(database: Database, truth_id: int) -> str:
    with database.read() as session:
        return truths.get_truth(session, truth_id).digest


def test_runs_that_come_with_the_old_or_the_corrected_truth_join_the_lineage(
    database: Database,
) -> None:
    log(database, sample_ids=IDS)
    revision = revise(database, {"s6": "a"})

    corrected = log(database, y_true=[*ACTUAL[:5], "a"], sample_ids=IDS)
    old = log(database, y_pred=PREDICTED[::-1], sample_ids=IDS)

    assert corrected.truth_version_id == revision.version.id
    assert evaluate(database, old.id).truth_version_id == revision.version.id


def test_the_same_revision_twice_is_one_also_behind_others_with_the_same_reason(
    database: Database,
) -> None:
    log(database, sample_ids=IDS)
    first = revise(database, {"s1": "b", "s2": "b"})
    second = revise(database, {"s2": "b", "s1": "b"})
    revise(database, {"s6": "a"})
    third = revise(database, {"s1": "b", "s2": "b"})

    for again in (second, third):
        assert (again.version, again.was_there) == (first.version, True)
        assert list(again.difference.samples()) == list(first.difference.samples())
    with pytest.raises(Conflict, match="label version 3 of dataset 'holdout' has these labels"):
        revise(database, {"s3": "b"})


def test_changes_that_cannot_be_meant_are_refused(database: Database) -> None:
    log(database, sample_ids=IDS)
    cases: list[tuple[object, str]] = [
        ({}, "there are no changes"),
        ({"s7": "a"}, "'s7' is not a sample of the dataset\\."),
        (
            {"s1": "b", "x": "a", "y": "a", "z": "b"},
            "'x' is not a sample .*, and neither are 2 oth",
        ),
        ({"x": "a", "y": "a"}, "'x' is not a sample of the dataset, and neither is 1 other\\."),
        ({"s1": None, "s2": "z"}, "'z' at index 1 is not one of the 3 labels"),
        ({"s1": "z"}, "'z' at index 0 is not one of the 3 labels"),
        ((["s1", "s2", "s1"], ["a", "b", "c"]), "'s1' occurs twice, at index 0 and 2"),
        ((["s1", "s2"], ["a"]), "identifiers has 2 values, labels has 1"),
        (["s1"], "list does not say which sample"),
        (pd.DataFrame({"id": ["s1"]}), r"the table has the columns \['id'\]"),
        ({1.5: "a"}, "identifiers of type float64 are ambiguous"),
    ]
    for labels, sentence in cases:
        with pytest.raises(InvalidInput, match=sentence):
            revise(database, labels)
    for reason in ("", "  ", None, "x" * 5_001, "a\0b"):
        with pytest.raises(InvalidInput, match="reason"):
            revise(database, {"s1": "b"}, reason=reason)
    with pytest.raises(Conflict, match="label version 1 of dataset 'holdout' has these labels"):
        revise(database, {"s6": "c"})
    with pytest.raises(NotFound, match="no dataset 'elsewhere'"):
        revise(database, {"s1": "b"}, dataset="elsewhere")
    with pytest.raises(NotFound, match="no label version 7"):
        revise(database, {"s1": "b"}, version=7)


def test_a_sample_without_a_label_is_not_scored(database: Database) -> None:
    run = log(database, sample_ids=IDS)

    revision = revise(database, {"s1": None, "s6": None})

    stored = evaluate(database, run.id)
    assert revision.version.n_labelled == 4
    assert stored.matrix.counts.tolist() == [[0, 1, 0], [0, 2, 0], [0, 0, 1]]
    assert (stored.n_cases, stored.matrix.total) == (6, 4)
    assert stored.aggregate["overall_accuracy"].value == 0.75


def test_samples_without_identifiers_are_named_by_position(database: Database) -> None:
    run = log(database)

    revise(database, {5: "a"})

    assert matrix_of(database, run.id)[0] == [2, 1, 0]
    for labels, sentence in (
        ({6: "a"}, "no sample at position 6"),
        ({-1: "a"}, "no sample at position -1"),
        ({"five": "a"}, "have no identifiers"),
    ):
        with pytest.raises(InvalidInput, match=sentence):
            revise(database, labels)


def test_scores_of_samples_without_a_label_are_left_out_and_without_any_nothing_is_defined(
    database: Database,
) -> None:
    run = log(
        database,
        y_true=["n", "y", "n", "y"],
        y_pred=["n", "y", "y", "y"],
        y_score=[0.1, 0.9, 0.8, 0.7],
        positive_label="y",
        sample_ids=[1, 2, 3, 4],
    )
    labelled = evaluate(database, run.id).aggregate
    assert labelled["roc_auc"].value == 0.75
    keys = set(labelled)
    revise(database, {3: None})
    assert evaluate(database, run.id).aggregate["roc_auc"].value == 1.0

    revise(database, dict.fromkeys((1, 2, 4)))

    stored = evaluate(database, run.id)
    assert stored.matrix.total == 0
    assert set(stored.aggregate) == keys
    for key in ("overall_accuracy", "mcc", "roc_auc", "log_loss"):
        assert stored.aggregate[key].reason == "no_cases"
    assert {value.reason for value in stored.per_class["roc_auc"]} == {"no_cases"}


@pytest.mark.both_databases
def test_a_revision_and_its_work_come_together(database: Database) -> None:
    runs = [log(database, sample_ids=IDS), log(database, y_pred=ACTUAL, sample_ids=IDS)]
    work_off(database)

    revise(database, {"s6": "a"})

    with database.read() as session:
        waiting = {*session.scalars(select(WorkRow.key))}
    assert waiting == {f"evaluate:{run.id}" for run in runs}


def test_a_revision_that_was_overtaken_by_another_one_keeps_both(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    from offdiag.services.truth import revise as module

    log(database, sample_ids=IDS)
    prepare = module._prepare

    def overtaken(*given: Any) -> Any:
        monkeypatch.setattr(module, "_prepare", prepare)
        prepared = prepare(*given)
        others.append(revise(database, {"s1": "b"}))
        return prepared

    others: list[Revision] = []
    monkeypatch.setattr(module, "_prepare", overtaken)

    revision = revise(database, {"s6": "a"})

    assert revision.parent.id == others[0].version.id
    assert labels_of(database, revision.version.id) == ["b", "a", "b", "b", "c", "a"]


def test_an_evaluation_that_was_overtaken_by_a_revision_does_not_count(
    database: Database,
) -> None:
    from offdiag.services.evaluation.task import compute_evaluation
    from offdiag.store import runs

    run = log(database, sample_ids=IDS)
    write_old = compute_evaluation(database, {"run": run.id})
    revision = revise(database, {"s6": "a"})
    new = evaluate(database, run.id)

    with database.write() as session:
        write_old(session)

    after = evaluate(database, run.id)
    assert (after.id, after.truth_version_id) == (new.id, revision.version.id)
    with database.read() as session:
        assert runs.get_run(session, run.id).state is RunState.EVALUATED
        assert len(session.scalars(select(EvaluationRow.id)).all()) == 2


def test_the_difference_of_two_versions_names_samples_and_classes(database: Database) -> None:
    log(database, sample_ids=IDS)
    revise(database, {"s1": "b", "s2": "b", "s5": None})
    revise(database, {"s5": "a", "s6": None}, reason="third look")

    compared = compare_truths(database, project="default", dataset="holdout", before=1, after=3)

    found = [
        (sample.sample, sample.before, sample.after) for sample in compared.difference.samples()
    ]
    assert found == [("s1", "a", "b"), ("s2", "a", "b"), ("s5", "c", "a"), ("s6", "c", None)]
    assert [(move.before, move.after, move.n) for move in compared.difference.moves] == [
        ("a", "b", 2),
        ("c", "a", 1),
        ("c", None, 1),
    ]
    difference = compared.difference
    assert (difference.n_corrected, difference.n_newly_labelled, difference.n_unlabelled) == (
        3,
        0,
        1,
    )
    assert [sample.sample for sample in difference.samples(1, 3)] == ["s2", "s5"]


def test_versions_of_other_samples_cannot_be_compared(database: Database) -> None:
    log(database, sample_ids=IDS)
    log(database, sample_ids=[f"t{number}" for number in range(6)])

    with pytest.raises(InvalidInput, match="versions 1 and 2 do not label the same samples"):
        compare_truths(database, project="default", dataset="holdout", before=1, after=2)

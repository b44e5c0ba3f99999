"""Editions are computed from what the registry holds, frozen whole, and compared with the last."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta

import pytest
from sqlalchemy import delete, select, update

from offdiag.domain.runs import RunFacts, RunState
from offdiag.reports.changes import Origin
from offdiag.reports.headline import further_sentences
from offdiag.reports.report import mentioned_runs
from offdiag.reports.scope import Condition, RunTerm, Side, TermField
from offdiag.services.delivery.message import FolderTarget
from offdiag.services.jobs.attempts import Outcome
from offdiag.services.jobs.reconcile import submit_missing
from offdiag.services.reports.alerts import alert_condition, alert_text
from offdiag.services.reports.edition import report_now
from offdiag.services.retention.deletion import delete_run, restore_run
from offdiag.store.database import Database
from offdiag.store.models import DatasetRow, ReportEditionRow, RunRow, WorkRow
from support.logging_runs import (
    correct_labels,
    evaluate,
    log,
    run_step,
    upload_matrix,
    work_off,
)
from support.optional import present
from support.reporting import (
    LABELS,
    SCOPE,
    deliveries,
    edition,
    editions,
    files,
    log_plain_run,
    log_run,
    work_keys,
)
from support.sites import log_sites


def first_sentence(database: Database) -> str:
    return editions(database)[-1].headline or ""


def correct(database: Database, labels: dict[int, str]) -> None:
    correct_labels(
        database, labels, project="skin", dataset="derm", reason="second opinion", author="ana"
    )


def test_an_edition_holds_the_runs_in_scope_with_intervals_and_the_errors_of_the_best(
    database: Database,
) -> None:
    run_id = log_run(database, wrong=20)
    best = log_run(database, name="best", wrong=6)
    log_run(database, dataset="other")

    report = edition(database)

    runs = {run.id: run for run in report.snapshot.runs}
    assert runs.keys() == {run_id, best}
    run = runs[run_id]
    assert (run.name, run.n_cases, run.n_scored) == ("plain", 100, 100)
    accuracy = run.metrics["overall_accuracy"]
    assert accuracy.value == 0.8
    assert accuracy.ci_low is not None
    assert [each.label for each in run.classes] == ["mel", "nv"]
    assert run.classes[0].support == 50
    assert run.classes[0].values["recall"].value == 0.8
    leader = report.snapshot.leader
    assert leader is not None
    assert leader.run_id == best
    assert present(leader.matrix).counts == ((47, 3), (3, 47))
    assert [(each.actual, each.predicted, each.count) for each in leader.confusions] == [
        ("mel", "nv", 3),
        ("nv", "mel", 3),
    ]


def test_files_are_frozen_with_checksums_and_a_digest_that_the_same_figures_have_again(
    database: Database,
) -> None:
    log_plain_run(database)
    edition(database)

    (frozen,) = editions(database)
    found = files(database, frozen.id)
    assert list(found) == ["html", "markdown", "json", "csv"]
    for file in found.values():
        assert file.sha256 == hashlib.sha256(file.content).hexdigest()
    assert json.loads(found["json"].content)["data_digest"] == frozen.data_digest
    assert present(frozen.headline) in found["markdown"].content.decode()
    assert work_keys(database) == []
    edition(database)
    second = editions(database)[1]
    assert second.headline == "No change exceeds its interval."
    assert second.data_digest == frozen.data_digest


def test_corrected_labels_that_change_the_ranking_are_the_first_sentence(
    database: Database,
) -> None:
    # Both err on the first ten cases, b alone on the next two: until these are corrected.
    log_run(database, name="a", wrong=10)
    log_run(database, name="b", wrong=12)
    edition(database)

    correct(database, {10: "nv", 11: "mel"})
    report = edition(database)

    assert first_sentence(database) == (
        "Label version 2 of derm (2 labels corrected) changed the ranking by balanced accuracy "
        "(b from 2 to 1 and a from 1 to 2) and 3 other rankings; no change exceeds its interval."
    )
    assert {run.truth_number for run in report.snapshot.runs} == {2}


def test_a_run_that_was_deleted_for_an_edition_is_not_new_but_may_have_changed(
    database: Database,
) -> None:
    log_run(database, name="stays")
    deleted, other = (log_run(database, name=name, wrong=4) for name in ("deleted", "other"))
    edition(database)
    for run_id in (deleted, other):
        delete_run(database, run_id, by=None)
    assert edition(database).findings.gone == ("other", "deleted")
    restore_run(database, other)
    same = edition(database)
    correct(database, dict.fromkeys(range(1, 60, 2), "mel"))
    restore_run(database, deleted)
    work_off(database)
    new = log_run(database, name="new")

    after = edition(database)

    assert (same.findings.new_runs, same.findings.returned) == ((), (other,))
    assert not same.findings.changes.n_compared
    assert (after.findings.new_runs, after.findings.returned) == ((new,), (deleted,))
    assert {(each.run_name, each.origin) for each in after.findings.changes.beyond} == {
        (name, Origin.RESCORED) for name in ("stays", "deleted", "other")
    }
    assert "1 run is back that edition 3 had no figures of." in further_sentences(after)


def test_a_run_whose_evaluation_failed_for_an_edition_is_compared_with_the_one_before(
    database: Database,
) -> None:
    log_run(database, name="stays")
    low = log_run(database, name="low", wrong=60)
    alerts = (Condition("recall", Side.BELOW, 0.6, "nv"),)
    first = edition(database, alerts=alerts)
    correct(database, dict.fromkeys(range(60, 100, 2), "nv"))
    work_off(database)
    set_state(database, low, RunState.FAILED)
    failed = edition(database, alerts=alerts)
    set_state(database, low, RunState.EVALUATED)

    after = edition(database, alerts=alerts)

    assert [run.name for run in failed.snapshot.failed] == ["low"]
    assert (after.findings.new_runs, after.findings.returned) == ((), (low,))
    assert {(each.run_name, each.origin) for each in after.findings.changes.beyond} == {
        ("low", Origin.RESCORED)
    }
    known = {flag.key for flag in first.snapshot.flags or ()}
    assert known & {flag.key for flag in after.snapshot.flags or ()}
    assert not known & {flag.key for flag in present(after.findings.flags).opened}
    (alert,) = after.findings.alerts.raised
    assert (alert.run_id, alert.is_new) == (low, False)
    assert "1 run is back that edition 2 had no figures of." in further_sentences(after)


def set_state(database: Database, run_id: str, state: RunState) -> None:
    with database.write() as session:
        session.execute(update(RunRow).where(RunRow.id == run_id).values(state=state))


def test_an_edition_without_runs_makes_no_alert_new_and_ends_no_trend(database: Database) -> None:
    alerts = (Condition("mcc", Side.BELOW, 0.9),)
    run_id = log_plain_run(database)
    first = edition(database, alerts=alerts)
    delete_run(database, run_id, by=None)
    edition(database, alerts=alerts)
    edition(database, alerts=alerts)
    new = log_run(database, name="new")
    with_new = edition(database, alerts=alerts)
    restore_run(database, run_id)
    back = edition(database, alerts=alerts)

    assert [alert.is_new for alert in first.findings.alerts.raised] == [True]
    assert [point.run_name for point in with_new.history] == ["plain", None, None, "new"]
    assert {alert.run_id: alert.is_new for alert in back.findings.alerts.raised} == {
        run_id: False,
        new: False,
    }


def test_a_truth_revision_is_told_once(database: Database) -> None:
    log_plain_run(database)
    edition(database)
    correct(database, {0: "nv", 2: "nv"})
    correct(database, {0: "mel"})

    told = edition(database)
    again = edition(database)

    assert [
        (each.parent_number, each.number, each.n_changed) for each in told.snapshot.revisions
    ] == [
        (1, 2, 2),
        (2, 3, 1),
    ]
    assert told.snapshot.revisions[0].reason == "second opinion"
    assert not again.snapshot.revisions
    assert first_sentence(database) == "No change exceeds its interval."


def test_a_revised_set_of_labels_is_one_however_many_labels_it_changes(
    database: Database,
) -> None:
    labels = [f"label {code:02}" for code in range(17)]
    log(
        database,
        y_true=[labels[:1], labels[:1], labels],
        y_pred=[labels[:1], labels[:2], labels],
        labels=labels,
        dataset="derm",
        facts=RunFacts(name="sets", project="skin"),
    )
    edition(database)
    correct_labels(database, {0: labels, 1: labels[:2]}, project="skin", dataset="derm")

    told = edition(database)

    assert [each.n_changed for each in told.snapshot.revisions] == [2]
    assert first_sentence(database).startswith("Label version 2 of derm (2 label sets corrected)")


def test_sums_of_weights_are_not_rounded(database: Database) -> None:
    log(
        database,
        y_true=["mel", "mel", "nv"],
        y_pred=["mel", "nv", "nv"],
        sample_weight=[0.125, 0.25, 2.0],
        labels=["mel", "nv"],
        dataset="derm",
        facts=RunFacts(name="weighted", project="skin"),
    )

    (run,) = edition(database).snapshot.runs

    assert [each.support for each in run.classes] == [0.375, 2]
    text = files(database, editions(database)[0].id)["markdown"].content.decode()
    assert "| mel | weight 0.375 |" in text
    assert "| nv | weight 2 |" in text


def test_corrections_of_a_dataset_that_was_not_reported_before_are_not_told(
    database: Database,
) -> None:
    log_plain_run(database)
    log_run(database, dataset="moles")
    correct(database, {0: "nv", 2: "nv"})
    edition(database, dataset="moles")

    moved = edition(database)

    assert not moved.snapshot.revisions
    assert first_sentence(database).startswith("The runs are scored on other samples")


def test_terms_narrow_the_runs(database: Database) -> None:
    log_run(database, name="vit-a", model="vit", tags={"stage": "final"})
    log_run(database, name="vit-b", model="vit", tags={"stage": "draft"})
    log_run(database, name="cnn", model="cnn", tags={"stage": "final"})

    report = edition(
        database,
        terms=(
            RunTerm(TermField.MODEL, "vit"),
            RunTerm(TermField.TAG, "stage", "final"),
            RunTerm(TermField.NAME, "vit"),
        ),
    )

    assert [run.name for run in report.snapshot.runs] == ["vit-a"]
    assert not edition(database, terms=(RunTerm(TermField.NAME, "nothing"),)).snapshot.runs


def test_a_matrix_of_labels_that_were_corrected_since_is_counted_and_not_ranked(
    database: Database,
) -> None:
    log_run(database, name="a", wrong=10)
    matrix = upload_matrix(
        database, [[48, 2], [2, 48]], LABELS, dataset="derm", project="skin", name="uploaded"
    )
    work_off(database)
    first = edition(database)
    correct(database, dict.fromkeys(range(60, 70), "nv"))

    report = edition(database)

    assert [run.name for run in first.ranking] == ["uploaded", "a"]
    assert [(run.name, run.truth_number) for run in report.ranking] == [("a", 2)]
    assert (report.snapshot.n_elsewhere, report.findings.rank_changes) == (1, ())
    later = upload_matrix(
        database, [[40, 5], [5, 50]], LABELS, dataset="derm", project="skin", name="later"
    )
    work_off(database)
    assert {run.id for run in edition(database).snapshot.runs} == {later.id, report.ranking[0].id}
    assert matrix.id not in mentioned_runs(report.snapshot)


def test_an_edition_waits_for_runs_that_are_being_scored(database: Database) -> None:
    log_plain_run(database)
    report_now(database, name="weekly", scope=SCOPE)
    late = log_run(database, name="late", evaluated=False)

    outcome = run_step(database)
    (waiting,) = editions(database)
    evaluate(database, late)
    make_due(database)
    work_off(database)

    assert outcome is Outcome.DEFERRED
    assert waiting.state.value == "pending"
    (computed,) = editions(database)
    names = json.loads(files(database, computed.id)["json"].content)["snapshot"]["runs"]
    assert len(names) == 2


def test_waiting_is_no_attempt_and_ends_after_ten_minutes(database: Database) -> None:
    log_plain_run(database)
    report_now(database, name="weekly", scope=SCOPE)
    log_run(database, name="late", evaluated=False)
    forget_evaluations(database)
    for _ in range(8):
        assert run_step(database) is Outcome.DEFERRED
        make_due(database)
    with database.write() as session:
        ago = database.clock() - timedelta(minutes=11)
        session.execute(update(ReportEditionRow).values(created_at=ago))

    outcome = run_step(database)

    assert outcome is Outcome.DONE
    (computed,) = editions(database)
    snapshot = json.loads(files(database, computed.id)["json"].content)["snapshot"]
    assert [run["name"] for run in snapshot["waiting"]] == ["late"]


def test_an_edition_waits_for_the_one_before_it(database: Database) -> None:
    log_plain_run(database)
    report_now(database, name="weekly", scope=SCOPE)
    report_now(database, name="weekly", scope=SCOPE)
    with database.write() as session:
        oldest = select(WorkRow.id).order_by(WorkRow.id).limit(1).scalar_subquery()
        session.execute(update(WorkRow).where(WorkRow.id == oldest).values(due=WorkRow.due + 99))

    assert run_step(database) is Outcome.DEFERRED


def test_an_edition_that_cannot_be_computed_fails_with_its_reason(database: Database) -> None:
    log_plain_run(database)
    report_now(database, name="weekly", scope=SCOPE, delivery=[FolderTarget("weekly")])
    with database.write() as session:
        session.execute(update(DatasetRow).values(name="renamed"))

    work_off(database)

    (failed,) = editions(database)
    assert failed.state.value == "failed"
    assert "project 'skin' has no dataset 'derm'" in (failed.error or "")
    assert not deliveries(database, failed.id)


def test_dropping_the_whole_queue_loses_only_time(database: Database) -> None:
    log_plain_run(database)
    folders = [FolderTarget("a"), FolderTarget("b")]
    report_now(database, name="weekly", scope=SCOPE, delivery=folders)
    with database.write() as session:
        session.execute(delete(WorkRow))

    first = submit_missing(database)
    run_step(database)
    (computed,) = editions(database)
    asked = deliveries(database, computed.id)
    assert [each.target["folder"] for each in asked] == ["a", "b"]
    assert work_keys(database) == [f"deliver:{each.id}" for each in asked]
    with database.write() as session:
        session.execute(delete(WorkRow))
    second = submit_missing(database)

    assert (first.editions, first.deliveries) == (1, 0)
    assert (second.editions, second.deliveries) == (0, 2)
    assert (submit_missing(database).editions, submit_missing(database).deliveries) == (0, 0)


def make_due(database: Database) -> None:
    with database.write() as session:
        session.execute(update(WorkRow).where(WorkRow.state == "todo").values(due=0.0))


def forget_evaluations(database: Database) -> None:
    with database.write() as session:
        session.execute(delete(WorkRow).where(WorkRow.task == "evaluate"))


def test_slices_of_known_cases_are_counted_and_compared_with_the_same_slice(
    database: Database,
) -> None:
    actual = ["mel", "nv"] * 50
    log(
        database,
        y_true=actual,
        y_pred=["nv", "mel"] * 10 + actual[20:],
        labels=["mel", "nv"],
        dataset="derm",
        slices={"country": ["DE"] * 40 + ["SI"] * 60},
        facts=RunFacts(name="plain", project="skin"),
    )
    upload_matrix(
        database,
        [[50, 0], [0, 50]],
        ["mel", "nv"],
        name="published",
        dataset="derm",
        project="skin",
    )
    work_off(database)

    first = edition(database, slices=("country = DE",))
    second = edition(database, slices=("country=DE",))

    (part,) = first.snapshot.slices
    assert len(first.snapshot.runs) == 2
    assert (part.name, part.slice, part.n_cases) == ("plain", "country=DE", 40)
    assert part.metrics["overall_accuracy"].value == 0.5
    assert second.findings.changes.n_compared == 0
    assert (
        "| country=DE | plain | 40 |"
        in files(database, editions(database)[0].id)["markdown"].content.decode()
    )


def test_alerts_on_slices_look_at_the_slice_and_at_all_groups(database: Database) -> None:
    log_sites(database, dataset="derm", facts=RunFacts(name="sites", project="skin"))
    log_sites(
        database,
        dataset="derm",
        facts=RunFacts(name="weighted", project="skin"),
        sample_weight=[0.5] * 145,
    )
    upload_matrix(
        database, [[9, 1], [1, 9]], ["ill", "well"], name="counts", dataset="derm", project="skin"
    )
    work_off(database)
    texts = (
        "recall[ill]@site=z<0.9",
        "recall[ill]@site=x<0.5",
        "worst(recall[ill], by=site)<0.9",
        "gap(recall[ill], by=site)>0.1",
        "recall[ill]@site=tiny<0.9",
        "recall[ill]@site=nowhere<0.9",
    )

    found = edition(database, alerts=tuple(map(alert_condition, texts)))

    of_sites = [each for each in found.findings.alerts.raised if each.run_name == "sites"]
    assert [alert_text(each.condition) for each in of_sites] == [texts[0], texts[2], texts[3]]
    assert [each.value.value for each in of_sites] == [0.4, 0.4, pytest.approx(0.5)]
    reasons = {
        alert_text(each.condition): each.reason
        for each in found.findings.alerts.unjudged
        if each.run_name == "sites"
    }
    assert reasons == {
        texts[4]: "it is undefined (too few examples)",
        texts[5]: "it is undefined (no sample has site 'nowhere')",
    }
    of_weights = {
        alert_text(each.condition): each.reason
        for each in found.findings.alerts.unjudged
        if each.run_name == "weighted"
    }
    assert all("have weights" in of_weights[text] for text in (texts[2], texts[3]))
    assert (
        "Worst recall of ill by site below 0.900"
        in files(database, editions(database)[-1].id)["markdown"].content.decode()
    )

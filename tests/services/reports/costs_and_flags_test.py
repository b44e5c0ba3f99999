"""Reports tell what errors cost by a stored cost matrix, and which flags came and went."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from offdiag.domain.runs import RunFacts
from offdiag.errors import InvalidInput
from offdiag.flags.lifecycle import Action
from offdiag.reports.document import provenance, read_report, report_document
from offdiag.reports.headline import further_sentences
from offdiag.reports.scope import METRICS_OF_SETS, Condition, Side
from offdiag.reports.tables import runs_table
from offdiag.services.champions.promotions import approve
from offdiag.services.cost_matrices import add_costs
from offdiag.services.flags.triage import decide_flags
from offdiag.services.schedules.edit import add_schedule
from offdiag.store.database import Database
from offdiag.store.flags import flags_of_run
from support.logging_runs import correct_labels, log, work_off
from support.optional import present
from support.reporting import SCOPE, edition, editions, files, log_plain_run, log_run
from support.set_runs import log_sets

COSTED = replace(SCOPE, cost_matrix="visits")


def store_costs(database: Database, missed: float, **facts: Any) -> None:
    """Costs of the two classes: a false alarm costs 1, a missed melanoma what is given."""
    weights = {"mel": {"mel": 0.0, "nv": missed}, "nv": {"mel": 1.0, "nv": 0.0}}
    named = {"dataset": "derm", "name": "visits", "currency": "EUR"} | facts
    add_costs(database, project="skin", weights=weights, **named)


def log_blind(database: Database) -> str:
    """A run that finds 20 of 60 melanomas and nothing else wrong."""
    found = log(
        database,
        y_true=["mel"] * 60 + ["nv"] * 140,
        y_pred=["mel"] * 20 + ["nv"] * 180,
        labels=["mel", "nv"],
        dataset="derm",
        facts=RunFacts(name="blind", project="skin"),
    )
    work_off(database)
    return found.id


def test_the_newest_version_counts_unless_one_is_named_beside_the_best_constant_answer(
    database: Database,
) -> None:
    log_run(database, wrong=20)
    store_costs(database, 10.0)
    store_costs(database, 20.0)

    newest = edition(database, cost_matrix="visits").snapshot
    first = edition(database, cost_matrix="visits@1").snapshot

    assert (present(newest.costs).version, newest.runs[0].metrics["mean_cost"].value) == (2, 2.1)
    costs = first.costs
    assert costs is not None
    cost = first.runs[0].metrics["mean_cost"]
    # Ten melanomas are missed and ten moles are taken for one, of a hundred.
    assert (costs.version, cost.value) == (1, (10 * 10 + 10 * 1) / 100)
    assert present(cost.ci_low) < 1.1 < present(cost.ci_high)
    assert (costs.text, costs.currency) == ("visits@1", "EUR")
    assert costs.constant is not None
    assert (costs.constant.label, costs.constant.mean_cost) == ("mel", 0.5)


def test_runs_that_may_be_the_best_are_told_from_those_that_are_worse_and_the_choice_corrected(
    database: Database,
) -> None:
    good, near = (
        log_run(database, name=name, wrong=wrong) for name, wrong in (("good", 10), ("near", 12))
    )
    # Of two none was chosen for being highest.
    assert edition(database).snapshot.best_of_many is None
    bad = log_run(database, name="bad", wrong=40)

    report = edition(database)

    found = present(report.snapshot.best_set)
    assert (set(found.may_be_best), found.worse) == ({good, near}, (bad,))
    assert (
        "1 run is significantly worse than the best, which may be either of good and near (3 runs "
        "compared together, 95 %)."
    ) in further_sentences(report)
    chosen = report.snapshot.best_of_many
    assert chosen is not None
    assert (chosen.run_id, chosen.n_runs) == (good, 3)
    assert chosen.corrected.value is not None
    assert 0.85 < chosen.corrected.value <= 0.9
    assert (
        "Chosen for being the highest of 3, it is expected to reach about "
        f"{chosen.corrected.value:.3f} on new examples."
    ) in further_sentences(report)


def test_a_weighted_run_leads_no_report_and_hides_no_test(database: Database) -> None:
    good, bad = (
        log_run(database, name=name, wrong=wrong) for name, wrong in (("good", 10), ("bad", 40))
    )
    log_run(database, name="third", wrong=11)
    alone = edition(database)
    log(
        database,
        y_true=["mel", "nv"] * 50,
        y_pred=["mel", "nv"] * 50,
        sample_weight=[1.0, 2.0] * 50,
        labels=["mel", "nv"],
        dataset="derm",
        facts=RunFacts(name="survey", project="skin"),
    )

    report = edition(database)

    assert [run.name for run in report.ranking] == ["good", "third", "bad", "survey"]
    leader = present(report.snapshot.leader)
    assert (leader.run_id, [each.count for each in leader.confusions]) == (good, [5, 5])
    # What is said of the runs without weights is what was said before there was one with some.
    found = present(report.snapshot.best_set)
    assert found.worse == (bad,)
    assert found == alone.snapshot.best_set
    assert report.snapshot.best_of_many == alone.snapshot.best_of_many is not None
    assert report.history[-1].run_name == "good"
    text = files(database, editions(database)[-1].id)["markdown"].content.decode()
    assert "survey (weighted)" in text
    assert "Confusion matrix of good" in text


def test_weighted_runs_of_one_name_are_compared_where_their_weights_are_equal(
    database: Database,
) -> None:
    def logged(n_wrong: int, weights: list[float], *, order: int = 1) -> str:
        samples = [
            (f"s{at}", actual, "nv" if at < n_wrong else actual, weight)
            for at, (actual, weight) in enumerate(
                zip(["mel"] * 100 + ["nv"] * 100, weights, strict=True)
            )
        ][::order]
        ids, y_true, y_pred, sample_weight = map(list, zip(*samples, strict=True))
        found = log(
            database,
            y_true=y_true,
            y_pred=y_pred,
            sample_ids=ids,
            sample_weight=sample_weight,
            labels=["mel", "nv"],
            dataset="derm",
            facts=RunFacts(name="survey", project="skin"),
        )
        work_off(database)
        return found.id

    def changed() -> list[tuple[str, str]]:
        report = edition(database)
        assert read_report(report_document(report)) == report
        return [
            (each.run_id, each.metric)
            for each in report.findings.changes.beyond
            if each.class_label is None
        ]

    weights = [1.0, 2.0] * 100
    logged(80, weights)
    assert changed() == []
    better = logged(10, weights, order=-1)
    assert (better, "mcc") in changed()
    logged(90, weights[::-1])
    assert changed() == []


def test_multi_label_runs_that_may_be_the_best_are_those_of_the_comparison(
    database: Database,
) -> None:
    rng = np.random.default_rng(3)
    actual = rng.random((300, 3)) < 0.4
    ids = {}
    for name, wrong in (("good", 0.1), ("near", 0.1), ("bad", 0.4)):
        predicted = actual ^ (rng.random(actual.shape) < wrong)
        facts = RunFacts(name=name, project="skin")
        given = {"y_true": actual, "y_pred": predicted, "labels": ["sea", "sky", "sand"]}
        ids[name] = log_sets(database, dataset="photos", facts=facts, **given).id
    work_off(database)

    report = edition(database, dataset="photos")

    assert report.scope.metrics == METRICS_OF_SETS
    found = present(report.snapshot.best_set)
    assert (set(found.may_be_best), found.worse) == ({ids["good"], ids["near"]}, (ids["bad"],))
    assert any("significantly worse" in sentence for sentence in further_sentences(report))


def test_a_run_without_labels_has_no_matrix_and_no_recall(database: Database) -> None:
    log(
        database,
        y_true=None,
        y_pred=["mel", "nv"],
        labels=["mel", "nv"],
        sample_ids=[1, 2],
        dataset="derm",
        facts=RunFacts(name="blind", project="skin"),
    )
    work_off(database)

    report = edition(database)

    assert report.snapshot.leader is None
    html = files(database, editions(database)[-1].id)["html"].content.decode()
    assert "Confusion matrix" not in html
    assert "Recall of" not in html


def test_the_champion_is_marked_among_the_runs_and_named_below(database: Database) -> None:
    good, bad = log_run(database, name="good", wrong=10), log_run(database, name="bad", wrong=40)
    assert edition(database).snapshot.champion is None
    approve(database, bad, reason="the only one in use", author=None)

    report = edition(database)

    table = present(runs_table(report))
    marks = {row[2]: row[1] for row in table.rows}
    assert (marks[good], marks[bad]) == ("good", "bad (champion)")
    assert ("champion", f"bad {bad}") in provenance(report)
    assert read_report(json.loads(json.dumps(report_document(report)))) == report


def test_costs_tell_which_runs_may_be_the_best_where_they_rank(database: Database) -> None:
    good, bad = (
        log_run(database, name=name, wrong=wrong) for name, wrong in (("good", 10), ("bad", 40))
    )
    store_costs(database, missed=10.0)

    found = edition(
        database, cost_matrix="visits", metrics=("mean_cost", "balanced_accuracy")
    ).snapshot.best_set

    assert found is not None
    assert (found.may_be_best, found.worse) == ((good,), (bad,))


def test_costs_decide_who_is_best_where_they_rank(database: Database) -> None:
    log_run(database, name="cautious", wrong=0)
    cheap = log_run(database, name="even", wrong=30)
    blind = log(
        database,
        y_true=["mel", "nv"] * 50,
        y_pred=["nv"] * 20 + ["mel", "nv"] * 40,
        labels=["mel", "nv"],
        dataset="derm",
        facts=RunFacts(name="blind", project="skin"),
    ).id
    work_off(database)
    store_costs(database, 0.1)

    by_cost = edition(
        database, cost_matrix="visits", metrics=("mean_cost", "overall_accuracy"), terms=()
    )

    assert [run.name for run in by_cost.ranking] == ["cautious", "blind", "even"]
    assert present(by_cost.snapshot.leader).run_id == by_cost.ranking[0].id
    assert {run.id for run in by_cost.ranking} >= {cheap, blind}


def test_slices_cost_what_their_own_errors_cost(database: Database) -> None:
    log(
        database,
        y_true=["mel", "nv"] * 20,
        y_pred=["nv"] + ["mel", "nv"] * 19 + ["nv"],
        labels=["mel", "nv"],
        dataset="derm",
        slices={"site": ["a"] * 10 + ["b"] * 30},
        facts=RunFacts(name="sited", project="skin"),
    )
    work_off(database)
    store_costs(database, 10.0)

    report = edition(
        database,
        cost_matrix="visits",
        slices=("site=b",),
        alerts=(Condition("mean_cost", Side.ABOVE, 1.0, slice="site=b"),),
    )

    (part,) = report.snapshot.slices
    # All but one of the thirty cases are wrong, fifteen of them melanomas.
    assert part.metrics["mean_cost"].value == pytest.approx((15 * 10 + 14 * 1) / 30)
    (alert,) = report.findings.alerts.raised
    assert alert.value == part.metrics["mean_cost"]


def test_an_alert_is_raised_where_the_whole_interval_lies_above_also_of_what_is_not_shown(
    database: Database,
) -> None:
    log_run(database, wrong=20)
    store_costs(database, 10.0)

    report = edition(
        database,
        cost_matrix="visits",
        alerts=(
            Condition("mean_cost", Side.ABOVE, 0.2),
            Condition("mean_cost", Side.ABOVE, 1.0),
            Condition("cost_ratio_to_best_trivial", Side.ABOVE, 1.0),
            Condition("cohen_kappa", Side.BELOW, 0.9),
        ),
    )

    raised = [
        (each.condition.metric, each.condition.limit) for each in report.findings.alerts.raised
    ]
    assert raised == [
        ("mean_cost", 0.2),
        ("cost_ratio_to_best_trivial", 1.0),
        ("cohen_kappa", 0.9),
    ]
    assert "cohen_kappa" not in report.scope.metrics
    assert report.findings.alerts.unjudged == ()


def test_costs_of_other_classes_are_refused(database: Database) -> None:
    log_plain_run(database)
    log(
        database,
        y_true=["cat", "dog"],
        y_pred=["cat", "dog"],
        labels=["cat", "dog"],
        dataset="pets",
        facts=RunFacts(name="pets", project="skin"),
    )
    add_costs(
        database,
        project="skin",
        dataset="pets",
        name="visits",
        weights={"cat": {"cat": 0.0, "dog": 1.0}, "dog": {"cat": 1.0, "dog": 0.0}},
    )

    with pytest.raises(InvalidInput, match="is for the classes") as caught:
        add_schedule(database, name="weekly", cron="0 6 * * 1", zone="UTC", scope=COSTED)

    assert caught.value.field == "cost_matrix"


def test_flags_of_a_new_run_are_raised_since_the_edition_before(database: Database) -> None:
    log_run(database, wrong=4)
    edition(database)
    blind = log_blind(database)

    report = edition(database)

    assert report.findings.flags is None  # The newer run brought its own ground truth.
    assert {flag.run_id for flag in report.snapshot.flags or ()} == {blind}


def test_a_flag_is_closed_by_corrected_labels_and_the_report_says_so(database: Database) -> None:
    blind = log_blind(database)
    first = edition(database)
    correct_labels(database, dict.fromkeys(range(20, 60), "nv"), project="skin", dataset="derm")
    work_off(database)

    second = edition(database)

    assert ("F4", "mel") in {(flag.rule, flag.class_label) for flag in first.snapshot.flags or ()}
    closed = {(flag.rule, flag.class_label) for flag in present(second.findings.flags).closed}
    assert ("F4", "mel") in closed
    assert {flag.run_id for flag in present(second.findings.flags).closed} == {blind}
    markdown = files(database, editions(database)[-1].id)["markdown"].content.decode()
    assert "## Flags raised and closed since edition 1" in markdown


def test_a_flag_whose_snooze_ended_is_open_again_and_not_raised(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    blind = log_blind(database)
    with database.read() as session:
        ids = [flag.id for flag in flags_of_run(session, blind)]
    until = database.clock() + timedelta(days=1)
    decide_flags(database, ids, Action.SNOOZE, until=until, author="ana")
    edition(database)
    monkeypatch.setattr(database, "clock", lambda: until + timedelta(days=1))

    report = edition(database)

    assert present(report.findings.flags).opened == ()
    assert {each.why for each in present(report.findings.flags).reopened} == {"snooze ended"}
    markdown = files(database, editions(database)[-1].id)["markdown"].content.decode()
    assert "| snooze ended |" in markdown
    assert "| raised |" not in markdown

"""Flags and the badge of an evaluation, stored or not."""

from __future__ import annotations

import json

import offdiag
from offdiag.flags.lifecycle import Action
from offdiag.flags.verdict import Severity
from offdiag.services.flags.page import raised_flags
from offdiag.services.flags.triage import decide_flags
from offdiag.store.schema import open_database

MAJORITY = [[95, 0], [5, 0]]
IN_SIGHT = [[450, 50], [12, 18]]
GOOD = [[90, 5], [1, 40]]


def test_a_matrix_is_judged_without_any_database() -> None:
    bad = offdiag.evaluate_matrix(MAJORITY, orientation="actual_rows")
    good = offdiag.evaluate_matrix(GOOD, orientation="actual_rows")

    assert (bad.badge, good.badge) == (True, False)
    assert "F1" in {flag.rule for flag in bad.flags}
    ranks = [Severity(flag.severity).rank for flag in bad.flags]
    assert ranks == sorted(ranks, reverse=True)


def test_a_flag_says_everything_in_plain_values() -> None:
    flags = offdiag.evaluate_matrix([[950, 0], [50, 0]], orientation="actual_rows").flags
    flag = next(each for each in flags if each.rule == "F3")

    assert isinstance(flag, offdiag.Flag)
    assert (flag.severity, flag.class_label, flag.state) == ("critical", "1", "open")
    assert json.loads(json.dumps(flag.to_dict()))["evidence"] == dict(flag.evidence)


def test_the_list_of_flags_belongs_to_whoever_asked() -> None:
    evaluation = offdiag.evaluate_matrix(MAJORITY, orientation="actual_rows")

    evaluation.flags.clear()

    assert evaluation.flags


def test_one_class_alone_is_not_judged() -> None:
    evaluation = offdiag.evaluate_matrix([[9, 1], [0, 0]], orientation="actual_rows")

    assert (evaluation.flags, evaluation.badge) == ([], False)


def test_a_stored_run_tells_what_was_made_of_its_flags(registry_url: str) -> None:
    url = registry_url
    run = offdiag.log_matrix(
        MAJORITY, orientation="actual_rows", labels=["0", "1"], name="n", dataset="d", url=url
    )
    computed = offdiag.evaluate_matrix(MAJORITY, orientation="actual_rows", labels=["0", "1"])

    stored = run.evaluation()
    assert {(f.rule, f.class_label, f.message) for f in stored.flags} == {
        (f.rule, f.class_label, f.message) for f in computed.flags
    }
    assert stored.badge

    database = open_database(url)
    flag = raised_flags(database, run.id)[0]
    decide_flags(database, [flag.id], Action.DISMISS, reason="known", author=None)
    database.close()
    states = {(f.rule, f.class_label): f.state for f in run.evaluation().flags}
    assert states[flag.content.rule, flag.content.class_label] == "dismissed"


def test_a_gap_in_sight_is_not_the_badge() -> None:
    evaluation = offdiag.evaluate_matrix(IN_SIGHT, orientation="actual_rows")

    assert (evaluation.badge, evaluation.may_hide) == (False, True)
    (flag,) = [each for each in evaluation.flags if each.rule == "F4"]
    assert (flag.certainty, flag.severity) == ("in_sight", "medium")
    assert flag.to_dict()["certainty"] == "in_sight"


def test_a_stored_gap_in_sight_is_read_back(registry_url: str) -> None:
    url = registry_url
    run = offdiag.log_matrix(
        IN_SIGHT, labels=["nv", "mel"], orientation="actual_rows", name="n", dataset="few", url=url
    )

    stored = run.evaluation()
    (found,) = offdiag.search_runs(url=url).to_dict("records")

    assert (stored.badge, stored.may_hide) == (False, True)
    assert (found["badge"], found["may_hide"]) == (False, True)
    assert len(offdiag.search_runs(filter="attributes.may_hide = true", url=url)) == 1

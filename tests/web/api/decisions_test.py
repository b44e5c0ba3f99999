"""Cases decided anew, and classes grouped, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from offdiag.domain.access import Grant, Role
from offdiag.store.database import Database
from offdiag_web.app.dispatch import PREFIX
from support.access import add_person, bearer, guarded, token_of
from support.api import get, refusal, send
from support.dashboard import LESION_COUNTS, LESIONS, log_counts
from support.filled_once import filled_once
from support.logging_runs import log, log_ill, work_off
from support.pages import PageClient, client_for
from support.registries import dashboard

P_ILL = [0.9, 0.3, 0.2, 0.05, 0.6, 0.1] * 5
ACTUAL = ["ill", "ill", "well", "well", "well", "ill"] * 5
VISITS = {"well": {"well": 0.0, "ill": 1.0}, "ill": {"well": 10.0, "ill": 0.0}}
GROUPS = {"skin": ["df", "vasc"], "malignant": {"deep": ["mel"], "flat": ["bcc", "akiec"]}}


@filled_once
def log_clinic(database: Database) -> str:
    run = log_ill(database, y_true=ACTUAL, p=P_ILL)
    work_off(database)
    return run.id


@pytest.fixture
def clinic(database: Database, client: PageClient) -> tuple[PageClient, str]:
    """A client, and an evaluated run with the scores of two classes."""
    return client, log_clinic(database)


def test_rows_are_matched_by_label_and_the_same_rule_is_one_run(
    clinic: tuple[PageClient, str],
) -> None:
    client, run_id = clinic
    body = {
        "weights": [[0.0, 10.0], [1.0, 0.0]],
        "labels": ["ill", "well"],
        "threshold": "cheapest",
        "save_as": "by cost",
        "author": "ana",
    }

    tried = {name: value for name, value in body.items() if name != "save_as"}
    status, found = send(client, f"/runs/{run_id}/decisions", tried)
    assert (status, found["run"]) == (200, None)
    assert len(get(client, "/runs")["runs"]) == 1

    status, first = send(client, f"/runs/{run_id}/decisions", body)
    again = send(client, f"/runs/{run_id}/decisions", body)

    assert status == 201
    assert again == (201, first)
    kept = get(client, f"/runs/{first['run']}")
    assert kept["derived_from"]["run"] == run_id
    assert (kept["name"], kept["author"]) == ("by cost", "ana")


MEANINGLESS_RULES: list[tuple[dict[str, Any], int, str | None]] = [
    ({}, 409, "weights"),
    ({"weights": "nothing"}, 404, None),
    ({"weights": [[0.0, 1.0], [1.0, 0.0]]}, 422, "labels"),
    ({"weights": {"well": {"well": 0.0}}}, 422, "weights"),
    ({"weights": VISITS, "threshold": "dearest"}, 422, None),
    ({"weights": VISITS, "threshold": "0.5"}, 422, None),
    ({"weights": VISITS, "prevalence": {"well": 0.5}}, 422, "prevalence"),
    ({"weights": VISITS, "save_as": " "}, 422, "name"),
    ({"weights": VISITS, "rule": "dice"}, 422, "rule"),
]


def test_refuses_rules_that_mean_nothing(clinic: tuple[PageClient, str]) -> None:
    client, run_id = clinic

    for body, status, field in MEANINGLESS_RULES:
        answered, error = send(client, f"/runs/{run_id}/decisions", body)

        assert answered == status, (body, error)
        assert field is None or error["field"] == field, body
    assert len(get(client, "/runs")["runs"]) == 1


def test_whoever_may_log_may_decide(database: Database) -> None:
    run = log(database, y_true=["a", "b"], y_pred=["a", "b"], labels=["a", "b"])
    add_person(database, "ana", Grant(Role.ADMIN))
    client = client_for(guarded(database))

    found = [
        client.post(
            f"{PREFIX}/runs/{run.id}/decisions",
            json={"weights": {"a": {"a": 0.0, "b": 1.0}, "b": {"a": 1.0, "b": 0.0}}},
            headers=bearer(token_of(database, "ana", role)),
        ).status_code
        for role in (Role.VIEWER, Role.LOGGER)
    ]

    # The run has not been evaluated: whoever is let in is told so.
    assert found == [403, 404]


def test_a_threshold_on_the_class_without_scores_is_one_on_its_probability(
    clinic: tuple[PageClient, str],
) -> None:
    client, run_id = clinic
    body = {"runs": [run_id], "positive": "well", "threshold": 0.65}

    (found,) = send(client, "/whatif", body)[1]["runs"]

    counts = {
        (actual, is_well): sum(
            (1 - p >= 0.65) is is_well
            for p, each in zip(P_ILL, ACTUAL, strict=True)
            if each == actual
        )
        for actual in ("ill", "well")
        for is_well in (False, True)
    }
    assert found["labels"] == ["ill", "well"]
    assert found["matrix"] == [
        [counts[actual, False], counts[actual, True]] for actual in ("ill", "well")
    ]
    # The lowest probability that is reported: no other threshold was kept in between.
    assert found["threshold"] == pytest.approx(0.7)
    for threshold, of_ill, kept in ((0.0, 15, 0.1), (1.0, 0, None)):
        (found,) = send(client, "/whatif", body | {"threshold": threshold})[1]["runs"]
        assert found["matrix"][0] == [15 - of_ill, of_ill]
        assert found["threshold"] == (None if kept is None else pytest.approx(kept))


def test_scores_that_are_no_probabilities_have_thresholds_of_their_own_class_alone(
    database: Database, client: PageClient
) -> None:
    run = log_ill(database, y_true=ACTUAL, y_pred=ACTUAL, p=[10 * p for p in P_ILL])
    work_off(database)
    body = {"runs": [run.id], "threshold": 2.5}

    status, told = send(client, "/whatif", body | {"positive": "well"})

    assert (status, told["field"]) == (422, "positive")
    assert "'ill'" in told["message"]
    assert send(client, "/whatif", body | {"positive": "ill"})[0] == 200


def test_thresholds_of_a_class_without_examples_are_those_that_were_kept(
    database: Database, client: PageClient
) -> None:
    rare = [step / 300 for step in range(150)]
    run = log(
        database,
        y_true=["a", "b"] * 75,
        y_pred=["a"] * 150,
        y_score=[[0.9 - each, 0.1, each] for each in rare],
        labels=["a", "b", "rare"],
        dataset="letters",
    )
    work_off(database)
    body = {"runs": [run.id], "positive": "rare"}

    status, told = send(client, "/whatif", body | {"threshold": 0.22})

    assert (status, told["field"]) == (422, "threshold")
    assert "has no example of 'rare'" in told["message"]
    assert "0.2 or 0.25" in told["hint"]
    for threshold in (0.2, 0.25, -1.0, 0.8):
        (found,) = send(client, "/whatif", body | {"threshold": threshold})[1]["runs"]
        n_reported = sum(each >= threshold for each in rare)
        assert found["matrix"] == [[150 - n_reported, n_reported], [0, 0]]


def test_groups_are_set_seen_through_and_taken_away(database: Database) -> None:
    run_id = log_counts(database, LESION_COUNTS, LESIONS, name="ce", dataset="derm-7")
    client = client_for(dashboard(database))
    path = "/datasets/derm-7/hierarchy"

    first, again = (send(client, path, {"hierarchy": GROUPS}, method="PUT") for _ in range(2))
    every = get(client, f"/runs/{run_id}/evaluation", collapse="*")
    some = get(client, f"/runs/{run_id}/evaluation", collapse=["skin", "flat"])

    assert first == again
    assert (first[0], first[1]["groups"]) == (200, GROUPS)
    assert list(get(client, "/datasets/derm-7")["groups"]) == list(GROUPS)
    assert set(every["labels"]["names"]) == {*GROUPS, "nv", "bkl"}
    assert every["collapse"]["groups"] == GROUPS
    assert every["collapse"]["classes"]["names"] == list(LESIONS)
    assert sum(map(sum, every["matrix"])) == every["n_cases"] == sum(map(sum, LESION_COUNTS))
    assert every["aggregate"]["overall_accuracy"]["ci_low"] is not None
    assert len(some["labels"]["names"]) == 5
    status, error = refusal(client, f"/runs/{run_id}/evaluation", collapse=["skin", "plants"])
    assert (status, error["field"]) == (422, "collapse")
    assert send(client, path, {"hierarchy": None}, method="PUT")[1]["groups"] is None
    assert refusal(client, f"/runs/{run_id}/evaluation", collapse="*")[0] == 422
    assert get(client, f"/runs/{run_id}/evaluation")["collapse"] is None


def test_refuses_groups_that_mean_nothing(lesions_database: Database) -> None:
    client = client_for(dashboard(lesions_database))
    wrong: list[tuple[str, dict[str, Any], int]] = [
        ("derm-7", {}, 422),
        ("derm-7", {"hierarchy": ["mel"]}, 422),
        ("derm-7", {"hierarchy": {"a": ["moon"]}}, 422),
        ("derm-7", {"hierarchy": {"a": ["mel"]}, "project": "nowhere"}, 404),
        ("nothing", {"hierarchy": {"a": ["mel"]}}, 404),
    ]

    for name, body, status in wrong:
        assert send(client, f"/datasets/{name}/hierarchy", body, method="PUT")[0] == status, body


def test_a_gate_takes_costs_or_the_name_of_costs(lesions_database: Database) -> None:
    client = client_for(dashboard(lesions_database))
    run_id = get(client, "/runs")["runs"][0]["id"]
    weights = {a: {b: float(a != b) for b in LESIONS} for a in LESIONS}
    body = {"conditions": ["mean_cost<=1"], "weights": weights, "cost_matrix": "visits"}

    status, error = send(client, f"/runs/{run_id}/gate", body)

    assert (status, error["field"]) == (422, "cost_matrix")
    assert error["hint"] == "Send weights or cost_matrix."

"""Champion, candidate, primary metric and best set over HTTP."""

from __future__ import annotations

from support.api import get, refusal, send
from support.pages import PageClient


def test_a_run_is_approved_and_withdrawn(lesions: PageClient) -> None:
    run_id = get(lesions, "/runs")["runs"][0]["id"]
    address = "/datasets/derm-7/champion"

    status, refused = send(lesions, address, {"run": run_id}, method="PUT")
    assert (status, refused["field"]) == (422, "reason")
    gated = {"run": run_id, "reason": "best", "gate": ["overall_accuracy >= 1"]}
    assert send(lesions, address, gated, method="PUT")[0] == 409
    _, body = send(lesions, address, gated | {"although_gate_fails": True}, method="PUT")
    assert body["champion"]["run"] == run_id
    assert body["champion"]["gate"]["passed"] is False
    assert get(lesions, "/datasets/derm-7/promotions") == body

    _, body = send(lesions, address, {"run": None, "reason": "wrong labels"}, method="PUT")
    assert body["champion"] is None
    assert [each["run"] for each in body["history"]] == [None, run_id]


def test_runs_are_ranked_with_their_best_set(reader: PageClient) -> None:
    found = get(reader, "/datasets/derm-7/leaders")

    values = [run["value"]["value"] for run in found["runs"]]
    assert found["metric"] == "balanced_accuracy"
    assert values == sorted(values, reverse=True)
    assert found["best_set"] == [run["id"] for run in found["runs"] if run["in_best_set"]]
    assert refusal(reader, "/datasets/derm-7/leaders", metric="support")[0] == 422


def test_the_primary_metric_is_set(lesions: PageClient) -> None:
    address = "/datasets/derm-7/primary-metric"
    assert send(lesions, address, {"metric": "mcc"}, method="PUT")[1]["metric"] == "mcc"
    assert get(lesions, "/datasets/derm-7/leaders")["metric"] == "mcc"

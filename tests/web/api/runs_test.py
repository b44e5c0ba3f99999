"""Runs over HTTP: searched page by page, read, deleted and restored."""

from __future__ import annotations

import pytest

from offdiag.store.database import Database
from offdiag_web.app.dispatch import PREFIX
from support.api import get, pages, refusal
from support.dashboard import LESION_COUNTS, LESIONS, LesionRegistry
from support.logging_runs import correct_labels, log, work_off
from support.pages import PageClient, client_for
from support.registries import dashboard
from support.scored_runs import ScoredRegistry


def test_searches_with_filter_and_order(reader: PageClient, registry: LesionRegistry) -> None:
    found = get(
        reader,
        "/runs",
        filter="metrics.mcc > 0.1 and tags.team = 'derm'",
        order_by=["metrics.mcc desc", "attributes.name"],
    )
    assert [run["id"] for run in found["runs"]] == [registry.plain]
    run = found["runs"][0]
    assert run["params"] == {"lr": 0.001, "augment": True}
    assert run["metrics"]["overall_accuracy"]["value"] == 1299 / sum(map(sum, LESION_COUNTS))
    assert run["metrics"]["overall_accuracy"]["ci_low"] is not None
    (majority,) = get(reader, "/runs", filter=f"attributes.id = '{registry.majority}'")["runs"]
    assert majority["metrics"]["mcc"]["value"] is None
    assert majority["metrics"]["mcc"]["reason"] == "constant_predicted"


@pytest.mark.parametrize(
    "order_by", [[], ["metrics.mcc desc"], ["tags.team", "attributes.created_at"]]
)
@pytest.mark.parametrize("limit", [1, 5])
def test_pages_hold_every_run_once_in_order(
    reader: PageClient, order_by: list[str], limit: int
) -> None:
    whole = get(reader, "/runs", order_by=order_by, limit=1000)["runs"]
    read = list(pages(reader, "/runs", "runs", order_by=order_by, limit=limit))
    assert all(len(page) == limit for page in read[:-1])
    assert [run["id"] for page in read for run in page] == [run["id"] for run in whole]
    assert len(whole) == 12


def test_a_number_that_a_metric_cannot_have_is_noted(reader: PageClient) -> None:
    page = get(reader, "/runs", filter="metrics.accuracy > 80")

    assert page["runs"] == []
    (note,) = page["notices"]
    assert note.endswith("Write 80 % as 0.8.")
    assert get(reader, "/runs", filter="metrics.accuracy > 0.8")["notices"] == []


def test_refuses_the_token_of_another_list(reader: PageClient) -> None:
    token = get(reader, "/runs", limit=1)["next_page_token"]
    for path, query in (("/runs", {"filter": "metrics.mcc > 0"}), ("/runs", {"project": "x"})):
        assert refusal(reader, path, page_token=token, **query)[0] == 400
    cut = refusal(reader, "/runs", page_token=token[:-1])
    assert cut[0] == 400
    assert cut[1]["field"] == "page_token"


def test_unknown_runs_are_404(reader: PageClient) -> None:
    for path in ("", "/evaluation", "/confusion-matrix", "/examples", "/curves", "/history"):
        assert refusal(reader, f"/runs/r_nobody{path}")[0] == 404


def test_reads_results_in_full_precision(reader: PageClient) -> None:
    found = get(reader, "/runs/{plain}/evaluation")
    assert found["orientation"] == "actual_rows"
    assert found["matrix"] == [list(row) for row in LESION_COUNTS]
    recall = found["per_class"]["recall"][LESIONS.index("nv")]
    assert recall["value"] == 987 / 1006
    precision = found["per_class"]["precision"][LESIONS.index("df")]
    assert precision == {
        "value": 0.0,
        "reason": None,
        "limit": None,
        "ci_low": precision["ci_low"],
        "ci_high": precision["ci_high"],
        "ci_method": precision["ci_method"],
        "error_bound": None,
    }
    assert {flag["rule"] for flag in found["flags"]}
    assert found["badge"] is True


def test_says_why_there_are_no_results_yet(reader: PageClient) -> None:
    answer = reader.get(f"{PREFIX}/runs/{{waiting}}/evaluation")
    assert answer.status_code == 409
    assert answer.get_json()["error"]["code"] == "evaluation_pending"
    assert answer.headers["Retry-After"] == "1"
    assert refusal(reader, "/runs/{failed}/evaluation")[1]["code"] == "evaluation_failed"
    assert refusal(reader, "/runs/{still_open}/evaluation")[0] == 409
    assert refusal(reader, "/runs/{waiting}/confusion-matrix")[0] == 409
    assert refusal(reader, "/runs/{waiting}/slices")[1]["code"] == "evaluation_pending"


def test_lays_the_matrix_out_as_asked(reader: PageClient, registry: LesionRegistry) -> None:
    path = f"/runs/{registry.plain}/confusion-matrix"
    turned = [list(column) for column in zip(*LESION_COUNTS, strict=True)]
    plain = get(reader, path)
    assert (plain["orientation"], plain["axes"]) == ("actual_rows", ["actual", "predicted"])
    assert plain["matrix"] == [list(row) for row in LESION_COUNTS]
    other = get(reader, path, orientation="actual_columns")
    assert other["matrix"] == turned
    assert other["axes"] == ["predicted", "actual"]
    for orientation, counts in (("actual_rows", LESION_COUNTS), ("actual_columns", turned)):
        asked = {"orientation": orientation}
        rows = get(reader, path, normalize="row", **asked)
        assert rows["divided_by"] == rows["axes"][0]
        sizes = [sum(row) for row in counts]
        assert rows["matrix"] == [
            [count / size if size else None for count in row]
            for row, size in zip(counts, sizes, strict=True)
        ]
        columns = get(reader, path, normalize="column", **asked)
        assert columns["divided_by"] == columns["axes"][1]
        totals = [sum(column) for column in zip(*counts, strict=True)]
        assert columns["matrix"] == [
            [count / total if total else None for count, total in zip(row, totals, strict=True)]
            for row in counts
        ]
    shares = get(reader, path, normalize="all")["matrix"]
    assert sum(map(sum, shares)) == pytest.approx(1)
    assert refusal(reader, path, normalize="rows")[0] == 422


def test_shares_of_nothing_are_null(reader: PageClient, registry: LesionRegistry) -> None:
    path = f"/runs/{registry.majority}/confusion-matrix"
    columns = get(reader, path, normalize="column")["matrix"]
    assert all(row[1] is None for row in columns)


def test_reads_examples_of_a_cell_page_by_page(reader: PageClient) -> None:
    asked = {"actual": "mel", "predicted": "nv", "limit": 25}
    read = list(pages(reader, "/runs/{plain}/examples", "examples", **asked))
    assert [len(page) for page in read] == [25, 25, 9]
    found = [example for page in read for example in page]
    assert len({example["index"] for example in found}) == 59
    assert {(e["actual"], e["predicted"]) for e in found} == {("mel", "nv")}
    assert refusal(reader, "/runs/{plain}/examples", actual="moon")[0] == 422
    assert refusal(reader, "/runs/{columns}/examples")[0] == 409


def test_reads_curves_as_exact_counts(
    reader: PageClient, scored_reader: PageClient, scored: ScoredRegistry
) -> None:
    run_id = scored.event
    found = get(scored_reader, f"/runs/{run_id}/curves")
    points = found["curves"][0]["points"]
    assert points["true_positives"][-1] == points["n_positive"]
    assert points["false_positives"][-1] == points["n_negative"]
    named = get(scored_reader, f"/runs/{run_id}/curves", positive=found["curves"][0]["label"])
    assert named["curves"][0]["points"] == points
    assert refusal(scored_reader, f"/runs/{run_id}/curves", positive="moon")[0] == 422
    status, error = refusal(reader, "/runs/{plain}/curves")
    assert status == 409
    assert "no scores" in error["message"]


def test_documents_of_results_say_that_they_are_outdated(database: Database) -> None:
    run = log(database, y_true=["a", "a", "b", "b"], y_pred=["a", "b", "b", "b"])
    work_off(database)
    client = client_for(dashboard(database))
    paths = [f"/runs/{run.id}{part}" for part in ("", *PARTS_OF_RESULTS)]

    assert [get(client, path)["outdated"] for path in paths] == [None] * len(paths)
    correct_labels(database, {0: "b"})
    whole, *parts = (get(client, path)["outdated"] for path in paths)

    assert whole["reasons"] == ["truth_revised"]
    assert parts == [whole] * len(PARTS_OF_RESULTS)


PARTS_OF_RESULTS = ("/confusion-matrix", "/costs", "/flags", "/examples")


def test_deletes_and_restores_a_run(lesions_database: Database) -> None:
    client = client_for(dashboard(lesions_database))
    run_id = get(client, "/runs")["runs"][0]["id"]
    before = get(client, f"/runs/{run_id}")
    gone = client.delete(f"{PREFIX}/runs/{run_id}").get_json()
    assert gone["id"] == run_id
    assert client.delete(f"{PREFIX}/runs/{run_id}").get_json() == gone
    assert refusal(client, f"/runs/{run_id}")[0] == 404
    assert get(client, "/runs")["runs"] == []
    (listed,) = get(client, "/deleted-runs", project=before["project"])["runs"]
    assert (listed["id"], listed["deleted_at"]) == (run_id, gone["deleted_at"])
    assert get(client, "/deleted-runs", dataset="other")["runs"] == []
    assert client.post(f"{PREFIX}/runs/{run_id}/restore").get_json() == before
    assert get(client, f"/runs/{run_id}") == before
    assert client.post(f"{PREFIX}/runs/r_nobody/restore").status_code == 404

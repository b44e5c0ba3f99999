"""Datasets, truth, costs, flags, schedules, reports and jobs over HTTP."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest

from offdiag.domain.access import Grant, Role
from offdiag.store.database import Database
from offdiag_web.app.dispatch import PREFIX
from support.access import add_person, bearer, guarded, token_of
from support.api import get, pages, refusal, send
from support.compared import ComparedRegistry
from support.dashboard import LESIONS, LesionRegistry, fail_evaluation, log_counts
from support.pages import PageClient, client_for
from support.registries import dashboard
from support.reported import ReportedRegistry
from support.revised import RevisedRegistry

ZERO_ONE = {a: {p: float(a != p) for p in LESIONS} for a in LESIONS}


@pytest.fixture
def run_id(lesions: PageClient) -> str:
    """The only run of that registry."""
    return str(get(lesions, "/runs")["runs"][0]["id"])


def test_lists_datasets_and_projects(reader: PageClient) -> None:
    found = {each["name"]: each for each in get(reader, "/datasets")["datasets"]}
    assert found["derm-7"]["n_classes"] == 7
    assert sum(found["derm-7"]["runs_by_state"].values()) == found["derm-7"]["n_runs"]
    projects = get(reader, "/projects")["projects"]
    assert [each["name"] for each in projects] == ["default"]
    assert projects[0]["n_datasets"] == len(found)
    assert get(reader, "/datasets", project="nowhere")["datasets"] == []


@pytest.mark.both_databases
def test_names_of_any_kind_are_addresses(client: PageClient) -> None:
    for name, address in (("a/b", "a~2Fb"), ("x.json", "x~2Ejson"), ("é %", "%C3%A9%20%25")):
        body = {"name": name, "labels": ["no", "yes"]}
        assert send(client, "/datasets", body)[0] == 201
        assert get(client, f"/datasets/{address}")["name"] == name


def test_declares_a_dataset_once(client: PageClient) -> None:
    body: dict[str, Any] = {"name": "pets", "labels": ["dog", "cat"], "positive_label": "cat"}
    status, made = send(client, "/datasets", body)
    assert (status, made["labels"]["names"], made["positive_label"]) == (
        201,
        ["dog", "cat"],
        "cat",
    )
    assert send(client, "/datasets", body) == (200, made)
    assert send(client, "/datasets", body | {"labels": ["cat", "dog"]})[0] == 409
    assert send(client, "/datasets", body | {"name": "b", "labels": ["a", "a"]})[0] == 422
    assert send(client, "/datasets", body | {"name": "b", "positive_label": "cow"})[0] == 422
    assert send(client, "/datasets", body | {"name": " "})[0] == 422


def test_reads_versions_difference_and_impact_of_truth(
    revised_reader: PageClient, revised: RevisedRegistry
) -> None:
    dataset = get(revised_reader, "/runs/{seer}")["dataset"]
    path = f"/datasets/{dataset}/truth"
    versions = get(revised_reader, path)["versions"]
    assert [each["version"] for each in versions][-1] == 1
    newest = versions[0]["version"]
    between = get(revised_reader, f"{path}/difference", before=newest - 1, after=newest, limit=3)
    assert between["n_changed"] == sum(move["n"] for move in between["moves"])
    assert len(between["samples"]) == min(3, between["n_changed"])
    impact = get(revised_reader, f"{path}/{newest}/impact")
    assert {run["id"] for run in impact["runs"]} >= {revised.seer, revised.believer}
    assert refusal(revised_reader, f"{path}/99/impact")[0] == 404
    assert refusal(revised_reader, f"{path}/difference", before=1, after=10**20)[0] == 422


@pytest.mark.both_databases
def test_corrects_labels_with_a_reason(lesions: PageClient) -> None:
    path = "/datasets/derm-7/truth"
    body: dict[str, Any] = {"samples": [0, 1], "labels": ["mel", None], "reason": "second look"}
    status, made = send(lesions, path, body)
    assert (status, made["version"], made["n_runs"], made["was_there"]) == (201, 2, 1, False)
    assert (made["n_corrected"], made["n_unlabelled"]) == (1, 1)
    assert send(lesions, path, body) == (200, made | {"n_runs": 0, "was_there": True})
    assert send(lesions, path, body | {"reason": ""})[1]["field"] == "reason"
    assert send(lesions, path, body | {"labels": ["mel"]})[0] == 422
    assert send(lesions, path, body | {"samples": []})[1]["message"] == "The list is empty."
    assert send(lesions, path, body | {"labels": ["moon", "mel"]})[0] == 422
    assert send(lesions, path, body | {"samples": [0, 10**9]})[0] == 422
    assert send(lesions, path, body | {"samples": [3, 3]})[0] == 422
    assert len(get(lesions, path)["versions"]) == 2


def test_stores_costs_by_the_names_of_classes(lesions: PageClient) -> None:
    weights = {a: ZERO_ONE[a] | {"nv": 20.0 if a == "mel" else ZERO_ONE[a]["nv"]} for a in LESIONS}
    body = {"dataset": "derm-7", "name": "visits", "weights": weights, "currency": "EUR"}
    status, made = send(lesions, "/cost-matrices", body)
    assert (status, made["version"], made["weights"]["mel"]["nv"]) == (201, 1, 20.0)
    backwards = list(reversed(LESIONS))
    rows = [[weights[a][p] for p in backwards] for a in backwards]
    as_rows = body | {"weights": rows, "labels": backwards}
    assert send(lesions, "/cost-matrices", as_rows) == (201, made)
    doubled = {a: {p: 2 * w for p, w in row.items()} for a, row in weights.items()}
    assert send(lesions, "/cost-matrices", body | {"weights": doubled})[1]["version"] == 2
    newest = get(lesions, "/cost-matrices/visits")
    assert (newest["version"], [each["version"] for each in newest["versions"]]) == (2, [2, 1])
    assert get(lesions, "/cost-matrices/visits", version=1)["weights"] == weights
    listed = get(lesions, "/cost-matrices", project="default")["cost_matrices"]
    assert [(each["name"], each["version"]) for each in listed] == [("visits", 2)]


def test_judges_a_dataset_by_costs_and_a_baseline(lesions: PageClient, run_id: str) -> None:
    send(lesions, "/cost-matrices", {"dataset": "derm-7", "name": "visits", "weights": ZERO_ONE})
    path = "/datasets/derm-7"
    asked = send(lesions, f"{path}/cost-matrix", {"cost_matrix": "visits@1"}, method="PUT")
    assert asked == (200, {"n_runs": 1})
    assert get(lesions, "/datasets")["datasets"][0]["costs"] == "visits@1"
    missing = send(lesions, f"{path}/cost-matrix", {"cost_matrix": "none"}, method="PUT")
    assert missing[0] == 404
    assert send(lesions, f"{path}/cost-matrix", {}, method="PUT")[1]["field"] == "cost_matrix"
    pinned = send(lesions, f"{path}/baseline", {"run": run_id, "author": "ana"}, method="PUT")
    assert pinned[0] == 200
    assert send(lesions, "/datasets/other/baseline", {"run": run_id}, method="PUT")[0] == 422
    assert send(lesions, f"{path}/baseline", {"run": None}, method="PUT")[0] == 200


def test_lists_flags_page_by_page(reader: PageClient, registry: LesionRegistry) -> None:
    whole = get(reader, "/flags", limit=1000)
    read = [flag["id"] for page in pages(reader, "/flags", "flags", limit=10) for flag in page]
    assert read == [flag["id"] for flag in whole["flags"]]
    assert len(read) == len(set(read)) > 10
    critical = get(reader, "/flags", at_least="critical", dataset="derm-7")["flags"]
    assert {flag["severity"] for flag in critical} == {"critical"}
    of_run = get(reader, "/runs/{plain}/flags")["flags"]
    assert {flag["run"] for flag in of_run} == {registry.plain}
    assert refusal(reader, "/runs/r_nobody/flags")[0] == 404
    assert refusal(reader, "/flags", run="r_nobody")[0] == 404
    assert refusal(reader, "/flags", state="lost")[0] == 422
    assert refusal(reader, "/flags", limit=0)[0] == 422


def test_decides_about_a_flag_that_was_seen(lesions: PageClient) -> None:
    flag = get(lesions, "/flags", limit=1)["flags"][0]
    path = f"/flags/{flag['id']}"
    etag = lesions.get(f"{PREFIX}{path}").headers["ETag"]
    dismissal = {"action": "dismiss", "reason": "seven cases only", "author": "ana"}
    seen = {"If-Match": etag}
    status, decided = send(lesions, f"{path}/decisions", dismissal, headers=seen)
    assert (status, decided["state"], decided["reason"]) == (200, "dismissed", "seven cases only")
    assert decided["history"][-1]["author"] == "ana"
    status, error = send(lesions, f"{path}/decisions", {"action": "reopen"}, headers=seen)
    assert (status, error["code"], error["field"]) == (412, "stale", "If-Match")
    now = lesions.get(f"{PREFIX}{path}").headers["ETag"]
    assert now in error["message"]
    assert (
        send(lesions, f"{path}/decisions", {"action": "reopen"}, headers={"If-Match": now})[0]
        == 200
    )


def test_problems_are_on_one_page_or_on_pages_of_a_limit(reader: PageClient) -> None:
    whole = get(reader, "/problems", low="true")
    read = list(pages(reader, "/problems", "problems", low="true", limit=2))

    assert whole["next_page_token"] is None
    assert len(whole["problems"]) > 2
    assert [len(page) for page in read[:-1]] == [2] * (len(read) - 1)
    assert [problem for page in read for problem in page] == whole["problems"]
    status, error = refusal(reader, "/problems", page_token="elsewhere")
    assert (status, error["field"]) == (400, "page_token")


def test_decides_about_a_problem_that_was_seen(lesions: PageClient) -> None:
    problem = get(lesions, "/problems")["problems"][0]
    path, until = f"/problems/{problem['id']}", "2099-01-31T00:00:00Z"
    seen = {"If-Match": lesions.get(f"{PREFIX}{path}").headers["ETag"]}
    status, decided = send(
        lesions, f"{path}/decisions", {"action": "snooze", "until": until}, headers=seen
    )
    assert (status, decided["state"]) == (200, "snoozed")

    now = {"If-Match": lesions.get(f"{PREFIX}{path}").headers["ETag"]}
    longer = {"action": "snooze", "until": until.replace("2099", "2100")}
    for asked, expected in ((seen, 412), (now, 200), (now, 412), ({}, 200)):
        assert send(lesions, f"{path}/decisions", longer, headers=asked)[0] == expected
    status, error = send(lesions, f"{path}/decisions", {"action": "reopen"}, headers=seen)
    assert (status, error["code"], error["field"]) == (412, "stale", "If-Match")


def test_of_changes_of_one_run_at_the_same_moment_that_saw_it_alike_one_is_made(
    lesions: PageClient, run_id: str
) -> None:
    etag = lesions.get(f"{PREFIX}/runs/{run_id}").headers["ETag"]
    together = Barrier(4)

    def change(number: int) -> int:
        client = client_for(lesions.application)
        together.wait()
        body, seen = {"note": f"by {number}"}, {"If-Match": etag}
        return send(client, f"/runs/{run_id}", body, method="PATCH", headers=seen)[0]

    with ThreadPoolExecutor(4) as threads:
        statuses = list(threads.map(change, range(4)))

    assert sorted(statuses) == [200, 412, 412, 412]


def test_every_decision_takes_its_own_field(lesions: PageClient) -> None:
    flag = get(lesions, "/flags", limit=1)["flags"][0]
    path = f"/flags/{flag['id']}/decisions"
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    done: list[tuple[dict[str, object], str]] = [
        ({"action": "acknowledge"}, "acknowledged"),
        ({"action": "snooze", "until": tomorrow}, "snoozed"),
        ({"action": "reopen"}, "open"),
        ({"action": "assign", "assignee": "bo"}, "open"),
        ({"action": "comment", "text": "look at this"}, "open"),
    ]
    for body, state in done:
        status, decided = send(lesions, path, body)
        assert (status, decided["state"]) == (200, state), body
    assert decided["assignee"] == "bo"
    refused: list[tuple[dict[str, object], str]] = [
        ({"action": "snooze"}, "until"),
        ({"action": "snooze", "until": "2020-01-01T00:00:00Z"}, "until"),
        ({"action": "snooze", "until": "2030-01-01T00:00:00"}, "until"),
        ({"action": "dismiss"}, "reason"),
        ({"action": "acknowledge", "reason": "x"}, "reason"),
        ({"action": "destroy"}, "action"),
    ]
    for body, field in refused:
        status, error = send(lesions, path, body)
        assert (status, error["field"]) == (422, field), body


def test_decides_about_all_flags_or_none(lesions: PageClient) -> None:
    flags = get(lesions, "/flags")["flags"]
    seen = [{"id": flag["id"], "revision": flag["revision"]} for flag in flags]
    body = {"action": "acknowledge", "flags": seen}
    unknown = body | {"flags": [*seen, {"id": 10**9}]}
    assert send(lesions, "/flags/decisions", unknown)[0] == 404
    assert get(lesions, "/flags")["counts"]["acknowledged"] == 0
    status, decided = send(lesions, "/flags/decisions", body)
    assert status == 200
    assert {flag["state"] for flag in decided["flags"]} == {"acknowledged"}
    stale = {"action": "dismiss", "reason": "old news", "flags": seen}
    assert send(lesions, "/flags/decisions", stale)[0] == 412


def test_plans_a_report(lesions: PageClient) -> None:
    plan: dict[str, Any] = {
        "cron": "0 7 * * 1",
        "zone": "Europe/Berlin",
        "scope": {
            "dataset": "derm-7",
            "alerts": [{"metric": "recall", "side": "below", "limit": 0.5, "class_label": "mel"}],
        },
        "delivery": [
            {"folder": "weekly"},
            {"webhook": "https://example.org/secret"},
            {"notify": "team"},
        ],
    }
    status, made = send(lesions, "/schedules", plan | {"name": "weekly"})
    assert (status, made["enabled"], made["version"]) == (201, True, 1)
    assert made["delivery"] == [
        "folder weekly",
        "webhook https://example.org/…",
        "notification team",
    ]
    assert send(lesions, "/schedules", plan | {"name": "weekly"})[0] == 409
    etag = lesions.get(f"{PREFIX}/schedules/weekly").headers["ETag"]
    status, changed = send(
        *(lesions, "/schedules/weekly", plan | {"cron": "0 8 * * *"}),
        method="PUT",
        headers={"If-Match": etag},
    )
    assert (status, changed["cron"], changed["version"]) == (200, "0 8 * * *", 2)
    for method, body in (("PUT", plan), ("DELETE", None)):
        stale = send(lesions, "/schedules/weekly", body, method=method, headers={"If-Match": etag})
        assert (stale[0], stale[1]["code"]) == (412, "stale")
    assert send(lesions, "/schedules/weekly/pause")[1]["enabled"] is False
    assert get(lesions, "/schedules")["schedules"][0]["next_times"] == []
    assert send(lesions, "/schedules/weekly/resume")[1]["enabled"] is True
    assert len(get(lesions, "/schedules")["schedules"][0]["next_times"]) == 5
    assert send(lesions, "/schedules/weekly/run") == (202, {"name": "weekly", "number": 1})
    assert send(lesions, "/schedules/weekly", method="DELETE")[0] == 200
    assert refusal(lesions, "/schedules/weekly")[0] == 404


def test_alerts_of_all_examples_have_the_fields_that_older_clients_know(
    client: PageClient,
) -> None:
    # Without samples it may have any slice columns.
    send(client, "/datasets", {"name": "derm-8", "labels": ["mel", "nv"]})
    # Clients of 0.2.0 refuse alerts with other fields.
    plain = {"metric": "recall", "side": "below", "limit": 0.5, "class_label": "mel"}
    sliced = plain | {"slice": "site=z"}
    scope = {"dataset": "derm-8", "alerts": [plain, sliced]}
    plan = {"name": "watched", "cron": "0 7 * * 1", "scope": scope}
    assert send(client, "/schedules", plan)[1]["scope"]["alerts"] == [plain, sliced]
    for found in (
        get(client, "/schedules")["schedules"][0],
        get(client, "/reports")["reports"][0],
        get(client, "/reports/watched"),
    ):
        assert found["scope"]["alerts"] == [plain, sliced]


def test_reads_reports_and_their_files(
    report_reader: PageClient, reported: ReportedRegistry
) -> None:
    name = reported.weekly.name
    report = get(report_reader, f"/reports/{name}")
    assert [edition["number"] for edition in report["editions"]] == [3, 2, 1]
    listed = {each["name"] for each in get(report_reader, "/reports")["reports"]}
    assert {name, reported.by_hand.name} <= listed
    edition = get(report_reader, f"/reports/{name}/editions/1")
    assert {file["kind"] for file in edition["files"]} >= {"html", "json"}
    file = report_reader.get(f"{PREFIX}/reports/{name}/editions/1/files/html")
    assert file.status_code == 200
    assert file.headers["Content-Disposition"].startswith("attachment")
    assert file.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert refusal(report_reader, f"/reports/{name}/editions/1/files/exe")[0] == 404
    assert refusal(report_reader, f"/reports/{name}/editions/99")[0] == 404
    assert get(report_reader, f"/reports/{name}/issues/1") == edition, "the former path is gone"
    assert refusal(report_reader, "/reports/none")[0] == 404
    assert send(report_reader, f"/reports/{name}/editions/1/retry")[0] == 409


@pytest.mark.both_databases
def test_a_repeated_request_creates_one_report(lesions: PageClient) -> None:
    body = {"name": "by hand", "scope": {"dataset": "derm-7"}}
    key = {"Idempotency-Key": "5e3c"}
    wrong = {"name": "by hand", "scope": {"dataset": "nothing"}}
    assert send(lesions, "/reports", wrong, headers=key)[0] == 404  # It gives its key back.
    first = send(lesions, "/reports", body, headers=key)
    assert first == (202, {"name": "by hand", "number": 1})
    assert send(lesions, "/reports", body, headers=key) == first
    status, error = send(lesions, "/reports", body | {"zone": "Asia/Tokyo"}, headers=key)
    assert (status, error["field"]) == (409, "Idempotency-Key")
    assert send(lesions, "/reports", body)[1]["number"] == 2
    for unusable in ("é", " " * 3 + "\t", "k" * 201):
        answer = send(lesions, "/reports", body, headers={"Idempotency-Key": unusable})
        assert answer[0] == 422
    assert get(lesions, "/reports/by hand")["n_editions"] == 2


def test_tries_jobs_again(lesions_database: Database) -> None:
    client = client_for(dashboard(lesions_database))
    dead = log_counts(lesions_database, [[3, 1], [1, 3]], ("a", "b"), evaluated=False)
    fail_evaluation(lesions_database, dead, error="boom")
    queue = get(client, "/jobs")
    assert queue["counts"]["dead"] == 1
    job = queue["jobs"][0]
    assert (job["state"], job["error"]) == ("dead", "boom")
    assert get(client, f"/jobs/{job['id']}")["task"] == "evaluate"
    assert send(client, f"/jobs/{job['id']}/retry")[0] == 200
    assert get(client, "/jobs")["counts"]["dead"] == 0
    assert send(client, "/jobs/retry") == (200, {"n_jobs": 0})
    assert refusal(client, "/jobs/999999")[0] == 404
    assert refusal(client, f"/jobs/{10**30}")[0] == 404


def test_compares_runs(comparer: PageClient, compared: ComparedRegistry) -> None:
    both = f"{compared.plain},{compared.focal}"
    found = get(comparer, "/compare", runs=both)
    assert [run["id"] for run in found["runs"]] == [compared.plain, compared.focal]
    assert found["result"]["kind"] == "pair"
    turned = get(comparer, "/compare", runs=both, baseline=compared.focal)
    assert [run["letter"] for run in turned["runs"]] == ["A", "B"]
    assert turned["runs"][0]["id"] == compared.focal
    elsewhere = get(comparer, "/compare", runs=f"{compared.plain},{compared.elsewhere}")
    assert elsewhere["result"] is None
    assert elsewhere["refusal"]
    for runs in (compared.plain, f"{compared.plain},{compared.plain}", "a," * 1_000):
        assert refusal(comparer, "/compare", runs=runs)[0] == 422
    assert refusal(comparer, "/compare", runs=",".join(["r_a"] * 10_000))[0] == 422
    assert refusal(comparer, "/compare", runs=both, baseline="r_other")[0] == 422
    assert refusal(comparer, "/compare", runs=both, confidence=1)[0] == 422
    assert refusal(comparer, "/compare", runs="r_a,r_b")[0] == 404


def test_merged_classes_add_up(reader: PageClient, registry: LesionRegistry) -> None:
    body = {"runs": [registry.plain], "merge": {"malignant": ["mel", "bcc", "akiec"]}}
    status, told = send(reader, "/whatif", body)
    assert status == 200
    found = told["runs"][0]
    assert found["orientation"] == "actual_rows"
    assert found["labels"] == ["nv", "malignant", "bkl", "vasc", "df"]
    plain = get(reader, "/runs/{plain}/confusion-matrix")["matrix"]
    assert sum(map(sum, found["matrix"])) == sum(map(sum, plain))
    group = [LESIONS.index(name) for name in ("mel", "bcc", "akiec")]
    assert found["matrix"][1][1] == sum(plain[a][p] for a in group for p in group)
    assert found["matrix"][0][1] == sum(plain[0][p] for p in group)


def test_swaps_the_positive_class_and_moves_prevalence(
    reader: PageClient, registry: LesionRegistry
) -> None:
    told = send(reader, "/whatif", {"runs": [registry.binary], "swap_positive": True})[1]
    before = get(reader, "/runs/{binary}/confusion-matrix")
    swapped = told["runs"][0]
    assert swapped["labels"] == list(reversed(before["labels"]))
    assert swapped["matrix"] == [row[::-1] for row in before["matrix"][::-1]]
    shares = {"malignant": 0.5, "benign": 0.5}
    moved = send(reader, "/whatif", {"runs": [registry.binary], "prevalence": shares})[1]
    rows = [sum(row) for row in moved["runs"][0]["matrix"]]
    assert rows[0] == pytest.approx(rows[1])
    old = get(reader, "/runs/{binary}/evaluation")["per_class"]["recall"][0]["value"]
    assert moved["runs"][0]["per_class"]["recall"][0]["value"] == pytest.approx(old)


def test_asks_what_runs_cost(reader: PageClient, registry: LesionRegistry) -> None:
    body: dict[str, Any] = {
        "runs": [registry.plain, registry.majority],
        "costs": {"base": "triage@2", "edits": "mel>nv:50"},
    }
    status, told = send(reader, "/whatif", body)
    assert status == 200
    assert told["costs"]["weights"]["mel"]["nv"] == 50
    assert [run["rank"] for run in told["costs"]["runs"]] == [1, 2]
    assert told["costs"]["runs"][0]["mean_cost"]["ci_low"] is not None
    wrong = body | {"costs": {"edits": "mel>moon:50"}}
    assert send(reader, "/whatif", wrong)[0] == 422


@pytest.mark.parametrize(
    "change",
    [
        {"runs": []},
        {"runs": ["r_a"] * 9},
        {"swap_positive": True},
        {"positive": "mel"},
        {"merge": {"x": []}},
        {"merge": {"x": ["mel"], "y": ["mel"]}},
        {"prevalence": {"mel": 1.0}},
        {"costs": {"base": "@0-1"}, "merge": {"x": ["mel", "nv"]}, "prevalence": {"x": 1.0}},
    ],
)
def test_refuses_questions_that_mean_nothing(
    reader: PageClient, registry: LesionRegistry, change: dict[str, Any]
) -> None:
    assert send(reader, "/whatif", {"runs": [registry.plain]} | change)[0] == 422


def test_thresholds_need_scores(reader: PageClient, registry: LesionRegistry) -> None:
    assert send(reader, "/whatif", {"runs": [registry.plain], "threshold": 0.5})[0] == 409
    assert send(reader, "/whatif", {"runs": ["r_nobody"]})[0] == 404


def test_somebody_who_signs_in_is_the_author_and_owns_their_keys(
    lesions_database: Database,
) -> None:
    app = guarded(lesions_database)
    add_person(lesions_database, "ana", Grant(Role.EDITOR))
    add_person(lesions_database, "bo", Grant(Role.EDITOR, "default"))
    flag = "/flags/1/decisions"
    comments = []
    for name, project in (("ana", None), ("bo", "default")):
        token = token_of(lesions_database, name, Role.EDITOR, project=project)
        headers = bearer(token) | {"Idempotency-Key": "one"}
        body = {"action": "comment", "text": f"by {name}", "author": "somebody else"}
        first = send(client_for(app), flag, body, headers=headers)
        assert first[0] == 200
        assert send(client_for(app), flag, body, headers=headers) == first
        said = [event for event in first[1]["history"] if event["kind"] == "commented"]
        comments = [(event["author"].split()[0], event["text"]) for event in said]
    assert comments == [("ana", "by ana"), ("bo", "by bo")]
    assert send(client_for(app), flag, {"action": "reopen"})[0] == 401

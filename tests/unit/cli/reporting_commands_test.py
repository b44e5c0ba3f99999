"""`schedule`, `report` and `jobs`: from a plan to a frozen file, without a server."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from offdiag.domain.schedule import due_text

Command = Callable[..., Any]
Filled = Callable[[Callable[..., Any]], Any]

PREDICTIONS = "id,y_true,y_pred\nx1,ill,ill\nx2,ill,well\nx3,well,well\nx4,well,well\n"
WEIGHTS = '{"weights": {"ill": {"ill": 0, "well": 10}, "well": {"ill": 1, "well": 0}}}'
WEEKLY = ("schedule", "add", "weekly", "--cron", "0 6 * * 1", "--dataset", "clinic")


@pytest.fixture(autouse=True)
def _run(filled: Filled) -> None:
    filled(log_first)


def log_first(folder: Path, offdiag: Command) -> None:
    (folder / "p.csv").write_text(PREDICTIONS, encoding="utf-8")
    answer = offdiag("log", "p.csv", "--name", "first", "--dataset", "clinic", "--id", "id")
    assert answer.code == 0, answer.err


def test_a_schedule_is_made_listed_paused_resumed_and_removed(offdiag: Command) -> None:
    made = offdiag(*WEEKLY, "--zone", "Europe/Ljubljana", "--folder", "weekly", "--json").json
    listed = offdiag("schedule", "list", "--json").json
    paused = offdiag("schedule", "pause", "weekly", "--json").json
    resumed = offdiag("schedule", "resume", "weekly", "--json").json
    removed = offdiag("schedule", "remove", "weekly")

    assert made["words"] == "Mondays at 06:00, Europe/Ljubljana"
    assert made["delivery"] == ["folder weekly"]
    assert len(made["next_times"]) == 5
    times = [datetime.fromisoformat(time) for time in made["next_times"]]
    zone = ZoneInfo("Europe/Ljubljana")
    assert {f"{time.astimezone(zone):%H:%M}" for time in times} == {"06:00"}
    assert [entry["name"] for entry in listed["schedules"]] == ["weekly"]
    assert listed["has_scheduler"] is False
    assert (paused["enabled"], paused["next_times"]) == (False, [])
    assert resumed["next_times"] == made["next_times"]
    assert removed.code == 0
    assert offdiag("schedule", "show", "weekly").code == 2


def test_a_schedule_shows_its_filters_and_alerts(offdiag: Command) -> None:
    shown = offdiag(*WEEKLY, "--model", "vit*", "--tag", "team=x", "--alert", "mcc<0.5").out

    assert "tag team is x and model is vit*" in shown
    assert "Matthews correlation coefficient (MCC) below 0.500" in shown


def test_the_tables_say_in_words_when_it_is_due(offdiag: Command) -> None:
    shown = offdiag(*WEEKLY)
    listed = offdiag("schedule", "list")

    assert "Mondays at 06:00, UTC" in shown.out
    assert shown.out.count("Mon 20") == 5
    assert "NO SCHEDULER is running" in listed.out


def test_a_schedule_names_targets_out_of_reach_and_its_files_lie_in_their_folder(
    folder: Path, offdiag: Command
) -> None:
    planned = offdiag(
        *WEEKLY,
        *("--email", "ana@example.org", "--webhook", "https://127.0.0.1/x", "--folder", "weekly"),
        *("--notify", "team"),
    )
    run = offdiag("schedule", "run", "weekly", "--json")
    shown = offdiag("report", "show", "weekly").out

    assert planned.code == 0
    assert "e-mail ana@example.org: no e-mail can be sent. Set smtp.host" in planned.err
    assert "webhook https://127.0.0.1/…: nothing is posted unsigned." in planned.err
    assert "notification team: notify.targets has no target 'team'." in planned.err
    assert "folder weekly" not in planned.err
    assert run.code == 1  # Some deliveries are refused.
    issued = run.json
    assert (issued["number"], issued["state"]) == (1, "computed")
    states = {each["target"]: each["state"] for each in issued["deliveries"]}
    assert states.pop("folder weekly") == "sent"
    assert states["e-mail ana@example.org"] == "refused"
    assert due_text(issued["fire_time"]) in shown
    assert (folder / "reports" / "weekly" / "weekly-0001.html").is_file()


def test_a_delivery_that_waits_says_when_it_is_tried_next(folder: Path, offdiag: Command) -> None:
    (folder / "reports").write_text("in the way", encoding="utf-8")
    offdiag(*WEEKLY, "--folder", "weekly")
    waiting = offdiag("schedule", "run", "weekly", "--json").json["deliveries"][0]
    shown = offdiag("report", "show", "weekly").out

    assert waiting["state"] == "pending"
    due = datetime.fromisoformat(waiting["next_attempt"])
    assert f"{due:%Y-%m-%d %H:%M:%S} UTC" in " ".join(shown.split())


def test_reports_are_listed_shown_and_exported_and_say_what_changed(
    folder: Path, offdiag: Command
) -> None:
    first = offdiag("report", "now", "once", "--dataset", "clinic", "--json").json
    second = offdiag("report", "now", "once", "--dataset", "clinic")

    listed = offdiag("report", "list", "--json").json["reports"]
    shown = offdiag("report", "show", "once", "1", "--json").json
    exported = offdiag("report", "export", "once", "--output", "r.html")
    as_text = offdiag("report", "export", "once", "1", "--format", "json")

    assert first["headline"].startswith("This is the first edition")
    assert "No change exceeds its interval." in second.out
    assert first["report"]["snapshot"]["runs"][0]["name"] == "first"
    assert [(entry["name"], entry["n_editions"], entry["is_scheduled"]) for entry in listed] == [
        ("once", 2, False)
    ]
    assert shown["number"] == 1
    assert exported.code == 0
    assert (folder / "r.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert json.loads(as_text.out)["data_digest"] == shown["data_digest"]


def test_alerts_slices_and_terms_are_read(offdiag: Command) -> None:
    answer = offdiag(
        *("report", "now", "once", "--dataset", "clinic", "--json"),
        *("--alert", "recall[ill]<0.9", "--alert", "mcc>=0.1", "--metric", "mcc"),
        *("--tag", "team=a", "--tag", "final", "--name-contains", "fir", "--model", "v*"),
    ).json

    scope = answer["report"]["scope"]
    assert scope["metrics"] == ["mcc"]
    of_all = {"slice": None, "over": None, "by": None}
    assert scope["alerts"] == [
        {"metric": "recall", "side": "below", "limit": 0.9, "class_label": "ill", **of_all},
        {"metric": "mcc", "side": "above", "limit": 0.1, "class_label": None, **of_all},
    ]
    assert [term["field"] for term in scope["terms"]] == ["tag", "tag", "model", "name"]


def test_a_report_is_told_what_errors_cost(folder: Path, offdiag: Command) -> None:
    (folder / "w.json").write_text(WEIGHTS, encoding="utf-8")
    stored = offdiag("cost", "add", "visits", "w.json", "--dataset", "clinic")

    answer = offdiag(
        *("report", "now", "once", "--dataset", "clinic", "--cost-matrix", "visits"),
        *("--alert", "mean_cost>0.7", "--json"),
    ).json
    shown = offdiag(*WEEKLY, "--cost-matrix", "visits@1")

    assert stored.code == 0, stored.err
    assert answer["report"]["snapshot"]["costs"]["version"] == 1
    assert answer["report"]["snapshot"]["runs"][0]["metrics"]["mean_cost"]["value"] == 2.5
    assert "visits@1" in shown.out


def test_what_cannot_be_meant_is_one_line_and_nothing_is_stored(offdiag: Command) -> None:
    cases: list[tuple[tuple[str, ...], str]] = [
        (("--cron", "61 * * * *", "--dataset", "clinic"), "cron: 61 in the field minute"),
        (("--cron", "0 0 31 2 *", "--dataset", "clinic"), "cron: '0 0 31 2 *' never happens"),
        (("--cron", "0 6 * * 1", "--zone", "Mars", "--dataset", "clinic"), "zone: there is no"),
        (("--cron", "0 6 * * 1", "--dataset", "other"), "dataset: project 'default' has no"),
        (
            ("--cron", "0 6 * * 1", "--dataset", "clinic", "--alert", "low(mcc)<0.5"),
            "alerts: 'low(mcc)<0.5' is not a condition of an alert",
        ),
        (
            ("--cron", "0 6 * * 1", "--dataset", "clinic", "--alert", "no-warning"),
            "alerts: 'no-warning' is not a condition",
        ),
        (("--cron", "0 6 * * 1", "--dataset", "clinic", "--slice", "country"), "slice: "),
        (
            ("--cron", "0 6 * * 1", "--dataset", "clinic", "--cost-matrix", "none"),
            "cost_matrix: project 'default' has no cost matrix 'none'",
        ),
        (("--cron", "0 6 * * 1", "--dataset", "clinic", "--email", "ana"), "email: 'ana' is no"),
    ]
    for arguments, complaint in cases:
        answer = offdiag("schedule", "add", "weekly", *arguments)

        assert answer.code == 2
        assert answer.err.startswith(f"offdiag: {complaint}")
        assert answer.err.count("\n") == 1
        assert offdiag("schedule", "list", "--json").json["schedules"] == []


def test_a_report_that_waits_for_nothing_says_that_nothing_is_lost(offdiag: Command) -> None:
    answer = offdiag("report", "now", "once", "--dataset", "clinic", "--timeout", "0")

    assert answer.code == 1
    assert "nothing is lost" in answer.err
    assert offdiag("report", "export", "once").code == 2


def test_jobs_show_what_was_given_up_and_try_it_again(offdiag: Command) -> None:
    offdiag("report", "now", "once", "--dataset", "clinic", "--email", "ana@example.org")

    (dead,) = offdiag("jobs", "list", "--json").json["jobs"]
    for_people = offdiag("jobs", "list")
    retried = offdiag("jobs", "retry", str(dead["id"]), "--json").json
    (waiting,) = offdiag("jobs", "list", "--json").json["jobs"]

    assert (dead["state"], dead["task"]) == ("dead", "deliver")
    assert "Set smtp.host and smtp.sender" in dead["error"]
    assert dead["about"] == "default/once #1, e-mail ana@example.org"
    assert dead["about"] in for_people.out
    assert "0 to be retried, 1 failed" in for_people.out
    assert "dead" not in for_people.out
    assert retried == {"id": waiting["id"]}
    assert waiting["state"] == "queued"


def test_retrying_needs_one_job_or_all_of_them(offdiag: Command) -> None:
    assert offdiag("jobs", "retry").code == 2
    assert offdiag("jobs", "retry", "1", "--all").code == 2
    assert offdiag("jobs", "retry", "999").err.startswith("offdiag: job: there is no job 999")
    assert offdiag("jobs", "retry", "--all").out == "0 queued again.\n"

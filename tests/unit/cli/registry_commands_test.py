"""`log`, `runs` and `db`: from a file into the registry and out of it again."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from offdiag.services.jobs.kinds import TASKS
from offdiag.settings import load_settings
from offdiag.store.database import Database
from offdiag_workers.loop import run_worker

Command = Callable[..., Any]
Filled = Callable[[Callable[..., Any]], Any]

PREDICTIONS = "id,y_true,y_pred,p\nx1,ill,ill,0.9\nx2,ill,well,0.2\nx3,well,well,0.1\n"


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


def work_off(folder: Path) -> None:
    database = Database(f"sqlite:///{folder / 'offdiag.db'}")
    run_worker(database, load_settings().jobs, stop=threading.Event(), until_idle=True)
    database.close()


@pytest.mark.usefixtures("no_registry")
def test_a_registry_that_is_created_is_named(offdiag: Command, folder: Path) -> None:
    """In another folder than their registry, users would look for their runs in vain."""
    first, again = offdiag("runs", "list"), offdiag("runs", "list")

    assert f"A new registry was created: {folder / 'offdiag.db'}." in first.err
    assert "OFFDIAG_URL or --url names another" in first.err
    assert (first.code, first.out, again.err) == (0, again.out, "")


@pytest.fixture
def logged(filled: Filled) -> str:
    """Id of a run logged from a file."""
    return str(filled(log_first))


def log_first(folder: Path, offdiag: Command) -> str:
    file = write(folder, "p.csv", PREDICTIONS)
    answer = offdiag(
        *("log", file, "--name", "first", "--dataset", "clinic", "--id", "id", "--score", "p"),
        *("--positive", "ill", "--param", "lr=0.1", "--param", "seed=007", "--tag", "team=a"),
        *("--model", "rules", "--json"),
    )
    assert answer.code == 0, answer.err
    return str(answer.json["id"])


def test_a_logged_run_is_listed_and_shown(offdiag: Command, logged: str) -> None:
    shown = offdiag("runs", "show", logged, "--json").json
    listed = offdiag("runs", "list", "--json").json["runs"]
    for_people = offdiag("runs", "show", logged)

    assert [run["id"] for run in listed] == [logged]
    assert listed[0]["state"] == "evaluated"
    assert shown["params"] == {"lr": 0.1, "seed": "007"}
    assert shown["tags"] == {"team": "a"}
    assert shown["model"] == "rules"
    assert shown["state"] == "evaluated"
    assert shown["confusion_matrix"]["matrix"] == [[1, 1], [0, 1]]
    assert shown["confusion_matrix"]["labels"] == ["ill", "well"]
    assert listed[0]["worst_class"]["label"] == "ill"
    assert listed[0]["worst_class"]["recall"]["value"] == 0.5
    assert "actual ↓  predicted →" in for_people.out
    assert 'lr=0.1, seed="007"' in for_people.out


def test_blanks_around_an_equals_sign_belong_to_no_name(folder: Path, offdiag: Command) -> None:
    file = write(folder, "p.csv", PREDICTIONS)
    blanks = ("--tag", "team = a", "--tag", " kind=b", "--param", "lr = 0.1", "--param", "sep= ")

    logged = offdiag("log", file, "--name", "first", "--dataset", "d", *blanks, "--json").json
    shown = offdiag("runs", "show", logged["id"], "--json").json

    assert shown["tags"] == {"team": "a", "kind": "b"}
    assert shown["params"] == {"lr": 0.1, "sep": " "}


def test_tags_whose_digits_are_no_number_stay_text(folder: Path, offdiag: Command) -> None:
    """1.10 is not the version 1.1, and 12e4 the beginning of a commit."""
    file = write(folder, "p.csv", PREDICTIONS)
    tags = {"version": "1.10", "commit": "12e4", "seed": 1, "lr": 0.5, "draft": True}

    logged = offdiag(
        *("log", file, "--name", "first", "--dataset", "clinic", "--json"),
        *(part for name, value in tags.items() for part in ("--tag", f"{name}={value}")),
        *("--tag", "final=true", "--param", "lr=1e-3"),
    ).json
    shown = offdiag("runs", "show", logged["id"], "--json").json

    assert shown["tags"] == {**tags, "draft": "True", "final": True}
    assert shown["params"] == {"lr": 0.001}


@pytest.mark.usefixtures("logged")
def test_a_filter_with_a_number_that_a_metric_cannot_have_is_noted(offdiag: Command) -> None:
    found = offdiag("runs", "list", "--filter", "metrics.accuracy < 80", "--json")

    assert "Write 80 % as 0.8." in found.err
    assert len(found.json["runs"]) == 1


def test_a_list_says_how_many_runs_are_not_evaluated_where_they_are_many(
    offdiag: Command, logged: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("offdiag.services.evaluation.pending.MOST_AT_ONCE", 0)

    listed = offdiag("runs", "list", "--json")

    assert listed.json["runs"][0]["state"] == "finished"
    assert listed.err == "1 run is not evaluated. Run: offdiag worker --until-idle\n"
    assert offdiag("flags", "list").err == listed.err
    shown = offdiag("runs", "show", logged)
    assert shown.err == listed.err
    assert "not yet; `offdiag worker` evaluates" in shown.out


def test_a_worker_until_idle_does_what_is_due_and_ends(offdiag: Command, logged: str) -> None:
    done = offdiag("worker", "--until-idle")

    assert (done.code, done.out) == (0, "Jobs done: 1, failed: 0.\n")
    assert offdiag("runs", "show", logged, "--json").json["state"] == "evaluated"
    assert offdiag("worker", "--until-idle").out == "Jobs done: 0, failed: 0.\n"


WITHOUT_SERVER = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"structlog", "apscheduler", "flask", "jinja2", "waitress"}:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Missing())
sys.argv = ["offdiag", "worker", "--until-idle"]
from offdiag.cli import main
main()
"""


def test_a_worker_until_idle_needs_no_library_of_a_server(folder: Path, logged: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_SERVER],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "Jobs done: 1, failed: 0.\n"), done.stderr


def test_a_worker_until_idle_ends_with_1_where_a_job_failed(
    offdiag: Command, logged: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> NoReturn:
        raise RuntimeError("out of order")

    task = replace(TASKS["evaluate"], compute=broken)
    monkeypatch.setitem(TASKS, "evaluate", task)

    done = offdiag("worker", "--until-idle")

    assert done.code == 1
    assert done.out.startswith("Jobs done: 0, failed: 1.\n")
    assert "offdiag jobs list" in done.out


def test_the_same_key_logs_once(folder: Path, offdiag: Command) -> None:
    file = write(folder, "p.csv", PREDICTIONS)
    call = ("log", file, "--name", "n", "--dataset", "d", "--key", "k", "--json")

    assert offdiag(*call).json["id"] == offdiag(*call).json["id"]


def test_truth_may_be_left_out_where_the_dataset_has_it(folder: Path, offdiag: Command) -> None:
    with_truth = write(folder, "p.csv", PREDICTIONS)
    without = write(folder, "q.csv", "id,y_pred\nx3,ill\nx1,ill\nx2,ill\n")
    first = offdiag("log", with_truth, "--name", "a", "--dataset", "d", "--id", "id")
    assert first.code == 0

    answer = offdiag(
        "log", without, "--name", "b", "--dataset", "d", "--id", "id", "--no-true", "--json"
    )
    work_off(folder)

    shown = offdiag("runs", "show", answer.json["id"], "--json").json
    assert shown["confusion_matrix"]["matrix"] == [[2, 0], [1, 0]]


def test_a_matrix_is_logged_with_its_orientation(folder: Path, offdiag: Command) -> None:
    file = write(folder, "m.csv", ",a,b\na,5,1\nb,2,7\n")
    call = ("log", file, "--matrix", "--name", "m", "--dataset", "d", "--json")

    refused = offdiag(*call)
    stated = (*call, "--orientation", "actual_columns")
    twice = offdiag(*stated, "--reported", "mcc=1", "--reported", "mcc=0")
    logged = offdiag(*stated).json["id"]
    work_off(folder)

    shown = offdiag("runs", "show", logged, "--json").json
    assert refused.code == 2
    assert "orientation" in refused.err
    assert (twice.code, "'mcc' is given twice" in twice.err) == (2, True)
    assert shown["orientation"]["source"] == "actual_columns"
    assert shown["confusion_matrix"]["matrix"] == [[5, 2], [1, 7]]


def test_a_refused_file_leaves_no_run_behind(folder: Path, offdiag: Command) -> None:
    file = write(folder, "p.csv", PREDICTIONS)

    for arguments, says in (
        (["--score", "p"], "positive_label"),
        (["--param", "lr"], "'lr' is not a pair"),
        (["--tag", "team=a", "--tag", "team=b"], "'team' is given twice"),
        (["--param", "=1"], "the name is empty"),
    ):
        answer = offdiag("log", file, "--name", "n", "--dataset", "d", *arguments)
        assert answer.code == 2
        assert says in answer.err
    assert offdiag("runs", "list", "--json").json == {
        "runs": [],
        "n_without_slices": 0,
        "n_weighted": 0,
    }


def test_runs_are_narrowed_sorted_and_limited(folder: Path, offdiag: Command) -> None:
    good = write(folder, "good.csv", "y_true,y_pred\na,a\nb,b\n")
    bad = write(folder, "bad.csv", "y_true,y_pred\na,b\nb,a\n")
    for name, file, dataset in (("x", good, "d"), ("y", bad, "d"), ("z", good, "other")):
        offdiag("log", file, "--name", name, "--dataset", dataset)
    work_off(folder)

    def names(*arguments: str) -> list[str]:
        listed = offdiag("runs", "list", "--json", *arguments).json["runs"]
        return [run["name"] for run in listed]

    assert names("--sort", "name") == ["x", "y", "z"]
    assert names("--sort", "-name", "--limit", "2") == ["z", "y"]
    assert names("--dataset", "d", "--sort", "-acc") == ["x", "y"]
    assert names("--dataset", "d", "--sort", "acc") == ["y", "x"]
    assert names("--dataset", "d", "--sort", "-f1_macro") == ["x", "y"]
    assert names("--dataset", "d", "--sort", "attributes.name") == ["x", "y"]
    assert names("--project", "nothing") == []
    assert names("--filter", "metrics.overall_accuracy > 0.5", "--sort", "name") == ["x", "z"]
    assert names("--filter", "attributes.name in ('x', 'y')", "--dataset", "d") == ["y", "x"]
    assert names("--filter", "acc > 0.5", "--sort", "name") == ["x", "z"]
    cut, whole = offdiag("runs", "list", "--limit", "2"), offdiag("runs", "list", "--limit", "3")
    assert "More runs match; these are the first 2." in cut.err
    assert "More runs" not in whole.err
    refused = offdiag("runs", "list", "--filter", "age > 1")
    assert refused.code == 2
    assert "--filter: " in refused.err
    assert "age" in refused.err


def test_an_unknown_order_and_an_unknown_run_are_refused(offdiag: Command) -> None:
    unsorted, missing = offdiag("runs", "list", "--sort", "age"), offdiag("runs", "show", "r_x")

    assert unsorted.code == missing.code == 2
    assert "--sort: " in unsorted.err
    assert "age" in unsorted.err
    assert "there is no run 'r_x'" in missing.err


@pytest.mark.usefixtures("no_registry")
def test_a_database_is_created_and_checked(folder: Path, offdiag: Command) -> None:
    before = offdiag("db", "check", "--json")
    upgraded = offdiag("db", "upgrade")
    after = offdiag("db", "check", "--json")
    again = offdiag("db", "upgrade")

    assert (before.code, before.json["is_current"]) == (1, False)
    assert upgraded.code == 0
    assert "is current now" in upgraded.out
    assert (after.code, after.json["current"]) == (0, after.json["head"])
    assert "was current already" in again.out


def test_a_file_that_is_no_database_is_refused_by_every_verb(
    folder: Path, offdiag: Command
) -> None:
    write(folder, "other.txt", "no database\n" * 100)
    url = f"sqlite:///{folder / 'other.txt'}"
    file = write(folder, "p.csv", PREDICTIONS)

    for arguments in (
        ["runs", "list"],
        ["runs", "show", "r_x"],
        ["db", "check"],
        ["db", "upgrade"],
        ["worker"],
        ["serve"],
        ["demo", "--no-serve"],
        ["log", file, "--name", "n", "--dataset", "d"],
    ):
        answer = offdiag(*arguments, "--url", url)

        assert answer.code == 2, arguments
        assert "other.txt" in answer.err
        assert answer.err.count("\n") == 1

"""Metrics of a team's own, found by an entry point, from the log of a run to its pages.

Metrics are declared once in a process, so each part runs in one of its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from offdiag.cli.commands import run
from support.once_for_all import made_once

PAGE = Path(__file__).parents[2] / "docs/custom-metrics.md"
"""Its module declares `f2_ill`, `confident` and `lowest_recall`; the one below declares others."""
MODULE = """
import os
import numpy as np
import offdiag

VERSION = int(os.environ.get("TEAM_VERSION", "1"))

@offdiag.metric(title="Weighted F1 again", low=0, high=1, direction="higher")
def weighted_f1_again(m: offdiag.MatrixInput) -> float:
    f1 = 2 * np.diagonal(m.counts) / (m.actual + m.predicted)
    return (f1 * m.actual).sum() / m.total

@offdiag.metric(title="MCC again", low=-1, high=1, direction="higher", version=VERSION)
def mcc_again(m: offdiag.MatrixInput) -> float:
    right = np.trace(m.counts)
    chance = (m.actual * m.predicted).sum()
    spread = (m.total**2 - (m.actual**2).sum()) * (m.total**2 - (m.predicted**2).sum())
    return (right * m.total - chance) / np.sqrt(spread)

@offdiag.metric(title="Errors", low=0, high=1e9, direction="lower")
def n_errors(m: offdiag.MatrixInput) -> float:
    return m.total - np.trace(m.counts)

@offdiag.metric(title="Broken", low=0, high=1, direction="lower")
def broken(m: offdiag.MatrixInput) -> float:
    raise RuntimeError("not today")

@offdiag.metric(title="Micro F1 again", low=0, high=1, direction="higher", of="multilabel")
def micro_f1_again(m: offdiag.MultilabelInput) -> float:
    tp, fn, fp = m.true_positives.sum(), m.false_negatives.sum(), m.false_positives.sum()
    assert len(m.labels) == len(m.true_negatives)
    return 2 * tp / (2 * tp + fn + fp)
"""

LOG = """
import json
import numpy as np
import offdiag

rng = np.random.default_rng(5)
actual = np.where(rng.random(400) < 0.3, "ill", "well")
told = {}
for name, shift in (("plain", 0.0), ("focal", 0.15)):
    score = np.where(actual == "ill", 0.6, 0.3) + shift + rng.normal(0, 0.2, 400)
    score = np.clip(score, 0, 1).round(1)
    plain = score if name == "plain" else plain
    offdiag.log_run(
        y_true=actual,
        y_pred=np.where(score > 0.5, "ill", "well"),
        y_score=score,
        positive_label="ill",
        labels=["well", "ill"],
        name=name,
        dataset="ward",
    )
offdiag.evaluate_pending()
evaluation = offdiag.get_run("plain").evaluation()
told["aggregate"] = {key: value.to_dict() for key, value in evaluation.aggregate.items()}
metrics = offdiag.compare(["plain", "focal"]).metrics
told["differences"] = metrics[["difference", "ci_low", "ci_high"]].to_dict("index")
several = []
for name, share in (("first", 0.9), ("second", 0.85), ("third", 0.6)):
    predicted = np.where(np.random.default_rng(1).random(400) < share, actual, "well")
    several.append(offdiag.log_run(y_true=actual, y_pred=predicted, name=name, dataset="trials"))
    several[-1].evaluation()
metrics = offdiag.compare(several).metrics.swaplevel()
told["of several"] = metrics.loc["C", ["behind", "ci_low", "ci_high"]].to_dict("index")
for run in several:
    run.delete()
told["found"] = sorted(offdiag.search_runs("metrics.f2_ill > 0")["name"])
score = [0.05, 0.95, 0.4]
alone = offdiag.evaluate_scores(y_true=["well", "ill", "ill"], y_score=score, positive_label="ill")
told["sure"] = alone.aggregate["confident"].value
weighted = offdiag.evaluate_labels(
    y_true=["ill", "well"], y_pred=["ill", "ill"], sample_weight=[0.5, 1.5]
)
told["weighted"] = weighted.aggregate["f2_ill"].value

import pandas
frame = {"y": actual, "yhat": actual, "p": plain}
facts = {"score": "p", "positive_label": "ill", "dataset": "binned", "keep_predictions": False}
found = offdiag.log_frame(pandas.DataFrame(frame), name="counted", **facts).evaluation()
told["counted"] = [found.aggregate["confident"].value, found.aggregate["confident"].reason]

sets = rng.random((300, 4)) < 0.3
guessed = sets ^ (rng.random((300, 4)) < 0.1)
for name, group in (("one", "a"), ("two", "a"), ("three", "b"), ("four", "b")):
    facts = {"labels": ["p", "q", "r", "s"], "tags": {"group": group, "seed": name}}
    run = offdiag.log_run(y_true=sets, y_pred=guessed, dataset="tags", name=name, **facts)
evaluation = run.evaluation()
told["sets"] = {
    key: evaluation.aggregate[key].to_dict()
    for key in ("micro_f1", "micro_f1_again", "lowest_recall")
}
own = offdiag.evaluate_multilabel(y_true=sets, y_pred=guessed)
told["own"] = own.aggregate["micro_f1_again"].value
offdiag.evaluate_pending()
told["methods"] = offdiag.methods(dataset="tags", metric="micro_f1_again")["mean"].tolist()
"""
PAGES = """
import logging, os
from offdiag.logs import log_to_stderr
from offdiag.settings import Settings
from offdiag.store.schema import open_database
from offdiag_web import create_app

log_to_stderr(logging.WARNING)
client = create_app(Settings(), open_database(os.environ["OFFDIAG_URL"])).test_client()

def page(path):
    return client.get(path, base_url="http://127.0.0.1:8642").get_data(True)

listed = client.get("/api/v1/runs", base_url="http://127.0.0.1:8642").json["runs"]
ids = {run["name"]: run["id"] for run in listed}
runs = f"/runs/{ids['plain']}"
glossary = page("/glossary/f2_ill")
shown = (page(runs), page("/runs?q=dataset:ward&columns=f2_ill"), glossary)
told["named"] = ["F2 of ill" in each for each in shown]
told["named of sets"] = "Micro F1 again" in page(f"/runs/{ids['one']}")
told["over rates"] = "over both rates" in glossary
"""
COMMANDS = """
import contextlib, io, json, sys
from offdiag.cli.commands import run

def said(line):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = run(line.split())
    return code, out.getvalue()

told["commands"] = [said(line) for line in sys.argv[1:]]
print(json.dumps(told))
"""
OUTDATED = "recompute --outdated"
OF_ILL = (
    "runs list --sort -f2_ill --json",
    "gate plain --min low(f2_ill)>=0.1",
    "leaders ward --metric f2_ill",
)
UNDEFINED = "gate plain --min broken<=1"
METHODS = "methods tags --metric micro_f1_again"
OF_SETS = (
    "gate one --min low(micro_f1_again)>=0.5",
    "leaders tags --metric micro_f1_again",
    "compare one two",
    METHODS,
)


class Team:
    """A folder with a registry, and a distribution that declares metrics."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"sqlite:///{folder / 'registry.db'}"
        self.module = folder / "installed" / "team_metrics.py"

    @classmethod
    def new(cls, folder: Path, migrated_file: Path) -> Team:
        """A team in an empty folder."""
        team = cls(folder)
        shutil.copy(migrated_file, folder / "registry.db")
        about = folder / "installed" / "team_metrics-1.0.dist-info"
        about.mkdir(parents=True)
        about.joinpath("METADATA").write_text("Name: team-metrics\nVersion: 1.0\n")
        about.joinpath("entry_points.txt").write_text(
            "[offdiag.metrics]\npage = page_metrics\nteam = team_metrics\n"
        )
        team.module.write_text(MODULE)
        block = re.search(r"```py\n(.+?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert block is not None
        team.module.with_name("page_metrics.py").write_text(block[1])
        return team

    def run(self, *words: str, version: int = 1) -> subprocess.CompletedProcess[str]:
        environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("OFFDIAG_")},
            "OFFDIAG_URL": self.url,
            "PYTHONPATH": str(self.module.parent),
            "TEAM_VERSION": str(version),
        }
        return subprocess.run(
            [sys.executable, *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
            cwd=self.folder,
            env=environment,
        )

    def said(self, *lines: str, version: int) -> str:
        """The output of commands that are run one after the other in one process."""
        done = self.run("-c", "told = {}" + COMMANDS, *lines, version=version)
        assert done.returncode == 0, done.stderr
        return "".join(text for _, text in json.loads(done.stdout)["commands"])


@pytest.fixture(scope="module")
def shared(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what a team said, and with its registry, which one test changes."""

    def make(folder: Path) -> None:
        lines = (*OF_ILL, UNDEFINED, *OF_SETS, OUTDATED)
        done = Team.new(folder, migrated_file).run("-c", LOG + PAGES + COMMANDS, *lines)
        assert done.returncode == 0, done.stderr
        assert "metric broken failed: RuntimeError: not today" in done.stderr
        found = json.loads(done.stdout)
        said = dict(zip(lines, found["commands"], strict=True))
        folder.joinpath("told.json").write_text(json.dumps({**found, "commands": said}))

    return made_once(tmp_path_factory, "metrics of a team", make)


@pytest.fixture(scope="module")
def told(shared: Path) -> Any:
    return json.loads(shared.joinpath("told.json").read_text())


def test_values_and_intervals_are_those_of_the_same_metric_in_the_catalogue(told: Any) -> None:
    ours, theirs = (told["aggregate"][key] for key in ("weighted_f1_again", "weighted_f1"))

    assert ours["value"] == pytest.approx(theirs["value"], rel=1e-12)
    assert ours["ci_low"] == pytest.approx(theirs["ci_low"], rel=1e-12)
    assert ours["ci_high"] == pytest.approx(theirs["ci_high"], rel=1e-12)


def test_differences_of_runs_are_tested_like_those_of_the_catalogue(told: Any) -> None:
    ours, theirs = (told["differences"][key] for key in ("mcc_again", "mcc"))

    assert ours["difference"] == pytest.approx(theirs["difference"], rel=1e-9)
    assert (ours["ci_low"], ours["ci_high"]) == pytest.approx(
        (theirs["ci_low"], theirs["ci_high"]), rel=1e-4
    )


def test_differences_of_counts_are_those_of_their_shares(told: Any) -> None:
    errors, accuracy = (told["differences"][key] for key in ("n_errors", "overall_accuracy"))

    assert errors["difference"] == pytest.approx(-400 * accuracy["difference"])
    # The interval of the accuracy is Newcombe's, which is hardly another one.
    assert (errors["ci_low"], errors["ci_high"]) == pytest.approx(
        (-400 * accuracy["ci_high"], -400 * accuracy["ci_low"]), rel=0.05
    )

    errors, accuracy = (told["of several"][key] for key in ("n_errors", "overall_accuracy"))
    assert (errors["behind"], errors["ci_low"], errors["ci_high"]) == pytest.approx(
        (-400 * accuracy["behind"], -400 * accuracy["ci_high"], -400 * accuracy["ci_low"]),
        rel=0.02,  # Declared metrics allow for unseen hits of a class, which shares do not.
    )


def test_a_failing_metric_is_undefined_and_spoils_nothing(told: Any) -> None:
    assert told["aggregate"]["broken"]["value"] is None
    assert told["aggregate"]["broken"]["reason"] == "custom_metric_failed"
    assert 0 < told["aggregate"]["f2_ill"]["value"] < 1


def test_intervals_are_of_as_many_samples_as_there_are(told: Any) -> None:
    """With two classes, drawn matrices count parts of samples, which a function is not given."""
    errors, accuracy = told["aggregate"]["n_errors"], told["aggregate"]["overall_accuracy"]

    assert errors["value"] == pytest.approx(400 * (1 - accuracy["value"]))
    assert errors["ci_low"] == pytest.approx(400 * (1 - accuracy["ci_high"]), rel=0.1)
    assert errors["ci_high"] == pytest.approx(400 * (1 - accuracy["ci_low"]), rel=0.1)


def test_metrics_of_scores_have_resampled_intervals(told: Any) -> None:
    sure = told["aggregate"]["confident"]

    assert sure["ci_low"] < sure["value"] < sure["ci_high"]
    assert told["sure"] == pytest.approx(2 / 3)


def test_functions_of_binned_scores_are_undefined(told: Any) -> None:
    assert told["counted"] == [None, "forecasts_in_cells"]


def test_functions_of_label_tables_have_values_and_intervals(told: Any) -> None:
    ours, theirs = (told["sets"][key] for key in ("micro_f1_again", "micro_f1"))

    assert ours["value"] == pytest.approx(theirs["value"], rel=1e-12)
    assert ours["ci_low"] == pytest.approx(theirs["ci_low"], abs=0.01)
    assert ours["ci_high"] == pytest.approx(theirs["ci_high"], abs=0.01)
    assert 0 < told["sets"]["lowest_recall"]["value"] < 1
    assert told["own"] == ours["value"]
    assert told["methods"] == [ours["value"]] * 2


def test_weights_are_counted(told: Any) -> None:
    assert told["weighted"] == pytest.approx(5 * 0.5 / (4 * 0.5 + 2.0))


def test_filters_gates_and_lists_know_them(told: Any) -> None:
    said = told["commands"]

    assert told["found"] == ["focal", "plain"]
    assert [said[line][0] for line in (*OF_ILL, *OF_SETS)] == [0] * 7
    assert said[UNDEFINED][0] == 1
    assert "no paired test for micro_f1_again" in said[METHODS][1]
    assert "best by f2_ill" in said["leaders ward --metric f2_ill"][1]


def test_pages_show_them(told: Any) -> None:
    assert told["named"] == [True] * 3
    assert told["named of sets"]
    assert not told["over rates"]


def test_a_new_version_is_computed_again_and_a_process_without_them_lets_them_stand(
    shared: Path, told: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    team = Team(shared)
    assert "No run is outdated" in told["commands"][OUTDATED][1]
    assert run([*OUTDATED.split(), "--url", team.url]) == 0  # Here nobody knows them.
    assert "No run is outdated" in capfd.readouterr().out
    assert run(["verify", "--json", "--url", team.url]) == 0
    verified = json.loads(capfd.readouterr().out)
    assert verified["is_clean"]
    assert {finding["kind"] for finding in verified["findings"]} == {"unchecked"}
    assert "broken, confident, f2_ill" in verified["findings"][0]["sentence"]
    # One run is enough to be computed again.
    for name in ("focal", "counted", "one", "two", "three", "four"):
        assert run(["runs", "delete", name, "--url", team.url]) == 0
    raised = team.said(OUTDATED, "worker --until-idle", OUTDATED, version=2)

    assert "declared metrics have changed" in raised
    assert raised.rstrip().endswith("No run is outdated.")


def test_what_cannot_be_loaded_is_said_at_once(tmp_path: Path, migrated_file: Path) -> None:
    team = Team.new(tmp_path, migrated_file)
    team.module.write_text("import nothing_of_that_name")
    tmp_path.joinpath("g.csv").write_text("y_true,y_pred\na,a\nb,b\n")

    done = team.run("-c", "from offdiag.cli import main; main()", "evaluate", "g.csv")

    assert done.returncode == 2
    assert "cannot be loaded: No module named" in done.stderr

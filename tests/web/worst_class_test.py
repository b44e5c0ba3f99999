"""Of equally bad classes, every surface names the one with more samples."""

from __future__ import annotations

from click.testing import CliRunner

from offdiag.cli.commands import offdiag as commands
from offdiag.domain.values import MetricValue, worst_first
from offdiag.store.database import Database
from support.logging_runs import log, work_off
from support.pages import PageClient

ACTUAL = ["a"] * 2 + ["b"] * 4 + ["c"] * 6
PREDICTED = ["a", "c"] + ["b", "b", "c", "c"] + ["c"] * 6
"""Recall is 1 of 2 of a, and 2 of 4 of b."""


def test_of_equal_values_the_larger_class_comes_first_and_then_the_first() -> None:
    values = [MetricValue(0.5), MetricValue(None), MetricValue(0.5), MetricValue(0.2)]

    assert worst_first(values, [2, 9, 4, 1]) == [3, 2, 0, 1]
    assert worst_first(values, [4, 9, 4, 1]) == [3, 0, 2, 1]


def test_pages_lists_and_commands_name_the_same_worst_class(
    client: PageClient, database: Database
) -> None:
    run = log(database, y_true=ACTUAL, y_pred=PREDICTED)
    work_off(database)

    listed = client.json("/api/v1/runs")["runs"][0]["worst_class"]
    of_run = client.page(f"/runs/{run.id}?classes=recall").all("table", "data")[1]
    on_dataset = client.get("/datasets/holdout").text
    by_command = CliRunner().invoke(commands, ["runs", "list", "--url", database.url])

    assert (listed["label"], listed["support"]) == ("b", 4)
    assert "b 2/4" in on_dataset
    assert of_run.inside("tbody")[0].inside("tr")[0].children[0].text == "b"
    assert "b:" in by_command.output
    assert "a:" not in by_command.output

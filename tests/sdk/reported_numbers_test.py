"""Metrics that were published with a matrix: kept with the run, and audited against it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import offdiag
from offdiag.audit.findings import AuditVerdict
from offdiag.cli.commands import offdiag as command
from offdiag.store.database import Database
from support.optional import present
from support.pages import client_for
from support.registries import dashboard

MATRIX = [[9, 1], [3, 87]]
"""Accuracy .96, balanced accuracy .9333; recall of ill .9, of well .9667."""


def logged(url: str, reported: dict[str, Any], matrix: Any = MATRIX) -> offdiag.Run:
    return offdiag.log_matrix(
        matrix,
        orientation="actual_rows",
        labels=["ill", "well"],
        name="paper",
        dataset="screening",
        reported=reported,
        url=url,
    )


def test_numbers_that_follow_from_the_matrix_are_tags_as_they_were_printed(
    registry_url: str,
) -> None:
    run = logged(registry_url, {"accuracy": "0.960", "recall": {"ill": 0.9, "well": "96.7 %"}})

    assert run.tags == {
        "reported.accuracy": "0.960",
        "reported.recall[ill]": "0.9",
        "reported.recall[well]": "96.7 %",
    }
    report = present(run.reported())
    assert report.verdict is AuditVerdict.CONSISTENT
    assert [finding.claim.code for finding in report.findings] == [None, 0, 1]


@pytest.mark.parametrize(
    ("reported", "matrix", "verdict"),
    [
        ({"accuracy": "0.93"}, MATRIX, AuditVerdict.OTHER_DEFINITION),
        ({"accuracy": "0.91"}, MATRIX, AuditVerdict.IMPOSSIBLE),
        ({"recall": {"ill": "0.75", "well": "0.99"}}, MATRIX, AuditVerdict.TRANSPOSED),
    ],
)
def test_numbers_that_do_not_follow_are_told(
    registry_url: str, reported: dict[str, Any], matrix: Any, verdict: AuditVerdict
) -> None:
    report = present(logged(registry_url, reported, matrix).reported())

    assert report.verdict is verdict


def test_a_run_without_reported_numbers_has_no_audit(registry_url: str) -> None:
    run = logged(registry_url, {"accuracy": "0.96"})
    predictions = offdiag.log_run(
        y_true=["ill", "well"], y_pred=["ill", "ill"], name="n", dataset="d", url=registry_url
    )
    predictions.add_tags({"reported.by": "somebody"})

    assert predictions.reported() is None
    run.add_tags({"reported.by": "somebody"})
    report = present(run.reported())
    assert [finding.claim.name for finding in report.findings] == ["accuracy"]


@pytest.mark.parametrize(
    ("reported", "named"),
    [
        ({"acuracy": 0.9}, "acuracy"),
        ({"accuracy": "high"}, "high"),
        ({"recall": {"sick": 0.9}}, "sick"),
        ({"accuracy": {"ill": 0.9}}, "accuracy"),
    ],
)
def test_what_is_no_metric_or_number_is_refused_and_nothing_is_stored(
    registry_url: str, reported: dict[str, Any], named: str
) -> None:
    with pytest.raises(offdiag.InvalidInput, match="reported") as refused:
        logged(registry_url, reported)

    assert named in str(refused.value)
    assert len(offdiag.search_runs(url=registry_url)) == 0


def test_a_command_keeps_trailing_zeros_and_the_page_says_what_fits(
    sqlite_database: Database, tmp_path: Path
) -> None:
    file = tmp_path / "matrix.json"
    file.write_text(json.dumps({"labels": ["ill", "well"], "matrix": MATRIX}))
    words = ("log", str(file), "--orientation", "actual_rows", "--name", "n", "--dataset", "d")
    numbers = ("--reported", "accuracy=0.930", "--reported", "recall[ill]=0.90")

    answer = CliRunner().invoke(
        command, [*words, *numbers, "--url", sqlite_database.url, "--json"]
    )

    run = offdiag.get_run(json.loads(answer.stdout)["id"], url=sqlite_database.url)
    assert run.tags["reported.accuracy"] == "0.930"
    run.evaluate()
    said = client_for(dashboard(sqlite_database)).page(f"/runs/{run.id}").one("details", "callout")
    assert "Reported: Accuracy 0.930 does not come from this matrix" in said.text

"""Stored bytes that cannot be decoded are reported as damage, with the run and the way out."""

from __future__ import annotations

import html

import numpy as np
import pytest
from click.testing import CliRunner
from sqlalchemy import Update, text, update
from structlog.testing import capture_logs

from offdiag.cli.commands import offdiag as commands
from offdiag.errors import DamagedData
from offdiag.services.datasets import browse_mapped_runs
from offdiag.services.evaluation.recompute import recompute_runs
from offdiag.services.verification.checks import FindingKind
from offdiag.services.verification.verify import verify
from offdiag.store.database import Database
from offdiag.store.models import ConfusionMatrixRow, PredictionChunkRow
from support.logging_runs import log, upload_matrix, work_off
from support.pages import PageClient

WAY_OUT = "`offdiag verify` names all damage; `offdiag db restore FILE` restores a backup."


@pytest.mark.parametrize(
    ("change", "path", "what"),
    [
        (
            update(ConfusionMatrixRow).values(cells=b"x"),
            "",
            "Matrix of run {}: stored data is damaged: 1 bytes are too few for a header.",
        ),
        (
            update(PredictionChunkRow).values(dtype="u9"),
            "/examples",
            "of run {}: stored data is damaged: 'u9' is not a type of codes",
        ),
    ],
)
def test_the_run_and_the_way_out_are_named_and_the_cause_is_logged(
    client: PageClient,
    database: Database,
    change: Update,
    path: str,
    what: str,
) -> None:
    run = log(database)
    work_off(database)
    with database.write() as session:
        session.execute(change)
    said = what.format(run.id)

    with capture_logs() as logs:
        page = client.get(f"/runs/{run.id}{path}")
        found = client.get(f"/api/v1/runs/{run.id}{path or '/evaluation'}")
    by_command = CliRunner().invoke(
        commands, ["runs", "show", run.id, "--url", database.url], catch_exceptions=True
    )

    assert (page.status_code, found.status_code) == (500, 500)
    logged = [each["exc_info"] for each in logs if each["event"] == "damaged_data"]
    assert [type(each) for each in logged] == [DamagedData, DamagedData]
    assert f"of run {run.id}: stored data is damaged" in page.text
    error = found.get_json()["error"]
    assert (error["code"], error["hint"]) == ("damaged_data", WAY_OUT)
    assert said in error["message"]
    if not path:
        assert isinstance(by_command.exception, DamagedData)
    (finding,) = verify(database).findings[:1]
    assert finding.subject == run.id
    assert "stored data is damaged" in finding.sentence


def _scored(database: Database) -> str:
    """A run with scores and slices, by its id."""
    run = log(
        database,
        y_score=np.eye(3)[[0, 1, 1, 1, 2, 0]],
        labels=["a", "b", "c"],
        slices={"site": ["x", "y"] * 3},
    )
    work_off(database)
    return run.id


@pytest.mark.parametrize(
    ("change", "tab", "what"),
    [
        ("confusion_matrix SET digest = '0'", "", "its counts or labels are not those of its"),
        ("class_values SET data = x'00'", "", "1 bytes cannot hold"),
        ("class_values SET n_classes = 4", "", "they are of 4 classes, not of 3."),
        ("class_values SET reasons = '[]'", "", "name a reason that is not in their list."),
        ("class_values SET keys = '[\"recall\"'", "", "a value cannot be read (JSONDecodeError"),
        ('label_set SET names = \'["a", "b", "d"]\'', "", "its names are not those"),
        ("label_set SET names = '[\"a\"'", "", "a value cannot be read (JSONDecodeError"),
        ("label_set SET n_classes = 5", "", "its names are not those that were logged."),
        ("score_curve SET points = x'00'", "/curves", "1 bytes are too few to say"),
        ("score_curve SET n_positive = 9", "/curves", "stored data is damaged"),
        ("score_curve SET n_thresholds = 0", "/curves", "thresholds must descend."),
        ("slice_counts SET numbers = x'000000'", "/slices", "a value cannot be read (ValueError"),
        ("slice_counts SET columns = '[{}]'", "/slices", "a value cannot be read (KeyError"),
        ("truth_chunk SET codes = x'01'", "/examples", "there are 1 codes, not 6."),
        ("prediction_chunk SET codes = x'01'", "/examples", "there are 1 codes, not 6."),
        (
            "prediction_chunk SET codes = x'000109020000'",
            "/examples",
            "there is a code 9 with 3 classes.",
        ),
    ],
)
def test_damage_is_named_on_every_surface_and_found_by_verify(
    client: PageClient, database: Database, change: str, tab: str, what: str
) -> None:
    run_id = _scored(database)
    with database.write() as session:
        session.execute(text(f"UPDATE {change}"))

    page = client.get(f"/runs/{run_id}{tab}")
    found = client.get(f"/api/v1/runs/{run_id}{tab or '/evaluation'}")

    assert (page.status_code, found.status_code) == (500, 500), found.text
    assert "stored data is damaged" in page.text
    error = found.get_json()["error"]
    assert error["code"] == "damaged_data"
    assert what in error["message"]
    assert "`offdiag verify` names all damage" in error["hint"]
    assert not verify(database).is_clean


@pytest.mark.parametrize("names", ['["a"', "[]", "[1, 2, 3]"])
def test_damage_that_a_statement_finds_is_named(
    client: PageClient, database: Database, names: str
) -> None:
    _scored(database)
    with database.write() as session:
        session.execute(text("UPDATE label_set SET names = :names"), {"names": names})

    found = client.get("/api/v1/runs")

    assert found.get_json()["error"]["code"] == "damaged_data"


def test_damaged_results_are_computed_again(database: Database) -> None:
    run_id = _scored(database)
    with database.write() as session:
        session.execute(text("UPDATE confusion_matrix SET cells = x'00', digest = '0'"))
        session.execute(text("UPDATE class_values SET data = x'00'"))
    assert {each.kind for each in verify(database).findings} == {FindingKind.DRIFT}

    recompute_runs(database, [run_id])
    work_off(database)

    assert verify(database).is_clean


@pytest.mark.parametrize("path", ["/runs", "/runs/{}", "/api/v1/runs", "/api/v1/runs/{}"])
def test_a_verdict_that_is_none_is_named(
    client: PageClient, database: Database, path: str
) -> None:
    run = upload_matrix(database, [[3, 1], [0, 2]], ["a", "b"], orientation="actual_columns")
    with database.write() as session:
        session.execute(text("PRAGMA ignore_check_constraints = ON"))
        session.execute(text("UPDATE run SET orientation_verdict = 'canon'"))
        session.execute(text("PRAGMA ignore_check_constraints = OFF"))

    found = client.get(path.format(run.id))

    assert found.status_code == 500
    assert "a value cannot be read (ValueError" in html.unescape(found.text)
    assert run.id in [each.subject for each in verify(database).findings]


def test_changed_class_names_are_named_beside_slices_and_costs(
    client: PageClient, database: Database
) -> None:
    log(
        database,
        y_true=["n", "y"] * 3,
        y_pred=["n", "y", "n", "n", "y", "y"],
        slices={"site": ["x", "y"] * 3},
    )
    work_off(database)
    with database.write() as session:
        session.execute(text('UPDATE label_set SET names = \'["y", "n"]\''))
        dataset_id = session.execute(text("SELECT id FROM dataset")).scalar_one()

    found = client.get("/api/v1/runs", query_string={"filter": "recall[y]@site=x>=0"})
    with pytest.raises(DamagedData, match="names are not those"):
        browse_mapped_runs(database, dataset_id)

    assert found.get_json()["error"]["code"] == "damaged_data"


@pytest.mark.on_postgresql
@pytest.mark.parametrize("time", ["infinity", "-infinity"])
def test_a_time_that_python_cannot_have_is_named(
    client: PageClient, database: Database, time: str
) -> None:
    log(database)
    with database.write() as session:
        session.execute(text(f"UPDATE run SET created_at = '{time}'"))

    found = client.get("/api/v1/runs")

    assert found.get_json()["error"]["code"] == "damaged_data"

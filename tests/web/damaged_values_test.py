"""Stored bytes that cannot be decoded are reported as damage, with the run and the way out."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from sqlalchemy import Update, update

from offdiag.cli.commands import offdiag as commands
from offdiag.errors import DamagedData
from offdiag.services.verification.verify import verify
from offdiag.store.database import Database
from offdiag.store.models import ConfusionMatrixRow, PredictionChunkRow
from support.logging_runs import log, work_off
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
def test_the_run_and_the_way_out_are_named(
    client: PageClient, database: Database, change: Update, path: str, what: str
) -> None:
    run = log(database)
    work_off(database)
    with database.write() as session:
        session.execute(change)
    said = what.format(run.id)

    page = client.get(f"/runs/{run.id}{path}")
    found = client.get(f"/api/v1/runs/{run.id}{path or '/evaluation'}")
    by_command = CliRunner().invoke(
        commands, ["runs", "show", run.id, "--url", database.url], catch_exceptions=True
    )

    assert (page.status_code, found.status_code) == (500, 500)
    assert f"of run {run.id}: stored data is damaged" in page.text
    error = found.get_json()["error"]
    assert (error["code"], error["hint"]) == ("damaged_data", WAY_OUT)
    assert said in error["message"]
    if not path:
        assert isinstance(by_command.exception, DamagedData)
    (finding,) = verify(database).findings[:1]
    assert finding.subject == run.id
    assert "stored data is damaged" in finding.sentence

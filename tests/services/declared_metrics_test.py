"""Results of another version of a declared metric are outdated where that metric is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from offdiag.errors import EvaluationPending
from offdiag.services.evaluation.history import run_history
from offdiag.services.evaluation.pending import evaluate_pending
from offdiag.services.evaluation.recompute import recompute_stale
from offdiag.services.evaluation.results import evaluation_of
from offdiag.services.reports.snapshot import read_snapshot
from offdiag.settings import load_settings
from offdiag.store.database import Database
from support.gates import judged
from support.logging_runs import log, work_off
from support.reporting import SCOPE


def evaluated(database: Database) -> int:
    return evaluate_pending(database, load_settings().jobs, lambda *_: None).n_evaluated


def declare(monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    monkeypatch.setattr("offdiag.metrics.custom.custom_versions", lambda: {"f2_ill": version})


def test_pending_runs_are_those_of_an_older_definition_too(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    log(database)
    found = [evaluated(database), evaluated(database)]
    for version in (1, 2):
        declare(monkeypatch, version)
        found += [evaluated(database), evaluated(database)]
    monkeypatch.undo()

    assert found == [1, 0, 1, 0, 1, 0]
    assert evaluated(database) == 0, "this process does not know the metric"


def test_a_gate_in_a_file_has_the_definition_of_its_process(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = log(database)
    settings = load_settings().jobs

    def evaluation_id() -> int:
        return evaluation_of(database, run.id, timeout_s=60, settings=settings).id

    found = [evaluation_id(), evaluation_id()]
    for version in (1, 2):
        declare(monkeypatch, version)
        found += [evaluation_id(), evaluation_id()]
    monkeypatch.undo()

    assert found[::2] == found[1::2]
    assert len(set(found)) == 3
    assert evaluation_id() == found[-1], "this process does not know the metric"


def test_the_history_names_other_definitions(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = log(database)
    evaluated(database)
    for version in (1, 2):
        declare(monkeypatch, version)
        evaluated(database)

    history = run_history(database, run.id)

    assert [entry.differences for entry in history] == [(), *[("other declared metrics",)] * 2]


@pytest.mark.both_databases
def test_a_gate_judges_a_declared_metric_by_the_definition_of_its_process(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MCC takes the part of a declared metric here."""
    run = log(database)

    def declare_mcc(version: int) -> None:
        for place in ("metrics.custom", "services.gates.gate", "services.evaluation.results"):
            monkeypatch.setattr(f"offdiag.{place}.custom_versions", lambda: {"mcc": version})

    def work() -> None:
        recompute_stale(database)
        work_off(database)

    declare_mcc(1)
    work()
    assert judged(database, run.id, "mcc>=-1", timeout_s=0).passed
    declare_mcc(2)
    if database.dialect != "sqlite":
        said = "with the declared metrics of this process, mcc version 2"
        with pytest.raises(EvaluationPending, match=said) as refused:
            judged(database, run.id, "mcc>=-1", timeout_s=0)
        assert "install the modules of this process where they run" in str(refused.value.hint)
        assert judged(database, run.id, "recall[a]>=0", timeout_s=0).passed
        work()
    assert judged(database, run.id, "mcc>=-1", timeout_s=0).passed


def test_a_report_waits_for_runs_of_an_older_definition(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = log(database)
    work_off(database)
    scope = replace(SCOPE, project="default", dataset="holdout")

    def waiting() -> list[str]:
        with database.read() as session:
            found = read_snapshot(session, scope, since_truth=None, now=database.clock())
        return [each.id for each in found.waiting]

    assert waiting() == []
    declare(monkeypatch, 1)
    assert waiting() == [run.id]
    evaluated(database)
    assert waiting() == []
    declare(monkeypatch, 2)
    assert waiting() == [run.id]

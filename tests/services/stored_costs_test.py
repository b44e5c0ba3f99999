"""What errors cost is kept with evaluations, under the costs that count for the dataset."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from offdiag.domain.texts import CostName
from offdiag.errors import NotFound
from offdiag.metrics.costs.summary import COST_KEYS
from offdiag.services import cost_matrices
from offdiag.services.cost_matrices import add_costs, find_costs, set_default_costs
from offdiag.services.jobs.reconcile import reconcile
from offdiag.services.verification.verify import verify
from offdiag.store import evaluations
from offdiag.store.database import Database
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.models import EvaluationRow, MetricValueRow
from offdiag.store.run_page import read_run
from support.logging_runs import POLICY, evaluate, log, work_off
from support.reads import read

DEAR_B = {
    "a": {"a": 0, "b": 1, "c": 1},
    "b": {"a": 9, "b": 0, "c": 9},
    "c": {"a": 2, "b": 1, "c": 0},
}


def add(database: Database, name: str, factor: float = 1.0) -> None:
    add_costs(
        database,
        project="default",
        dataset="holdout",
        name=name,
        weights={
            actual: {predicted: factor * cost for predicted, cost in row.items()}
            for actual, row in DEAR_B.items()
        },
        currency="EUR",
    )


def judge_by(database: Database, name: str | None) -> None:
    wanted = None if name is None else CostName(name)
    set_default_costs(database, project="default", dataset="holdout", wanted=wanted)
    work_off(database)


def stored(database: Database, run_id: str) -> StoredEvaluation:
    with database.read() as session:
        found = evaluations.current_evaluation(session, run_id)
    assert found is not None
    return found


def test_costs_become_the_default_with_their_first_version_or_not_at_all(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = sqlite_database
    run = log(database)

    def save() -> None:
        dear = {
            actual: {each: 2 * cost for each, cost in row.items()}
            for actual, row in DEAR_B.items()
        }
        add_costs(
            database,
            project="default",
            dataset="holdout",
            name="dear",
            weights=dear,
            as_default=True,
        )

    with monkeypatch.context() as broken:
        broken.setattr(cost_matrices, "submit_evaluations", full_disk)
        with pytest.raises(OSError, match="disk"):
            save()
    with pytest.raises(NotFound):
        find_costs(database, project="default", wanted=CostName("dear"))

    save()
    assert evaluate(database, run.id).costs["total_cost"].value == 6.0
    # The same costs again are the same version, and stay the default.
    save()
    assert find_costs(database, project="default", wanted=CostName("dear")).version == 1


def full_disk(*_asked: object) -> int:
    raise OSError("the disk is full")


def test_costs_are_kept_with_the_evaluation_while_they_are_those_that_count(
    database: Database,
) -> None:
    run = log(database)
    assert evaluate(database, run.id).costs == {}
    assert read(database, read_run, run.id).results is not None
    assert read(database, read_run, run.id).results.costs is None  # type: ignore[union-attr]
    add(database, "visits")
    add(database, "dearer", 10.0)

    judge_by(database, "visits")
    before = stored(database, run.id)
    # One "a" was taken for "b", one "c" for "a".
    assert before.costs["total_cost"].value == 3.0
    assert before.costs["mean_cost"].value == 0.5
    assert before.costs["mean_cost"].ci_low is not None
    assert set(before.costs) == set(COST_KEYS)
    assert not set(before.aggregate) & set(COST_KEYS)

    judge_by(database, "dearer")
    after = stored(database, run.id)
    assert after.id == before.id
    assert after.costs["total_cost"].value == 30.0
    assert read(database, read_run, run.id).results.costs.name == "dearer"  # type: ignore[union-attr]

    judge_by(database, None)
    assert stored(database, run.id).costs == {}


@pytest.mark.both_databases
def test_the_sweep_asks_for_runs_that_were_judged_by_other_costs(database: Database) -> None:
    run = log(database)
    add(database, "visits")
    judge_by(database, "visits")
    with database.write() as session:
        session.execute(update(EvaluationRow).values(cost_matrix_id=None))

    reconcile(database, POLICY)
    work_off(database)

    assert stored(database, run.id).cost_matrix_id is not None


def test_changed_costs_are_found_by_verifying(database: Database) -> None:
    log(database)
    add(database, "visits")
    judge_by(database, "visits")
    assert verify(database).findings == ()
    with database.write() as session:
        session.execute(
            update(MetricValueRow).where(MetricValueRow.key == "total_cost").values(value=4.0)
        )

    found = verify(database).findings

    (finding,) = found
    now, stored = finding.sentence.split(", stored is ")
    assert now.startswith("total_cost is 3.0 [")
    assert stored == now.replace("total_cost is 3.0", "4.0") + "."

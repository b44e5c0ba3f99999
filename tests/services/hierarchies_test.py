"""Groups of classes belong to a dataset: given once, changed on purpose, kept in their order."""

from __future__ import annotations

import pytest

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts
from offdiag.services.datasets import hierarchy_of, set_hierarchy
from offdiag.services.ingest.dataset import project_and_dataset, require_hierarchy
from offdiag.store.database import Database
from offdiag.store.datasets import DatasetRecord
from support.logging_runs import evaluate, log

PLACE = {"project": "default", "dataset": "holdout"}
GIVEN = {"z first": ["c", "b"], "a last": ["a"]}


def settled(database: Database, given: object) -> DatasetRecord:
    with database.write() as session:
        dataset = project_and_dataset(
            session,
            project="default",
            name="holdout",
            labels=LabelSet.inferred_from("abc"),
            positive_label=None,
            now=database.clock(),
        )
        return require_hierarchy(session, dataset, given)


@pytest.mark.both_databases
def test_groups_are_kept_in_their_order(database: Database) -> None:
    log(database)

    set_hierarchy(database, **PLACE, given=GIVEN)

    found = hierarchy_of(database, **PLACE)
    assert found is not None
    assert found.to_dict() == GIVEN
    assert list(found.to_dict()) == ["z first", "a last"]


def test_what_a_log_says_first_is_kept_and_saying_it_again_is_nothing(
    database: Database,
) -> None:
    first = settled(database, GIVEN)

    assert first.hierarchy is not None
    assert settled(database, GIVEN) == first
    assert settled(database, None) == first


def test_groups_can_be_changed_and_taken_away_and_no_number_changes(
    database: Database,
) -> None:
    run = log(database, facts=RunFacts(name="run"))
    before = evaluate(database, run.id)
    set_hierarchy(database, **PLACE, given=GIVEN)

    changed = set_hierarchy(database, **PLACE, given={"both": ["a", "b"]})
    after = evaluate(database, run.id)
    gone = set_hierarchy(database, **PLACE, given=None)

    assert changed is not None
    assert changed.to_dict() == {"both": ["a", "b"]}
    assert gone is None
    assert hierarchy_of(database, **PLACE) is None
    assert (after.id, after.aggregate) == (before.id, before.aggregate)

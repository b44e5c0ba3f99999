"""What corrections did to runs: of one version, and of several together."""

from __future__ import annotations

import pytest

from offdiag.errors import InvalidInput, LabelNote
from offdiag.records.datasets.truth import impact_document
from offdiag.services.truth.impact import TruthImpact, truth_impact
from offdiag.store.database import Database
from support.archives import revise
from support.filled_once import filled_once
from support.logging_runs import ACTUAL, log, work_off
from support.optional import present

IDS = [1, 2, 3, 4, 5, 6]


def impact(database: Database, number: int, since: int | None = None) -> TruthImpact:
    return truth_impact(database, project="default", dataset="holdout", number=number, since=since)


def accuracies(found: TruthImpact) -> list[tuple[float | None, float | None]]:
    values = [moved.values_of("overall_accuracy") for moved in found.moved]
    return [(before.value, after.value) for before, after in values]


@pytest.fixture
@filled_once
def revised_twice(database: Database) -> Database:
    """A run that was right, whose truth was corrected away from it twice: 6, 5, then 4 of 6."""
    log(database, y_pred=ACTUAL, sample_ids=IDS)
    work_off(database)
    for sample in (1, 2):
        revise(database, {sample: "c"}, reason=f"look {sample}")
        work_off(database)
    return database


def test_one_version_is_compared_with_the_one_it_corrects(revised_twice: Database) -> None:
    found = impact(revised_twice, 3)

    assert (present(found.older).number, found.version.number) == (2, 3)
    assert accuracies(found) == [(5 / 6, 4 / 6)]
    assert len(present(found.difference)) == 1


@pytest.mark.both_databases
def test_several_versions_are_taken_together(revised_twice: Database) -> None:
    found = impact(revised_twice, 3, since=1)

    assert accuracies(found) == [(1.0, 4 / 6)]
    assert len(present(found.difference)) == 2
    assert impact_document(found).n_changed_labels == 2


def test_scores_in_between_belong_to_neither_side(database: Database) -> None:
    # Logged when the truth was at version 2 and evaluated there, so nothing is known of 1.
    log(database, y_pred=ACTUAL, sample_ids=IDS)
    revise(database, {1: "c"})
    work_off(database)
    revise(database, {2: "c"}, reason="third look")
    work_off(database)

    found = impact(database, 3, since=1)

    assert found.moved == ()
    assert [run.before for run in found.new] == [None]


def test_a_run_with_weights_has_no_place_and_takes_none(database: Database) -> None:
    log(database, y_pred=["a"] * 6, sample_ids=IDS)
    log(database, y_pred=ACTUAL, sample_ids=IDS, sample_weight=[1, 2, 1, 2, 1, 2])
    work_off(database)
    revise(database, {1: "c"})
    work_off(database)

    found = impact(database, 2)

    places = {moved.after.is_weighted: set(moved.places.values()) for moved in found.moved}
    assert places[True] == {(None, None)}
    assert places[False] <= {(1, 1), (None, None)}
    assert (1, 1) in places[False]


def test_a_version_must_come_from_the_other(revised_twice: Database) -> None:
    with pytest.warns(LabelNote, match="2 of its 6 samples"):
        log(revised_twice, y_true=ACTUAL[::-1], sample_ids=IDS)  # Version 4, of its own.
    cases: list[tuple[int, int]] = [(1, 3), (2, 2), (3, 4), (4, 1)]
    for number, since in cases:
        with pytest.raises(InvalidInput, match=f"version {number} does not come from version"):
            impact(revised_twice, number, since=since)

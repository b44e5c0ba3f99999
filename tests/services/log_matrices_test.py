"""An uploaded matrix states its orientation, and the statement is checked and recorded."""

from __future__ import annotations

from typing import Any

import pytest

from offdiag.domain.orientation import OrientationVerdict
from offdiag.domain.runs import RunFacts, Scalar
from offdiag.errors import Conflict, InvalidInput
from offdiag.services.ingest.batch import GivenMatrix
from offdiag.services.ingest.log_counts import log_matrix
from offdiag.services.run_notes import change_run
from offdiag.store.database import Database
from offdiag.store.runs import RunRecord
from support.logging_runs import evaluate, log

LABELS = ["a", "b", "c"]
CANONICAL = [[3, 1, 0], [0, 2, 0], [2, 0, 1]]
"""Actual classes 4, 2, 3; predicted 5, 3, 1."""
TRANSPOSED = [[3, 0, 2], [1, 2, 0], [0, 0, 1]]
SYMMETRIC_MARGINS = [[2, 1, 1], [1, 1, 0], [1, 0, 2]]


def upload(database: Database, **given: Any) -> RunRecord:
    arguments: dict[str, Any] = {
        "facts": RunFacts(name="uploaded"),
        "dataset": "holdout",
        "matrix": CANONICAL,
        "labels": LABELS,
        "orientation": "actual_rows",
    }
    arguments |= given
    facts, dataset = arguments.pop("facts"), arguments.pop("dataset")
    return log_matrix(database, facts=facts, dataset=dataset, given=GivenMatrix(**arguments))


def with_truth(database: Database) -> None:
    """Class counts a: 4, b: 2, c: 3."""
    truth = list("aaaabbccc")
    log(database, y_true=truth, y_pred=truth, labels=LABELS)


def verdict_of(run: RunRecord) -> str:
    assert run.orientation_evidence is not None
    verdict: str = run.orientation_evidence["verdict"]
    return verdict


@pytest.mark.parametrize(
    ("matrix", "orientation", "verdict"),
    [
        (TRANSPOSED, "actual_columns", OrientationVerdict.CANONICAL),
        (TRANSPOSED, "actual_rows", OrientationVerdict.TRANSPOSED),
        (SYMMETRIC_MARGINS, "actual_rows", OrientationVerdict.AMBIGUOUS),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], "actual_rows", OrientationVerdict.INCONSISTENT),
    ],
)
def test_the_margins_decide_and_the_evidence_is_kept(
    database: Database, matrix: list[list[int]], orientation: str, verdict: OrientationVerdict
) -> None:
    with_truth(database)

    run = upload(database, matrix=matrix, orientation=orientation)

    assert verdict_of(run) == verdict
    assert run.orientation_evidence is not None
    assert run.orientation_evidence["source"] == orientation
    assert list(run.orientation_evidence["class_counts"]) == [4, 2, 3]


@pytest.mark.parametrize(
    ("matrix", "orientation"), [(CANONICAL, "actual_rows"), (TRANSPOSED, "actual_columns")]
)
def test_both_orientations_are_evaluated_as_the_same_matrix(
    database: Database, matrix: list[list[int]], orientation: str
) -> None:
    run = upload(database, matrix=matrix, orientation=orientation)

    assert verdict_of(run) == OrientationVerdict.UNVERIFIED
    stored = evaluate(database, run.id)

    assert stored.matrix.counts.tolist() == CANONICAL
    assert stored.aggregate["n"].value == 9


def test_labels_are_matched_by_name_or_taken_from_the_dataset(database: Database) -> None:
    with_truth(database)
    reordered = [[1, 2, 0], [0, 3, 1], [0, 0, 2]]

    run = upload(database, matrix=reordered, labels=["c", "a", "b"])
    without = upload(database, labels=None)

    assert evaluate(database, run.id).matrix.counts.tolist() == CANONICAL
    assert verdict_of(run) == OrientationVerdict.CANONICAL
    assert evaluate(database, without.id).matrix.labels.names == ("a", "b", "c")
    with pytest.raises(Conflict, match="labels"):
        upload(database, labels=["a", "b", "x"])


def test_the_same_upload_with_its_client_key_is_one_run(database: Database) -> None:
    facts = RunFacts(name="uploaded", client_key="upload-1")

    first, second = upload(database, facts=facts), upload(database, facts=facts)

    assert first.id == second.id
    with pytest.raises(Conflict, match="holds another matrix"):
        upload(database, facts=facts, matrix=SYMMETRIC_MARGINS)


def test_reported_numbers_of_a_repeated_upload_are_not_dropped(database: Database) -> None:
    facts = RunFacts(name="uploaded", client_key="upload-1")
    run = upload(database, facts=facts, reported={"accuracy": "0.7"})

    assert upload(database, facts=facts, reported={"accuracy": "0.7"}).id == run.id
    for reported, said in (
        ({"accuracy": "0.8"}, r"has 0\.7 as reported\.accuracy, not 0\.8"),
        ({"f1": {"a": "0.8"}}, r"has none as reported\.f1\[a\], not 0\.8"),
    ):
        with pytest.raises(Conflict, match=said):
            upload(database, facts=facts, reported=reported)


@pytest.mark.parametrize("changed", [{"reported.accuracy": "0.71"}, {"team": "derm"}])
def test_an_upload_is_repeated_after_somebody_changed_its_reported_numbers(
    database: Database, changed: dict[str, Scalar]
) -> None:
    facts = RunFacts(name="uploaded", client_key="upload-1")
    run = upload(database, facts=facts, reported={"accuracy": "0.7"})
    change_run(database, run.id, tags=changed)

    again = upload(database, facts=facts, reported={"accuracy": "0.7"})

    assert again.id == run.id
    assert again.tags == changed
    with pytest.raises(Conflict, match=r"has (0\.71|none) as reported\.accuracy, not 0\.8"):
        upload(database, facts=facts, reported={"accuracy": "0.8"})


def test_a_number_that_was_corrected_on_both_sides_is_no_conflict(database: Database) -> None:
    facts = RunFacts(name="uploaded", client_key="upload-1")
    run = upload(database, facts=facts, reported={"accuracy": "0.7"})
    change_run(database, run.id, added_tags={"reported.accuracy": "0.71"})

    assert upload(database, facts=facts, reported={"accuracy": "0.71"}).id == run.id


def test_a_new_dataset_must_be_told_its_classes(database: Database) -> None:
    with pytest.raises(InvalidInput, match="its classes are unknown") as caught:
        upload(database, labels=None)

    assert caught.value.field == "labels"

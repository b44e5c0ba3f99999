"""Counts that were made elsewhere are a finished run, whose slices are known."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from offdiag.domain.orientation import OrientationVerdict
from offdiag.domain.runs import RunFacts, RunState
from offdiag.errors import Conflict, InvalidInput
from offdiag.inputs import counted_samples
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.services.ingest.batch import GivenCounts
from offdiag.services.ingest.log_counts import log_counts
from offdiag.services.retention.project_archives import export_project, import_project
from offdiag.services.verification.verify import verify
from offdiag.store.database import Database
from offdiag.store.models import CountedSamplesRow
from offdiag.store.runs import RunRecord
from support.logging_runs import evaluate, log, upload_matrix

KINDS: dict[str, Any] = {
    "actual": ["ill", "ill", "ill", "well", "well", "well"],
    "predicted": ["ill", "well", "ill", "well", "well", "ill"],
    "sizes": [10, 2, 5, 80, 40, 3],
    "slices": {
        "country": ["DE", "DE", "FR", "DE", "FR", "FR"],
        "mobile": [True, True, False, True, False, False],
    },
}


def count(
    database: Database, *, facts: RunFacts | None = None, dataset: str = "holdout", **given: Any
) -> RunRecord:
    return log_counts(
        database,
        facts=facts or RunFacts(name="counted"),
        dataset=dataset,
        given=GivenCounts(**({"counted_on": "duckdb"} | KINDS | given)),
    )


def evidence_of(run: RunRecord) -> dict[str, Any]:
    assert run.orientation_evidence is not None
    return dict(run.orientation_evidence)


def test_the_run_and_every_slice_have_the_matrix_of_their_cases(database: Database) -> None:
    run, plain = count(database), count(database, slices={})

    stored = evaluate(database, run.id)
    assert run.state is RunState.FINISHED
    assert run.n_predictions == stored.n_cases == 140
    assert stored.matrix.labels.names == ("ill", "well")
    assert stored.matrix.counts.tolist() == [[15, 2], [3, 120]]
    cases: list[tuple[str, list[list[int]]]] = [
        ("country=DE", [[10, 2], [0, 80]]),
        ("mobile=False", [[5, 0], [3, 40]]),
        ("mobile=True & country=DE", [[10, 2], [0, 80]]),
        ("mobile=True & country=FR", [[0, 0], [0, 0]]),
    ]
    for part, counts in cases:
        stored = evaluation_of_slice(database, run.id, part)

        assert stored.matrix.counts.tolist() == counts
        assert stored.n_cases == sum(map(sum, counts))
        assert evaluation_of_slice(database, run.id, part).id == stored.id
    for asked, part, why in (
        (run, "age=4", r"no slice column 'age'.*It has country, mobile"),
        (run, "country=US", "no sample has country 'US'"),
        (plain, "country=DE", "is a matrix without predictions"),
    ):
        with pytest.raises(InvalidInput, match=why):
            evaluation_of_slice(database, asked.id, part)
    # The orientation is known by construction.
    evidence = evidence_of(run)
    assert evidence["verdict"] == OrientationVerdict.CANONICAL
    assert evidence["counted_on"] == "duckdb"
    assert evidence["actual_margin"] == [17, 123]
    assert evidence["predicted_margin"] == [18, 122]


def test_kinds_that_are_the_same_as_text_are_one(database: Database) -> None:
    run = count(
        database,
        actual=[1, "1", "0"],
        predicted=["0", 0, 1],
        sizes=[1, 2, 4],
        slices={"site": [7, "7", "8"]},
    )

    assert evaluate(database, run.id).matrix.counts.tolist() == [[0, 4], [3, 0]]
    assert evaluation_of_slice(database, run.id, "site=7").matrix.total == 3


def test_margins_that_speak_against_it_are_heard(database: Database) -> None:
    log(database, y_true=["a", "b", "b"], y_pred=["a", "b", "b"], labels=["a", "b"])

    run = count(
        database, actual=["a", "a", "b"], predicted=["a", "b", "b"], sizes=[1] * 3, slices={}
    )

    assert evidence_of(run)["verdict"] == OrientationVerdict.TRANSPOSED


def test_labels_are_declared_or_those_of_the_dataset(database: Database) -> None:
    first = count(database, labels=["well", "ill", "dead"], positive_label=None)
    second = count(database)

    for run in (first, second):
        matrix = evaluate(database, run.id).matrix
        assert matrix.labels.names == ("well", "ill", "dead")
        assert matrix.actual.tolist() == [123, 17, 0]
    with pytest.raises(Conflict, match="has the labels"):
        count(database, labels=["ill", "well"])


def test_what_is_no_count_is_refused_and_nothing_is_stored(database: Database) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"labels": ["ill", "gone"]}, "actual: 'well' is not one of the 2 declared labels"),
        ({"predicted": ["ill"] * 5 + [0.5]}, "predicted: .* such as 0.5: .* scores"),
        ({"sizes": [1, 2, 3, 4, 5, 0]}, "sizes: there are no samples"),
        ({"sizes": [1, 2, 3, 4, 5, 0.5]}, "sizes: there are no samples"),
        ({"slices": {"country": ["DE"] * 5 + [None]}}, r"slices\['country'\]: None"),
        ({"ordinal": True}, "an order was claimed"),
    ]
    for given, message in cases:
        with pytest.raises(InvalidInput, match=message):
            count(database, **given)

    count(database, labels=["x", "ill", "well"])  # The dataset is still free.


def test_too_many_kinds_are_refused(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted_samples, "MAX_KINDS", 5)

    with pytest.raises(InvalidInput, match="slices: there are 6 combinations"):
        count(database)


def test_repeating_the_call_finds_the_run_in_whatever_order_kinds_come(
    database: Database,
) -> None:
    facts = RunFacts(name="counted", client_key="k")
    backwards: dict[str, Any] = {
        name: {each: values[::-1] for each, values in given.items()}
        if name == "slices"
        else given[::-1]
        for name, given in KINDS.items()
    }

    run = count(database, facts=facts)

    assert count(database, facts=facts, **backwards).id == run.id
    with pytest.raises(Conflict, match="which holds other counts"):
        count(database, facts=facts, sizes=[10, 2, 5, 80, 40, 4])


def test_without_slices_it_is_the_run_of_its_matrix(database: Database) -> None:
    run = count(database, slices={})
    uploaded = upload_matrix(database, [[15, 2], [3, 120]], None, dataset="holdout")

    assert run.content_digest == uploaded.content_digest


def test_verifying_sees_counts_that_were_changed(database: Database) -> None:
    run = count(database)
    evaluate(database, run.id)
    evaluation_of_slice(database, run.id, "country=DE")
    assert verify(database).is_clean

    with database.write() as session:
        session.execute(
            update(CountedSamplesRow).values(
                sizes=b"".join(n.to_bytes(8, "little") for n in [1] * 6)
            )
        )

    assert any(finding.subject == run.id for finding in verify(database).findings)


SCORES: dict[str, list[float]] = {
    "code": [556, -90, 0, -564, -40_000, 270],
    "low": [0.9, 0.4, 0.5, 0.1, 0.0, 0.7],
    "high": [0.9, 0.4, 0.5, 0.1, 0.0, 0.7],
    "score": [9.0, 0.8, 2.5, 8.0, 0.0, 2.1],
    "square": [8.1, 0.32, 1.25, 0.8, 0.0, 1.47],
    "rest_square": [0.1, 0.72, 1.25, 64.8, 40.0, 0.27],
    "surprise": [1.1, 1.9, 3.5, 184.3, 0.0, 1.1],
    "rest_surprise": [23.1, 1.1, 3.5, 8.5, 0.0, 3.7],
}
"""Of each kind one score: 0.9, 0.4, 0.5, 0.1, 0 and 0.7."""


def test_counted_scores_of_single_values_are_exact_and_move_with_their_project(
    database: Database, tmp_path: Path, migrated_file: Path
) -> None:
    run = count(database, scores=SCORES, positive_label="ill")
    stored = evaluate(database, run.id)
    export_project(database, "default", tmp_path / "project.offdiag")
    other = Database(f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'other.db')}")

    import_project(other, tmp_path / "project.offdiag")

    found = evaluation_of_slice(other, run.id, "country=FR")
    other.close()
    assert found.matrix.counts.tolist() == [[5, 0], [3, 40]]
    moved = found.aggregate
    # By hand: 10 of 0.9, 2 of 0.4 and 5 of 0.5 against 80 of 0.1, 40 of 0 and 3 of 0.7.
    wins = 10 * 123 + 2 * 120 + 5 * 120
    assert stored.aggregate["roc_auc"].value == pytest.approx(wins / (17 * 123))
    squares = 0.1 + 0.72 + 1.25 + 0.8 + 0.0 + 1.47
    assert stored.aggregate["brier_half"].value == pytest.approx(squares / 140)
    assert stored.aggregate["roc_auc"].error_bound is None
    assert moved["roc_auc"].value == pytest.approx(40 / 43)
    assert moved["brier_half"].value == pytest.approx((1.25 + 1.47) / 48)
    assert verify(database).is_clean


def test_sums_that_are_not_those_of_probabilities_are_refused(database: Database) -> None:
    cases: list[tuple[str, list[float]]] = [
        ("code", [1e12]),
        ("low", [-0.1]),
        ("high", [1e300]),
        ("score", [11.0]),
        ("square", [-1.0]),
        ("rest_square", [11.0]),
        ("surprise", [float("nan")]),
        ("rest_surprise", [1e6]),
    ]
    for name, values in cases:
        scores = SCORES | {name: values + SCORES[name][1:]}

        with pytest.raises(InvalidInput, match="scores of kind 0 are not those of its samples"):
            count(database, scores=scores, positive_label="ill")


def test_counted_scores_of_no_class_are_decided_by_nobody(database: Database) -> None:
    with pytest.raises(InvalidInput, match="not whether it is for 'ill' or 'well'"):
        count(database, scores=SCORES)

"""The examples that two runs answer differently, and those both get right or wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.comparison.churn import PairedOutcome
from offdiag.errors import InvalidInput, UnknownKey
from offdiag.services.examples.changed import ChangedExamples, changed_examples
from offdiag.store.database import Database
from offdiag.store.runs import RunRecord
from support.dashboard import counted_statements
from support.logging_runs import log, upload_matrix, work_off
from support.optional import present
from support.two_models import (
    CLASSES,
    COUNTRIES,
    FOCAL,
    PLAIN,
    TRUTH,
    N,
    log_model,
    sample_names,
    scores_for,
)

ONLY_FOCAL = [
    place for place in range(N) if PLAIN[place] != TRUTH[place] and FOCAL[place] == TRUTH[place]
]


def pair_of_runs(database: Database, **given: Any) -> tuple[RunRecord, RunRecord]:
    return (
        log_model(database, PLAIN, name="plain", **given),
        log_model(database, FOCAL, name="focal", **given),
    )


def listed(
    database: Database,
    runs: tuple[RunRecord, ...],
    outcome: PairedOutcome = PairedOutcome.ONLY_B,
    **options: Any,
) -> ChangedExamples:
    return changed_examples(
        database,
        [run.id for run in runs],
        outcome=outcome,
        **options,
    )


def test_examples_that_only_one_run_gets_right_are_listed_with_both_answers(
    database: Database,
) -> None:
    runs = pair_of_runs(database, sample_ids=sample_names())

    found = listed(database, runs)

    assert found.total == len(ONLY_FOCAL)
    assert found.has_ids
    assert [(each.sample, each.actual, each.first, each.second) for each in found.examples] == [
        (sample_names()[place], TRUTH[place], PLAIN[place], FOCAL[place])
        for place in ONLY_FOCAL[:50]
    ]


def test_every_fate_has_its_examples_page_by_page(database: Database) -> None:
    runs = pair_of_runs(database)

    found = {outcome: listed(database, runs, outcome, size=None) for outcome in PairedOutcome}

    samples = [each.sample for part in found.values() for each in part.examples]
    assert sorted(map(int, samples)) == list(range(N))
    for outcome, part in found.items():
        assert present(part.n_of_each)[outcome] == part.total == len(part.examples)
    first, second = (
        listed(database, runs, PairedOutcome.BOTH_RIGHT, start=start, size=30).examples
        for start in (0, 30)
    )
    assert (*first, *second) == found[PairedOutcome.BOTH_RIGHT].examples[:60]


def test_one_class_can_be_asked_for_of_two_runs_with_examples(database: Database) -> None:
    runs = pair_of_runs(database)

    found = listed(database, runs, class_label="df")

    expected = [place for place in ONLY_FOCAL if TRUTH[place] == "df"]
    assert [each.sample for each in found.examples] == expected
    assert {each.actual for each in found.examples} == {"df"}
    assert sum(present(found.n_of_each).values()) == TRUTH.count("df")
    with pytest.raises((InvalidInput, UnknownKey)) as caught:
        listed(database, runs, class_label="wart")
    assert caught.value.field == "class"
    third = log_model(database, TRUTH, name="perfect")
    with pytest.raises(InvalidInput, match="there are 3 runs"):
        listed(database, (*runs, third))
    matrix = upload_matrix(
        database, [[60, 30, 30], [10, 20, 10], [5, 5, 10]], list(CLASSES), dataset="derm"
    )
    refusal = present(listed(database, (runs[0], matrix)).refusal)
    assert "no examples to show" in refusal.why


def test_answers_come_with_their_scores_whatever_the_order_of_logging(
    database: Database,
) -> None:
    names, scores = sample_names(), scores_for(FOCAL)
    plain = log_model(database, PLAIN, name="plain", sample_ids=names)
    focal = log_model(
        database,
        FOCAL[::-1],
        name="focal",
        truth=TRUTH[::-1],
        sample_ids=names[::-1],
        y_score=scores[::-1],
    )

    found = listed(database, (plain, focal))

    assert {each.first_confidence for each in found.examples} == {None}
    assert [each.second_confidence for each in found.examples] == pytest.approx(
        [
            float(np.float32(scores[place, CLASSES.index(FOCAL[place])]))
            for place in ONLY_FOCAL[:50]
        ]
    )


def test_log_odds_of_the_other_class_are_the_negative_ones(database: Database) -> None:
    truth = ["n", "n", "y"] * 20
    runs = [
        log(
            database,
            y_true=truth,
            y_pred=y_pred * 20,
            y_score=[-3.0, score, 2.0] * 20,
            positive_label="y",
            dataset="odds",
        )
        for y_pred, score in ((["n", "n", "y"], -0.5), (["n", "y", "y"], 0.5))
    ]
    work_off(database)

    found = listed(database, tuple(runs), PairedOutcome.ONLY_A)

    assert {(each.first_confidence, each.second_confidence) for each in found.examples} == {
        (0.5, 0.5)
    }


def test_other_examples_are_listed_only_on_the_shared_ones(database: Database) -> None:
    plain = log_model(
        database, PLAIN[:150], name="p", truth=TRUTH[:150], sample_ids=sample_names(0, 150)
    )
    focal = log_model(
        database, FOCAL[20:], name="f", truth=TRUTH[20:], sample_ids=sample_names(20)
    )

    refused = listed(database, (plain, focal))
    shared = listed(database, (plain, focal), on_shared=True)

    assert present(refused.refusal).n_shared == 130
    assert [each.sample for each in shared.examples] == [
        sample_names()[place] for place in ONLY_FOCAL if 20 <= place < 150
    ][:50]


@pytest.mark.both_databases
def test_a_page_of_a_slice_takes_six_statements_at_most(database: Database) -> None:
    runs = pair_of_runs(
        database,
        sample_ids=sample_names(),
        y_score=scores_for(PLAIN),
        slices={"country": COUNTRIES},
    )

    with counted_statements() as statements:
        found = listed(database, runs, PairedOutcome.BOTH_RIGHT, slice_text="country=DE")

    both_right = [
        sample_names()[place]
        for place in range(N)
        if COUNTRIES[place] == "DE" and TRUTH[place] == PLAIN[place] == FOCAL[place]
    ]
    assert [each.sample for each in found.examples] == both_right[:50]
    assert len(found.examples) == 50
    assert len(statements) == 6

"""Fairness of stored runs: which groups are compared, of which classes, and on which labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.cli.read.run_tables import fairness_tables
from offdiag.errors import Conflict, InvalidInput, LabelNote, UnknownKey
from offdiag.metrics.groups.fairness import Criterion
from offdiag.records.runs.slices import fairness_document
from offdiag.services.fairness import fairness_of_run
from offdiag.store.database import Database
from support.logging_runs import correct_labels, log, opened
from support.sites import FOUND, log_sites


def difference(database: Database, run_id: str, **options: Any) -> float | None:
    found = fairness_of_run(database, run_id, "site", **options)
    (of_class,) = found.by_class.values()
    by_criterion = {each.criterion: each.difference for each in of_class.disparities}
    return by_criterion[Criterion.EQUAL_OPPORTUNITY].value


def test_groups_of_the_positive_class_are_compared_and_small_ones_named(
    database: Database,
) -> None:
    run = log_sites(database)

    found = fairness_of_run(database, run.id, "site")

    assert list(found.by_class) == ["ill"]
    assert {name: each.total for name, each in found.groups.groups.items()} == {
        "x": 60,
        "y": 40,
        "z": 40,
    }
    assert found.groups.too_small == {"tiny": 5}
    assert difference(database, run.id) == pytest.approx(0.9 - 0.4)
    rates = found.by_class["ill"].rates["recall"]
    assert [rate.value for rate in rates] == [0.9, 0.85, 0.4]


def test_examples_without_a_value_are_counted_and_told(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.warns(LabelNote, match="an empty text for 7 samples"):
        run = log_sites(database, {**FOUND, "": (2, 1, 1, 3)})

    found = fairness_of_run(database, run.id, "site")
    document = fairness_document(found)

    assert set(found.groups.groups) == {"x", "y", "z"}
    assert document.n_without_value == 7
    assert document.left_out() == [
        "Fewer than 12 labelled examples: tiny (5).",
        "Without a value: 7 labelled examples.",
    ]
    assert "Without a value: 7" in str(next(fairness_tables(document)).caption)
    assert found.groups.left_out == (
        "fewer than 12 labelled examples: tiny (5); without a value: 7 labelled examples"
    )

    monkeypatch.setenv("OFFDIAG_SLICES__SUPPRESS_BELOW", "10")
    hidden = fairness_document(fairness_of_run(database, run.id, "site"))

    assert (hidden.n_without_value, hidden.n_suppressed) == (None, 2)
    assert hidden.left_out() == ["Suppressed below 10: 2 groups."]


def test_the_newest_labels_count(database: Database) -> None:
    run = log_sites(database)
    first_of_z = sum(sum(FOUND[site]) for site in ("x", "y"))
    missed = range(first_of_z + 8, first_of_z + 20)

    correct_labels(database, dict.fromkeys(missed, "well"), author="ana")

    assert difference(database, run.id) == pytest.approx(1 - 0.85)


def test_each_class_of_several_is_compared_with_the_rest(database: Database) -> None:
    rng = np.random.default_rng(3)
    actual = rng.integers(0, 3, 300)
    predicted = np.where(rng.random(300) < 0.8, actual, rng.integers(0, 3, 300))
    sex = rng.integers(0, 2, 300)
    run = log(
        database,
        y_true=actual.tolist(),
        y_pred=predicted.tolist(),
        slices={"sex": sex.tolist()},
    )

    found = fairness_of_run(database, run.id, "sex")

    assert list(found.by_class) == ["0", "1", "2"]
    (only,) = fairness_of_run(database, run.id, "sex", class_label="1").by_class
    assert only == "1"
    recalls = [np.mean(predicted[(actual == 1) & (sex == which)] == 1) for which in (0, 1)]
    by_group = found.by_class["1"].rates["recall"]
    assert [each.value for each in by_group] == pytest.approx(recalls)


def test_labels_of_sets_are_compared_one_by_one(database: Database) -> None:
    actual = [["sea"], ["sea", "sky"], ["sky"], []] * 20
    predicted = [["sea"], ["sky"], ["sky"], []] * 20
    run = log(
        database,
        y_true=actual,
        y_pred=predicted,
        slices={"side": (["left", "left", "right", "right"] * 20)},
    )

    found = fairness_of_run(database, run.id, "side", class_label="sea")

    assert [each.value for each in found.by_class["sea"].rates["recall"]] == [0.5, None]
    document = fairness_document(found)
    assert document.classes[0].criteria[2].difference.reason == "group_value_undefined"


def test_what_cannot_be_compared_is_refused(database: Database) -> None:
    run = log_sites(database)
    still_open = opened(database).run

    with pytest.raises(UnknownKey, match=r"no slice column 'sit'.*Did you mean 'site'"):
        fairness_of_run(database, run.id, "sit")
    with pytest.raises(InvalidInput, match="'sick'"):
        fairness_of_run(database, run.id, "site", class_label="sick")
    with pytest.raises(Conflict, match="still open"):
        fairness_of_run(database, still_open.id, "site")

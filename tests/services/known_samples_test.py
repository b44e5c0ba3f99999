"""A note tells of ground truth that was probably meant to be the one the dataset has."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

from offdiag.errors import LabelNote
from offdiag.store.database import Database
from support.logging_runs import log

N = 60
RNG = np.random.default_rng(5)
TRUTH = RNG.choice(["a", "b", "c"], N)
FOUND = np.where(RNG.random(N) < 0.8, TRUTH, "a")
IDS = [f"s{number:02}" for number in range(N)]
TURNED = np.where(TRUTH == "a", "b", "a")
SORTED = np.repeat(["a", "b", "c"], N // 3)
FIRST: dict[str, Any] = {"y_true": TRUTH, "y_pred": FOUND}
OTHERS = RNG.choice(["a", "b", "c"], N)


ONE_TURNED = np.append("b" if TRUTH[0] == "a" else "a", TRUTH[1:])


def notes_of(database: Database, *runs: dict[str, Any]) -> list[str]:
    """The notes on the last of several runs of a dataset."""
    for run in runs:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", LabelNote)
            log(database, **{**FIRST, "labels": ["a", "b", "c"], **run})
    return [str(each.message) for each in caught]


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        (
            {"sample_ids": IDS},
            {"y_true": TURNED[:40], "y_pred": FOUND[:40], "sample_ids": IDS[:40]},
            "other labels than label version 1 of dataset .* for 40 of the 40 samples in both",
        ),
        (
            {"y_true": TRUTH[:40], "y_pred": FOUND[:40], "sample_ids": IDS[:40]},
            {"y_true": ONE_TURNED, "sample_ids": IDS},
            "for 1 of the 40 samples in both",
        ),
        ({}, {"y_true": ONE_TURNED}, "for 1 of its 60 samples"),
        (
            {"sample_ids": IDS},
            {},
            "label version 1 of dataset .* has sample_ids, and this run has none",
        ),
        (
            {"sample_ids": range(N)},
            {"sample_ids": range(1, N + 1)},
            r"for \d+ of the 59 samples in both",
        ),
        (
            {"sample_ids": IDS},
            {"sample_ids": [f"data/{name}.png" for name in IDS]},
            "which begin with 's00' instead of 'data/s00.png', but y_true is the same",
        ),
    ],
)
def test_ground_truth_that_is_probably_the_known_one_is_noted(
    database: Database, first: dict[str, Any], second: dict[str, Any], sentence: str
) -> None:
    (note,) = notes_of(database, first, second)

    assert re.search(sentence, note)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # Parts of the samples, and the rest of them.
        (
            {"sample_ids": IDS},
            {"y_true": TRUTH[:40], "y_pred": FOUND[:40], "sample_ids": IDS[:40]},
        ),
        (
            {"y_true": TRUTH[:30], "y_pred": FOUND[:30], "sample_ids": IDS[:30]},
            {"y_true": TRUTH[30:], "y_pred": FOUND[30:], "sample_ids": IDS[30:]},
        ),
        ({}, {"y_true": TRUTH[:40], "y_pred": FOUND[:40]}),
        # Other samples, which may come sorted by class.
        ({}, {"y_true": OTHERS}),
        ({"sample_ids": range(N)}, {"y_true": OTHERS, "sample_ids": range(N, 2 * N)}),
        ({"y_true": SORTED}, {"y_true": np.append(SORTED[1:], "c")}),
        (
            {"y_true": SORTED, "sample_ids": range(N)},
            {"y_true": SORTED, "sample_ids": range(N, 2 * N)},
        ),
        ({"sample_ids": range(N)}, {"y_true": OTHERS}),
        # Folds of labels that were made up.
        (
            {"y_true": list("abc") * 20, "sample_ids": range(N)},
            {"y_true": list("abc") * 20, "sample_ids": range(N, 2 * N)},
        ),
    ],
)
def test_other_samples_are_not_noted(
    database: Database, first: dict[str, Any], second: dict[str, Any]
) -> None:
    assert notes_of(database, first, second) == []

"""Every kind of slice column on every kind of data: single labels, sets of labels, counts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import offdiag
from offdiag.errors import InvalidInput

N = 240
SITES = ["JP/Kyoto", "JP/Nara", "DE/Ulm"]
COLUMNS: dict[str, list[Any]] = {
    "device": [["phone", "camera"][at % 2] for at in range(N)],
    "age": [20.5 + at % 60 for at in range(N)],
    "taken": [date(2026, 1, 1) + timedelta(days=at % 200) for at in range(N)],
    "country/site": [SITES[at % 3] for at in range(N)],
    "findings": [["scar"] * (at % 2) + ["hair"] * (at % 3 == 0) for at in range(N)],
}
PARTS: dict[str, Callable[[int], bool]] = {
    "device=phone": lambda at: at % 2 == 0,
    "age=40 to under 65": lambda at: 40 <= 20.5 + at % 60 < 65,
    "taken=2026-Q1": lambda at: at % 200 < 90,
    "country=JP": lambda at: at % 3 < 2,
    "country/site=DE/Ulm": lambda at: at % 3 == 2,
    "findings=scar": lambda at: at % 2 == 1,
    "findings=hair": lambda at: at % 3 == 0,
    "country=JP & device=phone": lambda at: at % 3 < 2 and at % 2 == 0,
    "device=phone & findings=hair": lambda at: at % 2 == 0 and at % 3 == 0,
}
"""Slices with the samples that are in them, from the place of each."""
HOW: dict[str, Any] = {"bins": {"age": [40, 65]}, "periods": {"taken": "quarter"}}
ACTUAL = [["ill", "well"][at % 5 == 0] for at in range(N)]
PREDICTED = [
    ACTUAL[at] if at % 4 else {"ill": "well", "well": "ill"}[ACTUAL[at]] for at in range(N)
]
RIGHT = np.array([at % 4 > 0 for at in range(N)])


def members(part: str) -> NDArray[np.bool_]:
    return np.array([PARTS[part](at) for at in range(N)])


@pytest.fixture(scope="module", params=["labels", "sets"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> offdiag.Run:
    url = f"sqlite:///{tmp_path_factory.mktemp('kinds')}/r.db"
    of_sets = request.param == "sets"
    run = offdiag.log_run(
        y_true=[[each] if of_sets else each for each in ACTUAL],
        y_pred=[[each] if of_sets else each for each in PREDICTED],
        labels=["ill", "well"],
        sample_ids=np.arange(N),
        name="rules",
        dataset="clinic",
        url=url,
    )
    offdiag.add_slices(dataset="clinic", ids=np.arange(N), columns=COLUMNS, url=url, **HOW)
    run.evaluation()
    return run


@pytest.mark.parametrize("part", PARTS)
def test_a_slice_has_the_samples_that_are_in_it(run: offdiag.Run, part: str) -> None:
    chosen = members(part)

    found = run.evaluation(slice=part)

    key = "subset_accuracy" if "subset_accuracy" in found.aggregate else "overall_accuracy"
    assert found.aggregate[key].value == pytest.approx(RIGHT[chosen].mean())
    of_class = chosen & (np.array(ACTUAL) == "ill")
    assert found.per_class["recall"]["ill"].value == pytest.approx(RIGHT[of_class].mean())


def test_all_of_them_are_tested_against_the_rest(run: offdiag.Run) -> None:
    listed = run.slices("recall", limit=1_000).set_index(["slice", "label"])

    for part in PARTS:
        for label in ("ill", "well"):
            of_class = members(part) & (np.array(ACTUAL) == label)
            if (part, label) in listed.index:
                gap = listed.loc[[(part, label)]].iloc[0]
                assert (gap["hits"], gap["cases"]) == (RIGHT[of_class].sum(), of_class.sum())
    assert {"device=phone", "country/site=DE/Ulm"} & set(listed.index.get_level_values(0))


def test_a_counted_frame_has_categories_and_says_so_of_other_columns(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/r.db"

    def counted(*names: str) -> offdiag.Run:
        frame = pd.DataFrame(
            {"y": ACTUAL, "yhat": PREDICTED, **{name: COLUMNS[name] for name in names}}
        )
        return offdiag.log_frame(
            frame, name="counted", dataset="clinic", slices=names, keep_predictions=False, url=url
        )

    run = counted("device", "country/site")
    run.evaluation()

    for part in ("device=phone", "country/site=DE/Ulm", "country/site=JP/Nara & device=phone"):
        chosen = {
            "device=phone": members("device=phone"),
            "country/site=DE/Ulm": members("country/site=DE/Ulm"),
        }.get(part, np.array([at % 3 == 1 and at % 2 == 0 for at in range(N)]))
        accuracy = run.evaluation(slice=part).aggregate["overall_accuracy"].value
        assert accuracy == pytest.approx(RIGHT[chosen].mean())
    listed = run.slices("recall", limit=1_000)
    assert set(listed["confirmed"]) == {None}  # Counts have no halves.
    with pytest.raises(InvalidInput, match=r"age.*is not a label"):
        counted("age")

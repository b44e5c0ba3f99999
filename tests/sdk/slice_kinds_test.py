"""Every kind of slice column on every kind of data: single labels, sets of labels, counts."""

from __future__ import annotations

import re
import shutil
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import offdiag
from offdiag.errors import InvalidInput, LabelNote
from offdiag.inputs.slice_ranges import counted_quantiles, cut
from offdiag.store.database import Database
from support.frames import FRAMES
from support.servers import serving

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
def run(
    request: pytest.FixtureRequest, migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> offdiag.Run:
    path = shutil.copy(migrated_file, tmp_path_factory.mktemp("kinds") / "registry.db")
    url = f"sqlite:///{path}"
    of_sets = request.param == "sets"
    note = pytest.warns(LabelNote, match="exactly one label") if of_sets else nullcontext()
    with note:
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


def counted(url: str, *names: str, **how: Any) -> offdiag.Run:
    chosen = {name: COLUMNS[name] for name in names}
    frame = pd.DataFrame({"y": ACTUAL, "yhat": PREDICTED, **chosen})
    return offdiag.log_frame(
        frame,
        name=" ".join(names),
        dataset="clinic",
        slices=names,
        keep_predictions=False,
        url=url,
        **how,
    )


@pytest.mark.parametrize(
    ("how", "part"),
    [
        ({"bins": {"age": [40, 65]}}, "age=40 to under 65"),
        ({"bins": {"age": 3}}, "age=under 40.2"),
        ({"periods": {"taken": "quarter"}}, "taken=2026-Q1"),
        ({"periods": {"taken": "week"}}, "taken=2026-01-05"),
    ],
)
def test_a_counted_frame_has_declared_ranges_and_periods(
    registry_url: str, how: dict[str, Any], part: str
) -> None:
    url = registry_url
    ((name, _),) = next(iter(how.values())).items()
    run = counted(url, name, **how)
    whole = offdiag.log_run(y_true=ACTUAL, y_pred=PREDICTED, name="rows", dataset="rows", url=url)
    offdiag.add_slices(dataset="rows", columns={name: COLUMNS[name]}, url=url, **how)

    found, expected = (each.evaluation(slice=part) for each in (run, whole))

    assert found.matrix.digest == expected.matrix.digest
    assert found.aggregate["n"].value


@pytest.mark.parametrize(
    ("how", "field", "message"),
    [
        ({"bins": {"size": 3}}, "bins", "there is no column 'size'"),
        ({"bins": {"age": 1}}, "slices['age']", "1 does not cut a column"),
        ({"bins": {"age": [65, 40]}}, "slices['age']", "does not cut a column"),
        ({"periods": {"age": "month"}}, "slices['age']", "dates"),
        ({"bins": {"age": 3}, "keep_predictions": True}, "bins", "kept predictions"),
    ],
)
def test_what_does_not_fit_a_column_is_refused(
    url: str, how: dict[str, Any], field: str, message: str
) -> None:
    frame = pd.DataFrame({"y": ACTUAL, "yhat": PREDICTED, "age": COLUMNS["age"]})
    how = {"keep_predictions": False} | how

    with pytest.raises(InvalidInput, match=message) as raised:
        offdiag.log_frame(frame, name="r", dataset="r", slices=["age"], url=url, **how)

    assert raised.value.field == field


PLAIN_TIME = datetime(2026, 3, 1, 0, 30)  # noqa: DTZ001
ZONED_TIME = PLAIN_TIME.replace(tzinfo=UTC)


def test_times_with_and_without_a_zone_are_not_counted_together(url: str) -> None:
    times = [PLAIN_TIME, ZONED_TIME]
    frame = pd.DataFrame({"y": ["a", "b"], "yhat": ["a", "b"], "taken": times})

    with pytest.raises(InvalidInput, match="some times have a zone") as raised:
        offdiag.log_frame(
            frame, name="z", dataset="z", slices=["taken"], keep_predictions=False, url=url
        )

    assert raised.value.field == "slices['taken']"


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([PLAIN_TIME], [ZONED_TIME], "some batches have times with a zone and some without"),
        ([ZONED_TIME], pd.Series([PLAIN_TIME]), "some batches have times with a zone"),
        ([ZONED_TIME], [PLAIN_TIME.date()], "some batches have times with a zone"),
        ([["a", "b"]], ["a"], "some batches have lists of tags and some single values"),
        (["a|b"], [["a", "b"]], "some batches have lists of tags and some single values"),
    ],
)
@pytest.mark.parametrize("n", [1, 65_536])
def test_batches_whose_columns_are_of_two_kinds_are_refused(
    url: str, first: Any, second: Any, message: str, n: int
) -> None:
    dataset = f"{message}: {first} first, {n}"
    with offdiag.start_run(name="k", dataset=dataset, labels=["a", "b"], url=url) as run:
        run.log(y_true=["a"] * n, y_pred=["a"] * n, slices={"s": list(first) * n})
        with pytest.raises(InvalidInput, match=message) as raised:
            run.log(y_true=["b"], y_pred=["b"], slices={"s": second})
        assert raised.value.field == "slices['s']"
        run.log(y_true=["b"], y_pred=["b"], slices={"s": first})

    assert run.evaluation().aggregate["n"].value == n + 1


def test_numbers_that_are_all_equal_are_one_range(url: str) -> None:
    frame = pd.DataFrame({"y": ["a", "b"], "yhat": ["a", "b"], "size": [1.5, 1.5]})

    run = offdiag.log_frame(
        frame, name="e", dataset="e", slices=["size"], keep_predictions=False, url=url
    )

    assert run.evaluation(slice="size=all").aggregate["n"].value == 2


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        (
            ("device", "country/site"),
            ["device=phone", "country/site=DE/Ulm", "country=JP & device=phone"],
        ),
        (("age",), ["age=50 to under 64.8"]),
        (("taken",), ["taken=2026-03"]),
    ],
)
def test_a_counted_frame_has_the_same_slices(
    url: str, names: tuple[str, ...], parts: list[str]
) -> None:
    run = counted(url, *names)
    whole = offdiag.log_run(
        y_true=ACTUAL,
        y_pred=PREDICTED,
        slices={name: COLUMNS[name] for name in names},
        name="rows",
        dataset="rows of " + "_".join(names).replace("/", "-"),
        url=url,
    )

    for part in parts:
        found, expected = (each.evaluation(slice=part) for each in (run, whole))
        assert found.matrix.digest == expected.matrix.digest, part
    assert set(run.slices("recall", limit=1_000)["confirmed"]) <= {None}  # Counts have no halves.


def log_tags(library: str, url: str) -> offdiag.Run:
    columns = {name: COLUMNS[name] for name in ("device", "findings")}
    frame = FRAMES[library]({"y": ACTUAL, "yhat": PREDICTED, **columns})
    return offdiag.log_frame(
        frame,
        name="t",
        dataset="t",
        slices=list(columns),
        keep_predictions=False,
        client_key="tags",
        url=url,
    )


@pytest.mark.parametrize("library", ["polars", "pyarrow", "polars lazy", "duckdb"])
def test_every_library_counts_the_same_tags(url: str, library: str) -> None:
    # Other counts under a key would be refused.
    assert log_tags(library, url).id == log_tags("pandas", url).id


def test_a_counted_sample_is_in_the_slices_of_all_of_its_tags(url: str) -> None:
    names = ("device", "findings")
    columns = {name: COLUMNS[name] for name in names}

    run = log_tags("pandas", url)

    assert run.evaluation().aggregate["n"].value == N
    whole = offdiag.log_run(
        y_true=ACTUAL, y_pred=PREDICTED, slices=columns, name="r", dataset="r of t", url=url
    )
    whole.evaluation()
    for part in ("findings=scar", "findings=hair", "device=phone & findings=hair"):
        found, expected = (each.evaluation(slice=part) for each in (run, whole))
        assert found.matrix.digest == expected.matrix.digest, part
    mine, theirs = (
        each.slices("recall", limit=1_000)
        .set_index(["slice", "label"])
        .sort_index()
        .drop(columns="confirmed")
        for each in (run, whole)
    )
    assert len(mine) >= 3
    pd.testing.assert_frame_equal(mine, theirs)


def test_tags_are_counted_in_a_frame_with_an_index_of_its_own(url: str) -> None:
    frame = pd.DataFrame(
        {"y": ["a", "b", "a"], "yhat": ["a", "b", "b"], "tags": [["x"], [], np.array(["y", "x"])]},
        index=[7, 3, 5],
    )

    run = offdiag.log_frame(
        frame, name="i", dataset="i", slices=["tags"], keep_predictions=False, url=url
    )

    assert run.evaluation(slice="tags=x").matrix.counts.tolist() == [[1, 1], [0, 0]]
    assert run.evaluation(slice="tags=y").matrix.counts.tolist() == [[0, 1], [0, 0]]


def test_a_row_without_a_list_of_tags_is_refused(url: str) -> None:
    frame = pd.DataFrame({"y": ["a", "b"], "yhat": ["a", "b"], "tags": [["x"], None]})

    with pytest.raises(InvalidInput, match="1 of 2 rows have no value, row 1 first"):
        offdiag.log_frame(
            frame, name="g", dataset="g", slices=["tags"], keep_predictions=False, url=url
        )


def test_whole_floats_that_share_ranges_are_noted(url: str) -> None:
    codes = [float(at % 5) for at in range(N)]
    arguments: dict[str, Any] = {"y_true": ACTUAL, "y_pred": PREDICTED, "dataset": "n", "url": url}

    with pytest.warns(LabelNote, match=r"'ward'\] holds 5 whole numbers as floats, .* 4 ranges"):
        offdiag.log_run(name="floats", slices={"ward": codes}, **arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        offdiag.log_run(
            name="plain",
            slices={
                "sex": [float(at % 2) for at in range(N)],
                "size": [at % 5 + 0.5 for at in range(N)],
                "age": [float(at % 60) for at in range(N)],
            },
            **arguments,
        )


@pytest.mark.parametrize("is_served", [False, True])
def test_values_that_look_alike_are_noted(
    url: str, sqlite_database: Database, *, is_served: bool
) -> None:
    answers: dict[str, Any] = {"y_true": ["a", "b", "a"], "y_pred": ["a", "b", "b"]}
    sex, said = {"sex": ["F", "f", "M"]}, r"Values of slices\['sex'\] look alike: 'F' and 'f'"

    with pytest.warns(LabelNote, match=said):
        offdiag.evaluate_labels(**answers, slices=sex)
    with serving(sqlite_database) if is_served else nullcontext(url) as at:
        with pytest.warns(LabelNote, match=said):
            offdiag.log_run(**answers, slices=sex, name="alike", dataset="alike", url=at)
        offdiag.log_run(**answers, name="later", dataset="later", url=at)
        with pytest.warns(LabelNote, match=said):
            offdiag.add_slices(dataset="later", columns=sex, url=at)


@pytest.mark.parametrize("is_served", [False, True])
@pytest.mark.parametrize("predicted", ["yhat", {"one": "yhat", "other": "other"}])
@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("sex", ["F", "f"] * 6, r"Values of slices\['sex'\] look alike: 'F' and 'f'"),
        (
            "ward",
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] * 2,
            r"holds 6 whole numbers as floats, .* 4 ranges",
        ),
        ("site/ward", ["x/A", "x/a"] * 6, r"\['site/ward'\] look alike: 'x/A' and 'x/a'"),
    ],
)
def test_a_counted_frame_notes_what_rows_note_of_their_slices(
    url: str,
    sqlite_database: Database,
    column: str,
    values: list[Any],
    said: str,
    predicted: Any,
    *,
    is_served: bool,
) -> None:
    answers = {name: ["a", "b"] * 6 for name in ("y", "yhat", "other")}
    frame = pd.DataFrame({**answers, column: values})
    arguments: dict[str, Any] = {"dataset": "counted", "slices": [column]}
    arguments["name"] = None if isinstance(predicted, dict) else "counted"

    with (
        serving(sqlite_database) if is_served else nullcontext(url) as at,
        pytest.warns(LabelNote) as caught,
    ):
        offdiag.log_frame(frame, predicted=predicted, keep_predictions=False, url=at, **arguments)

    (note,) = (str(each.message) for each in caught)
    assert re.search(said, note)


@pytest.mark.parametrize("library", ["pandas", "polars", "polars lazy", "pyarrow", "duckdb"])
def test_counted_numbers_are_cut_in_their_own_precision(url: str, library: str) -> None:
    sizes: Any = np.array([0.6, 0.7, 0.9], dtype=np.float32)
    frame = FRAMES[library]({"y": list("aba"), "yhat": list("abb"), "size": sizes})

    run = offdiag.log_frame(
        frame,
        name="s",
        dataset="s",
        slices=["size"],
        bins={"size": [0.7]},
        keep_predictions=False,
        url=url,
    )

    assert run.evaluation(slice="size=0.7 and over").aggregate["n"].value == 2


def test_ranges_write_zero_in_one_way() -> None:
    rounded = np.round([-2.0, -0.4, -0.4, 3.0])

    assert cut(rounded, 2, field="x")[0] == cut(rounded, [0.0], field="x")[0]


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.integers(1, 9)), min_size=1, max_size=30))
def test_counted_numbers_are_cut_where_repeated_ones_are(counts: list[tuple[float, int]]) -> None:
    numbers = np.array([number for number, _ in counts])
    sizes = np.array([size for _, size in counts])

    points = counted_quantiles(numbers, sizes)

    levels, _ = cut(np.repeat(numbers, sizes), 4, field="x")
    assert len(levels) == len(points) + 1
    assert levels == cut(np.repeat(numbers, sizes), points, field="x")[0] if points else True

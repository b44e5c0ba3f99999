"""Runs that were only counted together are compared as those whose predictions are stored."""

from __future__ import annotations

import itertools
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

import offdiag
import offdiag.sdk.frames.kinds as counted_kinds
from offdiag.errors import Conflict, InvalidInput
from offdiag.sdk.run import Run
from support.frames import FRAMES

numbers = itertools.count()


def draw(
    seed: int, n: int, n_classes: int, n_runs: int, accuracy: float = 0.7
) -> tuple[pd.DataFrame, dict[str, str]]:
    """n samples with a label, a country, and predictions that share some of their errors."""
    rng = np.random.default_rng(seed)
    actual = rng.integers(0, n_classes, n)
    shared = rng.random(n)
    columns: dict[str, Any] = {"id": np.arange(n), "y": [f"c{code}" for code in actual]}
    predicted = {}
    for run in range(n_runs):
        own = np.where(rng.random(n) < 0.5, shared, rng.random(n))
        codes = np.where(own < accuracy, actual, rng.integers(0, n_classes, n))
        columns[f"by_{run}"] = [f"c{code}" for code in codes]
        predicted[f"run {run}"] = f"by_{run}"
    columns["country"] = rng.choice(["DE", "FR", "JP"], n)
    return pd.DataFrame(columns), predicted


def log_both(
    frame: object, predicted: dict[str, str], url: str, **given: Any
) -> tuple[list[Run], list[Run]]:
    """The runs with their predictions kept, and counted together."""
    return tuple(  # type: ignore[return-value]  # Two of them.
        list(
            offdiag.log_frame(
                frame,
                predicted=predicted,
                slices=["country"],
                keep_predictions=keep,
                dataset=f"{keep}-{next(numbers)}",
                url=url,
                **given,
            ).values()
        )
        for keep in (True, False)
    )


def result_of(runs: list[Run], url: str, **how: Any) -> dict[str, Any]:
    """A comparison without what names the runs."""
    found: dict[str, Any] = offdiag.compare(runs, url=url, **how).to_dict()
    return {name: found[name] for name in ("result", "verdict", "samples", "slices", "refusal")}


def assert_equal(found: object, expected: object, place: str = "") -> None:
    """Equal, numbers but for their last digits: sums of floats have another order."""
    if isinstance(expected, dict):
        assert isinstance(found, dict), place
        assert found.keys() == expected.keys(), place
        for name, value in expected.items():
            assert_equal(found[name], value, f"{place}.{name}")
    elif isinstance(expected, list):
        assert isinstance(found, list), place
        assert len(found) == len(expected), place
        for number, value in enumerate(expected):
            assert_equal(found[number], value, f"{place}[{number}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-9), place
    else:
        assert found == expected, place


@settings(max_examples=1, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(
    st.integers(0, 2**32 - 1),
    st.integers(20, 400),
    st.integers(2, 4),
    st.integers(2, 4),
    st.sampled_from([0.3, 0.7, 0.95]),
)
# Two runs that nothing tells apart but the samples on which they err.
@example(320153, 153, 2, 4, 0.95)
def test_comparisons_are_those_of_stored_predictions(
    url: str, seed: int, n: int, n_classes: int, n_runs: int, accuracy: float
) -> None:
    frame, predicted = draw(seed, n, n_classes, n_runs, accuracy)
    labels = [f"c{code}" for code in range(n_classes)]
    stored, counted = log_both(frame, predicted, url, labels=labels)

    assert_equal(result_of(counted, url), result_of(stored, url))
    assert_equal(result_of(counted[:2], url), result_of(stored[:2], url))
    part = {"slice": f"country={frame['country'].iloc[0]}"}
    assert_equal(result_of(counted, url, **part), result_of(stored, url, **part))
    assert_equal(result_of(counted[1::-1], url, **part), result_of(stored[1::-1], url, **part))


def test_pairs_are_counted_one_by_one_where_all_runs_have_too_many_kinds(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, predicted = draw(5, 500, 3, 4)
    _, together = log_both(frame, predicted, url)
    monkeypatch.setattr(counted_kinds, "MAX_KINDS", 80)
    _, in_pairs = log_both(frame, predicted, url)

    for part in (None, "country=FR"):
        expected, found = (result_of(runs, url, slice=part) for runs in (together, in_pairs))
        # What three runs predict for one example is not known.
        assert expected["result"].pop("best_of_many")
        assert not found["result"].pop("best_of_many")
        assert_equal(found["result"], expected["result"])
        pair = (result_of(runs[2:], url, slice=part) for runs in (together, in_pairs))
        assert_equal(next(pair), next(pair))
    detail = " ".join(result_of(in_pairs, url)["verdict"]["details"])
    assert "not corrected for the choice among 4, because they were counted in pairs" in detail


def test_too_many_kinds_of_a_pair_are_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, predicted = draw(5, 500, 3, 3)
    monkeypatch.setattr(counted_kinds, "MAX_KINDS", 20)
    with pytest.raises(InvalidInput, match="combinations of classes and slice values or more"):
        log_both(frame, predicted, url)


@pytest.fixture(scope="module")
def expected(url: str) -> dict[str, Any]:
    """What a comparison of the runs tells whose columns `draw(3, 200, 3, 2)` makes."""
    return result_of(log_counted(*draw(3, 200, 3, 2), url, client_key="columns"), url)


def log_counted(frame: object, predicted: dict[str, str], url: str, **given: Any) -> list[Run]:
    facts: dict[str, Any] = {"slices": ["country"], "dataset": "of a library", "url": url}
    runs = offdiag.log_frame(frame, predicted=predicted, keep_predictions=False, **facts, **given)
    return list(runs.values())


@pytest.mark.parametrize("library", FRAMES)
def test_every_library_counts_and_joins(url: str, expected: dict[str, Any], library: str) -> None:
    frame, predicted = draw(3, 200, 3, 2)
    # Other counts under a key would be refused.
    log_counted(FRAMES[library](columns_of(frame)), predicted, url, client_key="columns")

    maker = FRAMES[library]
    if library in ("duckdb", "ibis"):  # They join tables of one connection.
        maker = one_connection(library)
    shuffled = frame.sample(frac=1, random_state=1)[["id", "y", "by_1"]]
    frames = {
        "run 0": maker(columns_of(frame[["id", "y", "by_0", "country"]])),
        "run 1": maker(columns_of(shuffled)),
    }
    assert_equal(result_of(log_joined(frames, predicted, url), url), expected)


def columns_of(frame: pd.DataFrame) -> dict[str, list[Any]]:
    return {str(name): values.to_list() for name, values in frame.items()}


def one_connection(library: str) -> Any:
    connection = duckdb.connect()
    tables = (f"part_{number}" for number in itertools.count())
    if library == "ibis":
        ibis = pytest.importorskip("ibis")
        backend = ibis.polars.connect()
        return lambda columns: backend.create_table(next(tables), pl.DataFrame(columns))

    def relation(columns: dict[str, list[Any]]) -> object:
        name = next(tables)
        connection.register(name, pl.DataFrame(columns).to_arrow())
        return connection.sql(f"SELECT * FROM {name}")  # A name of ours.

    return relation


def log_joined(frames: dict[str, Any], predicted: dict[str, str], url: str) -> list[Run]:
    return list(
        offdiag.log_frame(
            frames,
            predicted=predicted,
            sample_id="id",
            slices=["country"],
            keep_predictions=False,
            dataset=f"joined-{next(numbers)}",
            url=url,
        ).values()
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda frame: pd.concat([frame, frame.iloc[[3, 3, 7]]]),
            "2 ids are repeated in the frame of 'run 1', such as 3 in 3 rows",
        ),
        (lambda frame: frame.iloc[1:], "'run 1' has 49 rows, and 49 of their ids are in all"),
        (
            lambda frame: frame.assign(y=["c0", *frame["y"].iloc[1:]]),
            "1 of 50 samples have different actual classes in two frames, such as 'c1' and 'c0'",
        ),
        (lambda frame: frame.assign(id=[None, *frame["id"].iloc[1:]]), "have no id"),
        (pl.from_pandas, "the frames are of several libraries"),
    ],
)
@pytest.mark.parametrize("library", ["pandas", "polars lazy"])
def test_frames_that_do_not_fit_each_other_are_refused(
    url: str, library: str, change: Any, message: str
) -> None:
    frame, predicted = draw(3, 50, 2, 2)
    frame.loc[0, "y"] = "c1"
    second = change(frame[["id", "y", "by_1"]])
    if isinstance(second, pd.DataFrame):
        second = second.astype({"id": "Int64"})
        second = second if library == "pandas" else pl.from_pandas(second).lazy()
    first = frame[["id", "y", "by_0", "country"]].astype({"id": "Int64"})
    other = first if library == "pandas" else pl.from_pandas(first).lazy()
    with pytest.raises(InvalidInput, match=message):
        log_joined({"run 0": other, "run 1": second}, predicted, url)


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "polars lazy"])
def test_ids_are_joined_as_numbers_of_any_size_and_never_with_text(url: str, library: str) -> None:
    frame, predicted = draw(3, 50, 2, 2)
    made = FRAMES[library](columns_of(frame[["id", "y", "by_0", "country"]]))
    short, text = (frame[["id", "by_1"]].astype({"id": kind}) for kind in ("int32", "str"))
    others = [_of_library(library, each) for each in (short, text)]

    runs = log_joined({"run 0": made, "run 1": others[0]}, predicted, url)

    expected = offdiag.evaluate_labels(y_true=frame["y"], y_pred=frame["by_1"]).matrix
    assert runs[1].evaluation().matrix.digest == expected.digest
    with pytest.raises(InvalidInput, match=r"numbers \(Int64\) in the frame of 'run 0' and text"):
        log_joined({"run 0": made, "run 1": others[1]}, predicted, url)


def _of_library(library: str, frame: pd.DataFrame) -> object:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    match library:
        case "pandas":
            return frame
        case "pyarrow":
            return table
    return pl.DataFrame(table).lazy()


def test_a_retry_finds_its_runs_and_nothing_else(url: str) -> None:
    frame, predicted = draw(9, 300, 3, 2)
    given: dict[str, Any] = {
        "predicted": predicted,
        "keep_predictions": False,
        "dataset": "again",
        "client_key": "nightly",
        "url": url,
    }
    first = offdiag.log_frame(frame, **given)
    again = offdiag.log_frame(frame, **given)
    assert {run: each.id for run, each in again.items()} == {
        run: each.id for run, each in first.items()
    }

    with pytest.raises(Conflict, match="holds other counts"):
        offdiag.log_frame(frame.iloc[1:], **given)
    turned = frame.assign(
        by_1=frame.groupby("y")["by_1"].transform(lambda each: each.to_list()[::-1])
    )
    for other, runs in ((turned, predicted), (frame, predicted | {"run 2": "by_0"})):
        with pytest.raises(Conflict, match="not counted together with the others"):
            offdiag.log_frame(other, **given | {"predicted": runs})


def test_runs_of_equal_counts_are_compared_with_those_they_were_counted_with(url: str) -> None:
    """Their matrices are alike, and what they share is not."""
    predicted = {"one": "one", "other": "other"}
    columns = {"y": [0, 0, 1, 1] * 5, "one": [0, 1, 0, 1] * 5}
    found = []
    for other in ([0, 1, 0, 1], [1, 0, 1, 0]):
        frame = pd.DataFrame(columns | {"other": other * 5})
        runs = offdiag.log_frame(
            frame, predicted=predicted, keep_predictions=False, dataset="alike", url=url
        )
        found.append(offdiag.compare(list(runs.values()), url=url))
    assert [each.is_paired for each in found] == [True, True]
    assert [each.counts["only_b"] for each in found if each.counts] == [0, 10]

    mixed = offdiag.compare([found[0].runs["A"], found[1].runs["B"]], url=url)
    assert not mixed.is_paired


def test_runs_counted_together_and_others_are_compared_at_once(url: str) -> None:
    frame, predicted = draw(4, 300, 3, 2)
    _, counted = log_both(frame, predicted, url, labels=["c0", "c1", "c2"])
    alone = offdiag.log_frame(
        frame,
        name="alone",
        predicted="by_1",
        keep_predictions=False,
        dataset=offdiag.compare(counted, url=url).to_dict()["dataset"],
        url=url,
    )
    found = offdiag.compare([counted[0], alone, counted[1]], url=url)
    assert found.pairs[["first", "second"]].to_numpy().tolist() == [["A", "C"]]
    assert "B is a matrix without predictions, so it is not paired with any run." in found.verdict


def test_names_and_columns_are_required(url: str) -> None:
    frame, predicted = draw(9, 60, 2, 2)
    for wrong, message in (
        ({"name": "x"}, "the runs have their names in predicted="),
        ({"score": "by_0"}, "scores of several runs are not counted together"),
        ({"sample_id": "id"}, "belongs to single predictions"),
        ({"predicted": {"run": "by_0"}}, "fewer than two runs"),
        ({"predicted": {"a": "by_0", "b": "by_7"}}, "has no column 'by_7'"),
        ({"actual": None}, "without the actual classes"),
    ):
        whole: dict[str, Any] = {"predicted": predicted, "dataset": "d", "url": url} | wrong
        with pytest.raises(InvalidInput, match=message):
            offdiag.log_frame(frame, keep_predictions=False, **whole)

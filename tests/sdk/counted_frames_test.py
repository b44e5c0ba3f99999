"""A frame can stay where it is: only its counts are logged, and they tell what its rows would."""

from __future__ import annotations

from typing import Any

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.io.plugins import register_io_source

import offdiag
from offdiag.inputs.counted_samples import counted_samples
from offdiag.sdk.frames.columns import frame_columns
from offdiag.sdk.frames.kinds import count_kinds
from support.frames import EAGER, FRAMES, LAZY, Columns

TRUTH = ["df", "mel", "nv", "nv", "mel", "nv", "df"] * 10
FOUND = ["df", "nv", "nv", "mel", "mel", "nv", "nv"] * 10
COUNTRY = ["DE", "DE", "FR", "FR", "DE", "FR", "DE"] * 10
YEAR = [2024, 2025, 2025, 2024, 2024, 2025, 2025] * 10
CASES: Columns = {"y": TRUTH, "yhat": FOUND, "country": COUNTRY, "year": YEAR}


def log_counts(frame: object, url: str, dataset: str, **given: Any) -> offdiag.Run:
    return offdiag.log_frame(
        frame, name="counted", dataset=dataset, keep_predictions=False, url=url, **given
    )


def test_every_library_counts_the_matrix_of_its_labels(url: str, dataset: str) -> None:
    given: dict[str, Any] = {"slices": ["country", "year"], "client_key": "one"}
    runs = [log_counts(make(CASES), url, dataset, **given) for make in FRAMES.values()]

    run = runs[0]
    assert {each.id for each in runs} == {run.id}  # Other counts under a key would be refused.

    stored = run.evaluation()
    computed = offdiag.evaluate_labels(y_true=TRUTH, y_pred=FOUND)
    assert stored.matrix.digest == computed.matrix.digest
    for key, value in computed.aggregate.items():
        kept = stored.aggregate[key]
        assert (kept.value, kept.reason) == (value.value, value.reason), key
    for part in ("country=FR", "year=2025 & country=DE"):
        truth, found = rows_in(part)
        names = computed.matrix.labels.names
        of_rows = offdiag.evaluate_labels(y_true=truth, y_pred=found, labels=names).matrix
        assert run.evaluation(slice=part).matrix.digest == of_rows.digest


def rows_in(part: str) -> tuple[list[str], list[str]]:
    terms = dict(term.split("=") for term in part.split(" & "))
    chosen = [
        row
        for row in range(len(TRUTH))
        if all(str(CASES[name][row]) == value for name, value in terms.items())
    ]
    return [TRUTH[row] for row in chosen], [FOUND[row] for row in chosen]


COLUMNS = frame_columns(
    actual="y", predicted="yhat", score=None, sample_id=None, slices=None, labels=None
)
NAMES = st.one_of(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=3),
        min_size=3,
        max_size=3,
        unique=True,
    ),
    st.lists(st.integers(-(2**40), 2**40), min_size=3, max_size=3, unique=True),
)


@pytest.mark.filterwarnings("ignore::offdiag.errors.LabelNote")
@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([0, 1, 2]), st.sampled_from([0, 1, 2])), min_size=1),
    NAMES,
    # Dask takes a second for what the others take an instant for.
    st.sampled_from(sorted(FRAMES.keys() - {"dask"})),
)
def test_counting_gives_what_encoding_rows_gives(
    pairs: list[tuple[int, int]], names: list[Any], library: str
) -> None:
    columns = {"y": [names[a] for a, _ in pairs], "yhat": [names[p] for _, p in pairs]}

    kinds = count_kinds(nw.from_native(FRAMES[library](columns)), COLUMNS)

    expected = offdiag.evaluate_labels(
        y_true=columns["y"], y_pred=columns["yhat"], labels=names
    ).matrix
    cases = counted_samples(
        actual=kinds.columns["y"],
        predicted=kinds.columns["yhat"],
        sizes=kinds.sizes,
        slices={},
        labels=expected.labels,
    )
    assert cases.matrix(expected.labels).digest == expected.digest


@pytest.mark.parametrize("library", LAZY)
def test_nothing_but_counts_leaves_the_engine(
    url: str, dataset: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    collected: list[int] = []
    collect = nw.LazyFrame.collect

    def counting(frame: Any, *args: Any, **how: Any) -> Any:
        result = collect(frame, *args, **how)
        collected.append(len(result))
        return result

    monkeypatch.setattr(nw.LazyFrame, "collect", counting)

    log_counts(FRAMES[library](CASES), url, dataset, slices=["country"])

    assert collected == [len(set(zip(TRUTH, FOUND, COUNTRY, strict=True)))]


def test_polars_counts_while_it_reads(url: str, dataset: str) -> None:
    given: list[int] = []

    def read(with_columns: Any, predicate: Any, n_rows: Any, batch_size: Any) -> Any:
        for number in range(50):
            given.append(number)
            yield pl.DataFrame(CASES).select(with_columns or pl.all())

    frame = register_io_source(read, schema=pl.DataFrame(CASES).schema)

    run = log_counts(frame, url, dataset)

    assert len(given) == 50
    assert run.evaluation().matrix.total == 50 * len(TRUTH)


def test_a_relation_larger_than_the_memory_of_its_engine_is_counted(
    url: str, dataset: str
) -> None:
    connection = duckdb.connect(config={"memory_limit": "64MB", "threads": 1})
    relation = connection.sql(
        "SELECT 'class ' || (i % 3) AS y, 'class ' || (i % 5 % 3) AS yhat, i % 2 AS half "
        "FROM range(3_000_000) AS numbers(i)"
    )

    run = log_counts(relation, url, dataset, slices=["half"])

    assert run.evaluation().matrix.total == 3_000_000
    assert run.evaluation(slice="half=1").matrix.total == 1_500_000


def test_the_run_says_by_what_it_was_counted_and_what_it_cannot_tell(
    url: str, dataset: str
) -> None:
    run = log_counts(pl.LazyFrame(CASES), url, dataset)

    with pytest.raises(offdiag.Conflict, match="has no predictions to show"):
        run.examples()
    with pytest.raises(offdiag.Conflict, match="has no curves"):
        run.operating_points()
    with pytest.raises(offdiag.InvalidInput, match="is a matrix without predictions"):
        run.evaluation(slice="country=DE")


def test_it_is_compared_without_pairing(url: str, dataset: str) -> None:
    counted = log_counts(pd.DataFrame(CASES), url, dataset)
    logged = offdiag.log_frame(pd.DataFrame(CASES), name="rows", dataset=dataset, url=url)

    comparison = offdiag.compare([logged.id, counted.id], url=url)

    assert comparison.counts is None
    assert "square and add, unpaired" in str(comparison.to_dict())


def test_columns_named_the_wrong_way_round_are_flagged(url: str, dataset: str) -> None:
    offdiag.log_run(y_true=TRUTH, y_pred=FOUND, name="rows", dataset=dataset, url=url)

    run = log_counts(pl.DataFrame(CASES), url, dataset, actual="yhat", predicted="y")

    assert "F13" in [flag.rule for flag in run.evaluation().flags]


@pytest.mark.parametrize("library", sorted(FRAMES.keys() - {"dask"}))
def test_gaps_are_counted_and_named(url: str, dataset: str, library: str) -> None:
    columns: Columns = CASES | {"country": ["DE", None, "FR", "FR", None, "FR", "DE"] * 10}
    message = r"slices\['country'\]: 20 of 70 rows have no value" + (
        ", row 1 first" if library in EAGER else r"\."
    )

    with pytest.raises(offdiag.InvalidInput, match=message):
        log_counts(FRAMES[library](columns), url, dataset, slices=["country"])


@pytest.mark.parametrize(
    ("columns", "given", "message"),
    [
        (CASES, {"labels": ["df", "nv"]}, "'mel' is not one of the 2 declared labels"),
        (CASES, {"score": "year"}, "score='year': 70 of 70 rows have a score outside of 0 to 1"),
        (CASES, {"score": "country"}, "score='country': values of type String are not scores"),
        (CASES, {"score": ["year", "country"]}, "one column of scores is counted"),
        (CASES, {"sample_id": "year"}, "sample_id: column 'year' belongs to single"),
        (CASES | {"country": ["DE", ""] * 35}, {"slices": ["country"]}, "there is an empty text"),
        (CASES, {"actual": None}, "actual: without the actual and the predicted classes"),
        (CASES, {"dataset": None}, "dataset: counts do not say"),
        (CASES, {"predicted": "guess"}, "predicted: the frame has no column 'guess'"),
        ({"y": ["a"], "yhat": [0.5]}, {}, "predicted='yhat': .* such as 0.5: .* scores"),
        ({"y": ["a", "b"], "yhat": ["a", 3]}, {}, "row 1 of column 'yhat' holds int"),
        ({"y": [], "yhat": []}, {}, "there are no rows"),
    ],
)
def test_what_cannot_be_counted_is_refused(
    url: str, dataset: str, columns: Columns, given: dict[str, Any], message: str
) -> None:
    arguments = {"url": url, "dataset": dataset} | given

    with pytest.raises(offdiag.InvalidInput, match=message):
        log_counts(pd.DataFrame(columns), **arguments)

"""A cross table says by the names on its axes what it is, to everything that takes a matrix.

The samples are those of one experiment; however its table is turned, reordered or stripped of
classes that nobody predicted, every entry reads the same counts.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import offdiag
from offdiag import stats
from offdiag.cli.commands import run as run_command
from offdiag.errors import InvalidInput
from offdiag.store.database import Database
from support.logging_runs import work_off

TRUE = pd.Series(list("aaaaabbbbccc"))
PRED = pd.Series(list("aaabbbbaacca"))
COUNTS = [[3, 2, 0], [2, 2, 0], [1, 0, 2]]
SWAPPED = [list(row) for row in zip(*COUNTS, strict=True)]
TABLE = pd.crosstab(TRUE, PRED, rownames=["actual"], colnames=["predicted"])
NAMES = [
    ("actual", "predicted"),
    ("Actual class", "Predicted class"),
    ("True label", "Predicted label"),
    ("true", "pred"),
    ("y_true", "y_pred"),
    ("Y_TRUE", "yhat"),
    ("Reference", "Prediction"),
    ("Truth", "Prediction"),
    ("ground truth", "predictions"),
    ("target", "Output"),
]
COSTS = [[0, 1, 5], [2, 0, 7], [3, 11, 0]]


def named(frame: pd.DataFrame, rows: str | None, columns: str | None) -> pd.DataFrame:
    return frame.rename_axis(index=rows, columns=columns)


@pytest.mark.parametrize(("actual", "predicted"), NAMES)
def test_a_cross_table_needs_no_orientation_either_way_round(actual: str, predicted: str) -> None:
    upright = offdiag.evaluate_matrix(named(TABLE, actual, predicted))
    turned = offdiag.evaluate_matrix(named(TABLE.T, predicted, actual))

    assert upright.matrix.counts.tolist() == turned.matrix.counts.tolist() == COUNTS
    assert upright.labels == turned.labels == ("a", "b", "c")


@pytest.mark.parametrize(
    ("rows", "columns"),
    [(None, None), ("row_0", "col_0"), ("actual", None), (None, "pred"), ("true", "truth")],
)
def test_without_the_names_of_both_axes_somebody_must_say_it(
    rows: str | None, columns: str | None
) -> None:
    frame = named(TABLE, rows, columns)

    with pytest.raises(InvalidInput, match="a matrix does not show it"):
        offdiag.evaluate_matrix(frame)
    assert offdiag.evaluate_matrix(frame, orientation="actual_rows").labels == ("a", "b", "c")


def _logged(database: Database, matrix: Any, **facts: Any) -> list[list[int]]:
    run = offdiag.log_matrix(matrix, name="n", dataset="d", url=database.url, **facts)
    work_off(database)
    counts: list[list[int]] = run.evaluation().matrix.counts.tolist()
    return counts


ENTRIES: dict[str, Callable[..., Any]] = {
    "evaluate_matrix": lambda _, matrix, **facts: offdiag.evaluate_matrix(
        matrix, **facts
    ).matrix.counts.tolist(),
    "log_matrix": _logged,
    "cost": lambda _, matrix, **facts: offdiag.cost(
        matrix, weights=COSTS, **facts
    ).matrix.counts.tolist(),
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize(
    "frame",
    [
        TABLE,
        named(TABLE.T, "predicted", "actual"),
        TABLE[["c", "a", "b"]],
        named(TABLE.T, "predicted", "actual")[["a", "b", "c"]],
    ],
    ids=["upright", "turned", "columns reordered", "turned and in order"],
)
def test_every_entry_reads_the_same_counts(
    sqlite_database: Database, entry: str, frame: pd.DataFrame
) -> None:
    assert ENTRIES[entry](sqlite_database, frame) == COUNTS


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_normalised_cross_table_that_looks_like_counts_is_noted_by_every_entry(
    sqlite_database: Database, entry: str
) -> None:
    shares = pd.crosstab(TRUE, TRUE, rownames=["actual"], colnames=["pred"], normalize="index")

    with pytest.warns(offdiag.errors.LabelNote, match="read as counts of 3 samples") as told:
        assert ENTRIES[entry](sqlite_database, shares) == np.eye(3).tolist()

    assert [note.filename for note in told] == [__file__]


@pytest.mark.parametrize("entry", ENTRIES)
def test_names_that_contradict_the_statement_are_refused_by_every_entry(
    sqlite_database: Database, entry: str
) -> None:
    with pytest.raises(InvalidInput, match="contradicts the axes of the DataFrame"):
        ENTRIES[entry](sqlite_database, TABLE, orientation="actual_columns")


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize(("rows", "columns"), [("Predicted", None), (None, "actual")])
def test_the_name_of_one_axis_is_enough_to_contradict_the_statement(
    sqlite_database: Database, entry: str, rows: str | None, columns: str | None
) -> None:
    frame = named(TABLE.T, rows, columns)

    with pytest.raises(InvalidInput, match="contradicts the axes of the DataFrame"):
        ENTRIES[entry](sqlite_database, frame, orientation="actual_rows")
    assert ENTRIES[entry](sqlite_database, frame, orientation="actual_columns") == COUNTS


@pytest.mark.parametrize("entry", ENTRIES)
def test_totals_are_no_class_of_any_matrix(sqlite_database: Database, entry: str) -> None:
    totals = [[3, 2, 5], [1, 4, 5], [4, 6, 10]]

    with pytest.raises(InvalidInput, match="holds totals"):
        ENTRIES[entry](
            sqlite_database, totals, labels=["a", "b", "Total"], orientation="actual_rows"
        )


@pytest.mark.parametrize(
    "command",
    [("evaluate",), ("log", "--name", "n", "--dataset", "d"), ("audit", "--reported", "mcc=1")],
)
def test_totals_in_a_file_are_no_class(
    tmp_path: Path,
    sqlite_database: Database,
    capsys: pytest.CaptureFixture[str],
    command: tuple[str, ...],
) -> None:
    file = tmp_path / "margins.csv"
    pd.crosstab(TRUE, PRED, rownames=["actual"], colnames=["predicted"], margins=True).to_csv(file)
    given = ("--matrix", str(file)) if command[0] == "audit" else (str(file), "--matrix")
    url = ("--url", sqlite_database.url) if command[0] == "log" else ()

    assert run_command((*command, *given, *url)) == 2

    assert "the last line of the matrix, 'All', holds totals" in capsys.readouterr().err


@pytest.mark.parametrize("entry", ENTRIES)
def test_totals_under_any_name_are_noted_by_every_entry(
    sqlite_database: Database, entry: str
) -> None:
    totals = [[3, 2, 5], [1, 4, 5], [4, 6, 10]]

    with pytest.warns(offdiag.errors.LabelNote, match="are the sums of the others"):
        ENTRIES[entry](
            sqlite_database, totals, labels=["a", "b", "Summe"], orientation="actual_rows"
        )


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("labels", [{"a", "b", "c"}, {"a": 0, "b": 1, "c": 2}])
def test_labels_without_an_order_are_refused_by_every_entry(
    sqlite_database: Database, entry: str, labels: Any
) -> None:
    with pytest.raises(InvalidInput, match="is not a list of labels in their order"):
        ENTRIES[entry](sqlite_database, COUNTS, labels=labels, orientation="actual_rows")


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("table", [pl.DataFrame, pa.table], ids=["polars", "pyarrow"])
def test_a_table_without_an_index_has_the_names_of_its_columns(
    sqlite_database: Database, entry: str, table: Callable[[Any], Any]
) -> None:
    frame = table({"b": [17, 2], "a": [1, 80]})

    with pytest.raises(
        InvalidInput, match=r"columns \('b', 'a'\) are not the labels \('a', 'b'\)"
    ):
        ENTRIES[entry](sqlite_database, frame, labels=["a", "b"], orientation="actual_rows")
    for labels in (["b", "a"], None):
        found = offdiag.evaluate_matrix(frame, labels=labels, orientation="actual_rows")
        assert found.labels == ("b", "a")
        assert found.matrix.counts.tolist() == [[17, 1], [2, 80]]


def test_columns_that_polars_only_numbers_are_no_names() -> None:
    frame = pl.DataFrame(np.array([[17, 1], [2, 80]]))

    assert offdiag.evaluate_matrix(frame, orientation="actual_rows").labels == ("0", "1")
    assert offdiag.evaluate_matrix(frame, labels="ab", orientation="actual_rows").labels == (
        "a",
        "b",
    )


@pytest.mark.parametrize("entry", ENTRIES)
def test_cells_are_placed_by_name_where_labels_are_declared(
    sqlite_database: Database, entry: str
) -> None:
    found = ENTRIES[entry](sqlite_database, TABLE, labels=["c", "b", "a"])

    assert found == [[2, 0, 1], [0, 2, 2], [0, 2, 3]]


def test_a_class_that_nobody_predicted_has_no_cases_there() -> None:
    never = pd.crosstab(TRUE, PRED.replace("c", "a"), rownames=["actual"], colnames=["predicted"])

    with pytest.raises(InvalidInput, match="the class 'c' is only among the rows"):
        offdiag.evaluate_matrix(never)

    found = offdiag.evaluate_matrix(never, labels=["a", "b", "c"])
    assert found.matrix.counts.tolist() == [[3, 2, 0], [2, 2, 0], [3, 0, 0]]


@pytest.mark.parametrize(
    ("frame", "labels", "message"),
    [
        (TABLE, ["a", "b", "x"], "a class 'c', which is not among the labels"),
        (TABLE.set_axis(["a", "a", "b"]), None, "occurs more than once"),
        (
            pd.crosstab(TRUE, PRED, margins=True).rename_axis(index="true", columns="pred"),
            None,
            "holds totals",
        ),
    ],
)
def test_classes_that_cannot_be_placed_are_refused(
    frame: pd.DataFrame, labels: list[str] | None, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        offdiag.evaluate_matrix(frame, labels=labels, orientation="actual_rows")


@pytest.mark.parametrize(
    ("frame", "labels", "counts"),
    [
        (pd.DataFrame(COUNTS), ["z", "y", "x"], COUNTS),
        (pd.DataFrame(COUNTS), [2, 1, 0], COUNTS),
        (pd.DataFrame(COUNTS, [0, 1, 2], [0, 1, 2]), ["z", "y", "x"], COUNTS),
        (pd.DataFrame(COUNTS, [0, 1, 2], [0, 1, 2]), [2, 1, 0], [[2, 0, 1], [0, 2, 2], [0, 2, 3]]),
        (
            named(pd.DataFrame(COUNTS), "actual", "predicted"),
            [2, 1, 0],
            [[2, 0, 1], [0, 2, 2], [0, 2, 3]],
        ),
        (named(pd.DataFrame(COUNTS), "actual", "predicted"), ["z", "y", "x"], COUNTS),
    ],
    ids=[
        "an array",
        "an array in another order",
        "codes with names",
        "codes in another order",
        "a reindexed cross table",
        "codes on named axes",
    ],
)
def test_numbers_from_0_on_are_places_unless_they_are_the_classes(
    frame: pd.DataFrame, labels: list[Any], counts: list[list[int]]
) -> None:
    found = offdiag.evaluate_matrix(frame, labels=labels, orientation="actual_rows")

    assert found.labels == tuple(map(str, labels))
    assert found.matrix.counts.tolist() == counts


def test_an_audit_turns_a_cross_table_by_its_names() -> None:
    reported = {"recall": {"a": "0.6", "b": "0.5", "c": "0.67"}}
    turned = named(TABLE.T, "Prediction", "Reference")

    upright = offdiag.audit_reported(reported=reported, matrix=TABLE)

    assert upright.verdict.value == "consistent"
    assert offdiag.audit_reported(reported=reported, matrix=turned) == upright
    assert offdiag.audit_reported(reported=reported, matrix=SWAPPED, labels="abc") != upright


@pytest.mark.parametrize(
    ("rows", "columns"), [("Prediction", "Reference"), ("predicted", None), (None, "actual")]
)
def test_costs_whose_axes_are_named_the_wrong_way_round_are_refused(
    rows: str | None, columns: str | None
) -> None:
    weights = named(pd.DataFrame(COSTS, list("abc"), list("abc")), rows, columns)

    with pytest.raises(InvalidInput, match="pass the transposed frame"):
        offdiag.cost(TABLE, weights=weights)


@pytest.mark.parametrize("table", [pl.DataFrame, pa.table], ids=["polars", "pyarrow"])
def test_costs_without_an_index_have_their_columns_in_label_order(
    table: Callable[[Any], Any],
) -> None:
    counts = [[90, 10], [2, 8]]

    weights = table({"well": [0, 10], "ill": [1, 0]})
    found = offdiag.cost(counts, weights=weights, labels=["well", "ill"])

    assert found["total_cost"].value == 30
    with pytest.raises(InvalidInput, match=r"\('ill', 'well'\) are not the labels"):
        offdiag.cost(
            counts, weights=table({"ill": [1, 0], "well": [0, 10]}), labels=["well", "ill"]
        )


def test_tests_of_symmetry_place_the_cells_by_name() -> None:
    assert stats.bowker(TABLE[["c", "a", "b"]]) == stats.bowker(np.array(COUNTS))
    assert stats.stuart_maxwell(TABLE[["b", "a", "c"]]) == stats.stuart_maxwell(COUNTS)


@pytest.mark.parametrize(("actual", "predicted"), NAMES[:4])
def test_the_command_line_reads_the_corner_of_a_written_cross_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], actual: str, predicted: str
) -> None:
    told = []
    for name, frame in (
        ("m.csv", named(TABLE, actual, predicted)),
        ("t.csv", named(TABLE.T, predicted, actual)),
    ):
        frame.to_csv(tmp_path / name)
        assert run_command(("evaluate", str(tmp_path / name), "--matrix", "--json")) == 0
        told.append(capsys.readouterr().out)

    assert told[0] == told[1]

"""What cannot be meant is refused in words, by a registry here and by one behind a server.

Each refusal names the field it is about and leaves no run behind. What only looks odd is kept
as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sqlalchemy import func, select

import offdiag
from offdiag.domain.runs import RunState
from offdiag.errors import InvalidInput, LabelNote
from offdiag.services.verification.verify import verify
from offdiag.store.database import Database
from offdiag.store.models import RunRow
from support.logging_runs import work_off
from support.servers import serving

DOORS = [
    "embedded sqlite",
    pytest.param("embedded postgresql", marks=pytest.mark.postgres),
    "remote",
]
BEFORE_ANY_DATABASE = pytest.mark.parametrize("door", ["embedded sqlite", "remote"], indirect=True)
"""What is refused here is refused before a database is asked, whichever it is."""
HALF = "\ud800"
HUGE = 10**5_000


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest) -> Iterator[tuple[str, Database]]:
    """A URL to log to and the registry behind it."""
    kind = "postgres_database" if request.param.endswith("postgresql") else "sqlite_database"
    database: Database = request.getfixturevalue(kind)
    if request.param == "remote":
        with serving(database) as url:
            yield url, database
    else:
        yield database.url, database


def log(url: str, **given: object) -> offdiag.Run:
    facts: dict[str, Any] = {"y_true": ["a", "b"], "y_pred": ["a", "a"], "name": "n"}
    return offdiag.log_run(**{**facts, "dataset": "d", "url": url, **given})


def log_matrix(url: str, matrix: Any, **given: object) -> offdiag.Run:
    facts: dict[str, Any] = {"labels": ["a", "b"], "orientation": "actual_rows", "name": "n"}
    return offdiag.log_matrix(matrix, **{**facts, "dataset": "d", "url": url, **given})


SCORED: dict[str, Any] = {"labels": ["a", "b"], "positive_label": "b"}
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    # Text that no database, file or page can hold, in every place for text.
    *(
        (f"{what} in {field}", {field: f"x{text}y"}, field)
        for what, text in (("NUL", "\0"), ("half a pair", HALF))
        for field in ("name", "project", "model", "client_key")
    ),
    ("NUL in dataset", {"dataset": "x\0y"}, "dataset"),
    ("NUL in a tag", {"tags": {"x": "\0"}}, "tags['x']"),
    ("half a pair in the name of a tag", {"tags": {HALF: 1}}, "tags"),
    ("half a pair in a parameter", {"params": {"x": HALF}}, "params['x']"),
    ("NUL in a class", {"y_true": ["a\0b", "b"], "y_pred": ["b", "b"]}, "y_true"),
    ("NUL in a declared class", {"labels": ["a", "b", "a\0b"]}, "labels"),
    ("half a pair in a class", {"y_true": [HALF, "b"], "y_pred": ["b", "b"]}, "y_true[0]"),
    ("NUL in a class of numpy", {"y_true": np.array(["a\0b", "a"])}, "y_true"),
    ("half a pair in a class of numpy", {"y_true": np.array(["a", HALF])}, "y_true[1]"),
    ("NUL in a slice", {"slices": {"x": ["\0", "c"]}}, "slices['x']"),
    ("half a pair in an identifier", {"sample_ids": ["x", HALF]}, "sample_ids[1]"),
    # Too long, too many, too large.
    ("a name of a megabyte", {"name": "x" * 10**6}, "name"),
    ("a dataset of a megabyte", {"dataset": "x" * 10**6}, "dataset"),
    ("a class of a megabyte", {"labels": ["a", "b", "x" * 10**6]}, "labels"),
    ("10,000 tags", {"tags": {str(number): number for number in range(10_000)}}, "tags"),
    ("a tag of 5,000 digits", {"tags": {"x": HUGE}}, "tags['x']"),
    ("a class of 5,000 digits", {"labels": ["a", "b", HUGE]}, "labels"),
    ("100,000 classes", {"labels": [str(number) for number in range(100_000)]}, "labels"),
    ("a tag that is not finite", {"tags": {"x": float("nan")}}, "tags['x']"),
    # Arrays that do not fit each other, or hold what is not a class.
    ("nothing", {"y_true": [], "y_pred": []}, "y_true"),
    ("other lengths", {"y_true": ["a"]}, "y_pred"),
    ("a class that is missing", {"y_true": ["a", None]}, "y_true"),
    ("classes that are fractions", {"y_true": [1.5, 2.0], "y_pred": [1, 2]}, "y_true"),
    ("classes that are bytes", {"y_true": [b"a", b"b"], "y_pred": [b"a", b"b"]}, "y_true"),
    ("a class nobody declared", {"labels": ["a"]}, "y_true"),
    ("the same sample twice", {"sample_ids": ["x", "x"]}, "sample_ids"),
    # What has no order, or a shape that says something else.
    ("a set of classes", {"y_true": {"a", "b"}}, "y_true"),
    ("a frozen set of predictions", {"y_pred": frozenset("ab")}, "y_pred"),
    ("classes in a dict", {"y_pred": {"x": "a", "y": "b"}}, "y_pred"),
    ("one class without a list", {"y_true": np.array("a")}, "y_true"),
    ("one prediction without a list", {"y_pred": np.array("a")}, "y_pred"),
    ("a set of identifiers", {"sample_ids": {"x", "y"}}, "sample_ids"),
    ("declared classes in a set", {"labels": {"a", "b"}}, "labels"),
    ("declared classes in a dict", {"labels": {"a": 0, "b": 1}}, "labels"),
    ("a hidden class", {"y_true": np.ma.array(["a", "b"], mask=[False, True])}, "y_true"),
    ("a table of one column", {"y_true": np.array([["a"], ["b"]])}, "y_true"),
    ("a frame of one column", {"y_pred": pd.DataFrame({"y": [0, 1]})}, "y_pred"),
    ("one-hot rows beside classes", {"y_true": np.eye(2)}, "y_true"),
    ("identifiers that are fractions", {"sample_ids": [1.5, 2.0]}, "sample_ids"),
    # Scores.
    *(
        (f"a score of {score}", {**SCORED, "y_score": [0.5, score]}, "y_score")
        for score in (float("nan"), float("inf"), -float("inf"), 1e39, "x", None, 1j)
    ),
    (
        "a hidden score",
        {**SCORED, "y_score": np.ma.array([0.5, 0.2], mask=[False, True])},
        "y_score",
    ),
    (
        "a hidden weight",
        {"sample_weight": np.ma.array([1, 2], mask=[False, True])},
        "sample_weight",
    ),
    ("a score of 5,000 digits", {**SCORED, "y_score": [0.5, HUGE]}, "y_score"),
    ("scores of one case", {**SCORED, "y_score": [0.5]}, "y_score"),
    ("ragged scores", {"labels": ["a", "b"], "y_score": [[0.5, 0.5], [1]]}, "y_score"),
    ("a score for nobody says which class", {"y_score": [0.5, 0.5]}, "positive_label"),
]


@BEFORE_ANY_DATABASE
def test_what_cannot_be_meant_is_refused_and_leaves_nothing(door: tuple[str, Database]) -> None:
    url, database = door

    for what, given, field in REFUSED:
        with pytest.raises(InvalidInput) as refused:
            log(url, **given)
        assert refused.value.field == field, (what, refused.value)
        assert refused.value.hint, what
        assert len(str(refused.value)) < 1_000, what

    assert _finished_runs(database) == 0
    assert not verify(database).findings


MATRICES: list[tuple[str, object, dict[str, Any], str]] = [
    ("negative", [[1, -2], [3, 4]], {}, "matrix"),
    ("fractional", [[1, 0.5], [3, 4]], {}, "matrix"),
    ("not square", [[1, 2]], {}, "matrix"),
    ("ragged", [[1, 2], [3]], {}, "matrix"),
    ("empty", [], {}, "matrix"),
    ("all zero", [[0, 0], [0, 0]], {}, "matrix"),
    ("not a number", [[float("nan"), 2], [1, 1]], {}, "matrix"),
    ("no numbers", [["x", 2], [1, 1]], {}, "matrix"),
    ("three axes", [[[1]]], {}, "matrix"),
    ("other labels", [[1, 2], [3, 4]], {"labels": ["a"]}, "labels"),
    ("a label twice", [[1, 2], [3, 4]], {"labels": ["a", "a"]}, "labels"),
    ("no orientation", [[1, 2], [3, 4]], {"orientation": None}, "orientation"),
    ("no known orientation", [[1, 2], [3, 4]], {"orientation": "rows"}, "orientation"),
    ("hidden", np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False] * 2]), {}, "matrix"),
    ("a count of 63 bits", [[2**63 - 1, 0], [0, 1]], {}, "matrix"),
    ("a sum of 63 bits", [[2**62, 2**62], [1, 1]], {}, "matrix"),
    ("64 bits of numpy", np.array([[2**64 - 1, 1], [1, 1]], dtype=np.uint64), {}, "matrix"),
    ("a count of 5,000 digits", [[HUGE, 2], [1, 1]], {}, "matrix"),
    ("a debt of 5,000 digits", [[-HUGE, 2], [1, 1]], {}, "matrix"),
]


@BEFORE_ANY_DATABASE
def test_a_matrix_that_cannot_be_counted_is_refused(door: tuple[str, Database]) -> None:
    url, database = door

    for what, matrix, given, field in MATRICES:
        with pytest.raises(InvalidInput) as refused:
            log_matrix(url, matrix, **given)
        assert refused.value.field == field, (what, refused.value)
        assert refused.value.hint, what

    assert _finished_runs(database) == 0


def test_counts_that_fit_are_exact(door: tuple[str, Database]) -> None:
    """Their product takes 124 bits."""
    url, database = door
    large = 2**61 + 1

    run = log_matrix(url, [[large, 0], [0, 1]])
    work_off(database)

    assert run.evaluation().confusion_matrix.loc["a", "a"] == large


ODD_NAMES = [
    *("NA", "None", "null", "nan", "", "true", "0", "007", "7", "1", "1.0", "1e3", "1000"),
    *(" a", "a ", "a  b", "a\tb", "a\nb", "\u200b", "a\u202eb", "a", "\u0430", "=1+1", "'=1"),
    *("<script>", "../../etc/passwd", "é", "e\u0301", "{{7*7}}", "%s", "\x07", "a\u2028b"),
]


def test_names_that_look_odd_stay_what_they_are_and_apart(door: tuple[str, Database]) -> None:
    url, database = door
    held = pa.array(ODD_NAMES).dictionary_encode()

    with (
        pytest.warns(LabelNote, match=r"look alike: '' and '\\x07' \(invisible characters\)"),
        pytest.warns(LabelNote, match=r"meant as one: '7' and '007' \(kind\)"),
        pytest.warns(LabelNote, match=r"'nan' is read as a class"),
    ):
        run = log(url, y_true=held, y_pred=np.array(ODD_NAMES), sample_ids=ODD_NAMES)
    work_off(database)
    found = run.evaluation()

    assert sorted(found.confusion_matrix.index) == sorted(ODD_NAMES)
    assert {value.value for value in found.per_class["recall"].values()} == {1.0}


def test_names_nobody_can_have_are_looked_for_in_vain(door: tuple[str, Database]) -> None:
    """They come from addresses, filters and arguments in another encoding."""
    url, _ = door

    for name in ("x\0y", f"x{HALF}"):
        with pytest.raises(offdiag.errors.OffdiagError):
            offdiag.search_runs(filter=f"attributes.dataset = '{name}'", url=url)
        with pytest.raises(offdiag.errors.OffdiagError):
            offdiag.compare([name, name], url=url)


def _finished_runs(database: Database) -> int:
    with database.read() as session:
        counted = select(func.count()).select_from(RunRow).where(RunRow.state != RunState.OPEN)
        return session.scalar(counted) or 0

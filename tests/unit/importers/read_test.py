"""The one way in: dialects by name, and only what a dialect can use may be stated."""

from __future__ import annotations

from pathlib import Path

import pytest

from offdiag.errors import InvalidInput
from offdiag.importers import DIALECTS, read


def test_every_dialect_states_its_convention_in_a_sentence() -> None:
    for dialect in DIALECTS.values():
        assert dialect.convention.endswith(".")
        assert (
            "actual" in dialect.convention
            or "reference" in dialect.convention
            or ("axis" in dialect.convention)
        )


def test_an_unknown_dialect_is_told_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="sklearn, caret"):
        read("weka", tmp_path / "m.csv")


def test_what_a_dialect_says_itself_may_not_be_stated(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="orientation: files of caret state it"):
        read("caret", tmp_path / "m.csv", orientation="actual_rows")


def test_an_unknown_orientation_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="'rows' is not known"):
        read("mlflow", tmp_path, orientation="rows")

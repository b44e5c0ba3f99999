"""`offdiag samples`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import offdiag as sdk
from offdiag.inputs.content.given_images import image_file

Command = Callable[..., Any]


@pytest.fixture
def table(offdiag: Command, tmp_path: Path) -> str:
    """A dataset `digits`, and a table of two of its samples."""
    sdk.log_run(
        y_true=["0", "1"], y_pred=["0", "1"], sample_ids=[1, 2], name="r", dataset="digits"
    )
    (tmp_path / "one.png").write_bytes(image_file([[0, 255]]))
    file = tmp_path / "digits.csv"
    file.write_text("id,file,note,ink\n1,one.png,clear,0.5\n2,,,\n", encoding="utf-8")
    return str(file)


def test_content_of_a_table_is_stored_shown_and_removed(offdiag: Command, table: str) -> None:
    line = ("samples", "log", "digits", table, "--image", "file", "--text", "note")

    assert offdiag(*line, "--field", "ink", "--json").json["n_added"] == 2
    assert "2 as before" in offdiag(*line, "--field", "ink").out
    assert offdiag("samples", "show", "digits", "--json").json == {
        "image_template": None,
        "link_template": None,
        "is_hidden": False,
    }
    assert offdiag("samples", "set", "digits", "--hidden").code == 0
    assert "ask for it" in offdiag("samples", "show", "digits").out
    assert offdiag("samples", "remove", "digits", "1", "--json").json == {"n_removed": 1}
    assert "1 sample removed" in offdiag("samples", "remove", "digits", "--all").out


@pytest.mark.usefixtures("table")
def test_json_lines_are_read_with_what_they_leave_empty(offdiag: Command, tmp_path: Path) -> None:
    lines = tmp_path / "digits.jsonl"
    rows = ['{"id": 1, "note": null, "ink": 0.5}', '{"id": 2, "note": "faint", "ink": null}']
    lines.write_text("\n".join(rows), encoding="utf-8")

    answer = offdiag(
        "samples", "log", "digits", str(lines), "--text", "note", "--field", "ink", "--json"
    )

    assert answer.json["n_added"] == 2


def test_what_is_meant_has_to_be_said(offdiag: Command, table: str) -> None:
    assert "--image" in offdiag("samples", "log", "digits", table).err
    assert offdiag("samples", "remove", "digits").code == 2
    answer = offdiag("samples", "set", "digits", "--images", "https://b.org/{sample}")
    assert (answer.code, "content_hosts" in answer.err) == (2, True)


def test_noise_is_shown_or_its_absence_explained(offdiag: Command, table: str) -> None:
    shown = offdiag("samples", "noise", "digits", "--share", "0.5")

    assert "No model has probabilities" in shown.out
    assert "50 %" in shown.out
    assert offdiag("samples", "noise", "digits", "--json").json["pairs"] == []


def test_nearly_all_is_not_all_and_a_single_label_is_one(offdiag: Command, folder: Path) -> None:
    n = 3_000
    actual = np.arange(n) % 2
    other = actual.copy()
    other[7] = 1 - other[7]
    for name, predicted in (("all right", actual), ("one wrong", other)):
        of_one = np.where(predicted == 1, 0.99999, 0.00001)
        sdk.log_run(
            y_true=other,
            y_pred=predicted,
            y_score=np.stack([1 - of_one, of_one], axis=1),
            labels=["0", "1"],
            name=name,
            model=name,
            dataset="digits",
        )

    noise = offdiag("samples", "noise", "digits").out
    suspects = offdiag("samples", "suspects", "digits").out

    assert re.search(r"one wrong +100\.0 % ", noise)
    assert re.search(r"all right +>99\.9 % ", noise)
    assert "up to 3 % wrong" in noise
    assert "of 3,000 labels" in suspects
    assert "100%" not in noise + suspects

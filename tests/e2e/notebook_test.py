"""A notebook that is executed by a kernel: cards in place of text, without script or network."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

LOG = """
import offdiag

truth = ["nv"] * 80 + ["mel"] * 20
for name, n_found in (("plain", 1), ("focal", 15)):
    offdiag.log_run(
        y_true=truth,
        y_pred=["nv"] * (100 - n_found) + ["mel"] * n_found,
        name=name,
        dataset="derm",
        labels=["nv", "mel"],
    )
"""
CELLS = (
    'run = offdiag.get_run("plain")\nrun.evaluate()\nrun',
    "run.evaluation()",
    'offdiag.compare(["plain", "focal"])',
    "run.evaluation().flags",
)


def executed(folder: Path) -> list[Any]:
    """The outputs of the cells that show something."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in (LOG, *CELLS)]
    )
    client = nbclient.NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    return [cell.outputs[-1].data for cell in notebook.cells[1:]]


def test_a_notebook_shows_cards_and_keeps_plain_text_beside_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFDIAG_URL", f"sqlite:///{tmp_path / 'offdiag.db'}")
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")

    run, evaluation, comparison, flags = executed(tmp_path)

    assert re.fullmatch(
        r"Run plain \(r_\w{12}\), derm v1, accuracy 0\.810, mel missed \(1 of 20\)",
        run["text/plain"],
    )
    assert "<b>mel is missed: 1 of 20 found</b>" in run["text/html"]
    assert "Actual ↓" in evaluation["text/html"]
    assert comparison["text/plain"].startswith("Comparison of A plain and B focal: B is better")
    assert "only B <b>14</b>" in comparison["text/html"]
    assert "critical" in flags["text/html"]
    for data in (run, evaluation, comparison, flags):
        html = data["text/html"]
        assert len(html.encode()) < 30_000
        assert not re.search(r"<script|<link|<img|@import|url\(|https?:|\son\w+=", html)

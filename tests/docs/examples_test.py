"""The Python of the documentation runs as it stands, in a folder of its own."""

from __future__ import annotations

import os
import re
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.page_blocks import Block, blocks, output_below

EXAMPLES = [block for block in blocks("python") if block.page != "docs/quickstart.md"]
"""The blocks of the quick start continue one another; they have a test of their own."""
SILENT = {
    "docs/importers.md:1": "shows what is read in its comments",
    "docs/integrations.md:2": "is a loop to be copied",
    "docs/integrations.md:3": "logs to two tools, of which MLflow may print",
    "docs/reports.md:1": "is a function for whoever receives reports",
}
"""Examples that print nothing, each with the reason."""
LARGE = {"torch", "mlflow", "lightning", "keras", "transformers", "pyspark"}
"""Libraries that are not in the development tools; examples with them run where they are."""
FEWER = {
    "docs/methods.md:1": ("seed in range(5)", "seed in range(2)"),
    "docs/methods.md:2": (
        "size in (25, 50, 100, 200):\n        for seed in range(4)",
        "size in (25, 100):\n        for seed in range(2)",
    ),
}
"""Models that are trained over and over, for seconds: fewer of them show that the example runs."""
RUN_ID = re.compile(r"\br_[0-9a-z]{12}\b")
CONFUSION = """\
Confusion Matrix and Statistics

          Reference
Prediction  1  2
         1  8  1
         2  3 17
"""


def test_the_pages_have_examples() -> None:
    pages = {block.page for block in EXAMPLES}

    assert {"README.md", "docs/sdk.md", "docs/truth.md"} <= pages
    assert set(SILENT) <= {block.name for block in EXAMPLES}


def lines_of(text: str) -> list[str]:
    """Lines that are not blank, without white space at their ends, and with runs called alike.

    On a busy machine DuckDB also prints a bar of its progress, between ▕ and ▏.
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and "▕" not in line]
    return [RUN_ID.sub("r_…", line) for line in lines]


def test_pages_show_the_output_of_some_examples() -> None:
    shown = [block.page for block in EXAMPLES if output_below(block)]

    assert {"docs/weights.md", "docs/fairness.md", "docs/audit.md", "docs/sdk.md"} <= set(shown)


@pytest.mark.parametrize("block", [pytest.param(block, id=block.name) for block in EXAMPLES])
def test_an_example_runs_and_prints_what_is_below_it(
    block: Block,
    tmp_path: Path,
    registry_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    imported = set(re.findall(r"^import (\w+)", block.text, flags=re.MULTILINE))
    for name in sorted(imported & LARGE):
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    for name in [name for name in os.environ if name.startswith("OFFDIAG_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OFFDIAG_URL", registry_url)
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "confusion.txt").write_text(CONFUSION, encoding="utf-8")

    # In this process, where the libraries are loaded once; a warning is an error here too, unless
    # a large library may be what warns.
    with warnings.catch_warnings():
        if imported & LARGE:
            warnings.simplefilter("ignore")
        whole, fewer = FEWER.get(block.name, ("", ""))
        assert whole in block.text
        exec(
            compile(block.text.replace(whole, fewer), block.name, "exec"), {"__name__": "__main__"}
        )

    printed = capfd.readouterr().out
    assert bool(printed.strip()) is (block.name not in SILENT)
    shown = output_below(block)
    if shown is not None and not fewer:
        assert lines_of(printed) == lines_of(shown)

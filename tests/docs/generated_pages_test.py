"""The generated pages are those the code would write now."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from offdiag.metrics.catalogue import SPECS

DOCS = Path(__file__).parents[2] / "docs"


def generate(docs: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, docs / "generate.py", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copied_docs(tmp_path: Path) -> Path:
    # Some pages tell what benchmarks found.
    results = Path("benchmarks") / "results"
    shutil.copytree(DOCS.parent / results, tmp_path / results)
    return shutil.copytree(DOCS, tmp_path / "docs")


def test_no_page_is_out_of_date() -> None:
    checked = generate(DOCS, "--check")

    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_every_metric_key_has_a_page_with_a_heading_for_each_scope() -> None:
    for spec in SPECS:
        page = (DOCS / "metrics" / f"{spec.key}.md").read_text(encoding="utf-8")

        assert f"# `{spec.key}`" in page
        assert f": {spec.title}" in page
        assert spec.formula in page
        assert all(name.split("|")[0] in page for name in spec.other_names.values())


def test_checking_names_what_is_stale_missing_or_left_over_and_changes_nothing(
    copied_docs: Path,
) -> None:
    folder = copied_docs / "metrics"
    (folder / "recall.md").write_text("Recall is 1.", encoding="utf-8")
    (folder / "mcc.md").unlink()
    (folder / "abandoned.md").write_text("", encoding="utf-8")

    checked = generate(copied_docs, "--check")

    assert checked.returncode == 1
    named = {line.split()[0] for line in checked.stdout.splitlines()}
    assert named == {f"docs/metrics/{name}.md" for name in ("recall", "mcc", "abandoned")}
    assert (folder / "recall.md").read_text(encoding="utf-8") == "Recall is 1."


def texts(docs: Path) -> dict[str, str]:
    """All pages by their names."""
    return {
        str(page.relative_to(docs)): page.read_text(encoding="utf-8")
        for page in docs.rglob("*.md")
    }


def test_generating_brings_all_pages_up_to_date(copied_docs: Path) -> None:
    folder = copied_docs / "metrics"
    (folder / "recall.md").write_text("Recall is 1.", encoding="utf-8")
    (folder / "abandoned.md").write_text("", encoding="utf-8")

    generate(copied_docs)

    assert texts(copied_docs) == texts(DOCS)

"""The generated pages are those the code would write now."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from offdiag.metrics.catalogue import SPECS

DOCS = Path(__file__).parents[2] / "docs"


def generate(docs: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, docs / "generate.py", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_metric_key_has_a_page_with_a_heading_for_each_scope() -> None:
    for spec in SPECS:
        page = (DOCS / "metrics" / f"{spec.key}.md").read_text(encoding="utf-8")

        assert f"# `{spec.key}`" in page
        assert f": {spec.title}" in page
        assert spec.formula in page
        assert all(name.split("|")[0] in page for name in spec.other_names.values())


def test_checking_names_all_that_is_out_of_date_and_generating_brings_it_up_to_date(
    tmp_path: Path,
) -> None:
    # Some pages tell what benchmarks found.
    results = Path("benchmarks") / "results"
    shutil.copytree(DOCS.parent / results, tmp_path / results)
    docs = shutil.copytree(DOCS, tmp_path / "docs")
    folder = docs / "metrics"
    (folder / "recall.md").write_text("Recall is 1.", encoding="utf-8")
    (folder / "mcc.md").unlink()
    (folder / "abandoned.md").write_text("", encoding="utf-8")

    checked = generate(docs, "--check")

    # Any other page that is named here is out of date in the documentation itself.
    named = {line.split()[0] for line in checked.stdout.splitlines()}
    assert named == {f"docs/metrics/{name}.md" for name in ("recall", "mcc", "abandoned")}
    assert checked.returncode == 1
    assert (folder / "recall.md").read_text(encoding="utf-8") == "Recall is 1."
    generate(docs)
    assert texts(docs) == texts(DOCS)


def texts(docs: Path) -> dict[str, str]:
    """All pages by their names."""
    return {
        str(page.relative_to(docs)): page.read_text(encoding="utf-8")
        for page in docs.rglob("*.md")
    }

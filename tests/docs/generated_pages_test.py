"""The generated pages are those the code would write now."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path, PurePosixPath

import pytest

from offdiag.metrics.catalogue import SPECS
from support.quick_starts import run_quickly

DOCS = Path(__file__).parents[2] / "docs"
WRITE_OUT = """
import json
from generate import all_pages
print(json.dumps({str(path): text for path, text in all_pages().items()}))
"""


def pages_of_the_code() -> dict[PurePosixPath, str]:
    """All pages, written in a process of its own, into which no other test has imported."""
    done = run_quickly([sys.executable, "-c", WRITE_OUT], cwd=DOCS, check=True)
    return {PurePosixPath(path): text for path, text in json.loads(done.stdout).items()}


def test_every_metric_key_has_a_page_with_a_heading_for_each_scope() -> None:
    for spec in SPECS:
        page = (DOCS / "metrics" / f"{spec.key}.md").read_text(encoding="utf-8")

        assert f"# `{spec.key}`" in page
        assert f": {spec.title}" in page
        assert spec.formula in page
        assert all(name.split("|")[0] in page for name in spec.other_names.values())


def test_checking_names_all_that_is_out_of_date_and_generating_brings_it_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "path", [str(DOCS), *sys.path])
    from generate import generate

    pages = pages_of_the_code()
    docs = shutil.copytree(DOCS, tmp_path / "docs")
    folder = docs / "metrics"
    (folder / "recall.md").write_text("Recall is 1.", encoding="utf-8")
    (folder / "mcc.md").unlink()
    (folder / "abandoned.md").write_text("", encoding="utf-8")

    code = generate(docs, pages, only_check=True)

    # Any other page that is named here is out of date in the documentation itself.
    named = {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    assert named == {f"docs/metrics/{name}.md" for name in ("recall", "mcc", "abandoned")}
    assert code == 1
    assert (folder / "recall.md").read_text(encoding="utf-8") == "Recall is 1."
    assert generate(docs, pages, only_check=False) == 0
    assert texts(docs) == texts(DOCS)


def texts(docs: Path) -> dict[str, str]:
    """All pages by their names."""
    return {
        str(page.relative_to(docs)): page.read_text(encoding="utf-8")
        for page in docs.rglob("*.md")
    }

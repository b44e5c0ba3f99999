"""The Python of the documentation runs as it stands, in a folder of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/sdk.md", "docs/truth.md")


def examples() -> list[tuple[str, str]]:
    """Page with number, and source, of every Python block."""
    return [
        (f"{page}:{number}", source)
        for page in PAGES
        for number, source in enumerate(
            re.findall(
                r"^```python\n(.*?)^```$",
                (ROOT / page).read_text(encoding="utf-8"),
                flags=re.DOTALL | re.MULTILINE,
            ),
            start=1,
        )
    ]


def test_the_pages_have_examples() -> None:
    assert {name.split(":")[0] for name, _ in examples()} == set(PAGES)


@pytest.mark.parametrize("source", [pytest.param(source, id=name) for name, source in examples()])
def test_an_example_runs_and_shows_something(source: str, tmp_path: Path) -> None:
    environment = {key: text for key, text in os.environ.items() if "OFFDIAG" not in key}

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", source],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()

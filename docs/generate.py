"""Write the pages that follow from code, or check that they are up to date (--check)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import bi_page
import cli_page
import metric_pages
import scale_page
import sql_page

DOCS = Path(__file__).parent
GENERATED_FOLDERS = (metric_pages.FOLDER,)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if stale")
    return generate(DOCS, all_pages(), only_check=parser.parse_args().check)


def all_pages() -> dict[PurePosixPath, str]:
    """The text of every page that follows from code, by its path in the documentation."""
    pages = metric_pages.pages() | cli_page.pages() | sql_page.pages() | bi_page.pages()
    return pages | scale_page.pages()


def generate(docs: Path, pages: Mapping[PurePosixPath, str], *, only_check: bool) -> int:
    """Bring the pages below a folder up to date, or name those that are not; an exit code."""
    wanted = {docs / path: text for path, text in pages.items()}
    stale = [path for path, text in wanted.items() if not _holds(path, text)]
    orphaned = [path for path in _existing(docs) if path not in wanted]
    if only_check:
        for path in (*stale, *orphaned):
            print(f"{path.relative_to(docs.parent)} is out of date; run make docs.")
        return 1 if stale or orphaned else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path], encoding="utf-8")
    for path in orphaned:
        path.unlink()
    print(f"{len(stale)} pages written, {len(orphaned)} removed, {len(wanted)} in all.")
    return 0


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def _existing(docs: Path) -> list[Path]:
    return [page for folder in GENERATED_FOLDERS for page in (docs / folder).glob("*.md")]


if __name__ == "__main__":
    sys.exit(main())

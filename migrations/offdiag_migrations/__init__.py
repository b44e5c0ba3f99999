"""The schema migrations of the registry, a chain of numbered Alembic revisions.

A revision's id is the name of its file, so the chain can be read from the folder without loading
Alembic: every program start needs to know the head, few need to migrate.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def head() -> str:
    """Id of the newest revision.

    It is kept in a file of its own: two branches that both add a revision then conflict when they
    are merged, not when they are deployed.
    """
    return (FOLDER / ".current-head").read_text().strip()


def revisions() -> tuple[str, ...]:
    """Ids of all revisions, oldest first."""
    return tuple(sorted(file.stem for file in (FOLDER / "versions").glob("[0-9]*.py")))

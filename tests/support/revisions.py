"""Chains of migrations that go on where the real one ends."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import offdiag_migrations


def extended_chain(folder: Path, name: str, body: str) -> Path:
    """A copy of the migrations with one more revision, whose functions `body` defines."""
    chain = folder / "offdiag_migrations"
    shutil.copytree(offdiag_migrations.FOLDER, chain, ignore=shutil.ignore_patterns("__pycache__"))
    newest = (chain / ".current-head").read_text().strip()
    (chain / "versions" / f"{name}.py").write_text(
        f'"""A revision for a test."""\n\n'
        f"import sqlalchemy as sa\n"
        f"from alembic import op\n\n"
        f"revision = {name!r}\n"
        f"down_revision = {newest!r}\n\n\n"
        f"{body}"
    )
    (chain / ".current-head").write_text(f"{name}\n")
    return chain


def use_chain(monkeypatch: pytest.MonkeyPatch, chain: Path) -> None:
    """Let this process believe that `chain` is what is installed."""
    monkeypatch.setattr(offdiag_migrations, "FOLDER", chain)

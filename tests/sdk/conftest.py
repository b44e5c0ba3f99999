"""One registry for the tests of a module, and a dataset for each."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def url(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """URL of a registry for all tests of a module, which log to datasets of their own."""
    path = shutil.copy(migrated_file, tmp_path_factory.mktemp("shared") / "registry.db")
    return f"sqlite:///{path}"


@pytest.fixture
def dataset(request: pytest.FixtureRequest) -> str:
    """A name that is that of the test."""
    name: str = request.node.name
    return name

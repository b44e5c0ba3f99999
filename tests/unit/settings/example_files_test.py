"""The files in config/ say what the program does."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from offdiag.settings import Settings, load_settings

CONFIG_FOLDER = Path(__file__).parents[3] / "config"
NO_SETTINGS = {"cost-matrix.example.toml"}
EXAMPLES = sorted(file for file in CONFIG_FOLDER.glob("*.toml") if file.name not in NO_SETTINGS)


def test_the_default_file_holds_every_setting_at_its_default() -> None:
    content = tomllib.loads((CONFIG_FOLDER / "default.toml").read_text(encoding="utf-8"))

    assert content == Settings().model_dump()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_file_loads(path: Path, tmp_path: Path) -> None:
    settings = load_settings({"OFFDIAG_CONFIG": str(path)}, folder=tmp_path)

    assert isinstance(settings, Settings)

"""Benchmarks, which are not our package, and their programs, started in a moment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support.quick_starts import QuickProcess

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))


@pytest.fixture
def quick_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let servers and workers of benchmarks be forked; how they start cold is not the point."""
    for module in ("load.processes", "soak.programs"):
        monkeypatch.setattr(f"{module}.Popen", QuickProcess)

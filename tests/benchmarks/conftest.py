"""Benchmarks, which are no package of ours, and their programs, started in a moment."""

from __future__ import annotations

import multiprocessing
import sys
from multiprocessing.forkserver import ensure_running
from pathlib import Path

import pytest

from support.quick_starts import QuickProcess

BENCHMARKS = str(Path(__file__).parents[2] / "benchmarks")

sys.path.append(BENCHMARKS)


@pytest.fixture(scope="session")
def loaded_clients() -> None:
    """Start the process that forks clients where it finds what they need, and loads it once."""
    multiprocessing.set_forkserver_preload(["load.training", "load.page_reads", "soak.clients"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", BENCHMARKS)
        ensure_running()


@pytest.fixture
def quick_programs(loaded_clients: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let servers and workers of benchmarks be forked; how they start cold is not the point."""
    for module in ("load.processes", "soak.programs"):
        monkeypatch.setattr(f"{module}.Popen", QuickProcess)

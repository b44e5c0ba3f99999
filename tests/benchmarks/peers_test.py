"""The measurement beside peers: their processes take turns, and have to agree on values."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
EVALUATING = ("offdiag", "scikit-learn", "PyCM")
HERE = ("offdiag worker", *EVALUATING)
"""Peers that run in the environment of the tests."""


@pytest.fixture(scope="module")
def peers() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(BENCHMARKS))
        import peers

        yield peers


@pytest.fixture(scope="module")
def running(peers: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Processes of the peers, which both tests ask."""
    tmp_path = tmp_path_factory.mktemp("peers")
    rng = np.random.default_rng(1)
    actual = rng.integers(0, 10, 2_000)
    predicted = np.where(rng.random(2_000) < 0.2, rng.integers(0, 10, 2_000), actual)
    np.save(tmp_path / "1e5.npy", np.stack([actual, predicted]))
    scores = rng.random(2_000).astype(np.float32).astype(np.float64)
    np.save(tmp_path / "scores 1e5.npy", np.stack([rng.random(2_000) < scores, scores]))
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(
                peers.started(peers.PEERS[name], Path(sys.executable), tmp_path)
            )
            for name in HERE
        }


@pytest.mark.processes
def test_peers_take_turns_and_agree(peers: Any, running: Any) -> None:
    variants = [*((name, "evaluate 1e5") for name in EVALUATING), ("offdiag worker", "job 1e5")]

    peers.expect_agreement(variants, running)
    timings = peers.timed(variants, running, turns=2)

    assert [len(timing.seconds) for timing in timings.values()] == [2, 2, 2, 2]
    assert all(min(timing.seconds) > 0 for timing in timings.values())
    assert all(process.peak_mib > 10 for process in running.values())


@pytest.mark.processes
def test_peers_agree_on_scores(peers: Any, running: Any) -> None:
    variants = [
        *((name, "scores 1e5") for name in ("offdiag", "scikit-learn")),
        ("offdiag worker", "job scores 1e5"),
    ]

    peers.expect_agreement(variants, running)

    assert running["scikit-learn"].turn("scores 1e5")[1].keys() >= {"AUC", "AP", "Brier score"}


@pytest.mark.processes
def test_values_that_differ_end_the_run(
    peers: Any, running: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running["PyCM"], "turn", lambda _: (0.1, {"MCC": 0.5}))

    with pytest.raises(RuntimeError, match=r"MCC: PyCM 0\.5, offdiag 0\.7"):
        peers.expect_agreement(
            [*((name, "evaluate 1e5") for name in EVALUATING), ("offdiag", "log 1e5")], running
        )

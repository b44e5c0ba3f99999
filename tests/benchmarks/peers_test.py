"""The measurement beside peers: their processes take turns, and have to agree on values."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import peers
import pytest
from peer_work.processes import Running, started

from support.quick_starts import QuickProcess

EVALUATING = ("offdiag", "scikit-learn", "PyCM")
HERE = ("offdiag worker", *EVALUATING)
"""Peers that run in the environment of the tests."""


class Started(QuickProcess):
    """A peer that is forked where its libraries are loaded; how it starts is not the point."""

    def __init__(
        self, command: Sequence[str | Path], *, env: Mapping[str, str], **given: Any
    ) -> None:
        # Which warnings are shown is read by a new interpreter alone.
        variables = {name: text for name, text in env.items() if name != "PYTHONWARNINGS"}
        super().__init__(command, env=variables, **given)


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mapping[str, Running]]:
    quick = SimpleNamespace(**vars(subprocess) | {"Popen": Started})
    monkeypatch.setattr("peer_work.processes.subprocess", quick)
    rng = np.random.default_rng(1)
    actual = rng.integers(0, 10, 2_000)
    predicted = np.where(rng.random(2_000) < 0.2, rng.integers(0, 10, 2_000), actual)
    np.save(tmp_path / "1e5.npy", np.stack([actual, predicted]))
    scores = rng.random(2_000).astype(np.float32).astype(np.float64)
    np.save(tmp_path / "scores 1e5.npy", np.stack([rng.random(2_000) < scores, scores]))
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(started(peers.PEERS[name], Path(sys.executable), tmp_path))
            for name in HERE
        }


@pytest.mark.processes
def test_peers_take_turns_and_agree_on_classes_and_on_scores(
    running: Mapping[str, Running],
) -> None:
    on_classes = [(name, "evaluate 1e5") for name in EVALUATING]
    on_scores = [
        *((name, "scores 1e5") for name in ("offdiag", "scikit-learn")),
        ("offdiag worker", "job scores 1e5"),
    ]

    for variants in (on_classes, on_scores):
        peers.expect_agreement(variants, running)
    timings = peers.timed(on_classes, running, turns=2)

    assert [len(timing.seconds) for timing in timings.values()] == [2, 2, 2]
    assert all(min(timing.seconds) > 0 for timing in timings.values())
    assert all(process.peak_mib > 10 for process in running.values())
    assert running["scikit-learn"].turn("scores 1e5")[1].keys() >= {"AUC", "AP", "Brier score"}


class Answering(Running):
    """A peer that has its answer already."""

    def __init__(self, name: str, mcc: float) -> None:
        self.peer = peers.PEERS[name]
        self._mcc = mcc

    def turn(self, case: str) -> tuple[float, Mapping[str, float]]:  # noqa: ARG002 - any
        return 0.1, {"MCC": self._mcc}


def test_values_that_differ_end_the_run() -> None:
    answers = {"offdiag": 0.7, "scikit-learn": 0.7, "PyCM": 0.5}
    answering = {name: Answering(name, mcc) for name, mcc in answers.items()}

    with pytest.raises(RuntimeError, match=r"MCC: PyCM 0\.5, offdiag 0\.7"):
        peers.expect_agreement([(name, "evaluate 1e5") for name in answers], answering)

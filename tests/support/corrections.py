"""Labels that are corrected round after round, each time others."""

from __future__ import annotations

import numpy as np

from offdiag.store.database import Database
from support.logging_runs import correct_labels, log, work_off
from support.operations import opened
from support.processes import say

N_RUNS = 8
N_SAMPLES = 60


def fill(database: Database) -> None:
    """Runs of different quality on the same samples, evaluated."""
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 3, N_SAMPLES)
    for _ in range(N_RUNS):
        noise = rng.random(N_SAMPLES) < rng.random()
        answers = np.where(noise, rng.integers(0, 3, N_SAMPLES), truth)
        log(database, y_true=truth, y_pred=answers, sample_ids=np.arange(N_SAMPLES))
    work_off(database)


def revise(url: str, number: int) -> None:
    """The correction of one round, of five samples that it alone touches, after saying so."""
    database = opened(url)
    with database.read():
        pass  # The connection is there, so that what follows are only its statements.
    say("begun")
    labels = {5 * number + place: str(place % 3) for place in range(5)}
    correct_labels(database, labels, reason=f"round {number}", author="ana")
    database.close()

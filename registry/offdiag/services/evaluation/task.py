"""The evaluation of a run as a piece of work."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from offdiag.domain.runs import RunState
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.services.evaluation.compute import evaluate
from offdiag.services.evaluation.inputs import read_inputs
from offdiag.store import evaluations, runs
from offdiag.store.database import Database
from offdiag.store.evaluations import NewEvaluation
from offdiag.store.session import Session
from offdiag.version import offdiag_version


def compute_evaluation(database: Database, args: Mapping[str, Any]) -> Callable[[Session], None]:
    """Read and evaluate one run; the returned writer stores the result and marks the run."""
    started = time.perf_counter()
    with database.read() as session:
        inputs = read_inputs(session, str(args["run"]))
    values = evaluate(inputs)
    evaluation = NewEvaluation(
        run_id=inputs.run.id,
        truth_version_id=inputs.run.truth_version_id,
        suite_version=SUITE_VERSION,
        engine_version=offdiag_version(),
        input_digest=inputs.digest,
        matrix=inputs.matrix,
        aggregate=values.aggregate,
        per_class=values.per_class,
        duration_s=time.perf_counter() - started,
    )

    def write(session: Session) -> None:
        evaluations.write_evaluation(session, evaluation, database.clock())
        runs.set_state(session, evaluation.run_id, RunState.EVALUATED)

    return write


def give_up_evaluation(session: Session, args: Mapping[str, Any], error: str) -> None:  # noqa: ARG001
    """Mark the run as failed; the work row keeps the error."""
    runs.set_state(session, str(args["run"]), RunState.FAILED)

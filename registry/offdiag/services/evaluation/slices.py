"""The evaluation of a slice of a run: made when somebody asks, kept for whoever asks next."""

from __future__ import annotations

import time

from offdiag.domain.runs import RunState
from offdiag.domain.slices import Slice, parse_slice
from offdiag.errors import Conflict
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.services.evaluation.compute import evaluate
from offdiag.services.evaluation.inputs import input_digest, read_inputs, truth_that_counts
from offdiag.services.small_groups import require_shown
from offdiag.store import evaluations, runs
from offdiag.store.database import Database
from offdiag.store.evaluations import StoredEvaluation, has_newer_results
from offdiag.store.evaluations_write import NewEvaluation, write_evaluation
from offdiag.version import offdiag_version


def evaluation_of_slice(database: Database, run_id: str, text: str) -> StoredEvaluation:
    """Every metric of the samples of a run that are in a slice, such as `country=DE`.

    They are counted from the predictions against the truth that counts now, at once and by
    whoever asks: that takes no longer than reading them. Raises `NotFound`, `InvalidInput` for
    a slice that cannot be read or that the dataset does not have, `Forbidden` for one that is
    too small to be shown, and `Conflict` for a run that is still open.
    """
    part = parse_slice(text)
    # What is written is looked for again: in the meantime the truth may have been corrected.
    while (stored := _stored(database, run_id, part)) is None:
        evaluation = _evaluated(database, run_id, part)
        with database.write() as session:
            newer = has_newer_results(session, run_id, suite_version=SUITE_VERSION)
            write_evaluation(session, evaluation, database.clock(), counts=not newer)
    return stored


def _stored(database: Database, run_id: str, part: Slice) -> StoredEvaluation | None:
    with database.read() as session:
        run = runs.get_run(session, run_id)
        if run.state is RunState.OPEN:
            raise Conflict(
                f"run {run_id} is still open.",
                field="run",
                hint="Call finish() first, or leave the with block.",
            )
        require_shown(session, run, part)
        digest = input_digest(run, truth_that_counts(session, run), part)
        return evaluations.evaluation_of_inputs(session, run_id, digest)


def _evaluated(database: Database, run_id: str, part: Slice) -> NewEvaluation:
    started = time.perf_counter()
    with database.read() as session:
        inputs = read_inputs(session, run_id, part)
    values = evaluate(inputs)
    return NewEvaluation(
        run_id=run_id,
        truth_version_id=None if inputs.truth is None else inputs.truth.id,
        suite_version=SUITE_VERSION,
        engine_version=offdiag_version(),
        input_digest=inputs.digest,
        n_cases=inputs.n_cases,
        counted=inputs.counted,
        aggregate=values.aggregate,
        per_class=values.per_class,
        duration_s=time.perf_counter() - started,
        slice=str(part),
    )

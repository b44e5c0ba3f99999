"""The task of jobs that evaluate a run."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from offdiag.domain.runs import RunState
from offdiag.services.evaluation.compute import cost_metrics, new_evaluation
from offdiag.services.evaluation.inputs import read_inputs, truth_that_counts
from offdiag.services.evaluation.slice_counts import count_run, keep_counts, tested_slices
from offdiag.services.flags.rules import rules_in_force
from offdiag.services.flags.verdicts import judge_run, read_rule_inputs, record_verdicts
from offdiag.services.jobs.attempts import NotYet
from offdiag.services.small_groups import suppressed_below
from offdiag.store import predictions, runs
from offdiag.store.database import Database, Session
from offdiag.store.evaluations import has_newer_results
from offdiag.store.evaluations_write import keep_costs, write_evaluation

_LOOK_FOR_A_NEWER_WORKER_S = 5.0


def compute_evaluation(database: Database, args: Mapping[str, Any]) -> Callable[[Session], None]:
    """Read and evaluate one run; the returned writer stores the result and marks the run.

    Raises `NotYet` for a run that a newer offdiag has evaluated with its own version of the
    metrics: only such a version should evaluate it again.
    """
    started = time.perf_counter()
    with database.read() as session:
        if has_newer_results(session, str(args["run"])):
            raise NotYet(
                "a newer offdiag has evaluated this run and has to do so again.",
                delay_s=_LOOK_FOR_A_NEWER_WORKER_S,
            )
        inputs = read_inputs(session, str(args["run"]))
        judged_by = read_rule_inputs(
            session,
            inputs.run,
            truth_id=None if inputs.truth is None else inputs.truth.id,
            rules=rules_in_force(),
        )
        by_slice = None
        if not inputs.run.is_weighted:
            by_slice = count_run(session, inputs.run, inputs.dataset, inputs.truth)
    tested = None
    if by_slice is not None and not suppressed_below():
        tested = tested_slices(by_slice.counts, inputs.counted)
    found = judge_run(inputs.counted, replace(judged_by.rule_inputs, slices=tested))
    costs = judged_by.rule_inputs.costs
    costs_found = {} if costs is None else cost_metrics(inputs.counted, costs)
    evaluation = new_evaluation(inputs, began=started)

    def write(session: Session) -> None:
        # A correction made in the meantime has submitted another evaluation, which may even be
        # finished. This one must not replace it, nor one of a newer offdiag.
        counts = truth_that_counts(session, inputs.run) == inputs.truth and not has_newer_results(
            session, evaluation.run_id
        )
        now = database.clock()
        evaluation_id = write_evaluation(session, evaluation, now, counts=counts)
        if by_slice is not None:
            keep_counts(session, evaluation_id, inputs.run, by_slice, with_flags=counts)
        for part in inputs.new_parts:
            predictions.keep_counts(session, evaluation.run_id, part)
        if counts:
            keep_costs(session, evaluation_id, costs_found)
            record_verdicts(
                session,
                run_id=evaluation.run_id,
                evaluation_id=evaluation_id,
                found=found,
                judged_by=judged_by,
                now=now,
            )
            runs.set_state(session, evaluation.run_id, RunState.EVALUATED)

    return write


def fail_evaluation(session: Session, args: Mapping[str, Any], error: str) -> None:  # noqa: ARG001
    """Mark the run as failed; its job keeps the error."""
    runs.set_state(session, str(args["run"]), RunState.FAILED)


def restart_evaluation(session: Session, args: Mapping[str, Any]) -> None:
    """Let a failed run wait for its evaluation again."""
    run = runs.get_run(session, str(args["run"]))
    if run.state is RunState.FAILED:
        runs.set_state(session, run.id, RunState.FINISHED)

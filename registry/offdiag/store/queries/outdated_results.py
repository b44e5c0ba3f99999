"""Whether the current results of a run still say what is true, and what is done about it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from offdiag.store.queries.pending_work import EvaluationWork, evaluation_work
from offdiag.store.staleness import StaleReason, stale_runs


@dataclass(frozen=True, slots=True)
class OutdatedResults:
    """Why the shown results are out of date, and the work that stands for newer ones.

    There are no `reasons` where all that is known is that scoring again failed.
    """

    reasons: tuple[StaleReason, ...]
    newest_suite_version: int
    work: EvaluationWork | None


def outdated_results(
    session: Session, run_id: str, *, suite_version: int, has_failed: bool
) -> OutdatedResults | None:
    """Why the current results of a run are stale, None where they are not or there are none.

    A run that `has_failed` to be scored again counts as stale, whatever the reason was. One
    statement, and another one for results that are stale.
    """
    stale = stale_runs(session, suite_version=suite_version, run_ids=[run_id])
    reasons = stale[0].reasons if stale else ()
    if not has_failed and (not reasons or StaleReason.NOT_EVALUATED in reasons):
        return None
    work = evaluation_work(session, [run_id]).get(run_id)
    return OutdatedResults(reasons, suite_version, work)

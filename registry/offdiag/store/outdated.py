"""Finding runs whose results are out of date, from the data alone.

No row is marked as outdated. An evaluation names what it was computed with, and this is compared
with what is current, so a lost notification, a killed process or an upgrade cannot leave an old
number in place.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Text,
    and_,
    bindparam,
    exists,
    false,
    func,
    or_,
    select,
)
from sqlalchemy.orm import Session, aliased

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunState, StaleReason
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.store.evaluations import EvaluationWork, evaluation_work, has_results_of_run
from offdiag.store.models import (
    BaselineRow,
    DatasetRow,
    EvaluationRow,
    RunRow,
    ScoreChunkRow,
    ScoreCurveRow,
    SliceCountsRow,
    TruthSliceRow,
    TruthVersionRow,
    WorkRow,
)
from offdiag.store.models.evaluations import WITHOUT_FLAGS
from offdiag.store.models.jobs import EVALUATION_KEY


@dataclass(frozen=True, slots=True)
class StaleRun:
    """A run whose results are missing or out of date, and why."""

    run_id: str
    reasons: tuple[StaleReason, ...]


def stale_runs(
    session: Session,
    *,
    rules_digest: str | None = None,
    metrics_suffix: str = "",
    run_ids: Collection[str] | None = None,
    without_job: bool = False,
    limit: int | None = None,
) -> list[StaleRun]:
    """Complete runs to evaluate again, oldest first; all of them, or those among `run_ids`.

    With `without_job`, only those that no job will evaluate. Runs whose evaluation failed for good
    are left out: retrying them automatically would never end.

    `rules_digest` is that of the rules and thresholds in force, which only workers know; without
    it, flags are not compared. Then `metrics_suffix`, if given, is compared: the end of a digest,
    which custom metrics add.
    """
    statement = _statement(
        by_rules=rules_digest is not None,
        by_metrics=bool(metrics_suffix),
        by_ids=run_ids is not None,
        without_job=without_job,
    )
    given = {
        "suite_version": SUITE_VERSION,
        "rules_digest": rules_digest,
        "metrics_suffix": metrics_suffix,
    }
    found = session.execute(statement.limit(limit), given | {"run_ids": tuple(run_ids or ())})
    return [
        StaleRun(row.id, tuple(reason for reason in StaleReason if getattr(row, reason)))
        for row in found
    ]


@cache
def _statement(
    *, by_rules: bool, by_metrics: bool, by_ids: bool, without_job: bool
) -> Select[*tuple[Any, ...]]:
    """The query, built once for each combination, as building takes longer than executing it."""
    reasons = _reasons(by_rules=by_rules, by_metrics=by_metrics)
    statement = (
        select(RunRow.id, *(condition.label(reason) for reason, condition in reasons.items()))
        .outerjoin(EvaluationRow, has_results_of_run())
        .where(
            RunRow.state.in_([RunState.FINISHED, RunState.EVALUATED]),
            RunRow.deleted_at.is_(None),
            or_(false(), *reasons.values()),
        )
        .order_by(RunRow.created_at, RunRow.id)
    )
    if by_ids:
        statement = statement.where(RunRow.id.in_(bindparam("run_ids", expanding=True)))
    if without_job:
        statement = statement.where(~exists().where(WorkRow.key == EVALUATION_KEY + RunRow.id))
    return statement


def _reasons(*, by_rules: bool, by_metrics: bool) -> dict[StaleReason, ColumnElement[bool]]:
    """What makes a run stale, as conditions on it and on its current evaluation if it has one.

    A new input of evaluations needs an entry here.
    """
    newer = aliased(TruthVersionRow)
    evaluated = EvaluationRow.id.is_not(None)
    default_costs = (
        select(DatasetRow.default_cost_matrix_id)
        .where(DatasetRow.id == RunRow.dataset_id)
        .scalar_subquery()
    )
    pinned = aliased(RunRow)
    baseline = (
        select(pinned.id)
        .join(BaselineRow, BaselineRow.run_id == pinned.id)
        .where(
            BaselineRow.dataset_id == RunRow.dataset_id,
            pinned.id != RunRow.id,
            pinned.deleted_at.is_(None),
        )
        .correlate(RunRow)
        .scalar_subquery()
    )
    # What follows a digest is about metrics that this process may not know.
    wanted = bindparam("rules_digest", type_=Text)
    rules_changed: ColumnElement[bool] = false()
    if by_rules:
        rules_changed = func.substr(
            EvaluationRow.rules_digest, 1, func.length(wanted)
        ).is_distinct_from(wanted)
    elif by_metrics:
        digest = func.coalesce(EvaluationRow.rules_digest, "")
        rules_changed = ~digest.endswith(bindparam("metrics_suffix", type_=Text))
    return {
        StaleReason.NOT_EVALUATED: EvaluationRow.id.is_(None),
        StaleReason.TRUTH_REVISED: and_(
            evaluated,
            RunRow.source_orientation == SourceOrientation.PREDICTIONS,
            exists().where(newer.parent_id == EvaluationRow.truth_version_id),
        ),
        # During a rolling upgrade results of newer programs stay valid: if older programs took
        # them for stale, both would recompute them again and again.
        StaleReason.SUITE_CHANGED: and_(
            evaluated, EvaluationRow.suite_version < bindparam("suite_version")
        ),
        StaleReason.RULES_CHANGED: and_(evaluated, rules_changed),
        StaleReason.COSTS_CHANGED: and_(
            evaluated, EvaluationRow.cost_matrix_id.is_distinct_from(default_costs)
        ),
        StaleReason.BASELINE_CHANGED: and_(
            evaluated, EvaluationRow.baseline_run_id.is_distinct_from(baseline)
        ),
        StaleReason.CURVES_MISSING: and_(
            evaluated,
            RunRow.is_weighted.is_(False),
            exists().where(ScoreChunkRow.run_id == RunRow.id),
            ~exists().where(ScoreCurveRow.evaluation_id == EvaluationRow.id),
        ),
    }


def runs_without_flags_on_slices(session: Session, *, limit: int | None = None) -> list[str]:
    """Evaluated runs whose samples got slice columns since, which no job will judge by them.

    Oldest first. Their other results are current. Weighted runs have no flags on slices.
    """
    return list(
        session.scalars(
            select(RunRow.id)
            .join(EvaluationRow, has_results_of_run())
            .join(TruthVersionRow, TruthVersionRow.id == EvaluationRow.truth_version_id)
            .where(
                RunRow.state == RunState.EVALUATED,
                RunRow.deleted_at.is_(None),
                RunRow.is_weighted.is_(False),
                RunRow.source_orientation == SourceOrientation.PREDICTIONS,
                exists().where(TruthSliceRow.truth_version_id == TruthVersionRow.root_id),
                ~exists().where(
                    SliceCountsRow.evaluation_id == EvaluationRow.id,
                    ~SliceCountsRow.columns_digest.endswith(WITHOUT_FLAGS),
                ),
                ~exists().where(WorkRow.key == EVALUATION_KEY + RunRow.id),
            )
            .order_by(RunRow.created_at, RunRow.id)
            .limit(limit)
        )
    )


@dataclass(frozen=True, slots=True)
class OutdatedResults:
    """Why the shown results are out of date, and the job that computes newer ones.

    `reasons` is empty if a later evaluation failed and nothing else is known.
    """

    reasons: tuple[StaleReason, ...]
    newest_suite_version: int
    work: EvaluationWork | None


def outdated_results(session: Session, run_id: str, *, has_failed: bool) -> OutdatedResults | None:
    """Why the current results of a run are stale, None if they are not or do not exist.

    A run whose evaluation `has_failed` counts as stale, whatever the reason was. One statement,
    and another one for results that are stale.
    """
    stale = stale_runs(session, run_ids=[run_id])
    reasons = stale[0].reasons if stale else ()
    if not has_failed and (not reasons or StaleReason.NOT_EVALUATED in reasons):
        return None
    work = evaluation_work(session, [run_id]).get(run_id)
    return OutdatedResults(reasons, SUITE_VERSION, work)

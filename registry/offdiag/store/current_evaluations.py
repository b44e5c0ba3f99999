"""Which evaluation of a run counts."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, exists, select
from sqlalchemy.orm import Session

from offdiag.store.models import EvaluationRow


def counts_for_its_run(evaluation: type[EvaluationRow] = EvaluationRow) -> ColumnElement[bool]:
    """The current evaluation of all cases: slices have a current one each, which is not meant.

    There is at most one for each run, which the database holds by an index of just this.
    """
    return and_(evaluation.is_current, evaluation.slice.is_(None))


def has_newer_results(session: Session, run_id: str, *, suite_version: int) -> bool:
    """Whether the results of a run are those of a newer version of the metrics."""
    newer = exists().where(
        EvaluationRow.run_id == run_id,
        counts_for_its_run(),
        EvaluationRow.suite_version > suite_version,
    )
    return bool(session.scalar(select(newer)))

"""Runs that were scored with the same ground truth as a given one: who can be ranked with it.

Everything known of the given run is a value to the database, and who is deleted a short list.
Runs of the truth are found by an index, so that those of other datasets cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, ScalarSelect, and_, func, select
from sqlalchemy.orm import aliased

from offdiag.store.current_evaluations import counts_for_its_run
from offdiag.store.models import EvaluationRow, MetricValueRow, RunRow
from offdiag.store.models.evaluations import AGGREGATE

RunId = str | ColumnElement[str]
"""The id of a run, or what stands for it in a statement that is built once."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A metric of the current evaluation of a run; `class_index` as in the stored values."""

    run_id: RunId
    key: str
    class_index: int | ColumnElement[int] = AGGREGATE

    def is_measured_by(self, value: type[MetricValueRow]) -> ColumnElement[bool]:
        """Whether a stored value is of this metric, whosever it is."""
        return and_(value.key == self.key, value.class_index == self.class_index)

    @property
    def value(self) -> ScalarSelect[float | None]:
        """That of the run itself."""
        mine = aliased(MetricValueRow)
        return (
            select(mine.value)
            .where(mine.evaluation_id == current_of(self.run_id), self.is_measured_by(mine))
            .scalar_subquery()
        )

    @property
    def n_higher(self) -> ScalarSelect[int]:
        """How many runs have a higher value."""
        stored, other = aliased(MetricValueRow), aliased(EvaluationRow)
        # Looked up for each run of the truth: of all runs, many more may have a higher value.
        theirs = (
            select(stored.value)
            .where(stored.evaluation_id == other.id, self.is_measured_by(stored))
            .correlate(other)
            .scalar_subquery()
        )
        return (
            select(func.count())
            .select_from(other)
            .where(is_scored_like(self.run_id, other), theirs > self.value)
            .scalar_subquery()
        )


def n_scored_like(run_id: RunId) -> ScalarSelect[int]:
    """How many runs were scored with the truth of a run, itself included."""
    other = aliased(EvaluationRow)
    return (
        select(func.count())
        .select_from(other)
        .where(is_scored_like(run_id, other))
        .scalar_subquery()
    )


def is_scored_like(run_id: RunId, other: type[EvaluationRow]) -> ColumnElement[bool]:
    """Whether an evaluation counts for its run and was made with the truth of another run."""
    this, deleted = aliased(EvaluationRow), aliased(RunRow)
    truth = select(this.truth_version_id).where(this.id == current_of(run_id)).scalar_subquery()
    return and_(
        counts_for_its_run(other),
        other.truth_version_id == truth,
        other.run_id.not_in(select(deleted.id).where(deleted.deleted_at.is_not(None))),
    )


def current_of(run_id: RunId) -> ScalarSelect[int]:
    """Number of the evaluation of all cases that counts for a run."""
    this = aliased(EvaluationRow)
    return select(this.id).where(this.run_id == run_id, counts_for_its_run(this)).scalar_subquery()

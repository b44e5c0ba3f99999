"""What the accuracy of a run hides, read beside the values of a runs list."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Row,
    Select,
    bindparam,
    case,
    func,
    literal,
    null,
    select,
)

from offdiag.flags.catalogue import RULES
from offdiag.store.flags import RUN_AS_A_WHOLE
from offdiag.store.models import EvaluationRow, FlagRow
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.queries.flag_filter import COUNTS_IN_BADGE, IS_IN_SIGHT, SEVERITY_RANK
from offdiag.store.queries.recorded_values import VALUE_COLUMNS

EVALUATIONS: BindParameter[Any] = bindparam("evaluations", expanding=True)
"""The ids that a page of runs asks about."""
MOST_IN_BADGE = 2
IN_SIGHT, PROVED = 1.0, 2.0
"""Stand where a value has its number."""
FAILING_CLASS = AGGREGATE - 1
"""Stands where a value has the index of its class."""


@dataclass(frozen=True, slots=True)
class RunBadge:
    """What the accuracy of a run hides: the gravest few of `n_classes` classes that fail.

    None stands for the run as a whole, which gives always the same answer. Flags that were
    dismissed for a reason take no part. `is_proved` is False where it may hide them: then the
    gaps of all of them are in sight. Otherwise such classes are not among these.
    """

    classes: tuple[str | None, ...]
    n_classes: int
    is_proved: bool


def with_class(badge: RunBadge | None, row: Row[*tuple[Any, ...]]) -> RunBadge:
    """The badge with the class of one more row of `failing_classes`."""
    before = badge or RunBadge((), round(row.support), is_proved=row.value == PROVED)
    label = row.label if _is_about_class(row.key) else None
    return replace(before, classes=(*before.classes, label))


def _is_about_class(rule: str) -> bool:
    known = RULES.get(rule)
    return known is None or known.per_class


def failing_classes() -> Select[*tuple[Any, ...]]:
    """The gravest classes of the badge of each run of `EVALUATIONS`, in the shape of values.

    The key is the rule, the support the number of such classes in all, the value `PROVED` or
    `IN_SIGHT`; classes in sight are left out where others are proved.
    """
    failing = (
        select(
            EvaluationRow.id.label("evaluation_id"),
            FlagRow.class_label,
            func.min(FlagRow.rule).label("rule"),
            func.max(SEVERITY_RANK).label("severity"),
            func.max(case((IS_IN_SIGHT, IN_SIGHT), else_=PROVED)).label("proof"),
            func.min(FlagRow.id).label("first"),
        )
        .join(EvaluationRow, EvaluationRow.run_id == FlagRow.run_id)
        .where(EvaluationRow.id.in_(EVALUATIONS), COUNTS_IN_BADGE)
        .group_by(EvaluationRow.id, FlagRow.class_label)
        .subquery()
    )
    of_run = (failing.c.evaluation_id, failing.c.proof)
    ranked = select(
        failing,
        func.row_number()
        .over(
            partition_by=of_run,
            # Rules about the run as a whole have no class.
            order_by=(
                failing.c.class_label != RUN_AS_A_WHOLE,
                failing.c.severity.desc(),
                failing.c.first,
            ),
        )
        .label("place"),
        func.count().over(partition_by=of_run).label("n_classes"),
        func.max(failing.c.proof).over(partition_by=failing.c.evaluation_id).label("best_proof"),
    ).subquery()
    shape: dict[str, ColumnElement[Any]] = {
        "evaluation_id": ranked.c.evaluation_id,
        "key": ranked.c.rule,
        "value": ranked.c.proof,
        "class_index": literal(FAILING_CLASS),
    }
    return select(
        *(shape.get(column.key, null()).label(column.key) for column in VALUE_COLUMNS),
        ranked.c.n_classes.label("support"),
        ranked.c.class_label.label("label"),
    ).where(ranked.c.place <= MOST_IN_BADGE, ranked.c.proof == ranked.c.best_proof)

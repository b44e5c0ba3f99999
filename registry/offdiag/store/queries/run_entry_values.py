"""What a line of a runs list shows of an evaluation: few aggregates, the worst class, a badge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Row,
    Select,
    Subquery,
    Text,
    and_,
    bindparam,
    cast,
    func,
    literal,
    select,
    union_all,
)
from sqlalchemy.orm import Session, aliased

from offdiag.domain.values import MetricValue
from offdiag.store.models import (
    ConfusionMatrixRow,
    LabelSetRow,
    MetricValueRow,
)
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.queries.recorded_values import VALUE_COLUMNS, recorded_value
from offdiag.store.queries.run_badges import (
    EVALUATIONS,
    FAILING_CLASS,
    RunBadge,
    failing_classes,
    with_class,
)


@dataclass(frozen=True, slots=True)
class WorstClass:
    """The class with the lowest recall among those that have cases."""

    label: str
    support: int
    recall: MetricValue

    @property
    def hits(self) -> int:
        """Cases of the class that were found: recall is their quotient by the support."""
        return round((self.recall.value or 0.0) * self.support)


@dataclass(frozen=True, slots=True)
class EntryValues:
    """By evaluation: aggregates by key, the worst class, and the badge where there is one."""

    metrics: Mapping[int, Mapping[str, MetricValue]]
    worst: Mapping[int, WorstClass]
    badges: Mapping[int, RunBadge]


def entry_values(session: Session, evaluations: Sequence[int], keys: Sequence[str]) -> EntryValues:
    """What lines show of their evaluations, in at most one statement.

    `keys` are those of the aggregates that a line has.
    """
    if not evaluations:
        return EntryValues({}, {}, {})
    metrics: dict[int, dict[str, MetricValue]] = {}
    worst: dict[int, WorstClass] = {}
    badges: dict[int, RunBadge] = {}
    row: Row[*tuple[Any, ...]]
    asked = {"evaluations": evaluations, "keys": keys}
    for row in session.execute(_shown(session.get_bind().dialect.name), asked):
        value = recorded_value(row)
        if row.class_index == FAILING_CLASS:
            badges[row.evaluation_id] = with_class(badges.get(row.evaluation_id), row)
        elif row.class_index == AGGREGATE:
            metrics.setdefault(row.evaluation_id, {})[row.key] = value
        else:
            worst[row.evaluation_id] = WorstClass(row.label, round(row.support), value)
    return EntryValues(metrics, worst, badges)


@cache
def _shown(dialect: str) -> CompoundSelect[*tuple[Any, ...]]:
    """Every list asks this; to build it takes as long as to answer it."""
    aggregates = select(
        *VALUE_COLUMNS, literal(None).label("support"), literal(None).label("label")
    ).where(
        MetricValueRow.evaluation_id.in_(EVALUATIONS),
        MetricValueRow.class_index == AGGREGATE,
        MetricValueRow.key.in_(bindparam("keys", expanding=True)),
    )
    return union_all(_worst_classes(dialect), aggregates, failing_classes())


def _worst_classes(dialect: str) -> Select[*tuple[Any, ...]]:
    """The lowest recall of each evaluation, with support and name of its class."""
    ranked = _ranked_recalls()
    support = aliased(MetricValueRow)
    return (
        select(
            *(ranked.c[column.key] for column in VALUE_COLUMNS),
            support.value.label("support"),
            _name_at(ranked.c.class_index, dialect).label("label"),
        )
        .join(
            support,
            and_(
                support.evaluation_id == ranked.c.evaluation_id,
                support.key == "support",
                support.class_index == ranked.c.class_index,
            ),
        )
        .join(ConfusionMatrixRow, ConfusionMatrixRow.evaluation_id == ranked.c.evaluation_id)
        .join(LabelSetRow, LabelSetRow.id == ConfusionMatrixRow.label_set_id)
        .where(ranked.c.rank == 1)
    )


def _name_at(class_index: ColumnElement[int], dialect: str) -> ColumnElement[str]:
    """One name out of a label set: a page needs fifty names, not fifty times a thousand."""
    if dialect == "postgresql":
        return func.jsonb_extract_path_text(LabelSetRow.names, cast(class_index, Text))
    return func.json_extract(LabelSetRow.names, literal("$[") + cast(class_index, Text) + "]")


def _ranked_recalls() -> Subquery:
    """Defined class recalls, the lowest of each evaluation first."""
    rank = func.row_number().over(
        partition_by=MetricValueRow.evaluation_id,
        order_by=(MetricValueRow.value, MetricValueRow.class_index),
    )
    return (
        select(*VALUE_COLUMNS, rank.label("rank"))
        .where(
            MetricValueRow.evaluation_id.in_(EVALUATIONS),
            MetricValueRow.key == "recall",
            MetricValueRow.class_index > AGGREGATE,
            MetricValueRow.value.is_not(None),
        )
        .subquery()
    )

"""What runs can be searched and sorted by, as SQL over the run table."""

from __future__ import annotations

from typing import Any, assert_never

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import aliased

from offdiag.filters.conditions import (
    Attribute,
    AttributeField,
    Field,
    MetricField,
    ParamField,
    TagField,
)
from offdiag.flags.lifecycle import FlagState
from offdiag.store.current_evaluations import counts_for_its_run
from offdiag.store.models import (
    DatasetRow,
    EvaluationRow,
    FlagRow,
    LabelSetRow,
    MetricValueRow,
    ProjectRow,
    RunRow,
    TruthVersionRow,
)
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.queries.flag_filter import may_hide_minority
from offdiag.store.queries.json_entries import Document, entry_number, entry_text, place_of


def current_value(field: MetricField, dialect: str) -> Select[Any]:
    """The stored value of a metric of the run's current evaluation of all its cases."""
    # Asked for in this order on purpose: from all values of the metric to the one of this run is
    # a long way, which SQLite would go again for each run.
    evaluation = (
        select(EvaluationRow.id)
        .where(EvaluationRow.run_id == RunRow.id, counts_for_its_run())
        .correlate(RunRow)
        .scalar_subquery()
    )
    found = select(MetricValueRow.value).where(
        MetricValueRow.evaluation_id == evaluation, MetricValueRow.key == field.key
    )
    if field.class_label is None:
        return found.where(MetricValueRow.class_index == AGGREGATE)
    return found.where(MetricValueRow.class_index == _class_index(field.class_label, dialect))


def attribute_value(attribute: Attribute) -> ColumnElement[Any]:
    """What every run has; NULL where this one does not."""
    match attribute:
        case Attribute.PROJECT:
            return _single(select(ProjectRow.name).where(ProjectRow.id == RunRow.project_id))
        case Attribute.DATASET:
            return _single(select(DatasetRow.name).where(DatasetRow.id == RunRow.dataset_id))
        case Attribute.TRUTH_VERSION:
            is_named = TruthVersionRow.id == RunRow.truth_version_id
            return _single(select(TruthVersionRow.number).where(is_named))
        case Attribute.OPEN_FLAGS:
            is_open = (FlagRow.run_id == RunRow.id) & (FlagRow.state == FlagState.OPEN)
            return _single(select(func.count()).select_from(FlagRow).where(is_open))
        case Attribute.BADGE | Attribute.MAY_HIDE:
            evaluation = aliased(EvaluationRow)
            badge: ColumnElement[Any] = (
                evaluation.hides_minority.expression
                if attribute is Attribute.BADGE
                else may_hide_minority(evaluation)
            )
            is_own = evaluation.run_id == RunRow.id
            return _single(select(badge).where(is_own, counts_for_its_run(evaluation)))
        case _:
            return _COLUMNS[attribute]


def sorted_by(field: Field, dialect: str) -> tuple[ColumnElement[Any], ...]:
    """What to sort by, one after the other: of free values first the numbers, then the texts."""
    match field:
        case MetricField():
            return (_single(current_value(field, dialect)),)
        case ParamField(name):
            return _numbers_then_texts(RunRow.params, name, dialect)
        case TagField(name):
            return _numbers_then_texts(RunRow.tags, name, dialect)
        case AttributeField(attribute):
            return (attribute_value(attribute),)
        case _:
            assert_never(field)


_COLUMNS: dict[Attribute, ColumnElement[Any]] = {
    Attribute.ID: RunRow.id.expression,
    Attribute.NAME: RunRow.name.expression,
    Attribute.MODEL: RunRow.model.expression,
    Attribute.STATE: RunRow.state.expression,
    Attribute.AUTHOR: RunRow.author.expression,
    Attribute.GIT_SHA: RunRow.git_sha.expression,
    Attribute.CREATED_AT: RunRow.created_at.expression,
    Attribute.FINISHED_AT: RunRow.finished_at.expression,
    Attribute.N_PREDICTIONS: RunRow.n_predictions.expression,
}


def _class_index(label: str, dialect: str) -> ColumnElement[int]:
    """Where a class stands in the label set of the run's dataset, counted from 0."""
    place = place_of(LabelSetRow.names, label, dialect)
    return _single(
        select(place)
        .select_from(DatasetRow)
        .join(LabelSetRow, LabelSetRow.id == DatasetRow.label_set_id)
        .where(DatasetRow.id == RunRow.dataset_id)
    )


def _numbers_then_texts(
    document: Document, name: str, dialect: str
) -> tuple[ColumnElement[Any], ...]:
    return entry_number(document, name, dialect), entry_text(document, name, dialect)


def _single(statement: Select[Any]) -> ColumnElement[Any]:
    return statement.correlate(RunRow).scalar_subquery()

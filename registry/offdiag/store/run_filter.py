"""The terms by which lists of runs are filtered, each turned into one SQL condition.

Only the fields named here can be used, and values are always bound parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import ColumnElement, and_, func, literal, not_, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from offdiag.domain.runs import RunState
from offdiag.filters.conditions import (
    Attribute,
    AttributeField,
    Comparison,
    Condition,
    Operator,
    TagField,
)
from offdiag.flags.lifecycle import FlagState
from offdiag.store.models import (
    DatasetRow,
    FlagRow,
    LabelSetRow,
    ProjectRow,
    RunRow,
    TruthVersionRow,
)
from offdiag.store.models.base import PlainText
from offdiag.store.run_conditions import entry_text, place_of, required


class FilterField(StrEnum):
    """What a term is about."""

    PROJECT = "project"
    DATASET = "dataset"
    MODEL = "model"
    STATE = "state"
    TAG = "tag"
    NAME = "name"
    AUTHOR = "author"
    RUN = "run"
    """The beginning of a run's id."""
    CLASS = "class"
    """A class that the dataset has."""
    FLAG = "flag"
    """A rule whose flag still fires, a state of flags, `any` that fires, or `none`."""


@dataclass(frozen=True, slots=True)
class FilterTerm:
    """One condition on a run.

    `text` is matched as a whole; a name matches if it contains the text, ignoring case. In a
    pattern, `*` stands for any characters. `value` is the wanted value of a tag, None for any.
    `truth_number` narrows a dataset to runs on that label version.
    """

    field: FilterField
    text: str
    negated: bool = False
    value: str | None = None
    truth_number: int | None = None
    is_pattern: bool = False


RunFilter = tuple[FilterTerm | Condition, ...]
"""A conjunction: terms in the short form of the runs list, and conditions."""


def conditions(terms: RunFilter, dialect: str) -> list[ColumnElement[bool]]:
    """The WHERE clause over runs alone, so that counting needs no join.

    Deleted runs match no filter, not even an empty one.
    """
    return [
        RunRow.deleted_at.is_(None),
        *(
            _negated(term, _condition(term, dialect))
            if isinstance(term, FilterTerm)
            else required(term, dialect)
            for term in terms
        ),
    ]


def counted_by_index(terms: RunFilter) -> bool:
    """Whether the runs that match all terms are contiguous in an index.

    Counting any others reads each row.
    """
    return all(map(_is_indexed, terms))


def _is_indexed(term: FilterTerm | Condition) -> bool:
    match term:
        case FilterTerm(field=field, negated=False, truth_number=None, is_pattern=False):
            return field in _INDEXED
        case Comparison(field=AttributeField(Attribute.MODEL), operator=Operator.EQUAL):
            return True
        case _:
            return False


def _negated(term: FilterTerm, condition: ColumnElement[bool]) -> ColumnElement[bool]:
    # A missing model does not match, so it matches the negated term: NULL has to become false.
    return not_(func.coalesce(condition, False)) if term.negated else condition


def _condition(term: FilterTerm, dialect: str) -> ColumnElement[bool]:
    match term.field:
        case FilterField.TAG:
            return _has_tag(term.text, term.value, dialect)
        case FilterField.CLASS:
            return _has_class(term.text, dialect)
        case FilterField.NAME:
            return _named(term, dialect)
        case _:
            return _CONDITIONS[term.field](term)


def _of_project(term: FilterTerm) -> ColumnElement[bool]:
    named = select(ProjectRow.id).where(_matches(ProjectRow.name, term))
    if not term.is_pattern:
        # A single project, whose runs are in list order in the index.
        return RunRow.project_id == named.scalar_subquery()
    return RunRow.project_id.in_(named)


def _of_dataset(term: FilterTerm) -> ColumnElement[bool]:
    named = select(DatasetRow.id).where(_matches(DatasetRow.name, term))
    condition = RunRow.dataset_id.in_(named)
    if term.truth_number is None:
        return condition
    numbered = select(TruthVersionRow.id).where(TruthVersionRow.number == term.truth_number)
    return condition & RunRow.truth_version_id.in_(numbered)


def _named(term: FilterTerm, dialect: str) -> ColumnElement[bool]:
    pattern = f"%{_like(term)}%"
    # SQLite compares without case by itself; lowering each name first takes twice as long. On
    # PostgreSQL it takes half as long as the operator that ignores case.
    found = (
        RunRow.name.like(pattern, escape="\\")
        if dialect == "sqlite"
        # Both sides with the collation of the column, or only one would lower non-ASCII letters.
        else func.lower(RunRow.name).like(func.lower(literal(pattern, PlainText)), escape="\\")
    )
    return or_(found, RunRow.id == term.text)


def _matches(
    column: InstrumentedAttribute[str] | InstrumentedAttribute[str | None], term: FilterTerm
) -> ColumnElement[bool]:
    if term.is_pattern:
        return column.ilike(_like(term), escape="\\")
    return column == term.text


def _like(term: FilterTerm) -> str:
    """A LIKE pattern in which at most `*` is special."""
    text = term.text
    for special in ("\\", "%", "_"):
        text = text.replace(special, f"\\{special}")
    return text.replace("*", "%") if term.is_pattern else text


def _has_tag(key: str, value: str | None, dialect: str) -> ColumnElement[bool]:
    if value is None:
        return entry_text(RunRow.tags, key, dialect).is_not(None)
    return required(Comparison(TagField(key), Operator.EQUAL, (value,)), dialect)


def _has_class(name: str, dialect: str) -> ColumnElement[bool]:
    with_class = (
        select(DatasetRow.id)
        .join(LabelSetRow, LabelSetRow.id == DatasetRow.label_set_id)
        .where(place_of(LabelSetRow.names, name, dialect).is_not(None))
    )
    return RunRow.dataset_id.in_(with_class)


def _has_flag(text: str) -> ColumnElement[bool]:
    """A flag in a state, of a rule, or `any` that still fires; `none` is the opposite of that."""
    fires = FlagRow.state != FlagState.CLOSED
    if text in {"any", "none"}:
        wanted = fires
    elif text in set(FlagState):
        wanted = FlagRow.state == text
    else:
        wanted = and_(FlagRow.rule == text, fires)
    # Only columns of an index, so that SQLite reads no row of a flag.
    found = (
        select(FlagRow.run_id)
        .where(FlagRow.run_id == RunRow.id, wanted)
        .correlate(RunRow)
        .exists()
    )
    return not_(found) if text == "none" else found


_INDEXED = frozenset({FilterField.PROJECT, FilterField.DATASET, FilterField.MODEL})
_CONDITIONS: Mapping[FilterField, Callable[[FilterTerm], ColumnElement[bool]]] = {
    FilterField.PROJECT: _of_project,
    FilterField.DATASET: _of_dataset,
    FilterField.MODEL: lambda term: _matches(RunRow.model, term),
    FilterField.STATE: lambda term: RunRow.state == RunState(term.text),
    FilterField.AUTHOR: lambda term: _matches(RunRow.author, term),
    FilterField.RUN: lambda term: RunRow.id.startswith(term.text, autoescape=True),
    FilterField.FLAG: lambda term: _has_flag(term.text),
}

"""Which runs a list shows: terms that must all hold, each turned into one SQL condition.

Only the fields named here can be asked for, and values are always bound parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import ColumnElement, Text, case, cast, exists, func, not_, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from offdiag.domain.runs import RunState
from offdiag.store.models import DatasetRow, ProjectRow, RunRow, TruthVersionRow


class FilterField(StrEnum):
    """What a term is about."""

    PROJECT = "project"
    DATASET = "dataset"
    MODEL = "model"
    STATE = "state"
    TAG = "tag"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class FilterTerm:
    """One condition on a run.

    `text` is matched whole, with `*` standing for any characters; a name matches when it
    contains the text, in either case. `value` is the wanted value of a tag, None for any.
    `truth_number` narrows a dataset to runs on that version of its truth.
    """

    field: FilterField
    text: str
    negated: bool = False
    value: str | None = None
    truth_number: int | None = None


RunFilter = tuple[FilterTerm, ...]


def conditions(terms: RunFilter, dialect: str) -> list[ColumnElement[bool]]:
    """The WHERE clause over runs alone, so that counting needs no join.

    Runs that somebody deleted meet no terms, not even none.
    """
    return [
        RunRow.deleted_at.is_(None),
        *(_negated(term, _condition(term, dialect)) for term in terms),
    ]


def _negated(term: FilterTerm, condition: ColumnElement[bool]) -> ColumnElement[bool]:
    # A missing model is no match, and so a match for the negated term: NULL has to become false.
    return not_(func.coalesce(condition, False)) if term.negated else condition


def _condition(term: FilterTerm, dialect: str) -> ColumnElement[bool]:
    match term.field:
        case FilterField.PROJECT:
            named = select(ProjectRow.id).where(_matches(ProjectRow.name, term.text))
            condition: ColumnElement[bool] = RunRow.project_id.in_(named)
        case FilterField.DATASET:
            named = select(DatasetRow.id).where(_matches(DatasetRow.name, term.text))
            condition = RunRow.dataset_id.in_(named)
            if term.truth_number is not None:
                numbered = TruthVersionRow.number == term.truth_number
                condition &= RunRow.truth_version_id.in_(
                    select(TruthVersionRow.id).where(numbered)
                )
        case FilterField.MODEL:
            condition = _matches(RunRow.model, term.text)
        case FilterField.STATE:
            condition = RunRow.state == RunState(term.text)
        case FilterField.TAG:
            condition = _has_tag(term.text, term.value, dialect)
        case FilterField.NAME:
            pattern = f"%{_like(term.text)}%"
            condition = or_(RunRow.name.ilike(pattern, escape="\\"), RunRow.id == term.text)
    return condition


def _matches(
    column: InstrumentedAttribute[str] | InstrumentedAttribute[str | None], text: str
) -> ColumnElement[bool]:
    return column.ilike(_like(text), escape="\\") if "*" in text else column == text


def _like(text: str) -> str:
    """A LIKE pattern in which only `*` means anything."""
    for special in ("\\", "%", "_"):
        text = text.replace(special, f"\\{special}")
    return text.replace("*", "%")


def _has_tag(key: str, value: str | None, dialect: str) -> ColumnElement[bool]:
    # A path into the document would need quoting rules that differ between databases; rows of
    # (key, value) compare any key as it is.
    if dialect == "postgresql":
        entry = func.jsonb_each_text(RunRow.tags).table_valued("key", "value", name="tag")
        text: ColumnElement[str] = entry.c.value
    else:
        entry = func.json_each(RunRow.tags).table_valued("key", "value", "type", name="tag")
        words = {word: word for word in ("true", "false", "null")}
        text = case(words, value=entry.c.type, else_=cast(entry.c.value, Text))
    found = exists().select_from(entry).where(entry.c.key == key)
    if value is not None:
        found = found.where(text == value)
    return found.correlate(RunRow)

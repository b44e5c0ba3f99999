"""The conditions that select flags: by filter, by severity, and by the badge of accuracy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, case, literal_column, select

from offdiag.flags.lifecycle import FlagState
from offdiag.flags.rules.recall import IN_SIGHT_SEVERITY
from offdiag.flags.verdict import SEVERITIES, Severity
from offdiag.store.models import DatasetRow, EvaluationRow, FlagRow, ProjectRow, RunRow

UNASSIGNED = ""
"""The assignee filter for flags that are not assigned."""

SEVERITY_RANK: ColumnElement[int] = case(
    {severity.value: severity.rank for severity in SEVERITIES}, value=FlagRow.severity
)
COUNTS_IN_BADGE: ColumnElement[bool] = and_(
    FlagRow.in_badge,
    FlagRow.state.not_in(
        [literal_column(f"'{state}'") for state in (FlagState.CLOSED, FlagState.DISMISSED)]
    ),
)
"""Flags that say that accuracy hides or may hide a class, except those dismissed for a reason.

The states are literals in the statement: with parameters SQLite cannot see that the partial index
on just these flags applies.
"""


IS_IN_SIGHT: ColumnElement[bool] = FlagRow.severity == literal_column(f"'{IN_SIGHT_SEVERITY}'")
"""Flags of the amber badge; those of the red one are more severe."""
HIDES: ColumnElement[bool] = and_(FlagRow.in_badge, ~IS_IN_SIGHT)
"""Flags that say that accuracy hides a class, including dismissed and closed ones."""
MAY_HIDE: ColumnElement[bool] = and_(FlagRow.in_badge, IS_IN_SIGHT)
"""Flags that say that accuracy may hide a class."""


def may_hide_minority(evaluation: type[EvaluationRow] = EvaluationRow) -> ColumnElement[bool]:
    """Whether the accuracy of a current evaluation may hide a class but hides none for sure.

    NULL if nothing can be said, as for `evaluation.hides_minority`.
    """
    in_sight = (
        select(FlagRow.id)
        .where(FlagRow.run_id == evaluation.run_id, FlagRow.state != FlagState.CLOSED, MAY_HIDE)
        .correlate(evaluation)
        .exists()
    )
    return case(
        (evaluation.hides_minority.is_(None), None),
        else_=and_(evaluation.hides_minority.is_(False), in_sight),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagFilter:
    """Which flags are selected; None leaves a field open.

    `state` is the visible state: a flag whose snooze is over counts as open. `class_label` ""
    stands for rules about the run as a whole, `slice` "" for those about all samples, `assignee`
    "" for flags that are not assigned. `in_badge` selects the flags of the red badge, `may_hide`
    those of the amber one.
    """

    state: FlagState | None = None
    at_least: Severity | None = None
    rule: str | None = None
    class_label: str | None = None
    slice: str | None = None
    run_id: str | None = None
    dataset: str | None = None
    model: str | None = None
    project: str | None = None
    assignee: str | None = None
    in_badge: bool | None = None
    may_hide: bool | None = None

    @property
    def severities(self) -> tuple[Severity, ...]:
        """The severities that may be shown, most severe first."""
        lowest = 0 if self.at_least is None else self.at_least.rank
        return tuple(each for each in reversed(SEVERITIES) if each.rank >= lowest)


def conditions(wanted: FlagFilter) -> list[ColumnElement[bool]]:
    """The WHERE clause over flags and their runs, except for state and severity.

    Flags of deleted runs are left out.
    """
    return [RunRow.deleted_at.is_(None), *_fields(wanted)]


def _fields(wanted: FlagFilter) -> Iterator[ColumnElement[bool]]:
    for column, value in (
        (FlagRow.rule, wanted.rule),
        (FlagRow.class_label, wanted.class_label),
        (FlagRow.slice, wanted.slice),
        (FlagRow.run_id, wanted.run_id),
        (RunRow.model, wanted.model),
    ):
        if value is not None:
            yield column == value
    for condition, is_wanted in ((HIDES, wanted.in_badge), (MAY_HIDE, wanted.may_hide)):
        if is_wanted is not None:
            yield condition if is_wanted else ~condition
    if wanted.assignee is not None:
        is_unassigned = wanted.assignee == UNASSIGNED
        yield FlagRow.assignee.is_(None) if is_unassigned else FlagRow.assignee == wanted.assignee
    if wanted.dataset is not None:
        named = select(DatasetRow.id).where(DatasetRow.name == wanted.dataset)
        yield RunRow.dataset_id.in_(named)
    if wanted.project is not None:
        named = select(ProjectRow.id).where(ProjectRow.name == wanted.project)
        yield RunRow.project_id.in_(named)

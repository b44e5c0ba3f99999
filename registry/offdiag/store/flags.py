"""Statements on flags and their history."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ScalarSelect,
    Select,
    func,
    insert,
    literal,
    select,
    union_all,
    update,
)
from sqlalchemy.orm import Session

from offdiag.flags.catalogue import RULES
from offdiag.flags.lifecycle import FlagEventKind, FlagState, FlagStatus
from offdiag.flags.verdict import Certainty, Severity, certainty_of
from offdiag.store.evaluations import counts_for_its_run
from offdiag.store.models import (
    CommentRow,
    EvaluationRow,
    FlagEventRow,
    FlagRow,
    RunRow,
)
from offdiag.store.models.base import PlainText, record_as

RUN_AS_A_WHOLE = ""
"""Value of `flag.class_label` for rules that are not about a class."""
ALL_SAMPLES = ""
"""Value of `flag.slice` for rules that are not about a slice."""


@dataclass(frozen=True)
class FlagContent:
    """What a rule says about a run, or about one class of it (`class_label`).

    `slice` is the canonical text of the slice it is about, None for all samples. `fired` are the
    comparisons and `thresholds` the settings of the rule, as plain values. `in_badge` means that
    the flag sets one of the two badges; `hides` and `may_hide` say which.
    """

    rule: str
    rule_version: int
    class_label: str | None
    message: str
    evidence: Mapping[str, Any]
    fired: Sequence[Mapping[str, Any]]
    thresholds: Mapping[str, float]
    in_badge: bool
    slice: str | None = None

    @property
    def certainty(self) -> Certainty:
        return certainty_of(self.evidence)

    @property
    def hides(self) -> bool:
        """Whether it says that accuracy hides a class, as the red badge does."""
        return self.in_badge and self.certainty is Certainty.PROVED

    @property
    def may_hide(self) -> bool:
        """Whether it says that accuracy may hide a class, as the amber badge does."""
        return self.in_badge and self.certainty is Certainty.IN_SIGHT


@dataclass(frozen=True)
class FlagRecord:
    """A flag as the rest of the program sees it."""

    id: int
    run_id: str
    content: FlagContent
    status: FlagStatus
    assignee: str | None
    first_seen: datetime
    last_seen: datetime
    closed_at: datetime | None


@dataclass(frozen=True, slots=True)
class FlagEvent:
    """One entry of the history; `author` is None for entries made by an evaluation."""

    flag_id: int
    at: datetime
    author: str | None
    kind: FlagEventKind
    text: str | None


def flags_of_run(session: Session, run_id: str, *, for_update: bool = False) -> list[FlagRecord]:
    """All flags of a run, including closed ones, in the order they were first raised.

    `for_update` prevents others from triaging them until the transaction ends.
    """
    statement = select(FlagRow).where(FlagRow.run_id == run_id).order_by(FlagRow.id)
    if for_update:
        statement = statement.with_for_update()
    return [record(row) for row in session.scalars(statement)]


def flags_by_id(session: Session, ids: Sequence[int]) -> list[FlagRecord]:
    """Flags by id, locked until the transaction ends; flags of deleted runs are left out."""
    there = select(RunRow.id).where(RunRow.deleted_at.is_(None))
    statement = (
        select(FlagRow)
        .where(FlagRow.id.in_(ids), FlagRow.run_id.in_(there))
        .order_by(FlagRow.id)
        .with_for_update()
    )
    rows = session.scalars(statement.execution_options(populate_existing=True))
    return [record(row) for row in rows]


def insert_flags(
    session: Session,
    run_id: str,
    flags: Iterable[tuple[FlagContent, FlagStatus]],
    *,
    evaluation_id: int,
    now: datetime,
) -> list[int]:
    """Store new flags of a run and return their ids, in the same order."""
    rows = [
        FlagRow(
            run_id=run_id,
            **_content(content),
            **_status(status, now),
            first_seen=now,
            last_seen=now,
            evaluation_id=evaluation_id,
        )
        for content, status in flags
    ]
    session.add_all(rows)
    session.flush()  # The events need the ids.
    return [row.id for row in rows]


def update_raised_flags(
    session: Session,
    flags: Iterable[tuple[int, FlagContent, FlagStatus]],
    *,
    evaluation_id: int,
    now: datetime,
) -> None:
    """Record that flags fire in an evaluation: their content and their status."""
    changes = [
        {
            "id": flag_id,
            **_content(content),
            **_status(status, now),
            "last_seen": now,
            "evaluation_id": evaluation_id,
        }
        for flag_id, content, status in flags
    ]
    if changes:
        session.execute(update(FlagRow), changes)


def update_statuses(
    session: Session, flags: Iterable[tuple[int, FlagStatus]], *, now: datetime
) -> None:
    """Record the state of flags that were triaged or are no longer raised."""
    changes = [{"id": flag_id, **_status(status, now)} for flag_id, status in flags]
    if changes:
        session.execute(update(FlagRow), changes)


def assign_flags(session: Session, ids: Sequence[int], assignee: str | None) -> None:
    """Assign flags to a user, or to no one."""
    session.execute(update(FlagRow).where(FlagRow.id.in_(ids)).values(assignee=assignee))


def insert_events(session: Session, events: Iterable[FlagEvent]) -> None:
    """Add to the history of flags."""
    rows = [
        {
            "flag_id": event.flag_id,
            "at": event.at,
            "author": event.author,
            "kind": event.kind,
            "text": event.text,
        }
        for event in events
    ]
    if rows:
        session.execute(insert(FlagEventRow), rows)


def events_of(session: Session, flag_id: int) -> list[FlagEvent]:
    """The history of a flag, including comments on it, oldest first."""
    changes = select(
        FlagEventRow.at, FlagEventRow.author, FlagEventRow.kind, FlagEventRow.text, FlagEventRow.id
    ).where(FlagEventRow.flag_id == flag_id)
    remarks = select(
        CommentRow.at,
        CommentRow.author,
        literal(FlagEventKind.COMMENTED.value, PlainText),
        CommentRow.text,
        CommentRow.id,
    ).where(CommentRow.flag_id == flag_id)
    both: Select[*tuple[Any, ...]] = select(union_all(changes, remarks).subquery())
    rows = session.execute(both).all()
    return [
        FlagEvent(flag_id, at, author, FlagEventKind(kind), text)
        for at, author, kind, text, _ in sorted(rows, key=lambda row: (row.at, row.id))
    ]


def changes_since(session: Session, seen: Mapping[int, int]) -> list[FlagEvent]:
    """Changes of flags since a user saw them: the last change of each, oldest first.

    `seen` maps flags to revisions, as `revision` gives them; comments are not changes.
    """
    newest = select(revision().label("id")).where(FlagRow.id.in_(seen)).subquery()
    rows = session.scalars(
        select(FlagEventRow).join(newest, newest.c.id == FlagEventRow.id).order_by(FlagEventRow.id)
    )
    return [_event(row) for row in rows if row.id > seen[row.flag_id]]


def newest_decisions(session: Session) -> dict[int, int]:
    """Number of the last decision about each flag, by flag."""
    rows = session.execute(
        select(FlagEventRow.flag_id, FlagEventRow.id)
        .where(FlagEventRow.kind.in_(_DECIDED))
        .order_by(FlagEventRow.id)
    )
    return {row.flag_id: row.id for row in rows}


def last_decision(session: Session, ids: Collection[int]) -> FlagEvent | None:
    """The last decision about any of these flags, None if there is none."""
    row = session.scalar(
        select(FlagEventRow)
        .where(FlagEventRow.flag_id.in_(ids), FlagEventRow.kind.in_(_DECIDED))
        .order_by(FlagEventRow.at.desc(), FlagEventRow.id.desc())
        .limit(1)
    )
    return None if row is None else _event(row)


def revisions(session: Session, ids: Collection[int]) -> dict[int, int]:
    """Number of the last change of each flag, by flag."""
    rows = session.execute(
        select(FlagRow.id, func.coalesce(revision(), 0).label("revision")).where(
            FlagRow.id.in_(ids)
        )
    )
    return {row.id: row.revision for row in rows}


_DECIDED = (
    FlagEventKind.ACKNOWLEDGED,
    FlagEventKind.SNOOZED,
    FlagEventKind.DISMISSED,
    FlagEventKind.REOPENED,
    FlagEventKind.ASSIGNED,
)


def revision() -> ScalarSelect[int]:
    """The number of a flag's last change as a column: equal numbers mean that nothing changed."""
    return (
        select(func.max(FlagEventRow.id))
        .where(FlagEventRow.flag_id == FlagRow.id)
        .correlate(FlagRow)
        .scalar_subquery()
    )


def record_rule_results(
    session: Session,
    evaluation_id: int,
    *,
    rules_digest: str,
    cost_matrix_id: int | None,
    baseline_run_id: str | None,
    hides_minority: bool | None,
) -> None:
    """Store with an evaluation what its flags were judged by, and the badge they add up to."""
    session.execute(
        update(EvaluationRow)
        .where(EvaluationRow.id == evaluation_id)
        .values(
            rules_digest=rules_digest,
            cost_matrix_id=cost_matrix_id,
            baseline_run_id=baseline_run_id,
            hides_minority=hides_minority,
        )
    )


def _event(row: FlagEventRow) -> FlagEvent:
    return FlagEvent(row.flag_id, row.at, row.author, FlagEventKind(row.kind), row.text)


def count_judged_by_others(session: Session, rules_digest: str) -> int:
    """How many runs have flags from other rules or thresholds than those of this digest."""
    counted = session.scalar(
        select(func.count())
        .select_from(EvaluationRow)
        .join(RunRow, RunRow.id == EvaluationRow.run_id)
        .where(
            counts_for_its_run(),
            func.substr(EvaluationRow.rules_digest, 1, len(rules_digest)).is_distinct_from(
                rules_digest
            ),
            RunRow.deleted_at.is_(None),
        )
    )
    return int(counted or 0)


def record(row: FlagRow) -> FlagRecord:
    """Convert a row to a record that can leave the store."""
    rule = RULES.get(row.rule)
    about_class = row.class_label != RUN_AS_A_WHOLE
    if rule is not None and not row.slice:
        about_class = rule.per_class
    return record_as(
        FlagRecord,
        row,
        content=record_as(
            FlagContent,
            row,
            class_label=row.class_label if about_class else None,
            slice=row.slice or None,
        ),
        status=FlagStatus(
            FlagState(row.state),
            Severity(row.severity),
            None if row.settled_severity is None else Severity(row.settled_severity),
            row.snoozed_until,
            row.reason,
        ),
    )


def _content(content: FlagContent) -> dict[str, Any]:
    return {
        "rule": content.rule,
        "rule_version": content.rule_version,
        "class_label": RUN_AS_A_WHOLE if content.class_label is None else content.class_label,
        "slice": content.slice or ALL_SAMPLES,
        "message": content.message,
        "evidence": dict(content.evidence),
        "fired": [dict(comparison) for comparison in content.fired],
        "thresholds": dict(content.thresholds),
        "in_badge": content.in_badge,
    }


def _status(status: FlagStatus, now: datetime) -> dict[str, Any]:
    return {
        "state": status.state,
        "severity": status.severity,
        "settled_severity": status.triaged,
        "snoozed_until": status.snoozed_until,
        "reason": status.reason,
        "closed_at": now if status.state is FlagState.CLOSED else None,
    }

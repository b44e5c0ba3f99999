"""Tables for flags: what the rules say about runs, and how people triaged it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from offdiag.flags.lifecycle import FlagEventKind, FlagState
from offdiag.flags.problems import Cause
from offdiag.flags.verdict import Severity
from offdiag.store.models.base import IDS_ARE_NEVER_REUSED, Base, Identifier, one_of, whole_number

NOT_TRIAGED = "state NOT IN ('closed', 'dismissed')"
"""Condition of a partial index; queries must use the same wording."""


class FlagRow(Base):
    """One row for each run, rule, class and slice, however often the run is evaluated.

    `class_label` is empty for rules about the run as a whole, and `slice` for those about all
    samples, because NULLs would not be unique. `thresholds` and `rule_version` say what was
    tested, `fired` holds every comparison with its measured value. `settled_severity` is the
    severity at which a person last triaged the flag.
    """

    __tablename__ = "flag"
    __table_args__ = (
        Index("uq_flag_slice", "run_id", "rule", "class_label", "slice", unique=True),
        whole_number("rule_version", at_least=1),
        one_of("severity", Severity),
        one_of("settled_severity", Severity),
        one_of("state", FlagState),
        CheckConstraint("(state = 'snoozed') = (snoozed_until IS NOT NULL)", name="snoozed_until"),
        CheckConstraint("state <> 'dismissed' OR reason IS NOT NULL", name="dismissed_for_reason"),
        CheckConstraint("(state = 'closed') = (closed_at IS NOT NULL)", name="closed_at"),
        # The inbox reads the newest of each state and severity. PostgreSQL needs the id in the
        # index for their order; SQLite has it in every index.
        Index(None, "state", "severity", "id"),
        # For lists sorted by what the accuracy hides; SQLite requires the same wording.
        Index(
            "ix_flag_run_id_class_label_badge",
            "run_id",
            "class_label",
            sqlite_where=text(f"in_badge = 1 AND {NOT_TRIAGED}"),
            postgresql_where=text(f"in_badge AND {NOT_TRIAGED}"),
        ),
        # Counts the flags of many runs without reading their messages and evidence.
        Index(None, "run_id", "state"),
        # Deleting an evaluation searches for flags that refer to it.
        Index(None, "evaluation_id"),
        IDS_ARE_NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"))
    rule: Mapped[str]
    rule_version: Mapped[int]
    class_label: Mapped[str]
    severity: Mapped[str]
    message: Mapped[str]
    evidence: Mapped[dict[str, Any]]
    fired: Mapped[list[dict[str, Any]]]
    thresholds: Mapped[dict[str, Any]]
    in_badge: Mapped[bool]
    state: Mapped[str]
    settled_severity: Mapped[str | None]
    snoozed_until: Mapped[datetime | None]
    reason: Mapped[str | None]
    assignee: Mapped[str | None]
    first_seen: Mapped[datetime]
    last_seen: Mapped[datetime]
    closed_at: Mapped[datetime | None]
    evaluation_id: Mapped[int | None] = mapped_column(
        ForeignKey("evaluation.id", ondelete="SET NULL")
    )
    slice: Mapped[str] = mapped_column(server_default="")


class FlagEventRow(Base):
    """What happened to a flag; `author` is NULL for changes made by an evaluation."""

    __tablename__ = "flag_event"
    __table_args__ = (
        one_of("kind", FlagEventKind),
        Index(None, "flag_id"),
        IDS_ARE_NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    flag_id: Mapped[int] = mapped_column(ForeignKey("flag.id", ondelete="CASCADE"))
    at: Mapped[datetime]
    author: Mapped[str | None]
    kind: Mapped[str]
    text: Mapped[str | None]


class ProblemRow(Base):
    """The number of a problem: flags of one cause, class and slice over the runs of a model.

    `model`, `class_label` and `slice` are empty if there is none, because NULLs would not be
    unique. The state of a problem is derived from its flags.
    """

    __tablename__ = "problem"
    __table_args__ = (
        Index(
            "uq_problem_slice",
            *("dataset_id", "model", "cause", "class_label", "slice"),
            unique=True,
        ),
        one_of("cause", Cause),
        IDS_ARE_NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    dataset_id: Mapped[int] = mapped_column(ForeignKey("dataset.id", ondelete="CASCADE"))
    model: Mapped[str]
    cause: Mapped[str]
    class_label: Mapped[str]
    opened_at: Mapped[datetime]
    slice: Mapped[str] = mapped_column(server_default="")

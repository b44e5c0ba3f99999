"""Tables for runs: one evaluation of one model on one dataset, immutable once finished.

One run of a dataset may be the baseline that all others are compared with, one its champion and
one its candidate.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    Index,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from offdiag.domain.orientation import OrientationVerdict, SourceOrientation
from offdiag.domain.runs import PromotionRole, RunState
from offdiag.store.models.base import (
    IDS_ARE_NEVER_REUSED,
    LARGEST_BIG_INTEGER,
    Base,
    Identifier,
    one_of,
    whole_number,
)


def _index_of_lists(*columns: str) -> Index:
    """An index for lists and counts, which leave out deleted runs.

    SQLite reads the row for a column that is not in the index, even if the index condition implies
    its value; hence the last column.
    """
    is_there = text("deleted_at IS NULL")
    return Index(None, *columns, "deleted_at", sqlite_where=is_there, postgresql_where=is_there)


class RunRow(Base):
    """`client_key` is the caller's own name for the request: a retry finds the same run.

    `score_columns` is the number of scores per prediction, 0 if none were logged. A run that a
    user deleted stays, hidden everywhere, until it is removed permanently; `deleted_at` says since
    when.

    A run whose predictions were derived from the scores of another one names that run in
    `derived_from` and the rule in `derivation`. `derived_from` is not a reference: where a run
    comes from stays true when the other one is removed. If predictions were decided from the run's
    own scores, because none were logged, `derivation` is that rule and `derived_from` is NULL.

    `is_weighted` says that its samples have weights, which are stored with the prediction chunks.
    """

    __tablename__ = "run"
    __table_args__ = (
        UniqueConstraint("project_id", "client_key"),
        one_of("state", RunState),
        one_of("source_orientation", SourceOrientation),
        one_of("orientation_verdict", OrientationVerdict),
        whole_number("n_predictions", at_most=LARGEST_BIG_INTEGER),
        whole_number("score_columns"),
        CheckConstraint("(state = 'open') = (finished_at IS NULL)", name="open_until_finished_at"),
        # With each of these a page of a list costs the same in a small and in a large registry.
        _index_of_lists("dataset_id", "created_at", "id"),
        _index_of_lists("project_id", "created_at"),
        _index_of_lists("model", "created_at"),
        # The name is included so that searches need not read the rows.
        _index_of_lists("created_at", "id", "name"),
        _index_of_lists("name", "id"),
        Index(None, "state"),
        Index(
            None,
            "is_weighted",
            sqlite_where=text("is_weighted = 1"),
            postgresql_where=text("is_weighted"),
        ),
        Index(
            None,
            "deleted_at",
            sqlite_where=text("deleted_at IS NOT NULL"),
            postgresql_where=text("deleted_at IS NOT NULL"),
        ),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    dataset_id: Mapped[int] = mapped_column(ForeignKey("dataset.id"))
    truth_version_id: Mapped[int | None] = mapped_column(ForeignKey("truth_version.id"))
    name: Mapped[str]
    model: Mapped[str | None]
    state: Mapped[str]
    client_key: Mapped[str | None]
    params: Mapped[dict[str, Any]]
    tags: Mapped[dict[str, Any]]
    author: Mapped[str | None]
    git_sha: Mapped[str | None]
    source_orientation: Mapped[str]
    orientation_evidence: Mapped[dict[str, Any] | None]
    orientation_verdict: Mapped[str | None]
    n_predictions: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    score_columns: Mapped[int] = mapped_column(server_default=text("0"))
    content_digest: Mapped[str | None]
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    deleted_at: Mapped[datetime | None]
    deleted_by: Mapped[str | None]
    derived_from: Mapped[str | None]
    derivation: Mapped[dict[str, Any] | None]
    note: Mapped[str | None]
    is_weighted: Mapped[bool] = mapped_column(server_default=false())


class UploadedMatrixRow(Base):
    """A matrix that was uploaded instead of counted, in the run's `source_orientation`.

    It is stored as it came, so that the orientation can be checked again at any time.
    """

    __tablename__ = "uploaded_matrix"
    __table_args__ = (whole_number("n_classes", at_least=1),)

    run_id: Mapped[str] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"), primary_key=True)
    n_classes: Mapped[int]
    cells: Mapped[bytes]


class BaselineRow(Base):
    """At most one row per dataset; a separate table, because runs refer to their dataset."""

    __tablename__ = "baseline"

    dataset_id: Mapped[int] = mapped_column(
        ForeignKey("dataset.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    run_id: Mapped[str] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"))
    author: Mapped[str | None]
    pinned_at: Mapped[datetime]


class PromotionRow(Base):
    """A promotion of a run to champion or candidate of its dataset; of each role the newest holds.

    `run_id` is NULL if the role was withdrawn. It is not a reference: the decision stays readable
    when the run is deleted permanently, with `metrics`, the values by key at that moment, the
    number of the label version they belong to, and `gate`, the results of its conditions.
    `undefined` has the reasons of values that were undefined, NULL if it was not recorded yet.
    """

    __tablename__ = "promotion"
    __table_args__ = (
        one_of("role", PromotionRole),
        CheckConstraint("role <> 'champion' OR reason IS NOT NULL", name="champion_for_reason"),
        Index(None, "dataset_id", "role", "id"),
        IDS_ARE_NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    dataset_id: Mapped[int] = mapped_column(ForeignKey("dataset.id", ondelete="CASCADE"))
    role: Mapped[str]
    run_id: Mapped[str | None]
    run_name: Mapped[str | None]
    reason: Mapped[str | None]
    author: Mapped[str | None]
    at: Mapped[datetime]
    truth_number: Mapped[int | None]
    metrics: Mapped[dict[str, Any]]
    gate: Mapped[dict[str, Any] | None]
    undefined: Mapped[dict[str, Any] | None]


TARGETS = ("run_id", "dataset_id", "flag_id")
_N_TARGETS = " + ".join(f"CASE WHEN {target} IS NULL THEN 0 ELSE 1 END" for target in TARGETS)


class CommentRow(Base):
    """A comment on exactly one run, dataset or flag; it is never changed."""

    __tablename__ = "comment"
    __table_args__ = (
        CheckConstraint(f"{_N_TARGETS} = 1", name="about_one_thing"),
        *(Index(None, target) for target in TARGETS),
        IDS_ARE_NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    run_id: Mapped[str | None] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"))
    dataset_id: Mapped[int | None] = mapped_column(ForeignKey("dataset.id", ondelete="CASCADE"))
    flag_id: Mapped[int | None] = mapped_column(ForeignKey("flag.id", ondelete="CASCADE"))
    at: Mapped[datetime]
    author: Mapped[str | None]
    text: Mapped[str]

"""Datasets and the versions of their ground truth.

A truth version never changes. Correcting a label makes a new version whose parent is the old
one, so that every evaluation names exactly the truth it was computed with. Versions that
descend from one another are a lineage: the same samples, labelled better and better. A lineage
is a line, never a tree, and its head is the version with the largest number.
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

from offdiag.domain.runs import Task
from offdiag.store.models.base import (
    IDS_ARE_NEVER_REUSED,
    LARGEST_BIG_INTEGER,
    Base,
    one_of,
    whole_number,
)
from offdiag.store.types import Identifier

TRUTH_ORIGINS = ("logged", "revised")
ID_KINDS = ("position", "int", "text")


class DatasetRow(Base):
    """`default_cost_matrix_id` is what its runs are judged by once errors have a price.

    `hierarchy` lists groups of classes, `{"group": name, "members": [...]}`, nested; it is a list
    because PostgreSQL keeps the order of lists alone. `positive_by_convention` says that nobody
    named the positive class: labels such as 0 and 1 have one.
    """

    __tablename__ = "dataset"
    __table_args__ = (
        UniqueConstraint("project_id", "name"),
        one_of("task", Task),
        IDS_ARE_NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    name: Mapped[str]
    task: Mapped[str]
    label_set_id: Mapped[int] = mapped_column(ForeignKey("label_set.id"))
    labels_inferred: Mapped[bool]
    positive_label: Mapped[str | None]
    created_at: Mapped[datetime]
    default_cost_matrix_id: Mapped[int | None] = mapped_column(ForeignKey("cost_matrix.id"))
    hierarchy: Mapped[list[dict[str, Any]] | None]
    positive_by_convention: Mapped[bool] = mapped_column(server_default=false())


class TruthVersionRow(Base):
    """`class_counts[k]` is the number of samples whose actual class has code k.

    Only logged truth is unique by content: a correction may be taken back, and then the newest
    version says the same as an older one.
    """

    __tablename__ = "truth_version"
    __table_args__ = (
        UniqueConstraint("dataset_id", "number"),
        Index(
            "uq_truth_version_dataset_id_digest_logged",
            "dataset_id",
            "digest",
            unique=True,
            sqlite_where=text("origin = 'logged'"),
            postgresql_where=text("origin = 'logged'"),
        ),
        Index("uq_truth_version_parent_id", "parent_id", unique=True),
        Index(None, "dataset_id", "root_id", "number"),
        whole_number("number", at_least=1),
        whole_number("n_samples", at_most=LARGEST_BIG_INTEGER),
        one_of("id_kind", ID_KINDS),
        one_of("origin", TRUTH_ORIGINS),
        CheckConstraint("n_labelled BETWEEN 0 AND n_samples", name="n_labelled"),
        CheckConstraint(
            "(origin = 'revised') = (parent_id IS NOT NULL)", name="revised_from_a_parent"
        ),
        CheckConstraint("parent_id IS NULL OR reason IS NOT NULL", name="revised_for_a_reason"),
        IDS_ARE_NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    dataset_id: Mapped[int] = mapped_column(ForeignKey("dataset.id"))
    number: Mapped[int]
    digest: Mapped[str]
    n_samples: Mapped[int] = mapped_column(BigInteger)
    id_kind: Mapped[str]
    class_counts: Mapped[list[int]]
    origin: Mapped[str]
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("truth_version.id"))
    reason: Mapped[str | None]
    author: Mapped[str | None]
    created_at: Mapped[datetime]
    # The first version of the lineage. A first version names itself, hence deferred.
    root_id: Mapped[int] = mapped_column(
        ForeignKey("truth_version.id", deferrable=True, initially="DEFERRED")
    )
    n_labelled: Mapped[int] = mapped_column(BigInteger)

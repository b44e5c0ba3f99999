"""Tables for projects, label sets, datasets and everything that belongs to them.

That is label versions, slices, cost matrices, the content of samples, and answers about labels.

Label sets are ordered class names, each distinct set stored once.

A label version never changes. Correcting a label creates a new version whose parent is the old
one, so that every evaluation names exactly the labels it was computed with. Versions that descend
from one another form a lineage: the same samples with increasingly correct labels. A lineage is a
line, never a tree, and its head is the version with the largest number.

Slices belong to the samples, not to their labels, so a lineage of label versions stores them once,
with its first version.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
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
    Identifier,
    one_of,
    whole_number,
)


class ProjectRow(Base):
    __tablename__ = "project"
    __table_args__ = IDS_ARE_NEVER_REUSED

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime]


class LabelSetRow(Base):
    """`digest` covers names, order and ordinality, so equal sets share one row.

    Whether the order was declared or inferred is a fact about a dataset and is stored there.
    """

    __tablename__ = "label_set"
    __table_args__ = (whole_number("n_classes", at_least=1), IDS_ARE_NEVER_REUSED)

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)
    names: Mapped[list[str]]
    n_classes: Mapped[int]
    ordinal: Mapped[bool]


TRUTH_ORIGINS = ("logged", "revised")
ID_KINDS = ("position", "int", "text")


class DatasetRow(Base):
    """`default_cost_matrix_id` is what its runs are judged by once errors have a cost.

    `hierarchy` lists groups of classes, `{"group": name, "members": [...]}`, nested; it is a list
    because PostgreSQL preserves order only in lists. `positive_by_convention` means that no one
    chose the positive class: labels such as 0 and 1 imply one. Runs are ranked by
    `primary_metric`, the key of an aggregate metric, NULL for the default of the task.
    `image_template` and `link_template` are addresses with `{sample}` in them; `content_hidden`
    means that content is shown on request only.
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
    primary_metric: Mapped[str | None]
    image_template: Mapped[str | None]
    link_template: Mapped[str | None]
    content_hidden: Mapped[bool] = mapped_column(server_default=false())


class TruthVersionRow(Base):
    """`class_counts[k]` is the number of samples whose actual class has code k.

    Only logged labels are unique by content: a correction may be reverted, and then the newest
    version equals an older one.
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
    # The first version of the lineage. A first version refers to itself, hence deferred.
    root_id: Mapped[int] = mapped_column(
        ForeignKey("truth_version.id", deferrable=True, initially="DEFERRED")
    )
    n_labelled: Mapped[int] = mapped_column(BigInteger)


class TruthSliceRow(Base):
    """`codes` holds one code per sample in the order of the labels, an index into `levels`."""

    __tablename__ = "truth_slice"

    truth_version_id: Mapped[int] = mapped_column(
        ForeignKey("truth_version.id", ondelete="CASCADE"), primary_key=True
    )
    name: Mapped[str] = mapped_column(primary_key=True)
    levels: Mapped[list[str]]
    dtype: Mapped[str]
    codec: Mapped[str]
    codes: Mapped[bytes]
    created_at: Mapped[datetime]


class PendingSliceRow(Base):
    """Slice values that an open run logged with one chunk, stored until it is finished."""

    __tablename__ = "pending_slice"
    __table_args__ = (
        ForeignKeyConstraint(
            ["run_id", "seq"],
            ["prediction_chunk.run_id", "prediction_chunk.seq"],
            ondelete="CASCADE",
        ),
    )

    run_id: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(primary_key=True)
    levels: Mapped[list[str]]
    dtype: Mapped[str]
    codec: Mapped[str]
    codes: Mapped[bytes]


class CostMatrixRow(Base):
    """One version, which never changes: a change creates another version.

    `weights` are K times K float64, little-endian, with the actual class along the first axis, in
    the order of the label set.
    """

    __tablename__ = "cost_matrix"
    __table_args__ = (
        UniqueConstraint("project_id", "name", "version"),
        whole_number("version", at_least=1),
        IDS_ARE_NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    name: Mapped[str]
    version: Mapped[int]
    label_set_id: Mapped[int] = mapped_column(ForeignKey("label_set.id"))
    weights: Mapped[bytes]
    currency: Mapped[str | None]
    author: Mapped[str | None]
    note: Mapped[str | None]
    created_at: Mapped[datetime]


class SampleContentRow(Base):
    """One sample, named by its id as text, or by its position if it has no id.

    `image_digest` is that of the bytes that were sent. Only images that offdiag encoded itself are
    stored: `thumbnail`, and `image` if the image was larger than that.
    """

    __tablename__ = "sample_content"
    __table_args__ = (
        CheckConstraint(
            "(image_digest IS NULL) = (thumbnail IS NULL) "
            "AND (image_digest IS NULL) = (image_type IS NULL)",
            name="whole_image",
        ),
    )

    dataset_id: Mapped[int] = mapped_column(
        ForeignKey("dataset.id", ondelete="CASCADE"), primary_key=True
    )
    sample: Mapped[str] = mapped_column(primary_key=True)
    logged_at: Mapped[datetime]
    text: Mapped[str | None]
    fields: Mapped[dict[str, Any] | None]
    audio: Mapped[str | None]
    image_digest: Mapped[str | None]
    image_type: Mapped[str | None]
    # Images last: SQLite reads a row up to the last column that is requested.
    thumbnail: Mapped[bytes | None]
    image: Mapped[bytes | None]


class LabelAnswerRow(Base):
    """What a person says the label of a sample is; NULL if they cannot tell.

    `published_in` is the number of the label version that was made from it, 0 while it is a
    proposal. A final answer decides if people disagree.
    """

    __tablename__ = "label_answer"

    dataset_id: Mapped[int] = mapped_column(
        ForeignKey("dataset.id", ondelete="CASCADE"), primary_key=True
    )
    published_in: Mapped[int] = mapped_column(primary_key=True)
    sample: Mapped[str] = mapped_column(primary_key=True)
    author: Mapped[str] = mapped_column(primary_key=True)
    is_final: Mapped[bool] = mapped_column(primary_key=True)
    label: Mapped[str | None]
    note: Mapped[str | None]
    answered_at: Mapped[datetime]

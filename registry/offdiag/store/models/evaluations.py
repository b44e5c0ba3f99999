"""Tables for what was computed from runs: a cache that can be dropped and rebuilt bit for bit.

Curves of scores are stored with the results they belong to.

Old evaluations stay as history; at most one per run is current, and one for each of its slices
that a user opened.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from offdiag.store.models.base import (
    IDS_ARE_NEVER_REUSED,
    LARGEST_BIG_INTEGER,
    Base,
    Identifier,
    finite,
    whole_number,
)

AGGREGATE = -1
"""`class_index` of a metric that belongs to no single class."""


def _index_of_current(column: str) -> Index:
    """An index of runs whose current evaluation has a value in this column."""
    return Index(
        f"ix_evaluation_{column}_run_id_current",
        column,
        "run_id",
        # SQLite uses a partial index only for queries with the same wording of its condition.
        sqlite_where=text("is_current = 1 AND slice IS NULL"),
        postgresql_where=text("is_current AND slice IS NULL"),
    )


class EvaluationRow(Base):
    """`input_digest` covers predictions, labels, slice and suite: equal inputs are evaluated once.

    `slice` is the canonical text of a slice, NULL for all samples. `n_cases` counts the samples of
    the run in the slice, `n_labelled` those that have a label and are scored.

    The flags of the run were raised by the rules and thresholds of `rules_digest`, with these
    costs and against this baseline. If any of these changes, the flags are out of date. The
    baseline is named and not referenced, so that a deleted one is noticed. `hides_minority` is
    NULL if nothing can be said.

    `lowest_recall` is that of the worst recognised class, NULL if no class has a recall. It is
    among the values too; here lists find it without reading all classes.
    """

    __tablename__ = "evaluation"
    __table_args__ = (
        UniqueConstraint("run_id", "input_digest"),
        whole_number("suite_version", at_least=1),
        whole_number("n_cases", at_most=LARGEST_BIG_INTEGER),
        finite("duration_s"),
        CheckConstraint("n_labelled BETWEEN 0 AND n_cases", name="n_labelled"),
        Index(
            "uq_evaluation_run_id_current",
            "run_id",
            unique=True,
            sqlite_where=text("is_current AND slice IS NULL"),
            postgresql_where=text("is_current AND slice IS NULL"),
        ),
        Index(
            "uq_evaluation_run_id_slice_current",
            "run_id",
            "slice",
            unique=True,
            sqlite_where=text("is_current AND slice IS NOT NULL"),
            postgresql_where=text("is_current AND slice IS NOT NULL"),
        ),
        _index_of_current("lowest_recall"),
        _index_of_current("truth_version_id"),
        IDS_ARE_NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("run.id", ondelete="CASCADE"))
    truth_version_id: Mapped[int | None] = mapped_column(ForeignKey("truth_version.id"))
    suite_version: Mapped[int]
    engine_version: Mapped[str]
    input_digest: Mapped[str]
    n_cases: Mapped[int] = mapped_column(BigInteger)
    is_current: Mapped[bool]
    computed_at: Mapped[datetime]
    duration_s: Mapped[float]
    slice: Mapped[str | None]
    n_labelled: Mapped[int] = mapped_column(BigInteger)
    hides_minority: Mapped[bool | None]
    rules_digest: Mapped[str | None]
    cost_matrix_id: Mapped[int | None] = mapped_column(Identifier)
    baseline_run_id: Mapped[str | None]
    lowest_recall: Mapped[float | None]


def _evaluation_id() -> Mapped[int]:
    return mapped_column(ForeignKey("evaluation.id", ondelete="CASCADE"), primary_key=True)


class ConfusionMatrixRow(Base):
    """Counts in the canonical orientation: first axis actual, second axis predicted."""

    __tablename__ = "confusion_matrix"
    __table_args__ = (whole_number("n_classes", at_least=1),)

    evaluation_id: Mapped[int] = _evaluation_id()
    label_set_id: Mapped[int] = mapped_column(ForeignKey("label_set.id"))
    n_classes: Mapped[int]
    cells: Mapped[bytes]
    digest: Mapped[str]


class MetricValueRow(Base):
    """One value to sort and filter by; undefined values have a reason and nothing else.

    Without a rowid the primary key is the table itself, so a value is written to two trees, not
    three.
    """

    __tablename__ = "metric_value"
    __table_args__ = (
        whole_number("class_index", at_least=AGGREGATE),
        finite("value"),
        finite("ci_low"),
        finite("ci_high"),
        CheckConstraint("(value IS NULL) = (reason IS NOT NULL)", name="value_or_reason"),
        CheckConstraint(
            "ci_method IS NOT NULL OR (ci_low IS NULL AND ci_high IS NULL)",
            name="interval_has_a_method",
        ),
        Index(None, "key", "class_index", "value", "evaluation_id"),
        {"sqlite_with_rowid": False},
    )

    evaluation_id: Mapped[int] = _evaluation_id()
    key: Mapped[str] = mapped_column(primary_key=True)
    class_index: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    value: Mapped[float | None]
    reason: Mapped[str | None]
    tends_to: Mapped[str | None]
    ci_low: Mapped[float | None]
    ci_high: Mapped[float | None]
    ci_method: Mapped[str | None]


class ClassValuesRow(Base):
    """All per-class values of an evaluation, packed; `keys` and `reasons` say how to read them."""

    __tablename__ = "class_values"
    __table_args__ = (whole_number("n_classes", at_least=1),)

    evaluation_id: Mapped[int] = _evaluation_id()
    n_classes: Mapped[int]
    keys: Mapped[list[str]]
    reasons: Mapped[list[str]]
    data: Mapped[bytes]


class ScoreCurveRow(Base):
    """One class against the rest, or the top label if `class_index` is -1.

    `n_thresholds` is the number of points of the exact curve, of which `points` holds a few.
    `bins` is NULL for scores that are not probabilities.
    """

    __tablename__ = "score_curve"
    __table_args__ = (
        whole_number("class_index", at_least=AGGREGATE),
        whole_number("n_positive", at_most=LARGEST_BIG_INTEGER),
        whole_number("n_negative", at_most=LARGEST_BIG_INTEGER),
        whole_number("n_thresholds", at_most=LARGEST_BIG_INTEGER),
    )

    evaluation_id: Mapped[int] = mapped_column(
        ForeignKey("evaluation.id", ondelete="CASCADE"), primary_key=True
    )
    class_index: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    n_positive: Mapped[int] = mapped_column(BigInteger)
    n_negative: Mapped[int] = mapped_column(BigInteger)
    n_thresholds: Mapped[int] = mapped_column(BigInteger)
    points: Mapped[bytes]
    bins: Mapped[bytes | None]
    histogram: Mapped[bytes]


WITHOUT_FLAGS = " without flags"
"""The end of a digest of columns by which slices were counted, but no flags raised so far."""


class SliceCountsRow(Base):
    """Margins of every slice of an evaluation; see `SliceCounts`.

    `columns_digest` identifies the slice columns that they were counted by: if these change, the
    margins are outdated. `members` are int32 (n_slices, 2), `numbers` (n_parts + n_slices *
    n_parts, 2 + 3 K) of type `dtype`, the numbers of all samples first, all little-endian.
    """

    __tablename__ = "slice_counts"
    __table_args__ = (
        whole_number("n_slices"),
        whole_number("n_parts", at_least=1),
        whole_number("n_left_out"),
    )

    evaluation_id: Mapped[int] = _evaluation_id()
    columns_digest: Mapped[str]
    columns: Mapped[list[dict[str, Any]]]
    n_slices: Mapped[int]
    n_parts: Mapped[int]
    n_left_out: Mapped[int]
    dtype: Mapped[str]
    members: Mapped[bytes]
    numbers: Mapped[bytes]

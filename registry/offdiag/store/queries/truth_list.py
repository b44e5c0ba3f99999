"""The versions of the ground truth of a dataset, with what was logged on each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from offdiag.store.models import RunRow, TruthSliceRow, TruthVersionRow


@dataclass(frozen=True, slots=True)
class TruthSummary:
    """One version. `class_counts` is in label order, `n_runs` counts runs logged with it.

    `is_head` says that runs of its lineage are scored with it; `root` is the number of the
    first version of the lineage and `parent` that of the version it corrects. `slices` are the
    names of the slice columns of the samples.
    """

    number: int
    root: int
    parent: int | None
    is_head: bool
    digest: str
    n_samples: int
    n_labelled: int
    id_kind: str
    class_counts: tuple[int, ...]
    reason: str | None
    author: str | None
    created_at: datetime
    n_runs: int
    slices: tuple[str, ...]


def truth_list(session: Session, dataset_id: int) -> tuple[TruthSummary, ...]:
    """All versions of a dataset, newest first, in two statements."""
    # By dataset, for which runs have an index, and not version by version, for which not.
    logged = (
        select(RunRow.truth_version_id.label("truth_id"), func.count().label("n"))
        .where(RunRow.dataset_id == dataset_id, RunRow.deleted_at.is_(None))
        .group_by(RunRow.truth_version_id)
        .subquery()
    )
    rows = session.execute(
        select(TruthVersionRow, func.coalesce(logged.c.n, 0))
        .outerjoin(logged, logged.c.truth_id == TruthVersionRow.id)
        .where(TruthVersionRow.dataset_id == dataset_id)
        .order_by(TruthVersionRow.number.desc())
    ).all()
    numbers = {row.id: row.number for row, _ in rows}
    slices = _slices(session, dataset_id)
    heads = {row.root_id: row.id for row, _ in reversed(rows)}
    return tuple(
        TruthSummary(
            number=row.number,
            root=numbers[row.root_id],
            parent=None if row.parent_id is None else numbers[row.parent_id],
            is_head=heads[row.root_id] == row.id,
            digest=row.digest,
            n_samples=row.n_samples,
            n_labelled=row.n_labelled,
            id_kind=row.id_kind,
            class_counts=tuple(row.class_counts),
            reason=row.reason,
            author=row.author,
            created_at=row.created_at,
            n_runs=count,
            slices=slices.get(row.root_id, ()),
        )
        for row, count in rows
    )


def _slices(session: Session, dataset_id: int) -> dict[int, tuple[str, ...]]:
    """Names of slice columns by the first version of a lineage."""
    found: dict[int, tuple[str, ...]] = {}
    for truth_id, name in session.execute(
        select(TruthSliceRow.truth_version_id, TruthSliceRow.name)
        .join(TruthVersionRow, TruthVersionRow.id == TruthSliceRow.truth_version_id)
        .where(TruthVersionRow.dataset_id == dataset_id)
        .order_by(TruthSliceRow.name)
    ):
        found[truth_id] = (*found.get(truth_id, ()), name)
    return found

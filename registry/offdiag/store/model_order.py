"""The models of datasets in the order of their first runs, by which pages give them colours."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from offdiag.store.models import RunRow


def models_by_first_run(
    session: Session, dataset_ids: Collection[int]
) -> dict[int, tuple[str | None, ...]]:
    """Models by dataset, the one that was logged first at the beginning.

    None stands for runs that name no model. The order never changes but at its end, unless the
    first runs of a model are deleted.
    """
    if not dataset_ids:
        return {}
    first = func.min(RunRow.created_at)
    rows = session.execute(
        select(RunRow.dataset_id, RunRow.model)
        .where(RunRow.dataset_id.in_(dataset_ids), RunRow.deleted_at.is_(None))
        .group_by(RunRow.dataset_id, RunRow.model)
        .order_by(RunRow.dataset_id, first, func.min(RunRow.id))
    )
    found: dict[int, list[str | None]] = {}
    for dataset_id, model in rows:
        found.setdefault(dataset_id, []).append(model)
    return {dataset_id: tuple(models) for dataset_id, models in found.items()}

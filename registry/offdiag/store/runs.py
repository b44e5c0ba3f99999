"""Statements on runs, and on baselines: the run that others of a dataset are compared with."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Row, RowMapping, Select, bindparam, delete, select, update
from sqlalchemy.orm import Session

from offdiag.domain.orientation import (
    OrientationEvidence,
    OrientationVerdict,
    SourceOrientation,
)
from offdiag.domain.runs import Derivation, RunFacts, RunState, SaidOfRun, new_run_id
from offdiag.errors import Conflict, NotFound
from offdiag.store.datasets import DatasetRecord
from offdiag.store.models import BaselineRow, DatasetRow, ProjectRow, RunRow
from offdiag.store.models.base import lock_row, record_as

_KEYS_AT_ONCE = 1_000

# Built once, because every chunk that arrives looks up its run.
_BY_ID = select(RunRow).where(RunRow.id == bindparam("run_id"))
_TO_ADD = _BY_ID.with_for_update(read=True)
_ALONE = _BY_ID.with_for_update()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord(SaidOfRun):
    """A run without its predictions; read models for pages and queries extend it."""

    id: str
    project_id: int
    dataset_id: int
    truth_version_id: int | None
    name: str
    state: RunState
    client_key: str | None
    source: SourceOrientation
    orientation_verdict: str | None
    orientation_evidence: Mapping[str, Any] | None
    n_predictions: int
    score_columns: int
    content_digest: str | None
    created_at: datetime
    finished_at: datetime | None
    deleted_at: datetime | None
    derivation: Derivation | None = None
    decision: Mapping[str, Any] | None = None
    note: str | None = None
    is_weighted: bool = False

    @property
    def has_predictions(self) -> bool:
        """Whether its samples were logged one by one, not as counts or a matrix."""
        return self.source is SourceOrientation.PREDICTIONS

    @property
    def is_chosen_here(self) -> bool:
        """Whether its threshold was chosen on its own examples: `Derivation.is_chosen_here`."""
        return self.derivation is not None and self.derivation.is_chosen_here

    @property
    def counted_on(self) -> str | None:
        """The external program that counted the samples of the run; None if there was none."""
        name: str | None = (self.orientation_evidence or {}).get("counted_on")
        return name


def insert_run(
    session: Session,
    dataset: DatasetRecord,
    facts: RunFacts,
    source: SourceOrientation,
    *,
    now: datetime,
    derivation: Derivation | None = None,
    decision: Mapping[str, Any] | None = None,
) -> RunRecord:
    """Insert an open run; `decision` is the rule that predicted from its own scores.

    Raises `Conflict` if a name that has to be unique is taken.
    """
    if facts.unique_name:
        _require_free_name(session, dataset.id, facts.name)
    row = RunRow(
        id=new_run_id(),
        project_id=dataset.project_id,
        dataset_id=dataset.id,
        name=facts.name,
        client_key=facts.client_key,
        **facts.said(),
        state=RunState.OPEN,
        source_orientation=source,
        n_predictions=0,
        score_columns=0,
        created_at=now,
        derived_from=None if derivation is None else derivation.run_id,
        derivation=_plain(decision if derivation is None else derivation.recipe),
    )
    session.add(row)
    session.flush()  # Chunks refer to it, and a duplicate client key must fail here.
    return _record(row)


def _require_free_name(session: Session, dataset_id: int, name: str) -> None:
    """Raise `Conflict` if a run of the dataset that is not deleted has the name.

    Transactions that ask for a unique name wait here for all others of the dataset that do. SQLite
    has one writer at a time.
    """
    lock_row(session, DatasetRow, dataset_id)
    taken = session.scalar(
        select(RunRow.id)
        .where(RunRow.dataset_id == dataset_id, RunRow.name == name, RunRow.deleted_at.is_(None))
        .order_by(RunRow.created_at, RunRow.id)
        .limit(1)
    )
    if taken is not None:
        raise Conflict(
            f"the name {name!r} is taken by run {taken} of this dataset.",
            field="name",
            hint=f"Choose another name, delete that run (`offdiag runs delete {taken}`), or log "
            "without unique_name.",
        )


def get_run(session: Session, run_id: str) -> RunRecord:
    """A run by id. Raises `NotFound`, also for a deleted run."""
    return _not_deleted(get_any_run(session, run_id))


def lock_run(session: Session, run_id: str, *, alone: bool = False) -> RunRecord:
    """A run by id, locked against being finished and, if `alone`, against being added to.

    The lock lasts until this transaction ends. SQLite needs none, as it has one writer at a time.
    Raises `NotFound`.
    """
    return _not_deleted(_one(session, run_id, _ALONE if alone else _TO_ADD))


def get_any_run(session: Session, run_id: str) -> RunRecord:
    """A run by id, deleted or not. Raises `NotFound`."""
    return _one(session, run_id, _BY_ID)


def find_by_client_key(session: Session, *, project_id: int, client_key: str) -> RunRecord | None:
    """The run a client opened with this key, deleted or not."""
    row = session.scalar(
        select(RunRow).where(RunRow.project_id == project_id, RunRow.client_key == client_key)
    )
    return None if row is None else _record(row)


def content_by_client_key(
    session: Session, client_keys: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Content digests of the complete runs that were opened with these keys, in any project."""
    found: dict[str, tuple[str, ...]] = {}
    for start in range(0, len(client_keys), _KEYS_AT_ONCE):
        rows = session.execute(
            select(RunRow.client_key, RunRow.content_digest).where(
                RunRow.client_key.in_(client_keys[start : start + _KEYS_AT_ONCE]),
                RunRow.content_digest.is_not(None),
                RunRow.deleted_at.is_(None),
            )
        )
        for client_key, digest in rows:
            if client_key is not None and digest is not None:
                found[client_key] = (*found.get(client_key, ()), digest)
    return found


def mark_finished(
    session: Session,
    run_id: str,
    *,
    truth_version_id: int | None,
    n_predictions: int,
    score_columns: int,
    content_digest: str,
    orientation: OrientationEvidence,
    now: datetime,
    is_weighted: bool = False,
) -> RunRecord:
    """Close a run, which must be open: from here on it is immutable."""
    finished = session.scalars(
        update(RunRow)
        .where(RunRow.id == run_id, RunRow.state == RunState.OPEN)
        .values(
            state=RunState.FINISHED,
            finished_at=now,
            truth_version_id=truth_version_id,
            n_predictions=n_predictions,
            score_columns=score_columns,
            content_digest=content_digest,
            orientation_verdict=orientation.verdict,
            orientation_evidence=orientation.to_dict(),
            is_weighted=is_weighted,
        )
        .returning(RunRow),
        execution_options={"populate_existing": True},
    )
    return _record(finished.one())


def complete_run_ids(session: Session, dataset_id: int, *, with_scores: bool = False) -> list[str]:
    """Ids of the runs of a dataset that are finished and have not failed, oldest first.

    With `with_scores`, only those that have scores.
    """
    return list(
        session.scalars(
            select(RunRow.id)
            .where(
                RunRow.dataset_id == dataset_id,
                RunRow.state.in_([RunState.FINISHED, RunState.EVALUATED]),
                RunRow.deleted_at.is_(None),
                RunRow.score_columns >= int(with_scores),
            )
            .order_by(RunRow.created_at, RunRow.id)
        )
    )


def set_decision(session: Session, run_id: str, decision: Mapping[str, Any] | None) -> None:
    """Record the rule that predicts from the scores of an open run."""
    session.execute(update(RunRow).where(RunRow.id == run_id).values(derivation=_plain(decision)))


def set_tags(session: Session, run_id: str, tags: Mapping[str, Any]) -> None:
    session.execute(update(RunRow).where(RunRow.id == run_id).values(tags=dict(tags)))


def set_note(session: Session, run_id: str, note: str | None) -> None:
    session.execute(update(RunRow).where(RunRow.id == run_id).values(note=note))


def set_state(session: Session, run_id: str, state: RunState) -> None:
    """Record the state of a finished run."""
    session.execute(update(RunRow).where(RunRow.id == run_id).values(state=state))


def deleted_runs(
    session: Session, *, project: str | None, dataset: str | None, limit: int
) -> Sequence[RowMapping]:
    """The runs that were deleted last and can be restored, by the names of `DeletedRun`."""
    found = (
        select(
            RunRow.id,
            RunRow.name,
            ProjectRow.name.label("project"),
            DatasetRow.name.label("dataset"),
            RunRow.created_at,
            RunRow.deleted_by,
            RunRow.deleted_at,
        )
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .join(ProjectRow, ProjectRow.id == RunRow.project_id)
        .where(RunRow.deleted_at.is_not(None))
        .order_by(RunRow.deleted_at.desc(), RunRow.id)
        .limit(limit)
    )
    if project is not None:
        found = found.where(ProjectRow.name == project)
    if dataset is not None:
        found = found.where(DatasetRow.name == dataset)
    return session.execute(found).mappings().all()


def set_deleted(session: Session, run_id: str, *, at: datetime | None, by: str | None) -> None:
    """Hide a run everywhere from `at` on, or show it again."""
    session.execute(update(RunRow).where(RunRow.id == run_id).values(deleted_at=at, deleted_by=by))


def no_run(session: Session, run_id: str) -> NotFound:
    """The error for a run to be shown that does not exist, or not any longer."""
    deleted = select(RunRow.id).where(RunRow.id == run_id, RunRow.deleted_at.is_not(None))
    if session.scalar(deleted) is not None:
        return _was_deleted(run_id)
    return NotFound(
        f"there is no run {run_id!r}.",
        field="run",
        hint="It may have been removed for good, or its id is incomplete.",
    )


def _was_deleted(run_id: str) -> NotFound:
    return NotFound(
        f"run {run_id!r} was deleted.",
        field="run",
        hint=f"`offdiag runs restore {run_id}` brings it back.",
    )


def _one(session: Session, run_id: str, statement: Select[RunRow]) -> RunRecord:
    row = session.scalar(
        statement, {"run_id": run_id}, execution_options={"populate_existing": True}
    )
    if row is None:
        raise NotFound(
            f"there is no run {run_id!r}.",
            field="run",
            hint="`offdiag runs list` shows the runs of this registry.",
        )
    return _record(row)


def _not_deleted(run: RunRecord) -> RunRecord:
    if run.deleted_at is not None:
        raise _was_deleted(run.id)
    return run


def _record(row: RunRow) -> RunRecord:
    return record_as(
        RunRecord,
        row,
        state=RunState(row.state),
        source=SourceOrientation(row.source_orientation),
        orientation_verdict=verdict_of(row),
        derivation=derivation_of(row),
        decision=row.derivation if row.derived_from is None else None,
    )


def recorded(row: RunRow) -> dict[str, Any]:
    """The fields of a `RunRecord` by name, for read models that add to them."""
    record = _record(row)
    return {field.name: getattr(record, field.name) for field in fields(RunRecord)}


def verdict_of(row: RunRow | Row[*tuple[Any, ...]]) -> OrientationVerdict | None:
    """The recorded verdict on an uploaded matrix. Raises `ValueError` for any other word."""
    verdict = row.orientation_verdict
    return None if verdict is None else OrientationVerdict(verdict)


def derivation_of(row: RunRow | Row[*tuple[Any, ...]]) -> Derivation | None:
    """The run whose scores were used to derive this one, None for a run that was logged."""
    if row.derived_from is None:
        return None
    return Derivation(row.derived_from, row.derivation or {})


def is_chosen_here(row: RunRow | Row[*tuple[Any, ...]]) -> bool:
    """`RunRecord.is_chosen_here` of a row with `derived_from` and `derivation`."""
    found = derivation_of(row)
    return found is not None and found.is_chosen_here


def chosen_here_among(session: Session, run_ids: Collection[str]) -> frozenset[str]:
    """Those of the runs whose threshold was chosen on their own examples."""
    columns = RunRow.id, RunRow.derived_from, RunRow.derivation
    rows = session.execute(
        select(*columns).where(RunRow.id.in_(run_ids), RunRow.derived_from.is_not(None))
    )
    return frozenset(row.id for row in rows if is_chosen_here(row))


def names_of(session: Session, run_ids: Collection[str]) -> dict[str, str]:
    """The names of those of the runs that exist and are not deleted."""
    if not run_ids:
        return {}
    rows = session.execute(
        select(RunRow.id, RunRow.name).where(RunRow.id.in_(run_ids), RunRow.deleted_at.is_(None))
    )
    return {row.id: row.name for row in rows}


def _plain(rule: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if rule is None else dict(rule)


@dataclass(frozen=True, slots=True)
class BaselineRecord:
    """The run that is pinned as baseline, and who pinned it."""

    run_id: str
    run_name: str
    author: str | None


def find_baseline(session: Session, dataset_id: int) -> BaselineRecord | None:
    """The baseline of a dataset, if one is pinned and the run has not been deleted."""
    found = session.execute(
        select(BaselineRow, RunRow.name)
        .join(RunRow, RunRow.id == BaselineRow.run_id)
        .where(BaselineRow.dataset_id == dataset_id, RunRow.deleted_at.is_(None))
    ).one_or_none()
    if found is None:
        return None
    row, name = found
    return BaselineRecord(row.run_id, name, row.author)


def pin_baseline(
    session: Session, *, dataset_id: int, run_id: str, author: str | None, now: datetime
) -> None:
    """Makes concurrent transactions pin one after the other."""
    lock_row(session, DatasetRow, dataset_id)
    unpin_baseline(session, dataset_id)
    session.add(BaselineRow(dataset_id=dataset_id, run_id=run_id, author=author, pinned_at=now))
    session.flush()  # Constraint errors should be raised by this statement.


def unpin_baseline(session: Session, dataset_id: int) -> None:
    """Remove the baseline of a dataset."""
    session.execute(delete(BaselineRow).where(BaselineRow.dataset_id == dataset_id))

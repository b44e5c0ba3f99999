"""Statements on label versions and on their samples.

Samples are stored once per content and shared by runs.

Versions that descend from one another have the same samples. The sample ids are therefore stored
with the first version only; the others consist of labels alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ScalarSelect, Select, Subquery, and_, func, select
from sqlalchemy.orm import Session, aliased

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunState
from offdiag.inputs.ids import SampleIds, joined
from offdiag.inputs.labels import Codes
from offdiag.inputs.partial_labels import count_classes, count_labelled
from offdiag.store import codec
from offdiag.store.codec import decode_ids, encode_ids
from offdiag.store.models import DatasetRow, RunRow, TruthChunkRow, TruthSliceRow, TruthVersionRow
from offdiag.store.models.base import lock_row, record_as


@dataclass(frozen=True, slots=True)
class TruthRecord:
    """A label version without its samples. `class_counts` is in label order.

    `root_id` is the first version of its lineage, `parent_id` the version it corrects.
    """

    id: int
    dataset_id: int
    number: int
    digest: str
    n_samples: int
    n_labelled: int
    id_kind: str
    class_counts: tuple[int, ...]
    parent_id: int | None
    root_id: int
    reason: str | None
    author: str | None
    created_at: datetime

    @property
    def is_partial(self) -> bool:
        """Whether some samples have no label yet."""
        return self.n_labelled < self.n_samples


def newest_numbers(dataset_ids: Collection[int] | None = None) -> Subquery:
    """The `number` of the newest label version by `dataset_id`, of these or of all datasets."""
    row = TruthVersionRow
    numbers = select(row.dataset_id, func.max(row.number).label("number"))
    if dataset_ids is not None:
        numbers = numbers.where(row.dataset_id.in_(dataset_ids))
    return numbers.group_by(row.dataset_id).subquery()


def newest_id(dataset_id: int) -> ScalarSelect[int]:
    """The id of the newest label version of a dataset, as part of a statement."""
    newest = _newest_first(dataset_id).with_only_columns(TruthVersionRow.id)
    return newest.limit(1).scalar_subquery()


def find_truth(session: Session, *, dataset_id: int, digest: str) -> TruthRecord | None:
    """The newest label version of a dataset that has this content."""
    same = _newest_first(dataset_id).where(TruthVersionRow.digest == digest)
    return truth_record(session.scalar(same.limit(1)))


def latest_truth(session: Session, dataset_id: int) -> TruthRecord | None:
    return truth_record(session.scalar(_newest_first(dataset_id).limit(1)))


def truths_of(session: Session, dataset_id: int) -> list[TruthRecord]:
    """Every label version of a dataset, newest first."""
    return [_recorded(row) for row in session.scalars(_newest_first(dataset_id))]


def numbered_truth(session: Session, *, dataset_id: int, number: int) -> TruthRecord | None:
    return truth_record(
        session.scalar(_newest_first(dataset_id).where(TruthVersionRow.number == number))
    )


def _newest_first(dataset_id: int) -> Select[TruthVersionRow]:
    return (
        select(TruthVersionRow)
        .where(TruthVersionRow.dataset_id == dataset_id)
        .order_by(TruthVersionRow.number.desc())
    )


def head_of(session: Session, truth_id: int) -> TruthRecord:
    """The newest version in the lineage of a version, which must exist."""
    known = aliased(TruthVersionRow)
    newest = (
        select(TruthVersionRow)
        .join(
            known,
            and_(
                known.dataset_id == TruthVersionRow.dataset_id,
                known.root_id == TruthVersionRow.root_id,
            ),
        )
        .where(known.id == truth_id)
        .order_by(TruthVersionRow.number.desc())
        .limit(1)
    )
    return _recorded(session.scalars(newest).one())


def newest_number(version: type[TruthVersionRow]) -> ScalarSelect[int | None]:
    """Number of the newest version in the lineage of a label version."""
    newer = aliased(TruthVersionRow)
    return (
        select(func.max(newer.number))
        .where(newer.dataset_id == version.dataset_id, newer.root_id == version.root_id)
        .correlate(version)
        .scalar_subquery()
    )


def get_truth(session: Session, truth_id: int) -> TruthRecord:
    """A label version by id, which must exist."""
    return _recorded(session.get_one(TruthVersionRow, truth_id))


def all_truths(session: Session) -> list[TruthRecord]:
    """Every label version of every dataset."""
    rows = session.scalars(select(TruthVersionRow).order_by(TruthVersionRow.id))
    return [_recorded(row) for row in rows]


def lock_truths(session: Session, dataset_id: int) -> None:
    """Prevent others from adding label versions to this dataset until the transaction ends."""
    lock_row(session, DatasetRow, dataset_id)


def truth_record(row: TruthVersionRow | None) -> TruthRecord | None:
    """The label version in a row, None for the empty row of an outer join."""
    return None if row is None else _recorded(row)


def _recorded(row: TruthVersionRow) -> TruthRecord:
    return record_as(TruthRecord, row, class_counts=tuple(row.class_counts))


_ITSELF = 0
"""Stands for the id of a row that has none yet; references are checked at the commit."""


@dataclass(frozen=True, slots=True)
class NewTruth:
    """Content of a label version to be stored, in canonical order.

    `actual` has the code `n_classes` for samples without a label; for multi-label samples it holds
    packed sets. A version that corrects a `parent` states its `reason`, and has no sample ids of
    its own.
    """

    digest: str
    actual: Codes
    ids: SampleIds | None
    n_classes: int
    parent: TruthRecord | None = None
    reason: str | None = None

    @property
    def class_counts(self) -> NDArray[np.int64]:
        """Labelled samples of each class, or with each label in their set, (n_classes,)."""
        return count_classes(self.actual, self.n_classes)

    @property
    def id_kind(self) -> str:
        if self.parent is not None:
            return self.parent.id_kind
        return "position" if self.ids is None else self.ids.kind


def insert_truth(
    session: Session,
    *,
    dataset_id: int,
    truth: NewTruth,
    chunk_size: int,
    author: str | None,
    now: datetime,
) -> TruthRecord:
    """Store a new label version of a dataset, numbered after the newest one."""
    lock_truths(session, dataset_id)
    newest = session.scalar(
        select(func.max(TruthVersionRow.number)).where(TruthVersionRow.dataset_id == dataset_id)
    )
    row = TruthVersionRow(
        dataset_id=dataset_id,
        number=(newest or 0) + 1,
        digest=truth.digest,
        n_samples=len(truth.actual),
        n_labelled=count_labelled(truth.actual, truth.n_classes),
        id_kind=truth.id_kind,
        class_counts=truth.class_counts.tolist(),
        origin="logged" if truth.parent is None else "revised",
        parent_id=None if truth.parent is None else truth.parent.id,
        root_id=_ITSELF if truth.parent is None else truth.parent.root_id,
        reason=truth.reason,
        author=author,
        created_at=now,
    )
    session.add(row)
    session.flush()  # The chunks need the id, and so does a first version itself.
    if truth.parent is None:
        row.root_id = row.id
    _insert_chunks(session, row.id, truth, chunk_size)
    return get_truth(session, row.id)


def _insert_chunks(session: Session, truth_id: int, truth: NewTruth, chunk_size: int) -> None:
    for seq, start in enumerate(range(0, len(truth.actual), chunk_size)):
        stop = start + chunk_size
        codes = codec.encode_codes(truth.actual[start:stop])
        ids = None if truth.ids is None else encode_ids(truth.ids.slice(start, stop))
        session.add(
            TruthChunkRow(
                truth_version_id=truth_id,
                seq=seq,
                n=len(truth.actual[start:stop]),
                dtype=codec.code_type(truth.actual),
                codec=codec.code_codec(truth.actual),
                codes=codes,
                sample_ids=ids,
                sha256=codec.sha256_hex(codes, ids or b""),
            )
        )
    session.flush()  # Constraint errors should be raised by this statement.


def truth_codes(session: Session, truth_id: int) -> Codes:
    """All actual codes, or packed sets of labels, of a version in canonical order."""
    return truth_codes_of(session, [truth_id])[truth_id]


def truth_codes_of(session: Session, truth_ids: Collection[int]) -> dict[int, Codes]:
    """The codes of several versions, by id; one statement."""
    rows = session.execute(
        select(
            TruthChunkRow.truth_version_id,
            TruthChunkRow.n,
            TruthChunkRow.codes,
            TruthChunkRow.dtype,
        )
        .where(TruthChunkRow.truth_version_id.in_(truth_ids))
        .order_by(TruthChunkRow.truth_version_id, TruthChunkRow.seq)
    )
    parts: dict[int, list[Codes]] = {}
    for truth_id, n, blob, dtype in rows:
        with codec.damage_of(f"labels in row {truth_id} of truth_version"):
            codes = codec.require_codes(codec.decode_codes(blob, dtype), n)
        parts.setdefault(truth_id, []).append(codes)
    return {truth_id: np.concatenate(codes) for truth_id, codes in parts.items()}


def truth_ids(session: Session, truth: TruthRecord) -> SampleIds | None:
    """All sample ids of a label version in canonical (sorted) order, None if it has none."""
    if truth.id_kind == "position":
        return None
    return sample_ids_of(session, {truth.root_id: truth.id_kind})[truth.root_id]


def sample_ids_of(session: Session, roots: Mapping[int, str]) -> dict[int, SampleIds]:
    """The ids of several lineages, by root; `roots` gives the kind of each. One statement."""
    rows = session.execute(
        select(TruthChunkRow.truth_version_id, TruthChunkRow.sample_ids)
        .where(TruthChunkRow.truth_version_id.in_(roots))
        .order_by(TruthChunkRow.truth_version_id, TruthChunkRow.seq)
    )
    parts: dict[int, list[SampleIds]] = {}
    for root_id, blob in rows:
        if blob is not None:
            parts.setdefault(root_id, []).append(decode_ids(blob, roots[root_id]))
    return {root_id: joined(found) for root_id, found in parts.items()}


def names_at(
    session: Session, truth: TruthRecord, places: NDArray[np.int64]
) -> Sequence[int | str]:
    """How users name the samples at these places: by identifier, else by position."""
    ids = truth_ids(session, truth) if len(places) else None
    positions: list[int] = places.tolist()
    return positions if ids is None else ids.take(places).to_list()


def runs_scored_with(session: Session, root_id: int) -> list[str]:
    """Ids of the finished runs whose predictions are counted against a lineage, oldest first.

    Uploaded matrices are not included, because they cannot be counted again.
    """
    return list(
        session.scalars(
            select(RunRow.id)
            .join(TruthVersionRow, TruthVersionRow.id == RunRow.truth_version_id)
            .where(
                TruthVersionRow.root_id == root_id,
                RunRow.state != RunState.OPEN,
                RunRow.deleted_at.is_(None),
                RunRow.source_orientation == SourceOrientation.PREDICTIONS,
            )
            .order_by(RunRow.created_at, RunRow.id)
        )
    )


@dataclass(frozen=True, slots=True)
class TruthSummary:
    """One version. `class_counts` is in label order, `n_runs` counts runs logged with it.

    `is_head` says that runs of its lineage are scored with it; `root` is the number of the first
    version of the lineage and `parent` that of the version it corrects. `slices` are the names of
    the slice columns of the samples.
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
    # By dataset, because there is an index of runs by dataset but none by version.
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
        record_as(
            TruthSummary,
            row,
            root=numbers[row.root_id],
            parent=None if row.parent_id is None else numbers[row.parent_id],
            is_head=heads[row.root_id] == row.id,
            class_counts=tuple(row.class_counts),
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

"""Statements on editions of reports: insert, number, freeze with their files, find."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Text, cast, exists, func, select, update
from sqlalchemy.orm import Session

from offdiag.store import codec
from offdiag.store.models import ProjectRow, ReportEditionRow, ReportFileRow, WorkRow
from offdiag.store.models.base import insert_into, lock_row, record_as
from offdiag.store.models.jobs import REPORT_KEY


class EditionState(StrEnum):
    """Life cycle of an edition. A computed edition never changes."""

    PENDING = "pending"
    COMPUTED = "computed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class EditionRecord:
    """An edition without its files."""

    id: int
    schedule_id: int | None
    project_id: int
    project: str
    name: str
    number: int
    fire_time: str
    due: float
    state: EditionState
    covers_missed: int
    scope: Mapping[str, Any]
    delivery: Sequence[Mapping[str, Any]]
    headline: str | None
    data_digest: str | None
    error: str | None
    created_at: datetime
    computed_at: datetime | None
    summary: Mapping[str, Any] | None


def insert_edition(
    session: Session,
    *,
    schedule_id: int | None,
    project_id: int,
    name: str,
    fire_time: str,
    due: float,
    covers_missed: int,
    scope: Mapping[str, Any],
    delivery: Sequence[Mapping[str, Any]],
    now: datetime,
) -> tuple[int, int] | None:
    """Insert the next edition of a series, pending. Returns its id and its number.

    `fire_time` and `due` name the same moment; None if the schedule has an edition for it already.
    No other transaction numbers editions of the project until this one ends.
    """
    lock_row(session, ProjectRow, project_id)
    last = session.scalar(
        select(func.max(ReportEditionRow.number)).where(
            ReportEditionRow.project_id == project_id, ReportEditionRow.name == name
        )
    )
    found = session.execute(
        insert_into(session, ReportEditionRow)
        .values(
            schedule_id=schedule_id,
            project_id=project_id,
            name=name,
            number=(last or 0) + 1,
            fire_time=fire_time,
            due=due,
            state=EditionState.PENDING,
            covers_missed=covers_missed,
            scope=dict(scope),
            delivery=[dict(target) for target in delivery],
            created_at=now,
        )
        .on_conflict_do_nothing(index_elements=["schedule_id", "fire_time"])
        .returning(ReportEditionRow.id, ReportEditionRow.number)
    ).one_or_none()
    return None if found is None else (found.id, found.number)


def find_edition(session: Session, edition_id: int) -> EditionRecord | None:
    return next(iter(find_editions(session, [edition_id])), None)


def find_editions(session: Session, edition_ids: Sequence[int]) -> list[EditionRecord]:
    """Editions by id, the newest of each series first."""
    return _editions(session, ReportEditionRow.id.in_(edition_ids))


def find_numbered(
    session: Session, *, project: str, name: str, number: int | None
) -> EditionRecord | None:
    """An edition of a series by its number; without a number the newest."""
    series = (ProjectRow.name == project, ReportEditionRow.name == name)
    wanted = () if number is None else (ReportEditionRow.number == number,)
    return next(iter(_editions(session, *series, *wanted, limit=1)), None)


def editions_before(
    session: Session, edition: EditionRecord, state: EditionState, *, limit: int
) -> list[EditionRecord]:
    """Earlier editions of the same series in a state, newest first."""
    return _editions(
        session,
        ReportEditionRow.project_id == edition.project_id,
        ReportEditionRow.name == edition.name,
        ReportEditionRow.number < edition.number,
        ReportEditionRow.state == state,
        limit=limit,
    )


def computed_editions(session: Session) -> list[EditionRecord]:
    """All editions whose files are frozen."""
    return _editions(session, ReportEditionRow.state == EditionState.COMPUTED)


def _editions(
    session: Session, *where: ColumnElement[bool], limit: int | None = None
) -> list[EditionRecord]:
    rows = session.execute(
        select_editions()
        .where(*where)
        .order_by(ProjectRow.name, ReportEditionRow.name, ReportEditionRow.number.desc())
        .limit(limit)
    )
    return [edition_record(*row) for row in rows]


def editions_without_work(session: Session, *, limit: int) -> list[int]:
    """Ids of pending editions without a job, oldest first."""
    asked = exists().where(WorkRow.key == REPORT_KEY + cast(ReportEditionRow.id, Text))
    return list(
        session.scalars(
            select(ReportEditionRow.id)
            .where(ReportEditionRow.state == EditionState.PENDING, ~asked)
            .order_by(ReportEditionRow.id)
            .limit(limit)
        )
    )


def select_editions() -> Any:
    """A query for editions with the names of their projects, to be narrowed by the caller."""
    return select(ReportEditionRow, ProjectRow.name).join(
        ProjectRow, ProjectRow.id == ReportEditionRow.project_id
    )


def edition_record(row: ReportEditionRow, project: str) -> EditionRecord:
    """Convert a row to a record that can leave the store."""
    return record_as(EditionRecord, row, project=project, state=EditionState(row.state))


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One form of a computed edition."""

    kind: str
    content_type: str
    content: bytes
    sha256: str

    @property
    def is_intact(self) -> bool:
        """Whether it is the file that was frozen."""
        return codec.sha256_hex(self.content) == self.sha256


def write_computed(
    session: Session,
    edition_id: int,
    *,
    headline: str,
    data_digest: str,
    summary: Mapping[str, Any],
    files: Sequence[StoredFile],
    now: datetime,
) -> bool:
    """Freeze an edition with its files. Returns False and writes nothing if it is not pending."""
    frozen = session.scalar(
        update(ReportEditionRow)
        .where(ReportEditionRow.id == edition_id, ReportEditionRow.state == EditionState.PENDING)
        .values(
            state=EditionState.COMPUTED,
            headline=headline,
            data_digest=data_digest,
            summary=dict(summary),
            computed_at=now,
        )
        .returning(ReportEditionRow.id)
    )
    if frozen is None:
        return False
    session.add_all(
        ReportFileRow(
            edition_id=edition_id,
            kind=file.kind,
            content_type=file.content_type,
            content=file.content,
            sha256=file.sha256,
        )
        for file in files
    )
    session.flush()  # A full disk must raise its error here.
    return True


def mark_failed(session: Session, edition_id: int, error: str) -> None:
    """Record that an edition could not be computed."""
    session.execute(
        update(ReportEditionRow)
        .where(ReportEditionRow.id == edition_id, ReportEditionRow.state == EditionState.PENDING)
        .values(state=EditionState.FAILED, error=error)
    )


def mark_pending(session: Session, edition_id: int) -> None:
    """Let a failed edition be computed again."""
    session.execute(
        update(ReportEditionRow)
        .where(ReportEditionRow.id == edition_id, ReportEditionRow.state == EditionState.FAILED)
        .values(state=EditionState.PENDING, error=None)
    )


def stored_file(content: bytes, *, kind: str, content_type: str) -> StoredFile:
    """A file with its checksum."""
    return StoredFile(kind, content_type, content, codec.sha256_hex(content))


def read_files(session: Session, edition_id: int, kinds: Sequence[str]) -> list[StoredFile]:
    """Files of an edition, in the order of `kinds`; those that are missing are left out."""
    rows = session.scalars(
        select(ReportFileRow).where(
            ReportFileRow.edition_id == edition_id, ReportFileRow.kind.in_(kinds)
        )
    )
    found = {
        row.kind: StoredFile(row.kind, row.content_type, row.content, row.sha256) for row in rows
    }
    return [found[kind] for kind in kinds if kind in found]


def damaged_files(session: Session) -> list[tuple[str, int, str]]:
    """Name and number of the edition, and kind, of every file that was changed after freezing."""
    keys = session.execute(
        select(
            ReportEditionRow.name,
            ReportEditionRow.number,
            ReportFileRow.edition_id,
            ReportFileRow.kind,
        )
        .join(ReportFileRow, ReportFileRow.edition_id == ReportEditionRow.id)
        .order_by(ReportFileRow.edition_id, ReportFileRow.kind)
    ).all()
    return [
        (name, number, kind)
        for name, number, edition_id, kind in keys
        for file in read_files(session, edition_id, [kind])
        if not file.is_intact
    ]


def missing_files(session: Session, *, kinds: Collection[str]) -> list[tuple[str, int, int]]:
    """Name and number of computed editions without a file of each kind, and how many they lack."""
    n_files = func.count(ReportFileRow.kind)
    rows = session.execute(
        select(ReportEditionRow.name, ReportEditionRow.number, n_files)
        .outerjoin(ReportFileRow, ReportFileRow.edition_id == ReportEditionRow.id)
        .where(ReportEditionRow.state == EditionState.COMPUTED)
        .group_by(ReportEditionRow.id)
        .having(n_files < len(kinds))
        .order_by(ReportEditionRow.id)
    )
    return [(name, number, len(kinds) - n_stored) for name, number, n_stored in rows]


@dataclass(frozen=True, slots=True)
class Series:
    """All editions of one name in one project: how many, and the newest of them.

    `computed` is the newest computed one, None before there is any.
    """

    project: str
    name: str
    n_editions: int
    last: EditionRecord
    computed: EditionRecord | None


@dataclass(frozen=True, slots=True)
class EditionList:
    """Some editions of a series, newest first, and how many it has in all."""

    editions: tuple[EditionRecord, ...]
    n_editions: int


@dataclass(frozen=True, slots=True)
class FileFacts:
    """One form of an edition, without its content."""

    kind: str
    content_type: str
    n_bytes: int
    sha256: str


def report_series(session: Session, *, project: str | None = None) -> tuple[Series, ...]:
    """All series by project and name, or those of one project; two statements."""
    newest = (
        select(
            ReportEditionRow.project_id,
            ReportEditionRow.name,
            func.max(ReportEditionRow.id).label("last_id"),
            func.max(ReportEditionRow.id)
            .filter(ReportEditionRow.state == EditionState.COMPUTED)
            .label("computed_id"),
            func.count().label("n_editions"),
        )
        .group_by(ReportEditionRow.project_id, ReportEditionRow.name)
        .subquery()
    )
    statement = select(ProjectRow.name.label("project"), newest).join(
        ProjectRow, ProjectRow.id == newest.c.project_id
    )
    if project is not None:
        statement = statement.where(ProjectRow.name == project)
    rows = session.execute(statement.order_by(ProjectRow.name, newest.c.name)).all()
    wanted = {edition_id for row in rows for edition_id in (row.last_id, row.computed_id)} - {None}
    found = {edition.id: edition for edition in find_editions(session, sorted(wanted))}
    return tuple(
        Series(
            row.project, row.name, row.n_editions, found[row.last_id], found.get(row.computed_id)
        )
        for row in rows
    )


def editions_of(
    session: Session, *, project: str, name: str, start: int, limit: int
) -> EditionList:
    """Editions of a series, newest first, skipping the first `start`, in one statement.

    If none is in that range, the total number is unknown and given as 0.
    """
    rows = session.execute(
        select_editions()
        .add_columns(func.count().over().label("n_editions"))
        .where(ProjectRow.name == project, ReportEditionRow.name == name)
        .order_by(ReportEditionRow.number.desc())
        .offset(start)
        .limit(limit)
    ).all()
    return EditionList(
        tuple(edition_record(row, of) for row, of, _ in rows), rows[0].n_editions if rows else 0
    )


def newest_report_file(session: Session, *, project: str, name: str) -> bytes | None:
    """The JSON file of the newest computed edition of a series, None if there is none."""
    return session.scalar(
        select(ReportFileRow.content)
        .join(ReportEditionRow, ReportEditionRow.id == ReportFileRow.edition_id)
        .join(ProjectRow, ProjectRow.id == ReportEditionRow.project_id)
        .where(
            ProjectRow.name == project,
            ReportEditionRow.name == name,
            ReportFileRow.kind == "json",
        )
        .order_by(ReportEditionRow.number.desc())
        .limit(1)
    )


def file_facts(session: Session, edition_id: int) -> tuple[FileFacts, ...]:
    """The forms that an edition was frozen in."""
    rows = session.execute(
        select(
            ReportFileRow.kind,
            ReportFileRow.content_type,
            func.length(ReportFileRow.content),
            ReportFileRow.sha256,
        )
        .where(ReportFileRow.edition_id == edition_id)
        .order_by(ReportFileRow.kind)
    )
    return tuple(FileFacts(*row) for row in rows)

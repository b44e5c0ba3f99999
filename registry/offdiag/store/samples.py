"""Statements on the content of samples: images, texts and fields."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import String, case, cast, delete, func, insert, select, update
from sqlalchemy.orm import Session

from offdiag.domain.sample_content import ContentPlaces, SampleContent
from offdiag.store.models import DatasetRow, ProjectRow, SampleContentRow

_AT_ONCE = 500

_LISTED = select(
    SampleContentRow.sample,
    SampleContentRow.text,
    SampleContentRow.fields,
    SampleContentRow.audio,
    SampleContentRow.image_digest,
)


SMALL_PICTURE = 1_024
"""Thumbnails up to this number of bytes are read together with the content of their sample."""
_SHOWN = _LISTED.add_columns(
    case(
        (func.length(SampleContentRow.thumbnail) <= SMALL_PICTURE, SampleContentRow.thumbnail)
    ).label("small_picture"),
    SampleContentRow.image_type,
)


def content_of(
    session: Session, dataset_id: int, samples: Collection[str]
) -> dict[str, SampleContent]:
    """The stored content of some samples, by name, without their images."""
    found: dict[str, SampleContent] = {}
    names = list(samples)
    for start in range(0, len(names), _AT_ONCE):
        part = names[start : start + _AT_ONCE]
        rows = session.execute(
            _LISTED.where(
                SampleContentRow.dataset_id == dataset_id, SampleContentRow.sample.in_(part)
            )
        ).mappings()
        found |= {row["sample"]: SampleContent(**row) for row in rows}
    return found


def content_after(
    session: Session, dataset_id: int, *, after: str, limit: int
) -> list[SampleContent]:
    """The samples with content whose names come after `after`, by name."""
    rows = session.execute(
        _LISTED.where(SampleContentRow.dataset_id == dataset_id, SampleContentRow.sample > after)
        .order_by(SampleContentRow.sample)
        .limit(limit)
    ).mappings()
    return [SampleContent(**row) for row in rows]


@dataclass(frozen=True, slots=True)
class Picture:
    """A stored image and its file type."""

    data: bytes
    media_type: str
    digest: str


def picture_of(
    session: Session, dataset_id: int, sample: str, *, is_large: bool
) -> Picture | None:
    """The thumbnail of a sample, or its larger image if there is one."""
    data = (
        func.coalesce(SampleContentRow.image, SampleContentRow.thumbnail)
        if is_large
        else SampleContentRow.thumbnail
    )
    row = session.execute(
        select(data, SampleContentRow.image_type, SampleContentRow.image_digest).where(
            SampleContentRow.dataset_id == dataset_id,
            SampleContentRow.sample == sample,
            SampleContentRow.image_digest.is_not(None),
        )
    ).one_or_none()
    if row is None:
        return None
    content, media_type, digest = row
    return Picture(bytes(content or b""), str(media_type), str(digest))


def write_content(
    session: Session,
    dataset_id: int,
    *,
    added: Sequence[Mapping[str, Any]],
    changed: Iterable[tuple[str, Mapping[str, Any]]],
    now: datetime,
) -> None:
    """Insert new content, and update columns of existing content."""
    if added:
        empty = {
            column.name: None for column in SampleContentRow.__table__.columns if column.nullable
        }
        rows = [empty | dict(row) | {"dataset_id": dataset_id, "logged_at": now} for row in added]
        session.execute(insert(SampleContentRow), rows)
    for sample, values in changed:
        session.execute(
            update(SampleContentRow)
            .where(SampleContentRow.dataset_id == dataset_id, SampleContentRow.sample == sample)
            .values(**values, logged_at=now)
        )


def remove_content(session: Session, dataset_id: int, samples: Sequence[str] | None) -> int:
    """Delete the content of some samples, or of all if None; returns how many had content."""
    of_dataset = delete(SampleContentRow).where(SampleContentRow.dataset_id == dataset_id)
    if samples is None:
        return _count(session, of_dataset)
    parts = (samples[start : start + _AT_ONCE] for start in range(0, len(samples), _AT_ONCE))
    return sum(
        _count(session, of_dataset.where(SampleContentRow.sample.in_(part))) for part in parts
    )


def _count(session: Session, statement: Any) -> int:
    return len(session.execute(statement.returning(SampleContentRow.sample)).all())


_SHOWN_BYTES = (
    func.coalesce(func.length(SampleContentRow.thumbnail), 0)
    + func.coalesce(func.length(SampleContentRow.image), 0)
    + func.coalesce(func.length(SampleContentRow.text), 0)
)
_FIELD_BYTES = func.coalesce(func.length(cast(SampleContentRow.fields, String)), 0)


@dataclass(frozen=True, slots=True)
class ContentTotals:
    """How much is stored for a dataset; `n_bytes` counts images and texts."""

    n_samples: int
    n_images: int
    n_texts: int
    n_fields: int
    n_bytes: int


def content_totals(session: Session, dataset_id: int) -> ContentTotals:
    row = session.execute(
        select(
            func.count(),
            func.count(SampleContentRow.image_digest),
            func.count(SampleContentRow.text),
            func.count(SampleContentRow.fields),
            func.coalesce(func.sum(_SHOWN_BYTES), 0),
        ).where(SampleContentRow.dataset_id == dataset_id)
    ).one()
    return ContentTotals(*map(int, row))


def project_content_bytes(session: Session, project: str) -> int:
    """Bytes of the images, and characters of the texts and fields, of all its datasets."""
    summed = (
        select(func.sum(_SHOWN_BYTES + _FIELD_BYTES))
        .join(DatasetRow, DatasetRow.id == SampleContentRow.dataset_id)
        .join(ProjectRow, ProjectRow.id == DatasetRow.project_id)
        .where(ProjectRow.name == project)
    )
    return int(session.scalar(summed) or 0)


def count_content(session: Session, dataset_id: int) -> int:
    """How many samples of a dataset have content."""
    counted = select(func.count()).where(SampleContentRow.dataset_id == dataset_id)
    return session.scalar(counted) or 0


def places_of(session: Session, dataset_id: int, *, for_update: bool = False) -> ContentPlaces:
    """Where the content of a dataset is, apart from what is stored.

    `for_update` prevents others from changing it until the transaction ends.
    """
    row = session.get_one(DatasetRow, dataset_id, with_for_update=for_update)
    return ContentPlaces(row.image_template, row.link_template, row.content_hidden)


def places_and_content(
    session: Session, samples: Collection[str], *, project: str, dataset: str
) -> tuple[ContentPlaces, dict[str, SampleContent]]:
    """Where the content of a dataset is, which must exist, and the stored content of some samples.

    Small images are included. One statement, for as many samples as a page shows.
    """
    rows = session.execute(
        select(
            DatasetRow.image_template,
            DatasetRow.link_template,
            DatasetRow.content_hidden,
            *_SHOWN.selected_columns,
        )
        .join(ProjectRow, ProjectRow.id == DatasetRow.project_id)
        .outerjoin(
            SampleContentRow,
            (SampleContentRow.dataset_id == DatasetRow.id)
            & SampleContentRow.sample.in_(list(samples)),
        )
        .where(ProjectRow.name == project, DatasetRow.name == dataset)
    ).all()
    places = ContentPlaces(*rows[0][:3])
    return places, {row.sample: SampleContent(*row[3:]) for row in rows if row.sample is not None}


def set_places(session: Session, dataset_id: int, places: ContentPlaces) -> None:
    """Change where the content of a dataset is."""
    session.execute(
        update(DatasetRow)
        .where(DatasetRow.id == dataset_id)
        .values(
            image_template=places.image_template,
            link_template=places.link_template,
            content_hidden=places.is_hidden,
        )
    )

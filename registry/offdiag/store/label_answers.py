"""Statements on labels that people propose, before and after they are published."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, insert, select, update
from sqlalchemy.orm import Session

from offdiag.store.models import LabelAnswerRow, TruthVersionRow

OPEN = 0
"""Stands for a version that is not published yet."""
_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class LabelAnswer:
    """A person's answer about a sample; `label` is None if they cannot tell."""

    sample: str
    author: str
    label: str | None
    note: str | None
    is_final: bool
    answered_at: datetime


_LISTED = select(
    LabelAnswerRow.sample,
    LabelAnswerRow.author,
    LabelAnswerRow.label,
    LabelAnswerRow.note,
    LabelAnswerRow.is_final,
    LabelAnswerRow.answered_at,
).order_by(
    LabelAnswerRow.answered_at,
    LabelAnswerRow.sample,
    LabelAnswerRow.author,
    LabelAnswerRow.is_final,
)


def open_answers(session: Session, dataset_id: int) -> list[LabelAnswer]:
    """The open answers, oldest first."""
    return [LabelAnswer(*row) for row in session.execute(_open(dataset_id))]


def oldest_open(session: Session, dataset_id: int) -> LabelAnswer | None:
    """The open answer that was given first."""
    row = session.execute(_open(dataset_id).limit(1)).first()
    return None if row is None else LabelAnswer(*row)


def _open(dataset_id: int) -> Select[*tuple[Any, ...]]:
    return _LISTED.where(
        LabelAnswerRow.dataset_id == dataset_id, LabelAnswerRow.published_in == OPEN
    )


def published_versions(session: Session, dataset_id: int) -> set[int]:
    """The numbers of the label versions that were made from answers."""
    return set(
        session.scalars(
            select(LabelAnswerRow.published_in)
            .where(LabelAnswerRow.dataset_id == dataset_id, LabelAnswerRow.published_in != OPEN)
            .distinct()
        )
    )


def published_samples(session: Session, dataset_id: int, *, root_id: int) -> set[str]:
    """The samples with answers that were published in a version of this lineage."""
    versions = select(TruthVersionRow.number).where(
        TruthVersionRow.dataset_id == dataset_id, TruthVersionRow.root_id == root_id
    )
    return set(
        session.scalars(
            select(LabelAnswerRow.sample).where(
                LabelAnswerRow.dataset_id == dataset_id, LabelAnswerRow.published_in.in_(versions)
            )
        )
    )


def save_answers(session: Session, dataset_id: int, answers: Sequence[LabelAnswer]) -> None:
    """Store open answers, replacing earlier ones of the same authors."""
    for author, is_final in {(each.author, each.is_final) for each in answers}:
        of_author = [
            each for each in answers if (each.author, each.is_final) == (author, is_final)
        ]
        remove_answers(
            session,
            dataset_id,
            [each.sample for each in of_author],
            author=author,
            is_final=is_final,
        )
    if answers:
        rows = [{"dataset_id": dataset_id, "published_in": OPEN, **asdict(a)} for a in answers]
        session.execute(insert(LabelAnswerRow), rows)


def remove_answers(
    session: Session,
    dataset_id: int,
    samples: Sequence[str],
    *,
    author: str | None = None,
    is_final: bool | None = None,
) -> int:
    """Delete open answers on samples, optionally only of one author or kind; returns how many."""
    found = delete(LabelAnswerRow).where(
        LabelAnswerRow.dataset_id == dataset_id, LabelAnswerRow.published_in == OPEN
    )
    if author is not None:
        found = found.where(LabelAnswerRow.author == author)
    if is_final is not None:
        found = found.where(LabelAnswerRow.is_final.is_(is_final))
    n = 0
    for start in range(0, len(samples), _AT_ONCE):
        part = samples[start : start + _AT_ONCE]
        statement = found.where(LabelAnswerRow.sample.in_(part)).returning(LabelAnswerRow.sample)
        n += len(session.execute(statement).all())
    return n


def publish_answers(
    session: Session, dataset_id: int, samples: Collection[str], version: int
) -> None:
    """Mark the open answers on samples as published in a version."""
    names = list(samples)
    for start in range(0, len(names), _AT_ONCE):
        session.execute(
            update(LabelAnswerRow)
            .where(
                LabelAnswerRow.dataset_id == dataset_id,
                LabelAnswerRow.published_in == OPEN,
                LabelAnswerRow.sample.in_(names[start : start + _AT_ONCE]),
            )
            .values(published_in=version)
        )

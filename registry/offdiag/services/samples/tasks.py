"""Suspect labels and drafts as tasks for annotation tools, and importing their answers."""

from __future__ import annotations

import base64
from collections.abc import Collection
from typing import Any

from offdiag.domain.sample_content import SampleContent, SuspectQuestion, filled, is_allowed
from offdiag.errors import TooLarge
from offdiag.inputs.content.label_tasks import (
    LabelTask,
    TaskAnswer,
    Tool,
    read_task_answers,
    require_other_classes,
    task_records,
)
from offdiag.services.lru_cache import LruCache
from offdiag.services.samples.drafts import DraftItem, answer_labels, label_draft
from offdiag.services.samples.suspects import RankedDataset, Suspect, suspect_labels
from offdiag.store import samples
from offdiag.store.database import Database, Session

_READ = 10_000
"""Number of tasks read at once; each can have answers of several people."""


def label_tasks(
    database: Database,
    *,
    project: str,
    dataset: str,
    tool: Tool,
    limit: int,
    hosts: Collection[str] = (),
    kept: LruCache[RankedDataset] | None = None,
) -> list[dict[str, Any]]:
    """Samples with answers in the draft, then the most suspect ones, as the tool imports them.

    Stored images are embedded in the tasks as data URIs; others are URLs. Raises `NotFound`, and
    `InvalidInput` for classes that tasks cannot name.
    """
    draft = label_draft(database, project=project, dataset=dataset)
    require_other_classes(draft.dataset.labels)
    found = suspect_labels(
        database,
        project=project,
        dataset=dataset,
        question=SuspectQuestion(limit=limit),
        kept=kept,
    )
    suspects = {str(each.sample): each for each in found.suspects}
    items = {str(item.sample): item for item in draft.items}
    names = list({**items, **suspects})[:limit]
    with database.read() as session:
        stored = samples.content_of(session, draft.dataset.id, names)
        template = samples.places_of(session, draft.dataset.id).image_template
        if template is not None and not is_allowed(template, hosts):
            template = None
        images = {
            name: _image(session, draft.dataset.id, name, stored.get(name), template)
            for name in names
        }
    return task_records(
        (
            _task(name, items.get(name), suspects.get(name), stored.get(name), images[name])
            for name in names
        ),
        tool,
    )


def import_answers(
    database: Database, *, project: str, dataset: str, records: object, author: str | None
) -> int:
    """Add the answers in an export to the draft, for the people who gave them; returns how many.

    Answers without a name count as those of `author`. Raises like `answer_labels`.
    """
    draft = label_draft(database, project=project, dataset=dataset)
    require_other_classes(draft.dataset.labels)
    found = read_task_answers(records)
    if len(found) > _READ:
        raise TooLarge(
            f"there are {len(found):,} answers.",
            field="tasks",
            hint=f"Import at most {_READ:,} at once.",
        )
    people = dict.fromkeys(each.author for each in found)
    return sum(
        answer_labels(
            database,
            project=project,
            dataset=dataset,
            labels={each.sample: each.label for each in found if each.author == person},
            author=person,
            note=f"imported by {author}" if author else "imported",
        )
        for person in people
    )


def _image(
    session: Session,
    dataset_id: int,
    name: str,
    stored: SampleContent | None,
    template: str | None,
) -> str | None:
    if stored is not None and stored.image_digest is not None:
        picture = samples.picture_of(session, dataset_id, name, is_large=True)
        if picture is not None:
            data = base64.b64encode(picture.data).decode()
            return f"data:{picture.media_type};base64,{data}"
    return None if template is None else filled(template, name)


def _task(
    name: str,
    item: DraftItem | None,
    suspect: Suspect | None,
    stored: SampleContent | None,
    image: str | None,
) -> LabelTask:
    answers = () if item is None else item.answers
    label = item.label if item is not None else suspect.label if suspect is not None else None
    return LabelTask(
        sample=name,
        label=label,
        suggested=None if suspect is None else suspect.suggested,
        score=None if suspect is None else suspect.score,
        image=image,
        text=None if stored is None else stored.text,
        fields={} if stored is None else dict(stored.fields or {}),
        answers=tuple(
            TaskAnswer(each.sample, each.author, each.label)
            for each in answers
            if not each.is_final
        ),
    )

"""The content of samples (images, text, fields), shared by all runs and label versions."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from offdiag.domain.sample_content import (
    ContentPlaces,
    LoggedSamples,
    SampleContent,
    filled,
    is_allowed,
    require_address,
)
from offdiag.errors import NotFound, Stale, TooLarge
from offdiag.inputs.content.given_samples import GivenSample
from offdiag.inputs.content.images import StoredImage, decoded_images
from offdiag.store import samples, truths
from offdiag.store.audit_log import describe
from offdiag.store.database import Database, Session
from offdiag.store.dataset_page import DatasetSize, dataset_size
from offdiag.store.datasets import DatasetRecord, dataset_named
from offdiag.store.retries import after_races
from offdiag.store.samples import ContentTotals, Picture


@dataclass(frozen=True, slots=True)
class ContentOfDataset:
    """Where content of a dataset is stored elsewhere, and how much of it is stored here."""

    dataset: DatasetRecord
    places: ContentPlaces
    totals: ContentTotals
    size: DatasetSize


def browse_content(database: Database, *, project: str, dataset: str) -> ContentOfDataset:
    """Where content of a dataset is stored, and how much there is. Raises `NotFound`."""
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        return ContentOfDataset(
            known,
            samples.places_of(session, known.id),
            samples.content_totals(session, known.id),
            dataset_size(session, known.id),
        )


def list_content(
    database: Database, *, project: str, dataset: str, after: str, limit: int
) -> list[SampleContent]:
    """Samples with content by name, those after `after`. Raises `NotFound`."""
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        return samples.content_after(session, known.id, after=after, limit=limit)


def picture(
    database: Database, *, project: str, dataset: str, sample: str, is_large: bool
) -> Picture:
    """A stored picture. Raises `NotFound`."""
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        found = samples.picture_of(session, known.id, sample, is_large=is_large)
    if found is None:
        raise NotFound(
            f"sample {sample!r} of dataset {dataset!r} has no stored image.",
            field="sample",
            hint="offdiag.log_samples(images=...) stores one.",
        )
    return found


@dataclass(frozen=True, slots=True)
class ShownSamples:
    """Content of some samples by name, as far as it may be shown.

    `image_template` and `link_template` are None if their host is no longer allowed.
    """

    content: dict[str, SampleContent]
    image_template: str | None
    link_template: str | None
    is_hidden: bool
    hosts: frozenset[str] = frozenset()

    @property
    def has_images(self) -> bool:
        return self.image_template is not None or any(
            each.image_digest is not None for each in self.content.values()
        )

    def link_of(self, sample: str) -> str | None:
        """The URL with more about a sample, None if there is none."""
        return None if self.link_template is None else filled(self.link_template, sample)


def shown_samples(
    session: Session,
    names: Iterable[object],
    hosts: Collection[str],
    *,
    project: str,
    dataset: str,
) -> ShownSamples:
    """What pages show of some samples of a dataset, which must exist."""
    places, content = samples.places_and_content(
        session, [str(name) for name in names], project=project, dataset=dataset
    )
    image, link = (
        template if template is not None and is_allowed(template, hosts) else None
        for template in (places.image_template, places.link_template)
    )
    return ShownSamples(
        content,
        image,
        link,
        places.is_hidden,
        frozenset(hosts),
    )


MOST_SAMPLES = 2_000_000
"""Most samples of a dataset that can have content."""


def log_samples(
    database: Database,
    *,
    project: str,
    dataset: str,
    given: Sequence[GivenSample],
    hosts: Collection[str] = (),
    most_bytes: int | None = None,
) -> LoggedSamples:
    """Store one chunk of content; fields of a sample that are None remain as they were.

    Repeating a call changes nothing: images are recognised by the digest of the file. Audio is a
    URL on one of the `hosts`, and all content of the project takes at most `most_bytes`. Raises
    `NotFound`, `InvalidInput` for images that cannot be decoded and for other URLs, and
    `TooLarge`. Nothing is stored then.
    """
    for each in given:
        if each.audio is not None:
            require_address(each.audio, hosts, field="audio", is_template=False)
    # Decoding takes long, and writers wait for each other.
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        there = samples.content_of(session, known.id, [each.sample for each in given])
    pictures = decoded_images(
        {
            each.sample: each.image
            for each in given
            if each.image is not None and not _is_stored(there.get(each.sample), each.image)
        }
    )

    def transaction(session: Session) -> LoggedSamples:
        there = samples.content_of(session, known.id, [each.sample for each in given])
        # Images that were stored, and have been removed since.
        lost = {
            each.sample: each.image
            for each in given
            if each.image is not None
            and each.sample not in pictures
            and not _is_stored(there.get(each.sample), each.image)
        }
        pictures.update(decoded_images(lost) if lost else {})
        rows = {each.sample: _columns(each, pictures.get(each.sample)) for each in given}
        added = [{"sample": name, **row} for name, row in rows.items() if name not in there]
        changed = [
            (name, row)
            for name, row in rows.items()
            if name in there and _differs(there[name], row)
        ]
        if added and samples.count_content(session, known.id) + len(added) > MOST_SAMPLES:
            raise TooLarge(
                f"dataset {dataset!r} has content for the maximum number of samples.",
                field="ids",
                hint=f"Store at most {MOST_SAMPLES:,}, or show images from where they are.",
            )
        samples.write_content(
            session, known.id, added=added, changed=changed, now=database.clock()
        )
        if most_bytes is not None and (added or changed):
            _require_room(session, project, most_bytes)
        _describe(session, project, dataset, "log-samples", added=len(added), changed=len(changed))
        return LoggedSamples(
            dataset,
            len(added),
            len(changed),
            len(given) - len(added) - len(changed),
            _count_unknown(session, known.id, rows),
        )

    # If somebody else stores the same samples at the same moment, they are then there.
    return after_races(database, transaction)


def _require_room(session: Session, project: str, most_bytes: int) -> None:
    """Raise `TooLarge` if content takes too much space, which rolls back what was just written."""
    n_bytes = samples.project_content_bytes(session, project)
    if n_bytes > most_bytes:
        raise TooLarge(
            f"content of project {project!r} would take {n_bytes:,} bytes; it may take "
            f"{most_bytes:,}.",
            field="samples",
            hint="Remove some with `offdiag samples remove`, show images from where they are, or "
            "ask an administrator to raise server.content_limit_mb.",
        )


def remove_samples(
    database: Database, *, project: str, dataset: str, names: Sequence[str] | None
) -> int:
    """Delete the content of some samples, of all if `names` is None; returns how many had any."""
    with database.write() as session:
        known = dataset_named(session, project=project, name=dataset)
        removed = samples.remove_content(session, known.id, names)
        _describe(session, project, dataset, "remove-samples", removed=removed)
        return removed


def set_places(
    database: Database,
    *,
    project: str,
    dataset: str,
    places: ContentPlaces,
    hosts: Collection[str],
    seen: ContentPlaces | None = None,
) -> ContentPlaces:
    """Set where images and links of samples are stored, replacing the previous places.

    With `seen`, what differs from it is changed, and the rest stays as it is by now. Raises
    `NotFound`, `InvalidInput` for URLs that are not on one of the `hosts`, and `Stale` if somebody
    else has changed the same since it was seen.
    """
    image, link = (
        require_address(given, hosts, field=field) if given else None
        for given, field in (
            (places.image_template, "image_template"),
            (places.link_template, "link_template"),
        )
    )
    checked = ContentPlaces(image, link, places.is_hidden)
    with database.write() as session:
        known = dataset_named(session, project=project, name=dataset)
        if seen is not None:
            stored = samples.places_of(session, known.id, for_update=True)
            checked = _with_changes(stored, seen, checked)
            image, link = checked.image_template, checked.link_template
        samples.set_places(session, known.id, checked)
        _describe(session, project, dataset, "set-content", image=image, link=link)
    return checked


def _with_changes(
    stored: ContentPlaces, seen: ContentPlaces, wanted: ContentPlaces
) -> ContentPlaces:
    changed = {
        name: value for name, value in asdict(wanted).items() if value != getattr(seen, name)
    }
    for name in _SAID.keys() & changed.keys():
        now = getattr(stored, name)
        if now not in (changed[name], getattr(seen, name)):
            raise Stale(
                f"{_SAID[name]} was changed since you opened this page; now it is "
                f"{'empty' if now is None else now}.",
                field=name,
                hint="Save again to replace it. Nothing was changed.",
            )
    return replace(stored, **changed)


_SAID = {"image_template": "the URL of images", "link_template": "the link"}


def _describe(session: Session, project: str, dataset: str, action: str, **detail: object) -> None:
    describe(session, action=action, subject=f"dataset {dataset}", project=project, detail=detail)


def _is_stored(there: SampleContent | None, image: bytes) -> bool:
    return there is not None and there.image_digest == hashlib.sha256(image).hexdigest()


def _columns(given: GivenSample, picture: StoredImage | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        name: value
        for name, value in (
            ("text", given.text),
            ("fields", None if given.fields is None else dict(given.fields)),
            ("audio", given.audio),
        )
        if value is not None
    }
    if picture is not None:
        row |= {
            "image_digest": picture.digest,
            "image_type": picture.media_type,
            "thumbnail": picture.thumbnail,
            "image": picture.image,
        }
    return row


def _differs(there: SampleContent, row: dict[str, Any]) -> bool:
    compared = ("text", "fields", "audio", "image_digest")
    return any(name in row and getattr(there, name) != row[name] for name in compared)


def _count_unknown(session: Session, dataset_id: int, names: Collection[str]) -> int:
    """How many of the names belong to no sample of the newest ground truth."""
    truth = truths.latest_truth(session, dataset_id)
    if truth is None:
        return len(names)
    ids = truths.truth_ids(session, truth)
    if ids is None:
        known = {str(position) for position in range(truth.n_samples)}
    else:
        known = {str(each) for each in ids.to_list()}
    return sum(name not in known for name in names)

"""Reading what samples look like."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from offdiag.domain.sample_content import (
    ContentPlaces,
    SampleContent,
    filled,
    is_allowed,
)
from offdiag.errors import NotFound
from offdiag.services.truth.versions import dataset_named
from offdiag.store import samples
from offdiag.store.database import Database, Session
from offdiag.store.dataset_page import DatasetSize, dataset_size
from offdiag.store.datasets import DatasetRecord
from offdiag.store.samples import ContentTotals, Picture


@dataclass(frozen=True, slots=True)
class ContentOfDataset:
    """Where content of a dataset lies, and how much of it is stored."""

    dataset: DatasetRecord
    places: ContentPlaces
    totals: ContentTotals
    size: DatasetSize


def browse_content(database: Database, *, project: str, dataset: str) -> ContentOfDataset:
    """Where content of a dataset lies, and how much of it there is. Raises `NotFound`."""
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
    """Samples with content by name, those behind `after`. Raises `NotFound`."""
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

    `image_template` and `link_template` are None where their host is not allowed any more.
    """

    content: dict[str, SampleContent]
    image_template: str | None
    link_template: str | None
    is_hidden: bool
    hosts: frozenset[str] = frozenset()

    @property
    def has_any(self) -> bool:
        """Whether there is anything to show beside identifiers."""
        return bool(self.content) or self.image_template is not None

    @property
    def has_images(self) -> bool:
        return self.image_template is not None or any(
            each.image_digest is not None for each in self.content.values()
        )

    def link_of(self, sample: str) -> str | None:
        """Where more is to be seen of a sample."""
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

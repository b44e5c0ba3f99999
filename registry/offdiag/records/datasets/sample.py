"""Content of samples: uploads, lists, and addresses of external content."""

from __future__ import annotations

import base64
from binascii import Error as NotBase64
from typing import TYPE_CHECKING

from pydantic import Field

from offdiag.domain.sample_content import ContentPlaces, FieldValue
from offdiag.errors import InvalidInput
from offdiag.inputs.content.given_images import image_file
from offdiag.inputs.content.given_samples import MOST_AT_ONCE, GivenSample, given_samples
from offdiag.records.base import InProject, Page, Paged, RequestBody, ResponseBody

if TYPE_CHECKING:
    from offdiag.store.database import Database


class SampleUpload(RequestBody):
    """One sample; omitted fields stay as they are."""

    sample: int | str
    image: str | None = Field(
        default=None, description="A PNG, JPEG or WebP file in base64; SVG is not accepted."
    )
    text: str | None = None
    fields: dict[str, FieldValue] | None = None
    audio: str | None = Field(default=None, description="Address on an allowed host.")


class SampleUploads(InProject):
    """One chunk of samples."""

    samples: list[SampleUpload] = Field(min_length=1, max_length=MOST_AT_ONCE)


class SamplesStored(ResponseBody):
    """The result of an upload; repeating it changes nothing."""

    dataset: str
    n_added: int
    n_changed: int
    n_unchanged: int
    n_unknown: int = Field(description="Names that are not samples of the newest labels.")


class SamplesQuery(Paged, InProject):
    """Filters for samples with content."""


class Sample(ResponseBody):
    """The stored content of one sample."""

    sample: str
    text: str | None
    fields: dict[str, FieldValue] | None
    audio: str | None
    image_digest: str | None = Field(description="SHA-256 of the file that was sent.")


class SamplePage(Page):
    """Samples with content by name, and the total size."""

    dataset: str
    n_samples: int
    n_images: int
    n_bytes: int = Field(description="Bytes of all pictures and texts.")
    samples: list[Sample]


class ImageQuery(InProject):
    """The sample of an image, and its size."""

    sample: str
    size: str = Field(default="thumbnail", pattern="^(thumbnail|image)$")


class NamedSamples(InProject):
    """Samples whose content is to be removed; null for all."""

    samples: list[int | str] | None = Field(min_length=1)


class SamplesRemoved(ResponseBody):
    """The number of samples whose content was removed."""

    n_removed: int


class Content(InProject):
    """Addresses of the content of a dataset, on hosts that an administrator allows."""

    image_template: str | None = Field(
        default=None, description="Such as https://images.example.org/{sample}.jpg."
    )
    link_template: str | None = None
    is_hidden: bool = Field(default=False, description="Show content on request only.")


class ContentShown(ResponseBody):
    """Addresses of the content of a dataset."""

    image_template: str | None
    link_template: str | None
    is_hidden: bool


def asked_content(database: Database, project: str, dataset: str) -> ContentShown:
    """Where content of a dataset is stored elsewhere. Raises `NotFound`."""
    from offdiag.services.samples.content import browse_content

    found = browse_content(database, project=project, dataset=dataset)
    return ContentShown.made_of(found.places)


def uploads_of(project: str, samples: list[GivenSample]) -> SampleUploads:
    """The request that stores a chunk."""
    return SampleUploads(
        project=project,
        samples=[
            SampleUpload(
                sample=each.sample,
                image=None if each.image is None else base64.b64encode(each.image).decode(),
                text=each.text,
                fields=None if each.fields is None else dict(each.fields),
                audio=each.audio,
            )
            for each in samples
        ],
    )


def uploaded(body: SampleUploads) -> list[GivenSample]:
    """The samples of a request, validated like those of the SDK. Raises `InvalidInput`."""
    return list(
        given_samples(
            [each.sample for each in body.samples],
            images=[_image(each) for each in body.samples],
            text=[each.text for each in body.samples],
            fields=[each.fields for each in body.samples],
            audio=[each.audio for each in body.samples],
        )
    )


def _image(upload: SampleUpload) -> bytes | None:
    if upload.image is None:
        return None
    try:
        return image_file(base64.b64decode(upload.image, validate=True))
    except (NotBase64, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(
            f"the image of sample {str(upload.sample)[:80]!r} is not base64.",
            field="samples.image",
            hint="Send the bytes of the file in base64 (RFC 4648).",
        ) from None


def places_in(body: Content) -> ContentPlaces:
    """What a request says about content elsewhere."""
    return ContentPlaces(body.image_template, body.link_template, body.is_hidden)

"""What samples look like on pages: a picture, text or fields, as far as readers may see them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from flask import request

from offdiag.domain.sample_content import (
    FieldValue,
    SampleContent,
    allowed_hosts,
    filled,
)
from offdiag.services.samples.content import ShownSamples, shown_samples
from offdiag_web.app.context import current_registry
from offdiag_web.components import numbers
from offdiag_web.urls.datasets import DatasetAddress

SHOW = "content"
"""Parameter by which readers ask for content that is hidden."""
MOST_FIELDS = 6
LONGEST_TEXT = 240


@dataclass(frozen=True, slots=True)
class SampleLook:
    """One sample; all of it is None where nothing is known or may be shown.

    `image_url` is a small picture and `large_url` a larger one, `is_hidden` says that there is
    content that the reader has not asked for.
    """

    sample: str
    image_url: str | None = None
    large_url: str | None = None
    text: str | None = None
    more_text: str | None = None
    fields: tuple[tuple[str, str], ...] = ()
    audio: str | None = None
    link: str | None = None
    is_hidden: bool = False


@dataclass(frozen=True)
class SampleLooks:
    """Looks of samples by name. `field_names` are columns, of which all samples have some."""

    by_name: Mapping[str, SampleLook]
    has_images: bool
    has_texts: bool
    field_names: tuple[str, ...]
    is_hidden: bool

    @property
    def has_any(self) -> bool:
        """Whether there is anything to show beside identifiers."""
        return self.has_images or self.has_texts or bool(self.field_names)

    def of(self, sample: object) -> SampleLook:
        """The look of a sample."""
        return self.by_name[str(sample)]


def sample_looks(address: DatasetAddress, samples: Iterable[object]) -> SampleLooks:
    """Looks of samples, in one statement."""
    registry = current_registry()
    names = [str(sample) for sample in samples]
    if not names:
        return SampleLooks({}, has_images=False, has_texts=False, field_names=(), is_hidden=False)
    hosts = allowed_hosts(registry.settings.server.content_hosts)
    with registry.database.read() as session:
        shown = shown_samples(session, names, hosts, project=address.project, dataset=address.name)
    is_hidden = shown.is_hidden and request.args.get(SHOW) != "shown"
    within = _small_pictures(shown.content.values())
    looks = {name: _look(shown, address, name, within, is_hidden=is_hidden) for name in names}
    stored = shown.content.values()
    fields: dict[str, None] = {}
    for content in stored:
        fields |= dict.fromkeys(content.fields or {})
    return SampleLooks(
        looks,
        has_images=shown.has_images,
        has_texts=any(content.text is not None for content in stored),
        field_names=tuple(fields)[:MOST_FIELDS],
        is_hidden=shown.is_hidden,
    )


MOST_BYTES_WITHIN = 24_576
"""Of all pictures that a page holds; others are requests of their own, and loaded when seen."""


def _small_pictures(contents: Iterable[SampleContent]) -> dict[str, str]:
    """Small pictures as data addresses by sample, the first ones that fit into a page."""
    found, n_bytes = {}, 0
    for content in contents:
        if content.small_picture:
            n_bytes += len(content.small_picture)
            if n_bytes > MOST_BYTES_WITHIN:
                break
            data = b64encode(content.small_picture).decode("ascii")
            found[content.sample] = f"data:{content.image_type};base64,{data}"
    return found


def _look(
    shown: ShownSamples,
    address: DatasetAddress,
    name: str,
    within: Mapping[str, str],
    *,
    is_hidden: bool,
) -> SampleLook:
    if is_hidden:
        return SampleLook(name, is_hidden=True)
    content = shown.content.get(name)
    image = large = None
    if content is not None and content.image_digest is not None:
        image = within.get(name) or address.image_url(name, content.image_digest)
        large = address.image_url(name, content.image_digest, is_large=True)
    elif shown.image_template is not None:
        image = large = filled(shown.image_template, name)
    text = None if content is None else content.text
    is_long = text is not None and len(text) > LONGEST_TEXT
    return SampleLook(
        name,
        image,
        large,
        text=text[:LONGEST_TEXT] if text is not None else None,
        more_text=text[LONGEST_TEXT:] if text is not None and is_long else None,
        fields=_fields({} if content is None else content.fields or {}),
        audio=None if content is None else content.audio,
        link=shown.link_of(name),
    )


def _fields(fields: Mapping[str, FieldValue]) -> tuple[tuple[str, str], ...]:
    return tuple((name, _value(value)) for name, value in fields.items())


def _value(value: FieldValue) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return numbers.shortened(str(value), longest=60)

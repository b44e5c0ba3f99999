"""Storing what samples look like, so that pages show more than identifiers."""

from __future__ import annotations

from collections.abc import Iterable

from offdiag.domain.sample_content import ContentPlaces, LoggedSamples
from offdiag.inputs.content.given_samples import chunked_samples, given_samples
from offdiag.sdk.target import target


def log_samples(
    *,
    dataset: str,
    ids: Iterable[object],
    images: object = None,
    text: object = None,
    fields: object = None,
    audio: object = None,
    project: str | None = None,
    url: str | None = None,
) -> LoggedSamples:
    """Store images, texts, table fields or audio links of samples of a dataset.

    `ids` are identifiers as runs were logged with, or positions where they have none. Each of
    the others has one entry for each of them, None where there is nothing: `images` arrays
    (h, w) or (h, w, channels) of whole numbers to 255 or fractions to 1, Pillow images, bytes
    or paths of PNG, JPEG and WebP files; `text` texts; `fields` mappings, or a frame with a
    column for each field; `audio` addresses on hosts that an administrator allows. Images are
    decoded and encoded anew, in sizes of at most 160 and 640 pixels, without metadata.

    Content is stored once and shared by all runs and label versions. It is sent in chunks;
    repeating a call that was interrupted stores what is missing and changes nothing else.
    What is None stays as it was. Chunks for a server that cannot be reached wait in the offline
    queue, with a warning, and `n_waiting` counts their samples; `offdiag sync` sends them.

    Raises `NotFound` for an unknown dataset, `InvalidInput` for content that cannot be shown,
    and `TooLarge`.
    """
    at = target(url)
    place = project if project is not None else at.project
    total = LoggedSamples(dataset, 0, 0, 0, 0)
    samples = given_samples(ids, images=images, text=text, fields=fields, audio=audio)
    for chunk in chunked_samples(samples):
        total = total.followed_by(at.log_samples(place, dataset, chunk))
    return total


def show_samples(
    *,
    dataset: str,
    images: str | None = None,
    links: str | None = None,
    hidden: bool = False,
    project: str | None = None,
    url: str | None = None,
) -> None:
    """Say where images of samples lie, in place of what was said before.

    `images` and `links` are addresses with `{sample}` in them, such as
    `https://images.example.org/{sample}.jpg`; the reader's browser loads them, never the
    server. Their hosts are those of the setting `server.content_hosts`. `hidden` content is
    shown only to readers who ask for it.

    Raises `NotFound` for an unknown dataset and `InvalidInput` for other hosts.
    """
    at = target(url)
    place = project if project is not None else at.project
    at.show_samples(place, dataset, ContentPlaces(images, links, hidden))

"""What samples look like: stored, listed, shown, removed."""

from __future__ import annotations

from flask import Response, request

from offdiag.domain.access import Role
from offdiag.domain.sample_content import allowed_hosts
from offdiag.inputs.content.given_samples import sample_name
from offdiag.records.base import InProject
from offdiag.records.sample import (
    Content,
    ContentShown,
    ImageQuery,
    NamedSamples,
    SamplePage,
    SamplesQuery,
    SamplesRemoved,
    SamplesStored,
    SampleUploads,
    content_document,
    places_in,
    sample_page,
    stored_document,
    uploaded,
)
from offdiag.records.suspect import Suspects, SuspectsQuery, suspects_document
from offdiag.services.samples import content, log
from offdiag.services.samples.suspects import suspect_labels
from offdiag_web.api.operations import operation, read_token, resource, write_token
from offdiag_web.app.context import current_registry, kept_suspects
from offdiag_web.app.permissions import requires
from offdiag_web.components.samples.picture import picture_response

blueprint = resource("samples")

_PATH = "/datasets/<name:name>/samples"
_LARGEST_UPLOAD = 24 << 20


def _hosts() -> frozenset[str]:
    return allowed_hosts(current_registry().settings.server.content_hosts)


@operation(blueprint, "POST", _PATH, answers=SamplesStored, most_bytes=_LARGEST_UPLOAD)
@requires(Role.LOGGER)
def store_samples(name: str, json: SampleUploads) -> SamplesStored:
    """Store images, texts, fields and audio links of samples, once for all runs of a dataset.

    Images are decoded and encoded anew in up to two sizes. The same again changes nothing.
    """
    found = log.log_samples(
        current_registry().database,
        project=json.project,
        dataset=name,
        given=uploaded(json),
        hosts=_hosts(),
    )
    return stored_document(found)


@operation(blueprint, "GET", _PATH, answers=SamplePage)
def list_samples(name: str, query: SamplesQuery) -> SamplePage:
    """Read the samples of a dataset that have content, without their pictures."""
    database = current_registry().database
    token = read_token(query.page_token)
    found = content.list_content(
        database,
        project=query.project,
        dataset=name,
        after="" if token is None else str(token[0]),
        limit=query.limit + 1,
    )
    shown = found[: query.limit]
    totals = content.browse_content(database, project=query.project, dataset=name).totals
    after = [shown[-1].sample] if len(found) > len(shown) else None
    return sample_page(name, totals, shown, write_token(after))


@operation(
    blueprint, "GET", f"{_PATH}/image", answers={200: None}, files=("image/png", "image/jpeg")
)
def get_sample_image(name: str, query: ImageQuery) -> Response:
    """Read the stored picture of a sample, as offdiag encoded it."""
    found = content.picture(
        current_registry().database,
        project=query.project,
        dataset=name,
        sample=query.sample,
        is_large=query.size == "image",
    )
    return picture_response(found, request)


@operation(blueprint, "POST", f"{_PATH}/remove", answers=SamplesRemoved)
def remove_samples(name: str, json: NamedSamples) -> SamplesRemoved:
    """Remove what is stored of some samples, or of all; predictions and labels stay."""
    removed = log.remove_samples(
        current_registry().database,
        project=json.project,
        dataset=name,
        names=None if json.samples is None else [sample_name(each) for each in json.samples],
    )
    return SamplesRemoved(n_removed=removed)


@operation(blueprint, "GET", "/datasets/<name:name>/suspects", answers=Suspects)
def list_suspects(name: str, query: SuspectsQuery) -> Suspects:
    """Read which labels independent models contradict, most suspect first."""
    found = suspect_labels(
        current_registry().database,
        project=query.project,
        dataset=name,
        question=query.question(),
        kept=kept_suspects(),
    )
    return suspects_document(found)


@operation(blueprint, "GET", "/datasets/<name:name>/content", answers=ContentShown)
def get_content(name: str, query: InProject) -> ContentShown:
    """Read where content of a dataset lies."""
    database = current_registry().database
    found = content.browse_content(database, project=query.project, dataset=name)
    return content_document(found.places)


@operation(blueprint, "PUT", "/datasets/<name:name>/content", answers=ContentShown)
def set_content(name: str, json: Content) -> ContentShown:
    """Say where images of samples lie and where a link leads to, on hosts that are allowed."""
    places = log.set_places(
        current_registry().database,
        project=json.project,
        dataset=name,
        places=places_in(json),
        hosts=_hosts(),
    )
    return content_document(places)

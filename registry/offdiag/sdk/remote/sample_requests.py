"""What samples look like, sent to a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from offdiag.domain.sample_content import ContentPlaces, LoggedSamples, SuspectQuestion
from offdiag.domain.texts import name_segment
from offdiag.inputs.content.given_samples import GivenSample
from offdiag.records.sample import Content, uploads_of
from offdiag.records.suspect import Suspects
from offdiag.sdk.remote.reader import Reader


def log_samples(
    reader: Reader, project: str, dataset: str, samples: Sequence[GivenSample]
) -> LoggedSamples:
    """Store one chunk of content; sending it again changes nothing."""
    path = f"/datasets/{name_segment(dataset)}/samples"
    answer = reader.send("POST", path, uploads_of(project, list(samples)))
    return TypeAdapter(LoggedSamples).validate_json(answer)


def show_samples(reader: Reader, project: str, dataset: str, places: ContentPlaces) -> None:
    """Say where content of a dataset lies."""
    body = Content(
        project=project,
        image_template=places.image_template,
        link_template=places.link_template,
        is_hidden=places.is_hidden,
    )
    reader.send("PUT", f"/datasets/{name_segment(dataset)}/content", body)


def suspects(
    reader: Reader, project: str, dataset: str, question: SuspectQuestion
) -> Mapping[str, Any]:
    """Which labels independent models contradict."""
    return reader.get(
        f"/datasets/{name_segment(dataset)}/suspects",
        Suspects,
        project=project,
        class_label=question.class_label,
        at_least=question.at_least,
        start=question.start,
        limit=question.limit,
    ).plain()

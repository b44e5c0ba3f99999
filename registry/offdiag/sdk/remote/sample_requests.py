"""What samples look like, sent to a server."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from pydantic import TypeAdapter

from offdiag.domain.sample_content import LoggedSamples
from offdiag.domain.texts import name_segment
from offdiag.inputs.content.given_samples import GivenSample
from offdiag.records.datasets.sample import uploads_of
from offdiag.sdk.remote.connection import Connection
from offdiag.sdk.remote.spool import SAMPLES, SpooledRequest


def upload_of(project: str, samples: Sequence[GivenSample]) -> str:
    """The body that stores one chunk of content; sending it again changes nothing."""
    return uploads_of(project, list(samples)).model_dump_json()


def spooled_samples(project: str, dataset: str, upload: str) -> SpooledRequest:
    """What waits in a spool for a chunk; the same content is the same request."""
    key = hashlib.sha256(f"{dataset}\0{upload}".encode()).hexdigest()
    said = json.dumps({"name": dataset, "project": project, "client_key": key})
    # The chunk is large and is JSON already.
    return SpooledRequest(SAMPLES, f'{said[:-1]}, "upload": {upload}}}')


def samples_in(asked: SpooledRequest) -> tuple[str, str]:
    """The dataset of what waited, and the body that stores its chunk."""
    said = json.loads(asked.body)
    return said["name"], json.dumps(said["upload"])


def send_samples(connection: Connection, dataset: str, upload: str) -> LoggedSamples:
    """One attempt to store a chunk. Raises as `Connection.send` does."""
    answer = connection.send("POST", f"/datasets/{name_segment(dataset)}/samples", upload)
    return TypeAdapter(LoggedSamples).validate_json(answer)

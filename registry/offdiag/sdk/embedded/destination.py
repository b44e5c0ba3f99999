"""A database to which spooled runs are sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from pydantic import ValidationError

from offdiag.domain.labels import LabelSet
from offdiag.inputs.bodies.columns import columns_of
from offdiag.inputs.bodies.formats import read_arrow_body
from offdiag.records.base import RequestBody, first_problem
from offdiag.records.datasets.sample import SampleUploads, uploaded
from offdiag.records.ingest import NewCounts, NewMatrix, NewPairedCounts, NewRun
from offdiag.sdk.embedded.registry import EmbeddedRegistry
from offdiag.sdk.remote.spool import PAIRED_COUNTS, SAMPLES, SpooledRequest
from offdiag.services.ingest.chunks import put_columns
from offdiag.services.ingest.finish_run import finish_run

Body = TypeVar("Body", bound=RequestBody)


@dataclass(frozen=True, slots=True)
class DatabaseDestination:
    """Handles the requests in this process as a server does."""

    registry: EmbeddedRegistry

    def open_run(self, asked: SpooledRequest) -> tuple[str, LabelSet]:
        body = _read(NewRun, asked.body)
        positive_label = None if body.positive_label is None else str(body.positive_label)
        opened = self.registry.open_run(
            body.facts(), body.dataset, body.label_set(), positive_label, body.hierarchy
        )
        return opened.run_id, opened.labels

    def put(self, run_id: str, seq: int, content: bytes) -> None:
        put_columns(
            self.registry.database,
            run_id,
            seq,
            lambda labels: columns_of(read_arrow_body(content), labels),
        )

    def finish(self, run_id: str, n_chunks: int) -> None:
        finish_run(self.registry.database, run_id, n_chunks=n_chunks or None)

    def log_whole(self, asked: SpooledRequest) -> str | None:
        if asked.kind == SAMPLES:
            dataset, body = asked.samples()
            upload = _read(SampleUploads, body)
            self.registry.log_samples(upload.project, dataset, uploaded(upload))
            return None
        if asked.kind == "matrix":
            matrix = _read(NewMatrix, asked.body)
            return self.registry.log_matrix(matrix.facts(), matrix.dataset, matrix.given())
        if asked.kind == PAIRED_COUNTS:
            paired = _read(NewPairedCounts, asked.body)
            ids = self.registry.log_paired_counts(paired.facts(), paired.dataset, paired.given())
            return ", ".join(ids)
        counts = _read(NewCounts, asked.body)
        return self.registry.log_counts(counts.facts(), counts.dataset, counts.given())


def _read(body: type[Body], text: str) -> Body:
    """The body of a spooled request, refused as a server refuses it."""
    try:
        return body.model_validate_json(text)
    except ValidationError as error:
        raise first_problem(error, body) from None

"""A database to which spooled runs are sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from pydantic import ValidationError

from offdiag.domain.labels import LabelSet
from offdiag.domain.sample_content import allowed_hosts
from offdiag.inputs.bodies.columns import columns_of
from offdiag.inputs.bodies.formats import read_arrow_body
from offdiag.records.base import RequestBody, first_problem
from offdiag.records.datasets.sample import SampleUploads, uploaded
from offdiag.records.ingest import NewCounts, NewMatrix, NewPairedCounts, NewRun
from offdiag.sdk.remote.spool import PAIRED_COUNTS, SAMPLES, SpooledRequest
from offdiag.services.ingest.chunks import put_columns
from offdiag.services.ingest.finish_run import finish_run
from offdiag.services.ingest.log_counts import log_counts, log_matrix
from offdiag.services.ingest.log_paired_counts import log_paired_counts
from offdiag.services.ingest.log_predictions import open_run
from offdiag.services.samples.content import log_samples
from offdiag.settings.model import ServerSettings
from offdiag.store.database import Database

Body = TypeVar("Body", bound=RequestBody)


@dataclass(frozen=True, slots=True)
class DatabaseDestination:
    """Handles the requests in this process as a server does."""

    database: Database
    settings: ServerSettings

    def open_run(self, asked: SpooledRequest) -> tuple[str, LabelSet]:
        body = _read(NewRun, asked.body)
        opened = open_run(
            self.database,
            facts=body.facts(),
            dataset=body.dataset,
            labels=body.label_set(),
            positive_label=None if body.positive_label is None else str(body.positive_label),
            hierarchy=body.hierarchy,
        )
        return opened.run.id, opened.dataset.labels

    def put(self, run_id: str, seq: int, content: bytes) -> None:
        put_columns(
            self.database, run_id, seq, lambda labels: columns_of(read_arrow_body(content), labels)
        )

    def finish(self, run_id: str, n_chunks: int) -> None:
        finish_run(self.database, run_id, n_chunks=n_chunks or None)

    def log_whole(self, asked: SpooledRequest) -> str | None:
        if asked.kind == SAMPLES:
            dataset, body = asked.samples()
            upload = _read(SampleUploads, body)
            log_samples(
                self.database,
                project=upload.project,
                dataset=dataset,
                given=uploaded(upload),
                hosts=allowed_hosts(self.settings.content_hosts),
                most_bytes=self.settings.most_content_bytes,
            )
            return None
        if asked.kind == "matrix":
            matrix = _read(NewMatrix, asked.body)
            return log_matrix(
                self.database, facts=matrix.facts(), dataset=matrix.dataset, given=matrix.given()
            ).id
        if asked.kind == PAIRED_COUNTS:
            paired = _read(NewPairedCounts, asked.body)
            runs = log_paired_counts(
                self.database, runs=paired.facts(), dataset=paired.dataset, given=paired.given()
            )
            return ", ".join(run.id for run in runs)
        counts = _read(NewCounts, asked.body)
        return log_counts(
            self.database, facts=counts.facts(), dataset=counts.dataset, given=counts.given()
        ).id


def _read(body: type[Body], text: str) -> Body:
    """The body of a spooled request, refused as a server refuses it."""
    try:
        return body.model_validate_json(text)
    except ValidationError as error:
        raise first_problem(error, body) from None

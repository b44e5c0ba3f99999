"""A database as a registry, behind the interface of the SDK, using services in this process."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

from offdiag.domain.hierarchy import Hierarchy
from offdiag.domain.labels import LabelSet, TruthRevision
from offdiag.domain.look_alikes import warn_of
from offdiag.domain.runs import FoundRun, FoundRuns, RunFacts
from offdiag.domain.sample_content import LoggedSamples, allowed_hosts
from offdiag.inputs.content.given_samples import GivenSample
from offdiag.inputs.slice_columns import AddedSlices, GivenSlices
from offdiag.records.base import Answer, Request
from offdiag.sdk.evaluations.evaluation import Evaluation
from offdiag.sdk.evaluations.flag import Flag, Judgement
from offdiag.sdk.registry import RevisionQuestion, SearchQuestion, find_run
from offdiag.services import datasets, run_search
from offdiag.services.evaluation.compute import collapse_evaluation
from offdiag.services.evaluation.pending import evaluate_few, evaluate_pending
from offdiag.services.evaluation.recompute import retry_failed
from offdiag.services.evaluation.results import evaluation_of
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.services.flags.page import raised_flags
from offdiag.services.flags.rules import thresholds_in
from offdiag.services.ingest import log_counts, log_paired_counts, log_predictions
from offdiag.services.ingest.batch import (
    CHUNK_SIZE,
    Batch,
    GivenCounts,
    GivenMatrix,
    GivenPairedCounts,
    Predictions,
)
from offdiag.services.ingest.chunks import put_chunk
from offdiag.services.ingest.finish_run import finish_run
from offdiag.services.retention.deletion import delete_run
from offdiag.services.truth import revise
from offdiag.services.truth.revise import summary_of
from offdiag.services.truth.versions import add_slices
from offdiag.settings import Settings, load_settings
from offdiag.store.database import Database
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.flags import FlagRecord
from offdiag.store.schema import open_database


@dataclass(frozen=True, slots=True)
class EmbeddedRegistry:
    """A database that is ready to use, and the settings with which it was found."""

    database: Database
    settings: Settings

    @classmethod
    def opened(cls, url: str, settings: Settings) -> EmbeddedRegistry:
        """The registry at a URL, created or upgraded on first use if it is a file."""
        return cls(_opened(url), settings)

    def __reduce__(self) -> tuple[Callable[[str | None], EmbeddedRegistry], tuple[str | None]]:
        """Pickled as the path of its file, or as the configured database: never a password."""
        if self.database.path is not None:
            return _opened_again, (f"sqlite:///{self.database.path.absolute()}",)
        if self.database.url != load_settings().database.url:
            raise TypeError(
                "A registry that is not the configured one cannot be pickled: its address may "
                "hold a password. Pickle run.id, or set OFFDIAG_URL to this registry."
            )
        return _opened_again, (None,)

    @property
    def project(self) -> str:
        return self.settings.project

    @property
    def server_url(self) -> str | None:
        return self.settings.server.public_url.rstrip("/") or None

    def page_of(self, run_id: str) -> str:
        """Address of a run in the dashboard that `offdiag serve` opens with these settings."""
        server = self.settings.server
        return f"http://{server.host}:{server.port}/runs/{run_id}"

    def log_predictions(self, facts: RunFacts, dataset: str | None, given: Predictions) -> str:
        return log_predictions.log_predictions(
            self.database, facts=facts, dataset=dataset, given=given
        ).id

    def open_run(
        self,
        facts: RunFacts,
        dataset: str,
        labels: LabelSet | None,
        positive_label: str | None,
        hierarchy: object | None,
    ) -> EmbeddedRun:
        opened = log_predictions.open_run(
            self.database,
            facts=facts,
            dataset=dataset,
            labels=labels,
            positive_label=positive_label,
            hierarchy=hierarchy,
        )
        known = opened.dataset
        warn_of(known.notes)
        return EmbeddedRun(self.database, opened.run.id, known.labels, known.positive_label)

    def log_matrix(self, facts: RunFacts, dataset: str, given: GivenMatrix) -> str:
        return log_counts.log_matrix(self.database, facts=facts, dataset=dataset, given=given).id

    def log_counts(self, facts: RunFacts, dataset: str, given: GivenCounts) -> str:
        return log_counts.log_counts(self.database, facts=facts, dataset=dataset, given=given).id

    def log_paired_counts(
        self, runs: Sequence[RunFacts], dataset: str, given: GivenPairedCounts
    ) -> list[str]:
        logged = log_paired_counts.log_paired_counts(
            self.database, runs=runs, dataset=dataset, given=given
        )
        return [run.id for run in logged]

    def evaluation(
        self, run_id: str, *, timeout_s: float, part: str | None, groups: tuple[str, ...]
    ) -> Evaluation:
        if part is not None:
            found = evaluation_of_slice(self.database, run_id, part)
            if groups:
                return self._collapsed(found, groups)
            thresholds = thresholds_in(self.settings.flags)
            return _shown(found, Judgement.of_counted(found.counted, thresholds))
        stored = evaluation_of(
            self.database, run_id, timeout_s=timeout_s, settings=self.settings.jobs
        )
        if groups:
            return self._collapsed(stored, groups)
        raised = raised_flags(self.database, run_id)
        hides = bool(stored.hides_minority)
        judgement = Judgement(
            tuple(map(_flag, raised)),
            badge=hides,
            may_hide=not hides and any(flag.content.may_hide for flag in raised),
        )
        return _shown(stored, judgement)

    def _collapsed(self, stored: StoredEvaluation, groups: tuple[str, ...]) -> Evaluation:
        found = collapse_evaluation(self.database, stored, groups)
        return Evaluation.of_values(
            found.matrix,
            aggregate=found.values.aggregate,
            per_class=found.values.per_class,
            judgement=Judgement.of_counted(found.matrix, thresholds_in(self.settings.flags)),
            collapse=found.onto,
        )

    def search(self, question: SearchQuestion) -> FoundRuns:
        return run_search.search_runs(
            self.database,
            filter_text=question.filter_text,
            order_by=question.order_by,
            project=question.project,
            limit=question.limit,
        )

    def find(self, run_id: str) -> FoundRun | None:
        return find_run(self, run_id)

    def delete_run(self, run_id: str, *, by: str | None) -> None:
        delete_run(self.database, run_id, by=by)

    def retry_evaluation(self, run_id: str) -> None:
        retry_failed(self.database, run_id)

    def evaluate_few(self) -> int:
        with _evaluation_progress() as on_step:
            return evaluate_few(self.database, self.settings.jobs, on_step).n_left

    def evaluate_pending(self, timeout_s: float) -> int:  # noqa: ARG002 - nothing is waited for
        with _evaluation_progress() as on_step:
            return evaluate_pending(self.database, self.settings.jobs, on_step).n_evaluated

    def set_hierarchy(self, project: str, dataset: str, given: object | None) -> Hierarchy | None:
        return datasets.set_hierarchy(self.database, project=project, dataset=dataset, given=given)

    def revise_truth(self, question: RevisionQuestion) -> TruthRevision:
        made = revise.revise_truth(
            self.database,
            project=question.project,
            dataset=question.dataset,
            labels=question.labels,
            reason=question.reason,
            author=question.author,
            version=question.version,
            names=question.names,
        )
        return summary_of(question.dataset, made)

    def add_slices(
        self, project: str, dataset: str, given: GivenSlices, version: int | None
    ) -> AddedSlices:
        return add_slices(
            self.database, project=project, dataset=dataset, given=given, version=version
        )

    def log_samples(
        self, project: str, dataset: str, samples: Sequence[GivenSample]
    ) -> LoggedSamples:
        from offdiag.services.samples import content

        return content.log_samples(
            self.database,
            project=project,
            dataset=dataset,
            given=samples,
            hosts=allowed_hosts(self.settings.server.content_hosts),
            most_bytes=self.settings.server.most_content_bytes,
        )

    def ask(self, request: Request[Answer]) -> Answer:
        return request.stored(self.database)


@dataclass(frozen=True, slots=True)
class EmbeddedRun:
    """An open run in the database; every chunk is stored when `put` returns."""

    database: Database
    run_id: str
    labels: LabelSet
    positive_label: str | None
    keeps: bool = True

    def chunk_size(self, batch: Batch) -> int:  # noqa: ARG002 - blobs have room for any
        return CHUNK_SIZE

    def put(self, seq: int, batch: Batch) -> None:
        put_chunk(self.database, self.run_id, seq, batch)

    def leave(self) -> None:
        """Everything is stored already."""

    def finish(self, n_chunks: int) -> str:  # noqa: ARG002 - what is stored is what was put
        return finish_run(self.database, self.run_id).id


@contextmanager
def _evaluation_progress() -> Iterator[Callable[[int, int], None]]:
    """Yield a function that draws a progress bar on stderr, from the numbers done and in all.

    Nothing is written if stderr is not a terminal. The bar appears with the first call.
    """
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("Evaluating runs"), BarColumn(), MofNCompleteColumn())
    progress = Progress(*columns, console=Console(stderr=True))
    task = progress.add_task("", total=None)

    def on_step(done: int, total: int) -> None:
        progress.start()
        progress.update(task, completed=done, total=total)

    try:
        yield on_step
    finally:
        progress.stop()


@lru_cache(maxsize=8)
def _opened(url: str) -> Database:
    return open_database(url)


def _opened_again(url: str | None) -> EmbeddedRegistry:
    settings = load_settings()
    return EmbeddedRegistry.opened(url or settings.database.url, settings)


def _shown(stored: StoredEvaluation, judgement: Judgement) -> Evaluation:
    return Evaluation.of_values(
        stored.counted,
        aggregate=stored.aggregate,
        per_class=stored.per_class,
        judgement=judgement,
    )


def _flag(flag: FlagRecord) -> Flag:
    return Flag(
        flag.content.rule,
        flag.status.severity.value,
        flag.content.class_label,
        flag.content.message,
        dict(flag.content.evidence),
        flag.status.state.value,
        flag.content.slice,
    )

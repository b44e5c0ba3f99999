"""A registry on a server, behind the interface of the SDK."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from offdiag.domain.hierarchy import Hierarchy
from offdiag.domain.labels import LabelSet, TruthRevision, label_text
from offdiag.domain.look_alikes import label_notes, warn_of
from offdiag.domain.runs import FoundRun, FoundRuns, RunFacts
from offdiag.domain.sample_content import LoggedSamples
from offdiag.errors import Conflict, InvalidInput, OffdiagError, RunKept, ServerUnavailable
from offdiag.inputs.content.given_samples import GivenSample
from offdiag.inputs.slice_columns import AddedSlices, GivenSlices
from offdiag.metrics.confusion import notes_on_matrix
from offdiag.records.base import Answer, Request, RequestBody
from offdiag.records.datasets.sample import uploads_of
from offdiag.records.ingest import ClosedRun, ClosedRuns
from offdiag.records.ingest import OpenedRun as OpenedAnswer
from offdiag.sdk.evaluations.evaluation import Evaluation
from offdiag.sdk.registry import OpenedRun, RevisionQuestion, SearchQuestion, find_run
from offdiag.sdk.remote import requests
from offdiag.sdk.remote.connection import Connection, with_retries
from offdiag.sdk.remote.log_requests import new_counts, new_matrix, new_paired_counts, new_run
from offdiag.sdk.remote.run import (
    WAITING,
    RemoteRun,
    SpoolingRun,
    keep_finished,
    report,
    where_kept,
)
from offdiag.sdk.remote.send import send_samples
from offdiag.sdk.remote.spool import PAIRED_COUNTS, SpooledRequest, SpooledRun, is_final
from offdiag.services.ingest.batch import (
    GivenCounts,
    GivenMatrix,
    GivenPairedCounts,
    Predictions,
    chunked,
)
from offdiag.services.ingest.encode_predictions import (
    EncodedRun,
    encode_predictions,
    require_dataset_or_truth,
)
from offdiag.settings import Settings, load_settings

Said = TypeVar("Said")

LONGEST_OPENING_S = 10.0
"""How long a job that starts waits for a server before its run goes to the spool."""


AWAY_S = 60.0
"""How long after a failure a server is tried only once for each chunk of content."""
_AWAY: dict[str, float] = {}
"""Until when servers count as away, by address."""
_REMEMBERED: dict[tuple[str, str, str | None], requests.KnownClasses] = {}
"""Classes of the datasets that this process logged to, so that it need not ask each time."""


def _at_again(url: str) -> RemoteRegistry:
    return RemoteRegistry.at(url, load_settings())


def _classes(dataset: str, opened: OpenedRun) -> requests.KnownClasses:
    labels = opened.labels
    return requests.KnownClasses(dataset, labels, labels.inferred, opened.positive_label)


@dataclass(frozen=True, slots=True)
class RemoteRegistry:
    """A server by its address, and the settings with which it was found."""

    connection: Connection
    settings: Settings

    @classmethod
    def at(cls, url: str, settings: Settings) -> RemoteRegistry:
        """The registry of the server at a URL."""
        return cls(Connection.of(url, settings), settings)

    def __reduce__(self) -> tuple[Callable[[str], RemoteRegistry], tuple[str]]:
        """Pickled as its address: the token is that of whoever reads it."""
        return _at_again, (self.connection.url,)

    @property
    def project(self) -> str:
        return self.settings.project

    @property
    def server_url(self) -> str | None:
        return None if self._is_offline else self.connection.url.rstrip("/")

    def page_of(self, run_id: str) -> str:
        """Address of a run in the dashboard of the server, or its folder while it waits."""
        if run_id.startswith(WAITING):
            folder = Path(self.settings.client.spool).absolute() / run_id.removeprefix(WAITING)
            return folder.as_uri()
        return f"{self.connection.url.rstrip('/')}/runs/{run_id}"

    def log_predictions(self, facts: RunFacts, dataset: str | None, given: Predictions) -> str:
        require_dataset_or_truth(dataset, given)
        place = self.connection.url, facts.project, dataset
        remembered = None if self._is_offline else _REMEMBERED.pop(place, None)
        try:
            run, opened = self._encoded_and_opened(facts, dataset, given, remembered)
        except (Conflict, InvalidInput):
            if remembered is None:
                raise
            # The dataset may have other classes by now; nothing was opened.
            run, opened = self._encoded_and_opened(facts, dataset, given, None)
        warn_of(run.notes)
        if not self._is_offline:
            _REMEMBERED[place] = _classes(run.dataset, opened)
        n_chunks = 0
        for batch in chunked(run.batch, opened.chunk_size(run.batch)):
            opened.put(n_chunks, batch)
            n_chunks += 1
        return opened.finish(n_chunks)

    def _encoded_and_opened(
        self,
        facts: RunFacts,
        dataset: str | None,
        given: Predictions,
        known: requests.KnownClasses | None,
    ) -> tuple[EncodedRun, OpenedRun]:
        """The run on the server, and the data to send, encoded with the classes of the server."""
        if known is None and dataset is not None and not self._is_offline:
            known = self._dataset_if_reached(dataset, facts.project)
        run = encode_predictions(given, project=facts.project, dataset=dataset, known=known)
        opened = self.open_run(facts, run.dataset, run.labels, run.positive_label, given.hierarchy)
        is_other = opened.labels.names != run.labels.names or (
            known is not None and opened.positive_label != known.positive_label
        )
        if is_other:
            # Labels that were only found give way to those of a dataset that is there by now.
            known = _classes(run.dataset, opened)
            run = encode_predictions(
                given, project=facts.project, dataset=run.dataset, known=known
            )
        return run, opened

    def open_run(
        self,
        facts: RunFacts,
        dataset: str,
        labels: LabelSet | None,
        positive_label: str | None,
        hierarchy: object | None,
    ) -> OpenedRun:
        facts = repeatable(facts)
        body = new_run(facts, dataset, labels, positive_label, hierarchy)
        asked = SpooledRequest("run", requests.logged_body(body))
        if self._is_offline:
            return self._in_spool(asked, labels, positive_label)
        try:
            answer = with_retries(
                lambda: self.connection.send("POST", "/runs", asked.body),
                retry_for_s=min(LONGEST_OPENING_S, self.settings.client.retry_for_s),
            )
        except OffdiagError as error:
            if labels is None or self._raises(error):
                raise
            opened = self._in_spool(asked, labels, positive_label)
            if is_final(error):
                opened.spooled.explain(error)
            warn_of([f"{error} {where_kept(error, opened.spooled)}"], RunKept)
            return opened
        run = OpenedAnswer.model_validate_json(answer)
        _warn_of_others(run.notices, label_notes(run.labels.names))
        return RemoteRun(self.connection, run, asked, self.settings.client)

    def log_matrix(self, facts: RunFacts, dataset: str, given: GivenMatrix) -> str:
        body = new_matrix(repeatable(facts), dataset, given)
        asked = SpooledRequest("matrix", requests.logged_body(body))
        answer = self._whole(asked, "/matrices")
        if isinstance(answer, SpooledRun):
            return f"{WAITING}{answer.folder.name}"
        run = ClosedRun.model_validate_json(answer)
        own = (*notes_on_matrix(given.matrix), *label_notes(map(label_text, given.labels or ())))
        _warn_of_others(run.notices, own)
        return run.id

    def log_counts(self, facts: RunFacts, dataset: str, given: GivenCounts) -> str:
        body = new_counts(repeatable(facts), dataset, given)
        answer = self._whole(SpooledRequest("counts", requests.logged_body(body)), "/counts")
        if isinstance(answer, SpooledRun):
            return f"{WAITING}{answer.folder.name}"
        run = ClosedRun.model_validate_json(answer)
        names = map(label_text, body.labels or [*body.actual, *body.predicted])
        _warn_of_others(run.notices, (*given.notes, *label_notes(dict.fromkeys(names))))
        return run.id

    def log_paired_counts(
        self, runs: Sequence[RunFacts], dataset: str, given: GivenPairedCounts
    ) -> list[str]:
        body = new_paired_counts([repeatable(facts) for facts in runs], dataset, given)
        asked = SpooledRequest(PAIRED_COUNTS, body.model_dump_json())
        answer = self._whole(asked, "/paired-counts")
        if isinstance(answer, SpooledRun):
            return [f"{WAITING}{answer.folder.name}"] * len(runs)
        closed = ClosedRuns.model_validate_json(answer).runs
        own = (*given.notes, *label_notes(map(label_text, body.labels or ())))
        _warn_of_others(closed[0].notices, own)
        return [run.id for run in closed]

    def evaluation(
        self, run_id: str, *, timeout_s: float, part: str | None, groups: tuple[str, ...]
    ) -> Evaluation:
        return requests.evaluation(
            self._reader, _sent(run_id), timeout_s=timeout_s, part=part, groups=groups
        )

    def search(self, question: SearchQuestion) -> FoundRuns:
        return requests.search(self._reader, question)

    def find(self, run_id: str) -> FoundRun | None:
        return find_run(self, run_id)

    def delete_run(self, run_id: str, *, by: str | None) -> None:  # noqa: ARG002  # The server knows.
        path = f"/runs/{_sent(run_id)}"
        with_retries(
            lambda: self.connection.ask("DELETE", path),
            retry_for_s=self.settings.client.retry_for_s,
        )

    def retry_evaluation(self, run_id: str) -> None:
        requests.retry_evaluation(self._reader, _sent(run_id))

    def evaluate_few(self) -> int:
        return 0  # The server evaluates by its own workers.

    def evaluate_pending(self, timeout_s: float) -> int:
        return requests.wait_for_evaluations(self._reader, timeout_s)

    def set_hierarchy(self, project: str, dataset: str, given: object | None) -> Hierarchy | None:
        return requests.set_hierarchy(self._reader, project, dataset, given)

    def revise_truth(self, question: RevisionQuestion) -> TruthRevision:
        return requests.revise_truth(self._reader, question)

    def add_slices(
        self, project: str, dataset: str, given: GivenSlices, version: int | None
    ) -> AddedSlices:
        return requests.add_slices(self._reader, project, dataset, given, version)

    def log_samples(
        self, project: str, dataset: str, samples: Sequence[GivenSample]
    ) -> LoggedSamples:
        upload = uploads_of(project, list(samples)).model_dump_json()
        asked = SpooledRequest.of_samples(project, dataset, upload)
        url = self.connection.url
        # Many chunks follow one another, and each would wait for a server that is away.
        patience = 0.0 if time.monotonic() < _AWAY.get(url, 0) else LONGEST_OPENING_S
        found = self._said_or_kept(
            asked,
            lambda: send_samples(self.connection, dataset, upload),
            retry_for_s=min(patience, self.settings.client.retry_for_s),
            what="content",
        )
        if isinstance(found, LoggedSamples):
            return found
        if not self._is_offline:
            _AWAY[url] = time.monotonic() + AWAY_S
        return LoggedSamples(dataset, 0, 0, 0, 0, n_waiting=len(samples))

    def ask(self, request: Request[Answer]) -> Answer:
        path, asked = request.path, request.asked or RequestBody()
        if path.startswith("/runs/"):
            _sent(path.split("/")[2])
        if request.method == "GET":
            query = asked.model_dump(mode="json", exclude_defaults=True)
            return self._reader.get(path, request.answer, **query)
        return request.answer.model_validate_json(self._reader.send(request.method, path, asked))

    @property
    def _is_offline(self) -> bool:
        return self.settings.client.mode == "offline"

    def _raises(self, error: OffdiagError) -> bool:
        """Whether the job gets to see a failure: not if the server is only unavailable."""
        is_refused = not isinstance(error, ServerUnavailable)
        return is_refused and self.settings.client.on_error == "raise"

    @property
    def _reader(self) -> requests.Reader:
        return requests.Reader(self.connection, self.settings.client.retry_for_s)

    def _dataset_if_reached(self, dataset: str, project: str) -> requests.KnownClasses | None:
        retry_for_s = min(LONGEST_OPENING_S, self.settings.client.retry_for_s)
        try:
            return requests.dataset_classes(
                requests.Reader(self.connection, retry_for_s), dataset, project
            )
        except OffdiagError as error:
            if self._raises(error):
                raise
            return None  # Opening the run says so; the spool keeps class names, not codes.

    def _in_spool(
        self, asked: SpooledRequest, labels: LabelSet | None, positive_label: str | None
    ) -> SpoolingRun:
        if labels is None:
            raise Conflict(
                "the classes of the dataset cannot be read.",
                field="labels",
                hint="Declare them: labels=[...].",
            )
        spool = Path(self.settings.client.spool)
        return SpoolingRun(labels, positive_label, asked, spool)

    def _whole(self, asked: SpooledRequest, path: str) -> bytes | SpooledRun:
        """The response to a run that is a single request, or where the request is kept."""
        return self._said_or_kept(
            asked,
            lambda: self.connection.send("POST", path, asked.body),
            retry_for_s=self.settings.client.retry_for_s,
        )

    def _said_or_kept(
        self,
        asked: SpooledRequest,
        attempt: Callable[[], Said],
        *,
        retry_for_s: float,
        what: str = "run",
    ) -> Said | SpooledRun:
        """The response of the server, or the place in which the request is kept."""
        failure: OffdiagError | None = None
        if not self._is_offline:
            try:
                return with_retries(attempt, retry_for_s=retry_for_s)
            except OffdiagError as error:
                if self._raises(error):
                    raise
                failure = error
        spooled = SpooledRun.of(Path(self.settings.client.spool), asked)
        keep_finished(spooled, asked, 0, failure)
        if failure is not None:
            report(failure, spooled, self.settings.client, what)
        return spooled


def repeatable(facts: RunFacts) -> RunFacts:
    """The facts with a client key, so that a request that is sent again finds its run."""
    if facts.client_key is not None:
        return facts
    return replace(facts, client_key=f"auto-{uuid.uuid4().hex}")


def _warn_of_others(notices: Iterable[str], own: Iterable[str]) -> None:
    """Warn of what the server noticed, except notes that are given here anyway."""
    known = frozenset(own)
    warn_of(each for each in notices if each not in known)


def _sent(run_id: str) -> str:
    """The id of a run that the server has. Raises `Conflict` for one that is not sent yet."""
    if run_id.startswith(WAITING):
        raise Conflict(
            "this run is not on the server yet.",
            field="run",
            hint="`offdiag sync` sends the offline queue; then find it with search_runs.",
        )
    return run_id

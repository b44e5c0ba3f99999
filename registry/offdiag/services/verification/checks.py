"""The checks of a verification, and the kinds of problems they can find.

They check that predictions are the bytes that were logged, that ground truth matches its digests,
that counts and all current results follow from these, and that definitions and frozen files are
intact.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.number_text import count
from offdiag.domain.slices import parse_slice
from offdiag.domain.values import MetricValue
from offdiag.errors import DamagedData, InvalidInput
from offdiag.inputs.ids import SampleIds, sample_ids
from offdiag.inputs.labels import Codes
from offdiag.inputs.partial_labels import count_labelled
from offdiag.inputs.scores import Scores
from offdiag.metrics.catalogue import SPECS
from offdiag.metrics.counted import are_equal, count_samples
from offdiag.metrics.custom import custom_suffix
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.reports.files import SUFFIXES
from offdiag.services.evaluation.compute import cost_metrics, curves_of, evaluate
from offdiag.services.evaluation.inputs import EvaluationInputs, read_inputs
from offdiag.services.evaluation.slice_counts import are_same_counts, count_run
from offdiag.services.ingest.batch import Batch, truth_digest
from offdiag.services.ingest.log_counts import content_digest
from offdiag.services.verification.derived import wrong_flags
from offdiag.store import (
    cost_matrices,
    datasets,
    evaluations,
    logged_counts,
    paired_counts,
    predictions,
    reports,
    runs,
    truths,
)
from offdiag.store.database import Session
from offdiag.store.datasets import DatasetRecord
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.evaluations_write import has_others, is_found_by_its_values
from offdiag.store.health import MISSING
from offdiag.store.predictions import StoredChunk
from offdiag.store.runs import RunRecord
from offdiag.store.slices import kept_slice_counts, slice_columns
from offdiag.store.truths import NewTruth, TruthRecord

_KNOWN_METRICS = frozenset(spec.key for spec in SPECS)


class FindingKind(StrEnum):
    """What is wrong, by what has to be done about it."""

    LOST = "lost"
    """Something that was acknowledged is missing, or differs from what was acknowledged."""
    INCOMPLETE = "incomplete"
    """A run has fewer or other rows than it states."""
    DAMAGED = "damaged"
    """Stored bytes cannot be what was written."""
    DRIFT = "drift"
    """A stored result is not what the predictions give; computing it again corrects it."""
    STUCK = "stuck"
    """Jobs that no worker does, or outdated results without a job."""
    UNCHECKED = "unchecked"
    """Not known to be wrong: values of metrics that are not declared in this process, and results
    of another version that no worker has queued for re-evaluation yet."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or could not be checked: what it is, and a sentence about it."""

    kind: FindingKind
    subject: str
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"kind": self.kind.value, "subject": self.subject, "sentence": self.sentence}


@dataclass(frozen=True)
class Verification:
    """The result: how many runs there are, how many were recomputed, and what is wrong.

    `n_waiting` runs have no up-to-date result yet, but a job for it exists. `n_outdated` runs have
    results of another version and no job.
    """

    n_runs: int
    n_recomputed: int
    n_waiting: int
    n_outdated: int
    findings: tuple[Finding, ...]

    @property
    def n_problems(self) -> int:
        return sum(found.kind is not FindingKind.UNCHECKED for found in self.findings)

    @property
    def is_clean(self) -> bool:
        return self.n_problems == 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "is_clean": self.is_clean,
            "n_runs": self.n_runs,
            "n_recomputed": self.n_recomputed,
            "n_waiting": self.n_waiting,
            "n_outdated": self.n_outdated,
            "findings": [finding.to_dict() for finding in self.findings],
        }


def content_is_intact(
    session: Session, run: RunRecord, dataset: DatasetRecord, truth: TruthRecord | None
) -> bool:
    """Whether the digests from when the run was logged still match what is stored.

    `truth` is the label version with which the run was logged.
    """
    if not run.has_predictions:
        return _counts_are_intact(session, run, dataset)
    if truth is None:
        return False
    ids = truths.truth_ids(session, truth)
    actual = truths.truth_codes(session, truth.id)
    scores = predictions.read_scores(session, run.id)
    sha256s = [chunk.sha256 for chunk in predictions.chunk_list(session, run.id)]
    parts = list(predictions.read_chunks(session, run.id, n_classes=len(dataset.labels)))
    for part, sha256 in zip(parts, sha256s, strict=True):
        candidates = _batches(part, actual, ids, scores)
        if not any(sha256 == batch.digest(dataset.labels) for batch in candidates):
            return False
    streamed = hashlib.sha256("".join(sha256s).encode()).hexdigest()
    if run.content_digest == streamed:
        return True
    predicted = np.concatenate([part.predicted for part in parts])
    weights = [part.weight for part in parts if part.weight is not None]
    weight = np.concatenate(weights) if weights else None
    whole = StoredChunk(0, 0, predicted, None, None, weight)
    candidates = _batches(whole, actual, ids, scores)
    return any(run.content_digest == batch.digest(dataset.labels) for batch in candidates)


def _counts_are_intact(session: Session, run: RunRecord, dataset: DatasetRecord) -> bool:
    """Whether the counts of a run match its digest, also if it was counted with other runs."""
    stored = logged_counts.read_matrix(session, run.id, dataset.labels, run.source)
    cases = logged_counts.find_counted_samples(session, run.id)
    digests = {stored.digest if cases is None else cases.digest(dataset.labels)}
    for paired_id in paired_counts.tables_of(session, run.id):
        samples = paired_counts.read(session, paired_id, [run.id]).of_run(run.id)
        digests.add(content_digest(samples, samples.matrix(dataset.labels)))
    is_same = cases is None or cases.matrix(dataset.labels).digest == stored.digest
    return is_same and digests == {run.content_digest}


def _batches(
    part: StoredChunk, actual: Codes, ids: SampleIds | None, scores: NDArray[np.float32] | None
) -> Iterator[Batch]:
    """All batches that could have been logged to produce a chunk of a run.

    It is not stored whether labels and identifiers came with the chunk or were known already,
    because nothing else depends on it.
    """
    stop = part.start + len(part.predicted)
    found = None if scores is None else Scores(scores[part.start : stop])
    for known_actual in (part.actual_in(actual), None):
        for known_ids in _ids_of(part, ids):
            yield Batch(part.predicted, known_actual, known_ids, found, weight=part.weight)


def _ids_of(part: StoredChunk, ids: SampleIds | None) -> Iterator[SampleIds | None]:
    yield None
    if ids is None:
        return
    stop = part.start + len(part.predicted)
    placed = (
        ids.slice(part.start, stop)
        if part.positions is None
        else ids.take(part.positions.astype(np.int64))
    )
    yield placed
    if placed.kind == "text":
        # A batch may have had numbers where others had text.
        yield sample_ids(placed.values)


def check_definitions(session: Session) -> list[Finding]:
    """All problems with label sets, cost matrices and frozen files."""
    lost = reports.missing_files(session, kinds=SUFFIXES)
    return [
        Finding(
            FindingKind.LOST,
            f"report {name} {number}",
            f"{n_missing} of its {len(SUFFIXES)} files are missing.",
        )
        for name, number, n_missing in lost
    ] + [
        Finding(FindingKind.DAMAGED, subject, sentence)
        for subject, sentence in (
            *_label_sets(session),
            *_costs(session),
            *_files(session),
        )
    ]


def _label_sets(session: Session) -> Iterator[tuple[str, str]]:
    for digest, what in datasets.damaged_label_sets(session):
        yield f"label set {digest[:12]}", what


def _costs(session: Session) -> Iterator[tuple[str, str]]:
    for costs_id, name, version in cost_matrices.all_versions(session):
        try:
            cost_matrices.get_costs(session, costs_id)
        except REFUSED as error:
            yield f"cost matrix {name} version {version}", unreadable(error)


def _files(session: Session) -> Iterator[tuple[str, str]]:
    for name, number, kind in reports.damaged_files(session):
        yield f"report {name} {number}", f"its {kind} file is not the one that was frozen."


def check_truths(session: Session) -> list[Finding]:
    """All problems with the label versions of all datasets."""
    findings = []
    for truth in truths.all_truths(session):
        subject = f"label version {truth.number}"
        try:
            dataset = datasets.get_dataset(session, truth.dataset_id)
            subject += f" of {dataset.name}"
            problems = list(_problems_of_truth(session, truth, dataset.labels))
        except REFUSED as error:
            problems = [unreadable(error)]
        findings += [Finding(FindingKind.DAMAGED, subject, problem) for problem in problems]
    return findings


def _problems_of_truth(session: Session, truth: TruthRecord, labels: LabelSet) -> Iterator[str]:
    codes = truths.truth_codes(session, truth.id)
    ids = truths.truth_ids(session, truth)
    if len(codes) != truth.n_samples:
        yield f"it holds {count(len(codes), 'sample')}, it says {truth.n_samples}."
        return
    if truth_digest(labels, codes, ids) != truth.digest:
        yield "its samples are not those that were logged."
    content = NewTruth(truth.digest, codes, None, len(labels))
    if tuple(content.class_counts.tolist()) != truth.class_counts:
        yield "its class counts are not those of its samples."
    if count_labelled(codes, len(labels)) != truth.n_labelled:
        yield "its number of labelled samples is not that of its samples."
    for name, column in slice_columns(session, truth.id).items():
        if len(column) != truth.n_samples or column.codes.max(initial=0) >= len(column.levels):
            yield f"its slice column {name!r} is not one of its samples."


def check_run(session: Session, run_id: str) -> list[Finding]:
    """All problems with one complete run, which is recomputed from its predictions."""
    try:
        run = runs.get_run(session, run_id)
        dataset = datasets.get_dataset(session, run.dataset_id)
        truth = None
        if run.truth_version_id is not None:
            truth = truths.get_truth(session, run.truth_version_id)
        return list(_problems(session, run, dataset, truth))
    except REFUSED as error:
        return [Finding(FindingKind.DAMAGED, run_id, unreadable(error))]


REFUSED = (ValueError, TypeError, LookupError, AssertionError, InvalidInput, *MISSING)
"""Decoding and counting refuse data that cannot have been written, and reads miss rows."""


def unreadable(error: Exception) -> str:
    """The sentence of a finding about rows that raise one of `REFUSED`."""
    if isinstance(error, MISSING):
        return "it cannot be read: rows that belong to it are missing."
    if isinstance(error, AssertionError):
        return "it cannot be read: what it says does not fit its rows."
    said = error.message if isinstance(error, DamagedData) else error
    return f"it cannot be read: {said}"


def _problems(
    session: Session, run: RunRecord, dataset: DatasetRecord, truth: TruthRecord | None
) -> Iterator[Finding]:
    if not content_is_intact(session, run, dataset, truth):
        yield Finding(
            FindingKind.DAMAGED, run.id, "its predictions are not those that were logged."
        )
    if run.has_predictions and truth is not None:
        yield from _wrong_counts(session, run, truth, len(dataset.labels))
    try:
        results = evaluations.current_evaluations(session, run.id)
    except DamagedData as error:
        yield Finding(FindingKind.DRIFT, run.id, f"its results cannot be read: {error.message}")
        return
    for stored in results:
        yield from _drift(session, run, stored)


def _wrong_counts(
    session: Session, run: RunRecord, truth: TruthRecord, n_classes: int
) -> Iterator[Finding]:
    actual = truths.truth_codes(session, truth.id)
    for chunk in predictions.read_chunks(session, run.id, n_classes=n_classes):
        if chunk.counts is None:
            continue
        counts = count_samples(chunk.actual_in(actual), chunk.predicted, n_classes=n_classes)
        if not are_equal(counts, chunk.counts):
            yield Finding(
                FindingKind.DRIFT, run.id, f"the counts of chunk {chunk.seq} are not its own."
            )


def _drift(session: Session, run: RunRecord, stored: StoredEvaluation) -> Iterator[Finding]:
    if stored.suite_version != SUITE_VERSION:
        return  # It is stale, which is not drift.
    part = None if stored.slice is None else parse_slice(stored.slice)
    inputs = read_inputs(session, run.id, part)
    if stored.truth_version_id != (None if inputs.truth is None else inputs.truth.id):
        return  # As above.
    unknown = stored.aggregate.keys() - _KNOWN_METRICS
    if unknown:
        names = ", ".join(sorted(unknown))
        yield Finding(
            FindingKind.UNCHECKED,
            run.id,
            f"values of metrics that no module here declares were not checked: {names}.",
        )
    if _is_by_other_metrics(inputs, stored):
        return  # As above.
    for sentence in (
        *_differences(inputs, stored, unknown),
        *_differences_beside(session, inputs, stored),
    ):
        where = "" if stored.slice is None else f" of {stored.slice}"
        yield Finding(FindingKind.DRIFT, run.id, f"{sentence[0]}{where} {sentence[1]}")
    if stored.cost_matrix_id is not None:
        costs = cost_matrices.get_costs(session, stored.cost_matrix_id)
        computed = cost_metrics(inputs.counted, costs.costs)
        for subject, how in _different_values("", stored.costs, computed):
            yield Finding(FindingKind.DRIFT, run.id, f"{subject} {how}")


def _differences_beside(
    session: Session, inputs: EvaluationInputs, stored: StoredEvaluation
) -> Iterator[tuple[str, str]]:
    """The same for what is stored beside the values of an evaluation."""
    if not is_found_by_its_values(session, stored):
        yield "the values by which lists of runs find it", "are not those of its classes."
    if stored.slice is not None:
        return
    if has_others(session, stored.id, curves_of(inputs)):
        yield "the curves", "are not what the scores give."
    if not _has_same_slice_counts(session, inputs):
        yield "the counts of its slices", "are not what its slice columns give."
    yield from wrong_flags(session, inputs, stored)


def _has_same_slice_counts(session: Session, inputs: EvaluationInputs) -> bool:
    stored = kept_slice_counts(session, inputs.run.id)
    if stored is None:
        return True
    counted = count_run(session, inputs.run, inputs.dataset, inputs.truth)
    return counted is not None and are_same_counts(counted.counts, stored)


def _is_by_other_metrics(inputs: EvaluationInputs, stored: StoredEvaluation) -> bool:
    """Whether results come from other versions of the metrics that this process declares, if any.

    Results of a slice do not say which; their inputs' digest does, and outdated ones are not read.
    """
    metrics = custom_suffix()
    if not metrics:
        return False
    if stored.slice is not None:
        return stored.input_digest != inputs.digest
    return not (stored.rules_digest or "").endswith(metrics)


def _differences(
    inputs: EvaluationInputs, stored: StoredEvaluation, unknown: AbstractSet[str]
) -> Iterator[tuple[str, str]]:
    """What differs from the stored values, and how, except for metrics that are unknown here.

    With unknown metrics the digest of the inputs is not compared: it includes their versions.
    """
    if not unknown and stored.input_digest != inputs.digest:
        yield "the digest of the inputs", "is not that of the predictions and the truth."
    if stored.n_cases != inputs.n_cases:
        yield "the number of samples", f"is {inputs.n_cases}, stored is {stored.n_cases}."
    if stored.n_labelled != stored.counted.total:
        yield "the number of labelled samples", "is not the sum of the stored matrix."
    if stored.counted.digest != inputs.counted.digest:
        yield "the matrix", "is not what the predictions give."
    values = evaluate(inputs)
    known = {key: value for key, value in stored.aggregate.items() if key not in unknown}
    yield from _different_values("", known, values.aggregate)
    labels = inputs.dataset.labels.names
    if stored.per_class.keys() != values.per_class.keys():
        yield "the list of metrics of a class", "is another one."
    for key in stored.per_class.keys() & values.per_class.keys():
        yield from _different_values(
            f"{key} of ",
            _by_label(labels, stored.per_class[key]),
            _by_label(labels, values.per_class[key]),
        )


def _by_label(labels: Sequence[str], values: Sequence[MetricValue]) -> dict[str, MetricValue]:
    return dict(zip(labels, values, strict=True))


def _different_values(
    prefix: str, stored: Mapping[str, MetricValue], found: Mapping[str, MetricValue]
) -> Iterator[tuple[str, str]]:
    for name in sorted(stored.keys() | found.keys()):
        was, now = stored.get(name), found.get(name)
        if was != now:
            yield f"{prefix}{name}", f"is {_said(now)}, stored is {_said(was)}."


def _said(value: MetricValue | None) -> str:
    if value is None:
        return "nothing"
    if value.value is None:
        return value.undefined_text
    if value.ci_low is None:
        return repr(value.value)
    return f"{value.value!r} [{value.ci_low!r}, {value.ci_high!r}]"

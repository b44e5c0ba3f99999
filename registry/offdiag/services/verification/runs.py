"""Checking one run: its predictions, its counts, and every result that counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.slices import parse_slice
from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput
from offdiag.metrics.counted import are_equal, count_cases, matrix_of
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.services.evaluation.compute import curves_of, evaluate
from offdiag.services.evaluation.costs import price
from offdiag.services.evaluation.inputs import EvaluationInputs, read_inputs
from offdiag.services.verification.content import content_is_intact
from offdiag.services.verification.findings import Finding, FindingKind
from offdiag.store import cost_matrices, datasets, evaluations, predictions, runs, truths
from offdiag.store.datasets import DatasetRecord
from offdiag.store.evaluation_writing import has_others
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.runs import RunRecord
from offdiag.store.session import Session
from offdiag.store.truths import TruthRecord


def check_run(session: Session, run_id: str) -> list[Finding]:
    """Everything that is wrong with one complete run, computed again from its predictions."""
    run = runs.get_run(session, run_id)
    dataset = datasets.get_dataset(session, run.dataset_id)
    truth = (
        None if run.truth_version_id is None else truths.get_truth(session, run.truth_version_id)
    )
    try:
        return list(_problems(session, run, dataset, truth))
    except (ValueError, InvalidInput) as error:
        # Decoding and counting refuse what writing cannot have stored.
        return [Finding(FindingKind.DAMAGED, run.id, f"it cannot be read: {error}")]


def _problems(
    session: Session, run: RunRecord, dataset: DatasetRecord, truth: TruthRecord | None
) -> Iterator[Finding]:
    if not content_is_intact(session, run, dataset, truth):
        yield Finding(
            FindingKind.DAMAGED, run.id, "its predictions are not those that were logged."
        )
    if run.source is SourceOrientation.PREDICTIONS and truth is not None:
        yield from _wrong_counts(session, run, truth, len(dataset.labels))
    for stored in evaluations.current_evaluations(session, run.id):
        yield from _drift(session, run, stored)


def _wrong_counts(
    session: Session, run: RunRecord, truth: TruthRecord, n_classes: int
) -> Iterator[Finding]:
    actual = truths.truth_codes(session, truth.id)
    for chunk in predictions.read_chunks(session, run.id, n_classes=n_classes):
        if chunk.counts is None:
            continue
        counts = count_cases(chunk.actual_in(actual), chunk.predicted, n_classes=n_classes)
        if not are_equal(counts, chunk.counts):
            yield Finding(
                FindingKind.DRIFT, run.id, f"the counts of chunk {chunk.seq} are not its own."
            )


def _drift(session: Session, run: RunRecord, stored: StoredEvaluation) -> Iterator[Finding]:
    if stored.suite_version != SUITE_VERSION:
        return  # It is stale, which is no drift.
    part = None if stored.slice is None else parse_slice(stored.slice)
    inputs = read_inputs(session, run.id, part)
    if stored.truth_version_id != (None if inputs.truth is None else inputs.truth.id):
        return  # As above.
    sentences = list(_differences(inputs, stored))
    if part is None and has_others(session, stored.id, curves_of(inputs)):
        sentences.append(("the curves", "are not what the scores give."))
    for sentence in sentences:
        where = "" if stored.slice is None else f" of {stored.slice}"
        yield Finding(FindingKind.DRIFT, run.id, f"{sentence[0]}{where} {sentence[1]}")
    if stored.cost_matrix_id is not None:
        costs = cost_matrices.get_costs(session, stored.cost_matrix_id)
        priced = price(matrix_of(inputs.counted), costs.costs)
        for subject, how in _different_values("", stored.costs, priced):
            yield Finding(FindingKind.DRIFT, run.id, f"{subject} {how}")


def _differences(inputs: EvaluationInputs, stored: StoredEvaluation) -> Iterator[tuple[str, str]]:
    """What is not as stored, and in which way."""
    if stored.input_digest != inputs.digest:
        yield "the digest of the inputs", "is not that of the predictions and the truth."
    if stored.n_cases != inputs.n_cases:
        yield "the number of cases", f"is {inputs.n_cases}, stored is {stored.n_cases}."
    if stored.n_labelled != stored.counted.total:
        yield "the number of labelled cases", "is not the sum of the stored matrix."
    if stored.matrix_digest != stored.counted.digest:
        yield "the digest of the matrix", "is not that of the stored matrix."
    if stored.counted.digest != inputs.counted.digest:
        yield "the matrix", "is not what the predictions give."
    values = evaluate(inputs)
    yield from _different_values("", stored.aggregate, values.aggregate)
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
        return f"undefined ({value.reason})"
    if value.ci_low is None:
        return repr(value.value)
    return f"{value.value!r} [{value.ci_low!r}, {value.ci_high!r}]"

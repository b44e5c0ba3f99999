"""Checking that ground truth is what its digests say."""

from __future__ import annotations

from collections.abc import Iterator

from offdiag.domain.labels import LabelSet
from offdiag.inputs.partial_labels import count_labelled
from offdiag.services.ingest.truth_digest import truth_digest
from offdiag.services.verification.findings import Finding, FindingKind
from offdiag.store import datasets, truths
from offdiag.store.session import Session
from offdiag.store.truths import NewTruth, TruthRecord


def check_truths(session: Session) -> list[Finding]:
    """Everything that is wrong with the versions of the truth of all datasets."""
    findings = []
    for truth in truths.all_truths(session):
        dataset = datasets.get_dataset(session, truth.dataset_id)
        subject = f"truth version {truth.number} of {dataset.name}"
        try:
            problems = list(_problems(session, truth, dataset.labels))
        except ValueError as error:
            problems = [f"it cannot be read: {error}."]
        findings += [Finding(FindingKind.DAMAGED, subject, problem) for problem in problems]
    return findings


def _problems(session: Session, truth: TruthRecord, labels: LabelSet) -> Iterator[str]:
    codes = truths.truth_codes(session, truth.id)
    ids = truths.truth_ids(session, truth)
    if len(codes) != truth.n_samples:
        yield f"it holds {len(codes)} samples, it says {truth.n_samples}."
        return
    if truth_digest(labels, codes, ids) != truth.digest:
        yield "its samples are not those that were logged."
    content = NewTruth(truth.digest, codes, None, len(labels))
    if tuple(content.class_counts.tolist()) != truth.class_counts:
        yield "its class counts are not those of its samples."
    if count_labelled(codes, len(labels)) != truth.n_labelled:
        yield "its number of labelled samples is not that of its samples."
